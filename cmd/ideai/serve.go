package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/server"
)

// takeoverWait is how long a server waits for the one it replaces to end.
const takeoverWait = 10 * time.Second

func (a *app) serveCommand() *cobra.Command {
	var behind, stop bool
	var readyFD int
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server in the foreground, or end the running one", Args: cobra.NoArgs,
		Long: "Runs all services in this process until it is interrupted. Commands start such a server in the\nbackground by themselves; there is no need for this one but to watch it, or for the IDE.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stop {
				return a.stopServer(cmd.Context())
			}
			log, closeLog, err := a.serverLog(behind)
			if err != nil {
				return err
			}
			defer func() { _ = closeLog.Close() }()
			cfg := server.Config{Address: a.config.Address, StateDir: a.config.StateDir, Build: a.buildInfo(), Log: log}
			if behind {
				cfg.IdleTimeout, cfg.TakeoverWait = a.config.IdleTimeout, takeoverWait
			}
			return a.serve(cmd.Context(), cfg, readyFD)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stop, "stop", false, "end the running server; launches go on without it")
	f.BoolVar(&behind, "background", false, "log to a file and end when idle")
	f.IntVar(&readyFD, background.ReadyFlag, -1, "descriptor on which to say that the server listens")
	_ = f.MarkHidden("background")
	_ = f.MarkHidden(background.ReadyFlag)
	return cmd
}

func (a *app) serve(ctx context.Context, cfg server.Config, readyFD int) error {
	srv, err := server.New(cfg)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready():
	case err := <-done:
		return err
	}
	if readyFD >= 0 {
		if err := background.Ready(readyFD); err != nil {
			cfg.Log.Warn("nobody waits for the server to be ready", "error", err)
		}
	} else {
		a.remark("listening at %s", cfg.Address)
	}
	return <-done
}

// serverLog is where a server logs: a file of bounded size in the background,
// else standard error.
func (a *app) serverLog(behind bool) (*slog.Logger, io.Closer, error) {
	if !behind {
		return slog.New(slog.NewTextHandler(a.err, nil)), io.NopCloser(nil), nil
	}
	file, err := background.OpenLog(background.Options{StateDir: a.config.StateDir}.LogPath(), background.LogLimit)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewJSONHandler(file, nil)), file, nil
}

// stopServer asks the running server to end and waits until it has.
func (a *app) stopServer(ctx context.Context) error {
	s, ok := a.connectRunning(ctx)
	if !ok {
		a.say("no server runs")
		return nil
	}
	defer s.close()
	r, err := s.launcher.Drain(ctx, &launcherv1.DrainRequest{Why: "asked by ideai serve --stop"})
	if err != nil {
		return err
	}
	release, err := background.Claim(ctx, a.config.Address, takeoverWait)
	if err != nil {
		return err
	}
	release()
	return a.show(r, func() { a.say("the server has ended") })
}
