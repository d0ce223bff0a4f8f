package provider

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/idea-ide/ideai/internal/fault"
)

// Kind says how a session comes to be.
type Kind string

// The kinds of launches; idea.type.v1.LaunchKind tells what each means.
const (
	Fresh          Kind = "fresh"
	Continue       Kind = "continue"
	NativeResume   Kind = "native_resume"
	Swap           Kind = "swap"
	Rotation       Kind = "rotation"
	StructuredTurn Kind = "structured_turn"
	Headless       Kind = "headless"
)

// Workspace says where the CLI runs.
type Workspace string

// The workspaces. Project is the default.
const (
	Project      Workspace = "project"
	RunDirectory Workspace = "run_directory"
)

// Strategy is the way a context enters a CLI.
type Strategy string

// The strategies.
const (
	ConventionFile Strategy = "convention_file"
	Flag           Strategy = "flag"
	Stdin          Strategy = "stdin"
	Env            Strategy = "env"
)

// Verification says how sure it is that a carrier works with a version.
type Verification string

// The verifications.
const (
	Verified     Verification = "verified"
	OtherVersion Verification = "other_version"
	Unverified   Verification = "unverified"
)

// Applies says when a changed context reaches the model.
type Applies string

// The moments, the soonest first: with the next prompt of the running session,
// when the session is resumed, and in a fresh session only.
const (
	NextTurn  Applies = "next_turn"
	AtResume  Applies = "at_resume"
	AtRestart Applies = "at_restart"
)

// Profile describes one CLI. It is immutable and safe for concurrent use.
type Profile struct {
	ID     string `yaml:"id"`
	Name   string `yaml:"name"`   // for people
	Binary string `yaml:"binary"` // looked up on the host's PATH
	// Install is what a person does to get the CLI, one sentence.
	Install string  `yaml:"install"`
	Version Version `yaml:"version"`
	// VerifiedVersion is the version every carrier without a version of its
	// own was seen to work with.
	VerifiedVersion string `yaml:"verified_version"`
	// Reads lists the convention files the CLI reads from the project itself.
	Reads []Convention `yaml:"reads"`
	// ToolName turns the name of an MCP tool into the CLI's: {tool} stands for it.
	ToolName string `yaml:"tool_name"`

	Arguments Arguments  `yaml:"arguments"`
	Conflicts []Conflict `yaml:"conflicts"`
	// Carriers is the matrix, the preferred ones first.
	Carriers []Carrier `yaml:"carriers"`
	// MCP hands our MCP server to the CLI beside the person's own; empty = the
	// CLI takes none.
	MCP Template `yaml:"mcp"`
	// MCPNeedsClosedFolders tells that the CLI takes MCP only from a file that
	// has no folder above it that others may write to.
	MCPNeedsClosedFolders bool `yaml:"mcp_needs_closed_folders"`
	// Permissions pre-approves exactly our tools and denies what would go
	// around them, for this launch only.
	Permissions Template `yaml:"permissions"`
	Dialogs     []Dialog `yaml:"dialogs"`
	// Login says how a login shows.
	Login Login `yaml:"login"`
	// Node is the oldest major version of Node the CLI runs with; 0 = it needs
	// none.
	Node int `yaml:"node"`
	// Prove says how to prove what arrives; nil = it cannot be proved.
	Prove *Prove `yaml:"prove"`
}

// Version says how the CLI tells its version.
type Version struct {
	Args    []string `yaml:"args"`
	Pattern string   `yaml:"pattern"` // its first group is the version

	re *regexp.Regexp
}

// Parse finds the version in what the CLI printed, "" when it is not there.
func (v Version) Parse(output string) string {
	m := v.re.FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return m[1]
}

// Convention is a file of the project that the CLI reads by itself.
type Convention struct {
	Path string `yaml:"path"` // relative to the project, with slashes
	// Unless names files whose presence makes the CLI pass this one over.
	Unless []string `yaml:"unless"`
}

// ReadsFile reports whether the CLI reads a file of the project by itself, so
// that saying it again would cost twice. exists answers for other files of the
// project; both paths are relative, with slashes.
func (p *Profile) ReadsFile(path string, exists func(path string) bool) bool {
	return slices.ContainsFunc(p.Reads, func(c Convention) bool {
		return c.Path == path && !slices.ContainsFunc(c.Unless, exists)
	})
}

// Carrier is one cell of the matrix: a door of the CLI and what goes through.
type Carrier struct {
	Name      string    `yaml:"name"`
	Strategy  Strategy  `yaml:"strategy"`
	Workspace Workspace `yaml:"workspace"`
	Kinds     []Kind    `yaml:"kinds"`
	// LimitBytes bounds the file, argument, variable or standard input that
	// holds the context, as rendered; 0 = no limit known.
	LimitBytes int64 `yaml:"limit_bytes"`
	// FrozenOnResume tells that a later resume replays the text unchanged.
	FrozenOnResume bool `yaml:"frozen_on_resume"`
	// Applies tells when a context that is changed under a running CLI reaches
	// its model; AtRestart when the file leaves it out.
	Applies Applies `yaml:"applies"`
	// NextTurnLimitBytes bounds what a running session is shown of a change;
	// the rest waits for a resume. 0 = all of it, as far as is known.
	NextTurnLimitBytes int64 `yaml:"next_turn_limit_bytes"`
	// NextTurnOnce tells that a running session is shown the first change only.
	NextTurnOnce bool `yaml:"next_turn_once"`
	// KeptInSession tells that every launch adds the context to the session's
	// history once more, so that a resume goes without while it is unchanged.
	KeptInSession bool `yaml:"kept_in_session"`
	// HeadlessOnly tells that it needs the CLI's print or exec mode.
	HeadlessOnly bool `yaml:"headless_only"`
	// Separator is that of the list in which the CLI is given the side
	// directory; a folder with that character in its name cannot be used.
	Separator string `yaml:"separator"`
	// Neutralise names what the CLI would expand or strip in the text.
	Neutralise []Neutraliser `yaml:"neutralise"`
	// VerifiedVersion is the version it was seen to work with; the profile's
	// when the file leaves it out, "none" in the file for never.
	VerifiedVersion string   `yaml:"verified_version"`
	Template        Template `yaml:"template"`
}

// Verification compares an installed version, "" for unknown, with the one
// the carrier was seen to work with.
func (c *Carrier) Verification(installed string) Verification {
	switch c.VerifiedVersion {
	case "":
		return Unverified
	case installed:
		return Verified
	}
	return OtherVersion
}

// Serves reports whether the carrier works for a kind of launch.
func (c *Carrier) Serves(kind Kind, workspace Workspace, headless bool) bool {
	return c.Workspace == workspace && slices.Contains(c.Kinds, kind) && (headless || !c.HeadlessOnly)
}

// AppliesIn tells when a changed context reaches the model of a launch. Without
// a terminal a turn is a run of the CLI, and the next one resumes the session.
func (c *Carrier) AppliesIn(headless bool) Applies {
	if headless && c.Applies == NextTurn {
		return AtResume
	}
	return c.Applies
}

// WithoutTools tells why a launch goes without our tools, "" when it has them.
// openFolder is a folder at or above the side directory that others may write
// to, "" for none.
func (p *Profile) WithoutTools(openFolder string) string {
	switch {
	case !p.MCP.gives():
		return p.Name + " takes no MCP servers, so the agent is not given ideai's tools"
	case p.MCPNeedsClosedFolders && openFolder != "":
		return fmt.Sprintf("%s takes no settings from below a folder that others may write to, so the agent is not given ideai's tools; to give them: chmod go-w '%s'",
			p.Name, openFolder)
	}
	return ""
}

// NextTurn returns how many bytes of a change a running session is shown that
// got its context by a carrier, 0 for all of them, and whether that is so for
// the first change only.
func (p *Profile) NextTurn(carrier string) (limit int64, once bool) {
	for i := range p.Carriers {
		if c := &p.Carriers[i]; c.Name == carrier && c.Applies == NextTurn {
			return c.NextTurnLimitBytes, c.NextTurnOnce
		}
	}
	return 0, false
}

// DialogKind names a dialog of a CLI.
type DialogKind string

// The dialogs.
const (
	DialogTrust       DialogKind = "trust"
	DialogLogin       DialogKind = "login"
	DialogMCPApproval DialogKind = "mcp_approval"
)

// Dialog is a question the CLI may ask at the start. The person answers it,
// never ideai. None comes without a terminal.
type Dialog struct {
	Kind       DialogKind  `yaml:"kind"`
	Workspaces []Workspace `yaml:"workspaces"`
	When       string      `yaml:"when"` // one sentence for people
}

// DialogsIn returns the dialogs to expect in a workspace.
func (p *Profile) DialogsIn(workspace Workspace, headless bool) []Dialog {
	if headless {
		return nil
	}
	var out []Dialog
	for _, d := range p.Dialogs {
		if slices.Contains(d.Workspaces, workspace) {
			out = append(out, d)
		}
	}
	return out
}

// Want says what a launch needs of a carrier.
type Want struct {
	Kind      Kind
	Workspace Workspace // "" = Project
	Strategy  Strategy  // "" = any
	Carrier   string    // "" = the first that fits
	Avoid     []string  // carriers passed over unless asked for by name
	Headless  bool      // no terminal: the CLI's print or exec mode
	// Invocation is what ReadArgs made of the person's arguments. Carriers
	// that they switch off are passed over, or refused when asked for by name.
	Invocation Invocation
}

// Choose returns the first carrier of the matrix that fits. It fails with
// INJECTION_UNSUPPORTED when there is none, and with ARGUMENT_CONFLICT when
// only the person's arguments stand in the way.
func (p *Profile) Choose(w Want) (*Carrier, error) {
	if w.Workspace == "" {
		w.Workspace = Project
	}
	if err := p.CheckArgs(w.Invocation); err != nil {
		return nil, err
	}
	var conflict error
	for i := range p.Carriers {
		c := &p.Carriers[i]
		fits := c.Serves(w.Kind, w.Workspace, w.Headless) &&
			(w.Strategy == "" || w.Strategy == c.Strategy) &&
			(w.Carrier == c.Name || w.Carrier == "" && !slices.Contains(w.Avoid, c.Name))
		if !fits {
			continue
		}
		err := p.conflict(w.Invocation, c.Name)
		if err == nil {
			return c, nil
		}
		if conflict == nil {
			conflict = err
		}
	}
	if conflict != nil {
		return nil, conflict
	}
	return nil, p.unsupported(w)
}

func (p *Profile) unsupported(w Want) error {
	asked := string(w.Strategy)
	if w.Carrier != "" {
		asked = w.Carrier
	}
	if asked == "" {
		asked = "any"
	}
	return fault.New(fault.InjectionUnsupported,
		fault.Meta{"profile": p.ID, "strategy": asked, "kind": string(w.Kind), "workspace": string(w.Workspace)},
		"%s takes no context by %s for a %s launch in workspace %s; use another strategy (it has: %s)",
		p.Name, asked, w.Kind, w.Workspace, p.offers(w.Kind, w.Workspace, w.Headless))
}
