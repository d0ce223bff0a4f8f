package main

import (
	"strconv"

	"github.com/idea-ide/ideai/provider"
)

// show prints a diagnosis for people.
func (e *examination) show() {
	if e.Server.Running {
		e.say("server: runs at %s, %s, process %d", e.Server.Address, e.Server.Version, e.Server.Pid)
	} else {
		e.say("server: not running; the first command that needs it starts it at %s", e.Server.Address)
	}
	e.say("state folder: %s", e.StateDir)
	if p := e.Project; p.ID != "" {
		e.say("project: %s in %s, trusted: %s; notes %d, agents %d, skills %d", p.ID, p.Root, e.yesNo(p.Trusted), p.Notes, p.Agents, p.Skills)
	}
	rows := make([][]any, len(e.CLIs))
	for i, c := range e.CLIs {
		rows[i] = e.cliRow(c)
	}
	e.table([]string{"CLI", "version", "context arrives", "logged in", "path"}, rows)
	for _, f := range e.Problems {
		e.say("to mend: %s: %s", f.place(), f.Message)
	}
	for _, f := range e.Hints {
		e.say("to know: %s: %s", f.place(), f.Message)
	}
	if e.OK {
		e.say("nothing is wrong")
	}
}

func (f *finding) place() string {
	if f.Line == 0 {
		return f.About
	}
	return f.About + ":" + strconv.Itoa(int(f.Line))
}

func (e *examination) cliRow(c cliFound) []any {
	if !c.Installed {
		return []any{c.Profile, e.tr("not installed"), "", "", ""}
	}
	arrives := e.tr("not tried with this version")
	switch {
	case c.Proof == "missing":
		arrives = e.tr("NO, proved") + " " + e.day(*c.Proved)
	case c.Proof == "arrived":
		arrives = e.tr("proved") + " " + e.day(*c.Proved)
	case c.Version != "" && c.Version == c.Tried:
		arrives = e.tr("tried with this version")
	}
	return []any{c.Profile, c.Version, arrives, e.tr(logins[c.LoggedIn]), c.Path}
}

var logins = map[provider.LoginState]string{
	provider.LoggedIn:     "yes",
	provider.LoggedOut:    "no",
	provider.LoginUnknown: "unknown",
}
