package contextsvc_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	contextsvc "github.com/idea-ide/ideai/services/context"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update accepts it:\n%s", path, diff)
	}
}

// report shows what a composed context accounts for.
func report(c contextsvc.EffectiveContext, left []contextsvc.LeftOut) string {
	var b strings.Builder
	for _, s := range c.Sections {
		fmt.Fprintf(&b, "%s: %d tokens, budget %d, stable %v\n", s.Kind, s.Tokens, s.Budget, s.Stable)
		for _, src := range s.Sources {
			fmt.Fprintf(&b, "  from %s (%d)\n", src.Name, src.Tokens)
		}
		for _, l := range s.LeftOut {
			fmt.Fprintf(&b, "  without %s: %s (%d)%s\n", l.Name, why[l.Why], l.Tokens, limit(l))
		}
	}
	for _, l := range left {
		fmt.Fprintf(&b, "without %s: %s (%d)\n", l.Name, why[l.Why], l.Tokens)
	}
	return b.String()
}

func limit(l contextsvc.LeftOut) string {
	if l.Limit == 0 {
		return ""
	}
	return fmt.Sprintf(", %d notes over a limit of %d", l.Count, l.Limit)
}

var why = map[contextsvc.Why]string{
	contextsvc.OverItsBudget: "budget", contextsvc.ReadByCLI: "read by the CLI", contextsvc.Untrusted: "untrusted",
	contextsvc.Unusable: "unusable", contextsvc.Missing: "missing", contextsvc.Shortened: "shortened", contextsvc.Unavailable: "unavailable",
	contextsvc.OverItsIndex: "index",
}

func TestComposedContexts(t *testing.T) {
	english := map[string]string{".ideai/project.yaml": "language: en\n"}
	for name, tc := range map[string]struct {
		files  map[string]string
		inputs func(*contextsvc.Inputs)
	}{
		"french":    {},
		"english":   {files: english},
		"few tools": {files: english, inputs: func(in *contextsvc.Inputs) { in.Tools = []string{"idea_reply", "idea_memory_recall", "other"} }},
		"nothing but ourselves": {files: map[string]string{".ideai/project.yaml": "", ".ideai/CONTEXT.md": "", ".ideai/agents/dev.md": "", ".ideai/agents/tester.md": "", ".ideai/skills/release/SKILL.md": ""},
			inputs: func(in *contextsvc.Inputs) {
				*in = contextsvc.Inputs{Agent: "dev", Profile: "codex", Trusted: true}
			}},
		"untrusted":    {inputs: func(in *contextsvc.Inputs) { in.Trusted = false }},
		"codex":        {inputs: func(in *contextsvc.Inputs) { in.Profile = "codex" }},
		"tight budget": {files: map[string]string{".ideai/project.yaml": "budgets: {memory_tokens: 90, memory_index_tokens: 40, state_tokens: 30, handoff_tokens: 40}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			if tc.inputs != nil {
				tc.inputs(&in)
			}
			c, left, err := inMemory(t, atelier(tc.files)).Compose(t.Context(), at, in)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.ReplaceAll(name, " ", "-")+".md", c.Text()+"\n"+strings.Repeat("=", 20)+"\n"+report(c, left))
		})
	}
}
