package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/prove"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/provider"
)

// proofs is what was proved of one CLI.
type proofs struct {
	Profile string       `json:"profile"`
	Version string       `json:"version"`
	Arrived bool         `json:"arrived"`
	Cells   []provedCell `json:"cells"`
}

type provedCell struct {
	Carrier   string          `json:"carrier"`
	Workspace string          `json:"workspace"`
	Session   string          `json:"session"` // new or resumed
	Terminal  bool            `json:"terminal"`
	Arrived   bool            `json:"arrived"`
	Seconds   float64         `json:"seconds"`
	Sections  []prove.Section `json:"sections"`
	Tools     int             `json:"tools"`
	ToolsAll  int             `json:"toolsAll"`
	ToolsLate bool            `json:"toolsLate"`
	Problems  []prove.Problem `json:"problems,omitempty"`
	Output    []string        `json:"output,omitempty"`
	Elsewhere []string        `json:"elsewhere,omitempty"`
}

// proveCLIs proves CLIs one after the other, and fails when something did not
// arrive.
func (a *app) proveCLIs(ctx context.Context, ids []string, carrier string) error {
	var all []proofs
	arrived := true
	for _, id := range ids {
		p, err := provider.Builtin().Profile(id)
		if err != nil {
			return err
		}
		done, err := a.prove(ctx, p, carrier)
		if err != nil {
			return err
		}
		all = append(all, done)
		arrived = arrived && done.Arrived
	}
	if a.asJSON {
		data, err := json.Marshal(map[string]any{"proofs": all})
		if err != nil {
			return err
		}
		if err := a.rawJSON(data); err != nil {
			return err
		}
	}
	if !arrived {
		return &codeError{exitError}
	}
	return nil
}

// prove proves one CLI with a server of its own, whose state goes when the
// proof ends; what it showed is kept for plans.
func (a *app) prove(ctx context.Context, p *provider.Profile, carrier string) (proofs, error) {
	facts, err := a.facts(ctx, p.ID)
	if err != nil {
		return proofs{}, err
	}
	parent := "" // a temporary folder has no files above it that a CLI would read
	if p.MCPNeedsClosedFolders {
		parent = a.config.StateDir
	}
	dir, err := os.MkdirTemp(parent, "ideai-proof-")
	if err != nil {
		return proofs{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return proofs{}, err
	}
	address, remove, err := background.PrivateAddress()
	if err != nil {
		return proofs{}, err
	}
	defer remove()
	s, err := a.runInside(ctx, server.Config{Address: address, StateDir: filepath.Join(dir, "state"), Build: a.buildInfo()}, rpc.ClientConfig{}, nil)
	if err != nil {
		return proofs{}, err
	}
	defer s.close()

	facts.ServerAddress = address
	out := proofs{Profile: p.ID, Version: facts.GetCliVersion()}
	if !a.asJSON {
		a.say("%s, offline, in a throw-away home:", strings.TrimSpace(p.Name+" "+out.Version))
	}
	results, err := prove.Run(ctx, prove.Options{
		Profile: p, Carrier: carrier, Launcher: s.launcher, Host: facts, Env: os.Environ(), Dir: filepath.Join(dir, "world"),
		Done: func(r prove.Result) {
			if !a.asJSON {
				a.showProof(&r)
			}
		},
	})
	if err != nil {
		return proofs{}, err
	}
	if !a.asJSON {
		a.aboutProof(p, results)
	}
	out.Arrived = !slices.ContainsFunc(results, func(r prove.Result) bool { return !r.Arrived() })
	for i := range results {
		out.Cells = append(out.Cells, cellOf(&results[i]))
	}
	if out.Version == "" {
		a.remark("the version of %s is not known, so plans cannot use this", p.Name)
	}
	return out, prove.Save(a.config.StateDir, p, out.Version, os.Environ(), results, time.Now())
}

// aboutProof prints what holds for all runs of a proof.
func (a *app) aboutProof(p *provider.Profile, results []prove.Result) {
	var elsewhere []string
	failed := false
	for i := range results {
		failed = failed || !results[i].Arrived()
		elsewhere = append(elsewhere, results[i].Elsewhere...)
	}
	slices.Sort(elsewhere)
	if elsewhere = slices.Compact(elsewhere); len(elsewhere) > 0 {
		a.say("  %s also wanted to reach these, and was refused: %s", p.Name, strings.Join(elsewhere, ", "))
	}
	if kept := p.Prove.Kept(os.Environ()); failed && len(kept) > 0 {
		a.say("  these variables of yours were kept, and may be why: %s", strings.Join(kept, ", "))
	}
}

func cellOf(r *prove.Result) provedCell {
	return provedCell{
		Carrier: r.Carrier, Workspace: string(r.Workspace), Session: sessionWord(r), Terminal: r.Terminal, Arrived: r.Arrived(),
		Seconds: float64(r.Took.Milliseconds()) / 1000, Sections: r.Sections, Tools: r.Tools, ToolsAll: r.ToolsAll, ToolsLate: r.ToolsLate,
		Problems: r.Problems, Output: r.Output, Elsewhere: r.Elsewhere,
	}
}

func sessionWord(r *prove.Result) string {
	if r.Resumed {
		return "resumed"
	}
	return "new"
}

// showProof prints what a run showed.
func (a *app) showProof(r *prove.Result) {
	session := a.tr("new session")
	if r.Resumed {
		session = a.tr("resumed session, changed text")
	}
	if r.Terminal {
		session = a.tr("in a terminal") + ", " + session
	}
	if r.Arrived() {
		a.say("  %s in %s, %s: all arrived (%.1f s)", r.Carrier, string(r.Workspace), session, r.Took.Seconds())
	} else {
		a.say("  %s in %s, %s: NOT PROVEN (%.1f s)", r.Carrier, string(r.Workspace), session, r.Took.Seconds())
	}
	var sections []string
	for _, s := range r.Sections {
		arrived := a.tr("whole")
		if !s.Arrived {
			arrived = a.tr("MISSING")
		}
		sections = append(sections, fmt.Sprintf(a.tr("%s %s (%d bytes)"), a.tr(s.Name), arrived, s.Bytes))
	}
	if len(sections) > 0 {
		a.say("    %s; tools offered: %d of %d", strings.Join(sections, ", "), r.Tools, r.ToolsAll)
	}
	if r.ToolsLate {
		a.say("    the tools were not ready at the first prompt, but at the next")
	}
	for _, p := range r.Problems {
		if p.Kind != prove.SectionMissing { // said above
			a.say("    %s", fmt.Sprintf(a.tr(proofProblems[p.Kind]), p.Subject))
		}
	}
	for _, line := range r.Output {
		a.say("    | %s", line)
	}
}

var proofProblems = map[prove.ProblemKind]string{
	prove.Failed:         "the CLI ended with exit code %s; its last lines:",
	prove.TimedOut:       "the CLI did not end within %s",
	prove.NoRequest:      "the CLI asked the model nothing%s",
	prove.NoPrompt:       "the prompt did not reach the model%s",
	prove.SectionMissing: "the section %s did not arrive",
	prove.SectionCut:     "the section %s arrived cut or changed",
	prove.SectionTwice:   "the section %s arrived more than once",
	prove.OutOfOrder:     "the section %s arrived before one that stands above it",
	prove.ToolMissing:    "the tool %s was not offered to the model",
	prove.ToolFailed:     "a call of %s brought the model no answer",
	prove.NoSession:      "there was no session to resume%s",
}
