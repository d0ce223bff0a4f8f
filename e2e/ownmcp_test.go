package e2e

import (
	"context"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runOwnMCPServer is the person's own MCP server: the test binary, started by
// the CLIs with the argument own-mcp-server.
func runOwnMCPServer() {
	server := mcp.NewServer(&mcp.Implementation{Name: "own", Version: "1"}, nil)
	type input struct {
		Text string `json:"text"`
	}
	mcp.AddTool(server, &mcp.Tool{
		Name:        "own_echo",
		Description: "OWN-TOOL-c0de repeats a text",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "OWN-ECHO " + in.Text}}}, nil, nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
