// Package launchersvc turns what a host wants to start into one launch plan,
// and keeps the records of launches.
//
// It owns two things: the launch records of each project (run/launches/ in its
// runtime store) and the trust a person gave to projects (trust/ in the
// server's own state). Beside a record stands what the launch was told, section
// by section, so that it can be compared with what it would be told now; both
// go when thirty launches of the project are newer. Everything else it asks for: rules, personas and the
// rendering of an injection from the context service, notes from the memory
// service, how a CLI is started from the provider catalogue.
//
// Words. A desk is the launches of one project in memory. A launch holds its
// instance (dev, dev-2, …) while a host is attached to it and for one minute
// after it was prepared, detached or found after a restart; then it is lost
// and its instance is free. Its context is stale when it would be told something
// else now; a refresh puts that into the launch's files, and applies when the
// CLI takes it from there, which the catalogue says.
//
// Invariants.
//   - What is executed comes from the host and the built-in catalogue. A
//     project's files never name a binary, an argument or a variable.
//   - The same request for the same launch id gets the same plan.
//   - Two launches never hold one instance of one person's agent.
//   - No token stands in an argv, a record or a log.
//   - Nothing is sent to a running agent: a refresh is composed on request, and
//     it is the host that writes.
//   - A refresh never takes something away because a service is down.
//
// The protos of this context are its own words, so the package speaks them
// directly: a plan is data for another program and has no life here.
package launchersvc
