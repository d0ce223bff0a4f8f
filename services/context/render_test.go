package contextsvc_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

func itoa(n int) string { return strconv.Itoa(n) }

const (
	side = "/home/zoé/mon projet/.ideai/run/l-1"
	root = "/home/zoé/mon projet"
)

func composed(t *testing.T, rules string) contextsvc.EffectiveContext {
	t.Helper()
	c, _, err := inMemory(t, map[string]string{
		".ideai/CONTEXT.md": rules, ".ideai/project.yaml": "budgets: {fixed_tokens: 1000000}\n",
	}).Compose(t.Context(), at, contextsvc.Inputs{Agent: "dev", Profile: "claude", Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// contents is everything a rendering puts before the CLI.
func contents(p provider.Piece) string {
	var b strings.Builder
	for _, f := range p.Files {
		b.Write(f.Content)
	}
	for _, a := range p.Args {
		b.WriteString(a.Value)
	}
	for _, e := range p.Env {
		b.WriteString(e.Value)
	}
	b.Write(p.Stdin)
	return b.String()
}

// Every cell of the matrix renders the whole text, inside the side directory.
func TestEveryCarrierRendersTheWholeContext(t *testing.T) {
	w, c := inMemory(t, nil), composed(t, "The one rule is RULE-93c1.")
	profiles, _, err := w.Profiles(contextsvc.Page{Size: 1000})
	if err != nil || len(profiles) < 2 {
		t.Fatalf("%d profiles, %v", len(profiles), err)
	}
	for _, p := range profiles {
		for i := range p.Carriers {
			carrier := &p.Carriers[i]
			for _, kind := range carrier.Kinds {
				in := contextsvc.Injection{
					Context: c, Profile: p.ID, Kind: kind, Workspace: carrier.Workspace, Strategy: carrier.Strategy, Carrier: carrier.Name,
					Headless: carrier.HeadlessOnly, SideDirectory: side, ProjectRoot: root, CLIVersion: carrier.VerifiedVersion,
				}
				got, err := w.Render(in)
				if err != nil {
					t.Errorf("%s %s %s: %v", p.ID, carrier.Name, kind, err)
					continue
				}
				if got.Carrier.Name != carrier.Name || !strings.Contains(contents(got.Piece), "RULE-93c1") {
					t.Errorf("%s %s %s: the text is not in %+v", p.ID, carrier.Name, kind, got)
				}
				for _, f := range got.Piece.Files {
					if !strings.HasPrefix(f.Path, side+"/") {
						t.Errorf("%s %s: a file at %s", p.ID, carrier.Name, f.Path)
					}
				}
				want := provider.Verified
				if carrier.VerifiedVersion == "" {
					want = provider.Unverified
				}
				if got.Verification != want {
					t.Errorf("%s %s %s is %s, want %s", p.ID, carrier.Name, kind, got.Verification, want)
				}
				again, err := w.Render(in)
				if err != nil || !cmp.Equal(got.Piece, again.Piece) {
					t.Errorf("%s %s %s renders differently the second time", p.ID, carrier.Name, kind)
				}
			}
		}
	}
}

func TestRenderNeutralisesOnlyWhereNeeded(t *testing.T) {
	const rules = "Mail a@b.test, see @docs/x.md and `@here`.\n<!-- keep me -->\n"
	w, c := inMemory(t, nil), composed(t, rules)
	render := func(profile, carrier string) string {
		t.Helper()
		got, err := w.Render(contextsvc.Injection{Context: c, Profile: profile, Kind: provider.Fresh, Carrier: carrier, SideDirectory: side, ProjectRoot: root})
		if err != nil {
			t.Fatal(err)
		}
		if got.Verification != provider.OtherVersion {
			t.Errorf("an unknown version is %s", got.Verification)
		}
		return contents(got.Piece)
	}
	if got := render("claude", "side_directory"); strings.Contains(got, " @docs") || strings.Contains(got, "\n<!--") || !strings.Contains(got, "docs/x.md and `@here`") || !strings.Contains(got, "a@b.test") {
		t.Errorf("claude would expand or strip:\n%s", got)
	}
	if got := render("claude", "append_system_prompt_file"); !strings.Contains(got, rules) {
		t.Errorf("a flag's text was changed:\n%s", got)
	}
	if got := render("codex", ""); !strings.Contains(got, rules) {
		t.Errorf("codex's text was changed:\n%s", got)
	}
}

func TestRenderRefuses(t *testing.T) {
	w, c := inMemory(t, nil), composed(t, strings.Repeat("One of many rules. ", 8000))
	base := contextsvc.Injection{Context: c, Profile: "codex", Kind: provider.Fresh, SideDirectory: side, ProjectRoot: root}
	for name, tc := range map[string]struct {
		change func(*contextsvc.Injection)
		reason fault.Reason
		meta   fault.Meta
	}{
		"too large": {func(in *contextsvc.Injection) { in.Carrier = "developer_instructions" }, fault.InjectionTooLarge,
			fault.Meta{"profile": "codex", "carrier": "developer_instructions", "limit": "131071", "instead": "mcp_instructions"}},
		"a smaller host": {func(in *contextsvc.Injection) { in.Carrier, in.ItemLimit = "developer_instructions", 8191 }, fault.InjectionTooLarge,
			fault.Meta{"limit": "8191"}},
		"no such strategy": {func(in *contextsvc.Injection) { in.Strategy = provider.ConventionFile }, fault.InjectionUnsupported,
			fault.Meta{"profile": "codex", "strategy": "convention_file", "kind": "fresh", "workspace": "project"}},
		"frozen on resume": {func(in *contextsvc.Injection) {
			in.Carrier, in.Kind = "developer_instructions", provider.NativeResume
		}, fault.InjectionUnsupported, fault.Meta{"kind": "native_resume"}},
		"standard input at a terminal": {func(in *contextsvc.Injection) { in.Strategy = provider.Stdin }, fault.InjectionUnsupported, nil},
		"unknown profile":              {func(in *contextsvc.Injection) { in.Profile = "x" }, fault.ProfileNotFound, nil},
		"relative side directory":      {func(in *contextsvc.Injection) { in.SideDirectory = "run/x" }, fault.InvalidField, nil},
		"side directory with dots":     {func(in *contextsvc.Injection) { in.SideDirectory = "/a/../b" }, fault.InvalidField, nil},
		"relative project":             {func(in *contextsvc.Injection) { in.ProjectRoot = "." }, fault.InvalidField, nil},
		"another text":                 {func(in *contextsvc.Injection) { in.Context.Digest = strings.Repeat("0", 64) }, fault.InvalidField, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := base
			tc.change(&in)
			_, err := w.Render(in)
			checkFault(t, err, tc.reason, tc.meta)
		})
	}
	for _, windows := range []string{`C:\Users\Zoé\p`, `\\server\share\p`, "/"} {
		in := base
		in.SideDirectory, in.ProjectRoot = windows, windows
		if _, err := w.Render(in); err != nil {
			t.Errorf("%s: %v", windows, err)
		}
	}
}
