// Command ideai gives every coding agent in a project the same rules and the
// same memory: it starts the agents' own programs with them, and is the server
// behind it.
//
// It is one program: the commands of people, the server they share
// (`ideai serve`, started in the background when needed), and the MCP server
// that agents start (`ideai mcp`).
package main

import (
	"os"

	"github.com/idea-ide/ideai/internal/build"
)

func main() { os.Exit(run(os.Args[1:], build.Current)) }
