// Package agenttools is the MCP server that an agent's CLI is handed at
// launch: the `idea_*` tools, in the project's language, over a connection to
// the gateway that carries the agent's own token.
//
// Its words are written for a model. A result is bounded text; what comes from
// notes stands in data blocks; what went wrong is told as a result that names
// the next step, never as a protocol error, which a CLI may show to nobody.
package agenttools
