package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/agenttools"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
)

// maxInstructions bounds the instructions' file in bytes.
const maxInstructions = 2 << 20

func (a *app) mcpCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the agents' tools over standard input and output", Args: cobra.NoArgs,
		Long: "The MCP server that an agent's CLI starts. It acts for the agent whose token is in IDEAI_TOKEN, never\nfor you; a launch sets it up by itself.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			instructions, err := readInstructions(file)
			if err != nil {
				return err
			}
			return a.serveTools(cmd.Context(), instructions)
		},
	}
	cmd.Flags().StringVar(&file, "instructions-file", os.Getenv("IDEAI_INSTRUCTIONS"), "file with what the model is told first (default: $IDEAI_INSTRUCTIONS)")
	return cmd
}

func readInstructions(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxInstructions+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxInstructions {
		return "", fault.New(fault.TooLarge, fault.Meta{"name": path, "bytes": fmt.Sprint(len(data)), "limit": fmt.Sprint(maxInstructions)},
			"the instructions in %s are larger than %d bytes", path, maxInstructions)
	}
	return string(data), nil
}

// serveTools serves until the CLI closes its end.
func (a *app) serveTools(ctx context.Context, instructions string) error {
	raw := a.getenv("IDEAI_TOKEN")
	if raw == "" {
		return fault.New(fault.ReasonUnauthenticated, nil, "IDEAI_TOKEN is not set: the tools are for agents that ideai started; start one with ideai claude")
	}
	agent, err := readToken(raw)
	if err != nil {
		return err
	}
	tokens := agenttools.NewTokenSource(raw)
	conn, err := rpc.Dial(a.config.Address, rpc.ClientConfig{Token: tokens.Token})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		// A token that can no longer be renewed shows in what the tools answer.
		_ = tokens.Run(ctx, launcherv1.NewLauncherServiceClient(conn))
	}()
	defer func() { cancel(); <-renewing }()
	tools := agenttools.New(agenttools.Options{
		Conn: conn, Instructions: instructions, Language: a.lang, Version: a.buildInfo().Version,
		Project: agent.project, Worktree: agent.worktree, Agent: agent.name,
	})
	err = tools.Run(ctx, &mcp.StdioTransport{})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
