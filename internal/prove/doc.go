// Package prove finds out whether the context, the tools and a tool call really
// reach the model of an installed CLI. It launches the CLI the way ideai always
// does, in a throw-away project and a throw-away home, with a stand-in for the
// model on loopback, and looks at what the CLI sent.
//
// It is offline and uses neither the person's login nor their settings or
// sessions. Of their environment it keeps what the catalogue says changes how a
// context arrives, so that a variable that switches it off is found out. What
// was not seen to arrive is never called proven.
package prove
