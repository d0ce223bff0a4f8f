package agenttools

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
)

// Options are what the tools need.
type Options struct {
	// Conn reaches the gateway and adds the agent's token to each call.
	Conn grpc.ClientConnInterface
	// Instructions are the server's own to the model; "" = a short text. codex
	// gets its whole context by them.
	Instructions string
	// Language of texts: fr, else English.
	Language string

	Project, Worktree string // what the token names
	Agent             string // the agent's name, for the short text
	Version           string // of ideai
}

// callTimeout bounds one call of a tool, the time to reach a server that is
// just being replaced included. A CLI's turn waits for it.
const callTimeout = 5 * time.Second

// New makes the MCP server. Its tools may be called concurrently, and reach
// whichever server listens at the time.
func New(o Options) *mcp.Server {
	w := &texts[english]
	if o.Language == "fr" {
		w = &texts[french]
	}
	instructions := o.Instructions
	if instructions == "" {
		instructions = w.instructions(o.Project, o.Agent)
	}
	s := mcp.NewServer(
		&mcp.Implementation{Name: "ideai", Title: "ideai", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			// The list never changes, and nothing is logged to the client.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	d := &desk{
		options: o, words: w,
		memory: memoryv1.NewMemoryServiceClient(o.Conn),
	}
	for _, t := range tools {
		t.add(s, d)
	}
	return s
}

// Names returns the tools' names, in their order.
func Names() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}

// desk is where the tools find what they call and speak with.
type desk struct {
	options Options
	words   *language
	memory  memoryv1.MemoryServiceClient
}

// reach readies a call: it may wait for a server that is just being replaced,
// and does not sit out what earlier failures cost.
func (d *desk) reach(ctx context.Context) (context.Context, context.CancelFunc, grpc.CallOption) {
	if conn, ok := d.options.Conn.(interface{ ResetConnectBackoff() }); ok {
		conn.ResetConnectBackoff()
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	return ctx, cancel, grpc.WaitForReady(true)
}
