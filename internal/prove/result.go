package prove

import (
	"slices"
	"time"

	"github.com/idea-ide/ideai/provider"
)

// Cell is one cell of a profile's matrix.
type Cell struct {
	Carrier   string
	Workspace provider.Workspace
	Resumed   bool // else a new session
	Terminal  bool // else the CLI's print or exec mode

	carrier *provider.Carrier
}

// kind is the kind of launch by which a cell is tried.
func (c Cell) kind() provider.Kind {
	switch {
	case c.Resumed:
		return provider.NativeResume
	case c.Terminal:
		return provider.Fresh
	}
	return provider.Headless
}

// cells are the cells of new sessions, in the catalogue's order.
func cells(p *provider.Profile, only string) []Cell {
	var out []Cell
	for i := range p.Carriers {
		c := &p.Carriers[i]
		for _, terminal := range []bool{false, true} {
			cell := Cell{Carrier: c.Name, Workspace: c.Workspace, Terminal: terminal, carrier: c}
			can := !terminal || p.Prove.InTerminal()
			if can && (only == "" || only == c.Name) && c.Serves(cell.kind(), c.Workspace, !terminal) {
				out = append(out, cell)
			}
		}
	}
	return out
}

// resumed is the cell of a session begun by this one and resumed by the same
// door, if that serves it.
func (c Cell) resumed(p *provider.Profile) (Result, bool) {
	if !p.Prove.CanResume(c.Terminal) {
		return Result{}, false
	}
	again := Cell{Carrier: c.Carrier, Workspace: c.Workspace, Resumed: true, Terminal: c.Terminal}
	carrier, err := p.Choose(provider.Want{Kind: again.kind(), Workspace: c.Workspace, Carrier: c.Carrier, Headless: !c.Terminal})
	if err != nil {
		return Result{}, false
	}
	again.carrier = carrier
	return Result{Cell: again}, true
}

// Result is what a run showed of a cell.
type Result struct {
	Cell
	Took     time.Duration
	Sections []Section
	// Tools is how many of our tools were offered to the model, of how many.
	Tools, ToolsAll int
	// ToolsLate tells that some were not there at the first prompt yet.
	ToolsLate bool
	// Problems is empty when all arrived.
	Problems []Problem
	// Output has the last lines of what the CLI said, when something is wrong.
	Output []string
	// Elsewhere names the hosts that the CLI wanted to reach and was refused.
	Elsewhere []string
}

// Arrived reports whether all arrived and worked.
func (r *Result) Arrived() bool { return len(r.Problems) == 0 }

// conclusive reports whether the run says anything of the door, or of the
// machine only.
func (r *Result) conclusive() bool {
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool {
		return p.Kind == Failed || p.Kind == TimedOut || p.Kind == NoRequest || p.Kind == NoSession
	})
}

// Section is one section of the context.
type Section struct {
	Name    string `json:"name"`
	Bytes   int    `json:"bytes"`
	Arrived bool   `json:"arrived"` // whole
}

// ProblemKind says what is wrong with a cell.
type ProblemKind string

// The problems.
const (
	Failed         ProblemKind = "failed"          // the CLI ended with an error; Subject is its exit code
	TimedOut       ProblemKind = "timed_out"       // it did not end in time; Subject is the time
	NoRequest      ProblemKind = "no_request"      // it asked the model nothing
	NoPrompt       ProblemKind = "no_prompt"       // the prompt did not arrive
	SectionMissing ProblemKind = "section_missing" // Subject is the section
	SectionCut     ProblemKind = "section_cut"     // it arrived in part
	SectionTwice   ProblemKind = "section_twice"   // it arrived more than once
	OutOfOrder     ProblemKind = "out_of_order"    // Subject is the section that comes too early
	ToolMissing    ProblemKind = "tool_missing"    // Subject is the tool
	ToolFailed     ProblemKind = "tool_failed"     // its answer did not reach the model; Subject is the tool
	NoSession      ProblemKind = "no_session"      // there was no session to resume
)

// Problem is one thing that is wrong.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Subject string      `json:"subject"`
}
