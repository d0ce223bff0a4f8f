package provider

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/safeyaml"
)

//go:embed profiles/*.yaml
var builtin embed.FS

// Catalogue is a set of profiles. It is immutable and safe for concurrent use.
type Catalogue struct{ profiles []*Profile }

// Builtin returns the catalogue embedded in the program.
var Builtin = sync.OnceValue(func() *Catalogue {
	c, err := load()
	if err != nil {
		panic(err) // the embedded files are tested
	}
	return c
})

func load() (*Catalogue, error) {
	entries, err := builtin.ReadDir("profiles")
	if err != nil {
		return nil, err
	}
	var profiles []*Profile
	for _, e := range entries {
		src, err := builtin.ReadFile("profiles/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := Parse(e.Name(), src)
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, p)
	}
	return NewCatalogue(profiles...)
}

// NewCatalogue makes a catalogue of profiles with different ids.
func NewCatalogue(profiles ...*Profile) (*Catalogue, error) {
	sorted := slices.SortedFunc(slices.Values(profiles), func(a, b *Profile) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].ID == sorted[i-1].ID {
			return nil, fmt.Errorf("two profiles have the id %q", sorted[i].ID)
		}
	}
	return &Catalogue{profiles: sorted}, nil
}

// Profiles returns the profiles by id. The caller owns the slice.
func (c *Catalogue) Profiles() []*Profile { return slices.Clone(c.profiles) }

// Profile returns one profile, or fails with PROFILE_NOT_FOUND.
func (c *Catalogue) Profile(id string) (*Profile, error) {
	var ids []string
	for _, p := range c.profiles {
		if p.ID == id {
			return p, nil
		}
		ids = append(ids, p.ID)
	}
	return nil, fault.New(fault.ProfileNotFound, fault.Meta{"profile": id},
		"there is no profile %q; there are: %s", id, strings.Join(ids, ", "))
}

// Parse reads one profile. Unknown keys and broken values are errors that name
// the file, the line and the column.
func Parse(name string, src []byte) (*Profile, error) {
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	var p Profile
	if err := safeyaml.Decode(src, &p, yaml.DisallowUnknownField(), yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &p, nil
}

// complete checks what the types cannot say and fills in what may be left out.
func (p *Profile) complete() error {
	for _, f := range []struct{ name, value string }{
		{"id", p.ID}, {"name", p.Name}, {"binary", p.Binary}, {"install", p.Install}, {"tool_name", p.ToolName},
	} {
		if f.value == "" {
			return fmt.Errorf("%s is missing", f.name)
		}
	}
	if err := p.Version.compile(); err != nil {
		return err
	}
	for i := range p.Carriers {
		if err := p.Carriers[i].complete(p.VerifiedVersion); err != nil {
			return fmt.Errorf("carrier %q: %w", p.Carriers[i].Name, err)
		}
	}
	if err := p.checkConflicts(); err != nil {
		return err
	}
	if err := p.MCP.check(); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	if err := p.Permissions.check(); err != nil {
		return fmt.Errorf("permissions: %w", err)
	}
	if p.MCP.holdsContext() || p.Permissions.holdsContext() {
		return errors.New("{context} belongs to carriers only")
	}
	if p.MCP.hasList() || p.Permissions.hasList() {
		return errors.New("a variable that is a list belongs to carriers only")
	}
	if err := p.Login.check(); err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if p.Prove != nil {
		if err := p.Prove.check(); err != nil {
			return fmt.Errorf("prove: %w", err)
		}
	}
	return p.checkDialogs()
}

func (v *Version) compile() error {
	re, err := regexp.Compile(v.Pattern)
	if err != nil {
		return fmt.Errorf("version.pattern: %w", err)
	}
	if re.NumSubexp() < 1 {
		return errors.New("version.pattern needs a group for the version")
	}
	v.re = re
	return nil
}

var (
	kinds       = []Kind{Fresh, Continue, NativeResume, Swap, Rotation, StructuredTurn, Headless}
	workspaces  = []Workspace{Project, RunDirectory}
	strategies  = []Strategy{ConventionFile, Flag, Stdin, Env}
	moments     = []Applies{NextTurn, AtResume, AtRestart}
	dialogKinds = []DialogKind{DialogTrust, DialogLogin, DialogMCPApproval}
)

func (c *Carrier) complete(version string) error {
	switch {
	case c.Name == "":
		return errors.New("name is missing")
	case !slices.Contains(strategies, c.Strategy):
		return fmt.Errorf("strategy %q is none of %v", c.Strategy, strategies)
	case !slices.Contains(workspaces, c.Workspace):
		return fmt.Errorf("workspace %q is none of %v", c.Workspace, workspaces)
	case len(c.Kinds) == 0:
		return errors.New("kinds is empty")
	case c.LimitBytes < 0:
		return errors.New("limit_bytes is negative")
	case !c.Template.holdsContext():
		return errors.New("the template has no {context}")
	}
	for _, k := range c.Kinds {
		if !slices.Contains(kinds, k) {
			return fmt.Errorf("kind %q is none of %v", k, kinds)
		}
	}
	if c.Applies == "" {
		c.Applies = AtRestart
	}
	if !slices.Contains(moments, c.Applies) {
		return fmt.Errorf("applies %q is none of %v", c.Applies, moments)
	}
	if c.NextTurnLimitBytes < 0 || c.Applies != NextTurn && (c.NextTurnLimitBytes > 0 || c.NextTurnOnce) {
		return errors.New("next_turn_limit_bytes and next_turn_once bound what applies at next_turn")
	}
	if c.FrozenOnResume && c.Applies != AtRestart {
		return fmt.Errorf("applies %s: a text that is frozen on resume changes at_restart only", c.Applies)
	}
	for _, n := range c.Neutralise {
		if !slices.Contains(neutralisers, n) {
			return fmt.Errorf("neutralise %q is none of %v", n, neutralisers)
		}
	}
	switch c.VerifiedVersion {
	case "":
		c.VerifiedVersion = version
	case "none":
		c.VerifiedVersion = ""
	}
	return c.Template.check()
}

func (p *Profile) checkDialogs() error {
	for _, d := range p.Dialogs {
		if !slices.Contains(dialogKinds, d.Kind) {
			return fmt.Errorf("dialog %q is none of %v", d.Kind, dialogKinds)
		}
		for _, w := range d.Workspaces {
			if !slices.Contains(workspaces, w) {
				return fmt.Errorf("dialog %q: workspace %q is none of %v", d.Kind, w, workspaces)
			}
		}
	}
	return nil
}

// offers names the carriers that serve a launch, for messages.
func (p *Profile) offers(kind Kind, workspace Workspace, headless bool) string {
	var names []string
	for i := range p.Carriers {
		c := &p.Carriers[i]
		if c.Serves(kind, workspace, headless) && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
