package agenttools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tools are all tools, in the order in which they are listed.
var tools = []tool{recallTool, readTool}

// tool is one tool: its name and manners, and how it is added to a server. Its
// words are in the texts of each language under the same name.
type tool struct {
	name    string
	manners mcp.ToolAnnotations
	add     func(*mcp.Server, *desk)
}

// reads are the manners of a tool that changes nothing. All four hints are
// set: a CLI asks the person, or refuses, when one is left open.
func reads() mcp.ToolAnnotations {
	no := false
	return mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
}

// newTool makes a tool whose arguments decode into In. schema describes them
// in the words of a language; what breaks it never reaches call.
func newTool[In any](name string, manners mcp.ToolAnnotations, schema func(*language) object,
	call func(context.Context, *desk, In) (string, error),
) tool {
	t := tool{name: name, manners: manners}
	t.add = func(s *mcp.Server, d *desk) {
		about := d.words.tools[name]
		annotations := t.manners
		annotations.Title = about.title
		mcp.AddTool(s, &mcp.Tool{
			Name: name, Title: about.title, Description: about.description,
			Annotations: &annotations, InputSchema: schema(d.words),
		}, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			text, err := call(ctx, d, in)
			result := &mcp.CallToolResult{IsError: err != nil}
			if err != nil {
				text = d.words.failure(err)
			}
			result.Content = []mcp.Content{&mcp.TextContent{Text: text}}
			return result, nil, nil
		})
	}
	return t
}

// object is a JSON schema.
type object = map[string]any

// arguments is the schema of a tool's arguments; nothing else may be given.
func arguments(required []string, properties object) object {
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func stringOf(about string, minimum, maximum int) object {
	return object{"type": "string", "description": about, "minLength": minimum, "maxLength": maximum}
}

func integerOf(about string, minimum, maximum, otherwise int) object {
	return object{"type": "integer", "description": about, "minimum": minimum, "maximum": maximum, "default": otherwise}
}
