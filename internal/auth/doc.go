// Package auth says who calls, and whether they may.
//
// A caller is either the owner (whoever holds the unix socket, proved by the
// kernel, or the process itself over its in-memory pipe) or the bearer of an
// Ed25519-signed token. A token given always wins: an agent that reaches the
// socket with its launch token acts as that agent, never as the owner.
//
// The method option callers of idea.options.v1 names the surfaces that may call
// a method; Gate compares it with the caller's. The project and worktree a
// token names bind every request made with it.
//
// On one machine this is a guard rail, not a sandbox: agents run as the person.
package auth
