// Package background finds the server that runs behind the commands of one
// person, and starts it when there is none.
//
// There is one server for each state directory and person. Its address is a
// Unix socket whose name follows from the two, so that nothing has to be
// remembered. Whoever listens there holds the lock beside the socket (Claim);
// a socket whose lock is free is stale. Two commands that start at once take
// turns by a second lock (Ensure), so that they end up with one server. A
// server of an earlier build is drained and replaced; a later or equal one is
// used as it is.
//
// A server is a process of its own session, with an environment by allow-list
// and a log of bounded size: it outlives the terminal that happened to start
// it, and takes nothing of that terminal along.
package background
