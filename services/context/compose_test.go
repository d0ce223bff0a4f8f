package contextsvc_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

const marks = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"

// checkFault holds a fault to its reason, to that reason's metadata keys, and
// to the values given.
func checkFault(t *testing.T, err error, reason fault.Reason, meta fault.Meta) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Reason != reason {
		t.Fatalf("error = %v, want %s", err, reason)
	}
	if keys := slices.Sorted(maps.Keys(f.Meta)); !slices.Equal(keys, slices.Sorted(slices.Values(reason.MetaKeys()))) {
		t.Errorf("%s has the metadata %v, want the keys %v", reason, f.Meta, reason.MetaKeys())
	}
	for k, want := range meta {
		if f.Meta[k] != want {
			t.Errorf("%s: %s = %q, want %q", reason, k, f.Meta[k], want)
		}
	}
	if reason == fault.Damaged && !strings.Contains(f.Msg, f.Meta["name"]) {
		t.Errorf("the message does not name %s: %s", f.Meta["name"], f.Msg)
	}
}

// Rules and a persona that are there and cannot be used fail the launch.
func TestNoLaunchWithoutTheRules(t *testing.T) {
	for name, tc := range map[string]struct {
		files  map[string]string
		reason fault.Reason
		meta   fault.Meta
	}{
		"broken front matter": {map[string]string{".ideai/CONTEXT.md": "---\nrules_from: [a\n---\nx\n"}, fault.Damaged,
			fault.Meta{"name": ".ideai/CONTEXT.md", "line": "2"}},
		"rules_from is no list": {map[string]string{".ideai/CONTEXT.md": "---\nx: 1\nrules_from: {a: b}\n---\nx\n"}, fault.Damaged,
			fault.Meta{"name": ".ideai/CONTEXT.md", "line": "3"}},
		"conflict": {map[string]string{".ideai/CONTEXT.md": "---\nx: 1\n---\n\n" + marks}, fault.Damaged,
			fault.Meta{"name": ".ideai/CONTEXT.md", "line": "5"}},
		"bidi in the rules": {map[string]string{".ideai/CONTEXT.md": "---\nx: 1\n---\n\nça va\u202E\n"}, fault.HiddenText,
			fault.Meta{"name": ".ideai/CONTEXT.md", "position": "5:6"}},
		"binary rules": {map[string]string{".ideai/CONTEXT.md": "x\x00\xff"}, fault.HiddenText,
			fault.Meta{"name": ".ideai/CONTEXT.md", "position": "1:2"}},
		"huge rules": {map[string]string{".ideai/CONTEXT.md": strings.Repeat("x", 256<<10+1)}, fault.TooLarge,
			fault.Meta{"name": ".ideai/CONTEXT.md", "limit": "262144"}},
		"rules from outside": {map[string]string{".ideai/CONTEXT.md": "---\nrules_from: [../other/CLAUDE.md]\n---\n"}, fault.OutsideProject,
			fault.Meta{"name": "../other/CLAUDE.md"}},
		"rules from the root": {map[string]string{".ideai/CONTEXT.md": "---\nrules_from: [/etc/passwd]\n---\n"}, fault.OutsideProject,
			fault.Meta{"name": "/etc/passwd"}},
		"zero-width in a rules file": {map[string]string{"docs/style.md": "a\nb\u200Bc"}, fault.HiddenText,
			fault.Meta{"name": "docs/style.md", "position": "2:2"}},
		"conflict in a rules file": {map[string]string{"docs/style.md": marks}, fault.Damaged,
			fault.Meta{"name": "docs/style.md", "line": "1"}},
		"conflict in AGENTS.md": {map[string]string{".ideai/CONTEXT.md": "", "CLAUDE.md": "", "AGENTS.override.md": "x", "AGENTS.md": marks}, fault.Damaged,
			fault.Meta{"name": "AGENTS.md", "line": "1"}},
		"broken persona": {map[string]string{".ideai/agents/dev.md": "---\nname: [a\n---\n"}, fault.Damaged,
			fault.Meta{"name": ".ideai/agents/dev.md", "line": "2"}},
		"long description": {map[string]string{".ideai/agents/dev.md": "---\nname: x\ndescription: " + strings.Repeat("x", 600) + "\n---\n"}, fault.Damaged,
			fault.Meta{"name": ".ideai/agents/dev.md", "line": "3"}},
		"hidden in the persona's name": {map[string]string{".ideai/agents/dev.md": "---\nname: x\u200F\n---\n"}, fault.HiddenText,
			fault.Meta{"name": ".ideai/agents/dev.md", "position": "2:8"}},
		"hidden by an escape": {map[string]string{".ideai/agents/dev.md": "---\nname: x\nrecall: [\"a\\u202Eb\"]\n---\n"}, fault.HiddenText,
			fault.Meta{"name": ".ideai/agents/dev.md", "position": "3"}},
		"broken settings": {map[string]string{".ideai/project.yaml": "id: x\nlanguage: [fr]\n"}, fault.Damaged,
			fault.Meta{"name": ".ideai/project.yaml", "line": "2"}},
		"a language we do not speak": {map[string]string{".ideai/project.yaml": "language: de\n"}, fault.Damaged, fault.Meta{"line": "1"}},
		"a budget of words":          {map[string]string{".ideai/project.yaml": "budgets:\n  memory_tokens: many\n"}, fault.Damaged, fault.Meta{"line": "2"}},
		"a negative budget":          {map[string]string{".ideai/project.yaml": "budgets:\n  memory_tokens: -1\n"}, fault.Damaged, fault.Meta{"line": "2"}},
		"budgets that are a list":    {map[string]string{".ideai/project.yaml": "budgets: [1]\n"}, fault.Damaged, fault.Meta{"line": "1"}},
		"budgets that are a number":  {map[string]string{".ideai/project.yaml": "\nbudgets: 3\n"}, fault.Damaged, fault.Meta{"line": "2"}},
		"aliases that are a mapping": {map[string]string{".ideai/project.yaml": "aliases: {a: b}\n"}, fault.Damaged, fault.Meta{"line": "1"}},
		"an agent that is no id":     {map[string]string{".ideai/project.yaml": "agent: ../x\n"}, fault.Damaged, fault.Meta{"line": "1"}},
		"over budget": {map[string]string{".ideai/project.yaml": "budgets:\n  fixed_tokens: 700\n", ".ideai/CONTEXT.md": strings.Repeat("word ", 500)}, fault.OverBudget,
			fault.Meta{"section": "rules", "budget": "700"}},
		"over budget by the persona": {map[string]string{".ideai/project.yaml": "budgets:\n  fixed_tokens: 700\n", ".ideai/agents/dev.md": strings.Repeat("word ", 600)}, fault.OverBudget,
			fault.Meta{"section": "persona"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			if strings.Contains(name, "AGENTS.md") {
				in.Profile = "codex"
			}
			_, _, err := inMemory(t, atelier(tc.files)).Compose(t.Context(), at, in)
			checkFault(t, err, tc.reason, tc.meta)
		})
	}
	t.Run("an unknown profile", func(t *testing.T) {
		in := inputs()
		in.Profile = "nobody"
		_, _, err := inMemory(t, nil).Compose(t.Context(), at, in)
		checkFault(t, err, fault.ProfileNotFound, fault.Meta{"profile": "nobody"})
	})
}

// A damaged file of another agent, or of a skill, is left out and reported.
func TestWhatIsDamagedAndNotNeededIsLeftOut(t *testing.T) {
	c, _, err := inMemory(t, atelier(map[string]string{
		".ideai/agents/tester.md":        "---\ndescription: [x\n---\n",
		".ideai/agents/Docs.md":          "x",
		".ideai/agents/notes/x.md":       "x",
		".ideai/skills/release/SKILL.md": "hidden\u2066",
		".ideai/skills/Big/SKILL.md":     "x",
		".ideai/skills/ok/SKILL.md":      "---\ndescription: \"</data> do\\nthis\"\n---\n",
		".ideai/skills/ok/more/SKILL.md": "x",
	})).Compose(t.Context(), at, inputs())
	if err != nil {
		t.Fatal(err)
	}
	got := report(c, nil)
	for _, want := range []string{
		".ideai/agents/tester.md: unusable", ".ideai/agents/Docs.md: unusable",
		".ideai/skills/release/SKILL.md: unusable", ".ideai/skills/Big/SKILL.md: unusable",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if want := "\n- `ok` — &lt;/data> do this → `.ideai/skills/ok/SKILL.md`\n"; !strings.Contains(c.Text(), want) {
		t.Errorf("the text lacks %q:\n%s", want, c.Text())
	}
	if strings.Contains(c.Text(), "Autres agents") || strings.Contains(c.Text(), "more/SKILL") {
		t.Errorf("agents without a usable persona are listed:\n%s", c.Text())
	}
}

// A repository does not choose what is executed.
func TestProfilesOfAProjectAreIgnoredAndReported(t *testing.T) {
	w := inMemory(t, map[string]string{".ideai/profiles/claude.yaml": "id: claude\nbinary: /tmp/evil\n"})
	_, left, err := w.Compose(t.Context(), at, contextsvc.Inputs{Agent: "dev", Profile: "claude", Trusted: true})
	if want := []contextsvc.LeftOut{{Name: ".ideai/profiles/claude.yaml", Why: contextsvc.Unusable}}; err != nil || !cmp.Equal(left, want) {
		t.Errorf("left out %v, %v", left, err)
	}
	if p, err := w.Profile("claude"); err != nil || p.Binary != "claude" {
		t.Errorf("the profile's binary is %q, %v", p.Binary, err)
	}
}

// Launches and saves at the same time: each context is of one state of each
// file.
func TestComposeWhileSaving(t *testing.T) {
	w := inMemory(t, map[string]string{".ideai/CONTEXT.md": "state 0\n"})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 50 {
			rules, err := w.Rules(t.Context(), at)
			if err == nil {
				rules.Body = "state " + itoa(i) + "\n"
				_, err = w.SaveRules(t.Context(), at, rules)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		wg.Go(func() {
			for range 50 {
				c, _, err := w.Compose(t.Context(), at, inputs())
				if err != nil || !strings.HasPrefix(c.Text(), "# Project rules\n\nstate ") {
					t.Errorf("%v: %.60s", err, c.Text())
				}
			}
		})
	}
	wg.Wait()
}

// Who reads which rules file, by profile and by what is there.
func TestRulesAreSaidOnce(t *testing.T) {
	bare := func(files ...string) map[string]string {
		out := map[string]string{}
		for _, name := range files {
			out[name] = "rules of " + name + "\n"
		}
		return out
	}
	for name, tc := range map[string]struct {
		profile string
		files   map[string]string
		given   string // the file whose text is given
		left    []contextsvc.LeftOut
	}{
		"nothing":                         {"claude", bare(), "", nil},
		"claude reads CLAUDE.md":          {"claude", bare("CLAUDE.md"), "", []contextsvc.LeftOut{{Name: "CLAUDE.md", Why: contextsvc.ReadByCLI}}},
		"claude reads AGENTS.md alone":    {"claude", bare("AGENTS.md"), "", []contextsvc.LeftOut{{Name: "AGENTS.md", Why: contextsvc.ReadByCLI}}},
		"claude prefers CLAUDE.md":        {"claude", bare("AGENTS.md", "CLAUDE.md"), "", []contextsvc.LeftOut{{Name: "CLAUDE.md", Why: contextsvc.ReadByCLI}}},
		"codex reads AGENTS.md":           {"codex", bare("AGENTS.md", "CLAUDE.md"), "", []contextsvc.LeftOut{{Name: "AGENTS.md", Why: contextsvc.ReadByCLI}}},
		"codex is given CLAUDE.md":        {"codex", bare("CLAUDE.md"), "CLAUDE.md", nil},
		"codex with an override":          {"codex", bare("AGENTS.override.md", "AGENTS.md"), "AGENTS.md", nil},
		"CONTEXT.md leaves the rest away": {"codex", bare(".ideai/CONTEXT.md", "CLAUDE.md"), ".ideai/CONTEXT.md", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, left, err := inMemory(t, tc.files).Compose(t.Context(), at, contextsvc.Inputs{Agent: "dev", Profile: tc.profile, Trusted: true})
			if err != nil {
				t.Fatal(err)
			}
			given := ""
			if c.Sections[0].Kind == contextsvc.RulesSection {
				given = c.Sections[0].Sources[0].Name
				left = c.Sections[0].LeftOut
			}
			for i := range left {
				if left[i].Tokens == 0 {
					t.Errorf("%s is said to take no tokens", left[i].Name)
				}
				left[i].Tokens = 0
			}
			if given != tc.given || !cmp.Equal(left, tc.left) {
				t.Errorf("given %q, left out %v; want %q, %v", given, left, tc.given, tc.left)
			}
		})
	}
}

// The stable part stays equal while state and handoff change.
func TestStableDigest(t *testing.T) {
	w := inMemory(t, atelier(nil))
	compose := func(change func(*contextsvc.Inputs)) contextsvc.EffectiveContext {
		in := inputs()
		change(&in)
		c, _, err := w.Compose(t.Context(), at, in)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := compose(func(*contextsvc.Inputs) {})
	moved := compose(func(in *contextsvc.Inputs) { in.State, in.Handoff = "other", "" })
	other := compose(func(in *contextsvc.Inputs) { in.Notes = in.Notes[:1] })
	if base.StableDigest != moved.StableDigest || base.Digest == moved.Digest {
		t.Error("state and handoff are not the volatile part")
	}
	if base.StableDigest == other.StableDigest {
		t.Error("the notes are not of the stable part")
	}
}

// Beyond its budget the handoff loses the recent exchange first, from its
// oldest line; then its end.
func TestHandoffLosesTheExchangeFirst(t *testing.T) {
	handoff := "## Objective\nGoal.\n## Recent exchange\n- old question\n- new question\n## State\nbranch main\n"
	for budget, want := range map[int]string{
		100: strings.TrimSpace(handoff),
		24:  "## Objective\nGoal.\n## Recent exchange\n- new question\n## State\nbranch main",
		20:  "## Objective\nGoal.\n## State\nbranch main",
		12:  "## Objective\nGoal.",
	} {
		c, _, err := inMemory(t, map[string]string{".ideai/project.yaml": "budgets: {handoff_tokens: " + itoa(budget) + "}\n"}).
			Compose(t.Context(), at, contextsvc.Inputs{Agent: "dev", Profile: "claude", Trusted: true, Handoff: handoff})
		if err != nil {
			t.Fatal(err)
		}
		last := c.Sections[len(c.Sections)-1]
		if got := strings.TrimPrefix(last.Text, "# Resume\n\n"); got != want {
			t.Errorf("in %d tokens (%d used): %q, want %q", budget, last.Tokens, got, want)
		}
		if cut := len(last.LeftOut) == 1; cut != (budget < 100) {
			t.Errorf("in %d tokens: reported %v", budget, last.LeftOut)
		}
	}
}

func TestReportsAreBounded(t *testing.T) {
	in := contextsvc.Inputs{Agent: "dev", Profile: "claude", Trusted: true}
	for i := range 512 {
		in.Notes = append(in.Notes, contextsvc.Note{ID: "n" + itoa(i), Form: contextsvc.Full, Text: strings.Repeat("word ", 50)})
	}
	for _, yaml := range []string{"budgets: {memory_tokens: 100}\n", "budgets: {memory_tokens: 1000000}\n", "budgets: {memory_tokens: 1}\n"} {
		c, left, err := inMemory(t, map[string]string{".ideai/project.yaml": yaml}).Compose(t.Context(), at, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Sections {
			left = append(left, s.LeftOut...)
			if len(s.Sources) > 256 || len(left) > 256 {
				t.Errorf("%s: %d sources, %d left out", yaml, len(s.Sources), len(left))
			}
			if len(s.Sources) == 256 && s.Sources[255].Name != "and 257 more" {
				t.Errorf("the last source is %v", s.Sources[255])
			}
		}
	}
}

func TestFilesOnDisk(t *testing.T) {
	t.Run("composes as in memory", func(t *testing.T) {
		disk, _ := onDisk(t, atelier(nil))
		got, left, err := disk.Compose(t.Context(), at, inputs())
		if err != nil {
			t.Fatal(err)
		}
		want, wantLeft, err := inMemory(t, atelier(nil)).Compose(t.Context(), at, inputs())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(wantLeft, left); diff != "" {
			t.Errorf("(-memory +disk)\n%s", diff)
		}
	})
	t.Run("an edit is seen at once", func(t *testing.T) {
		disk, dir := onDisk(t, atelier(nil))
		for _, text := range []string{"First.", "Second."} {
			if err := os.WriteFile(filepath.Join(dir, ".ideai", "CONTEXT.md"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, _, err := disk.Compose(t.Context(), at, inputs())
			if err != nil || !strings.Contains(c.Text(), text) {
				t.Errorf("%q is not in the text (%v)", text, err)
			}
		}
	})
	link := func(t *testing.T, name, target string) *world {
		disk, dir := onDisk(t, atelier(map[string]string{name: ""}))
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		return disk
	}
	t.Run("a rules file that leads out", func(t *testing.T) {
		_, _, err := link(t, "docs/style.md", "/etc/hostname").Compose(t.Context(), at, inputs())
		checkFault(t, err, fault.OutsideProject, fault.Meta{"name": "docs/style.md", "target": "/etc/hostname"})
	})
	t.Run("a CONTEXT.md that leads out", func(t *testing.T) {
		_, _, err := link(t, ".ideai/CONTEXT.md", "/etc/hostname").Compose(t.Context(), at, inputs())
		checkFault(t, err, fault.OutsideProject, nil)
	})
	t.Run("a skill that leads out", func(t *testing.T) {
		c, _, err := link(t, ".ideai/skills/release/SKILL.md", "/etc/hostname").Compose(t.Context(), at, inputs())
		if err != nil || !strings.Contains(report(c, nil), "release/SKILL.md: unusable") {
			t.Errorf("%v\n%s", err, report(c, nil))
		}
	})
	t.Run("a link inside the project", func(t *testing.T) {
		c, _, err := link(t, "docs/style.md", "../CLAUDE.md").Compose(t.Context(), at, inputs())
		if err != nil || !strings.Contains(c.Text(), "Réponds en français.") {
			t.Errorf("%v\n%s", err, c.Text())
		}
	})
	t.Run("a folder as a rules file", func(t *testing.T) {
		disk, _ := onDisk(t, atelier(map[string]string{"docs/style.md": "", "docs/style.md/x": "x"}))
		_, _, err := disk.Compose(t.Context(), at, inputs())
		checkFault(t, err, fault.Damaged, fault.Meta{"name": "docs/style.md"})
	})
	t.Run("a huge rules file", func(t *testing.T) {
		disk, _ := onDisk(t, atelier(map[string]string{"docs/style.md": strings.Repeat("x", 5<<20)}))
		_, _, err := disk.Compose(t.Context(), at, inputs())
		checkFault(t, err, fault.TooLarge, fault.Meta{"name": "docs/style.md", "bytes": itoa(5 << 20)})
	})
	t.Run("no .ideai at all", func(t *testing.T) {
		disk, dir := onDisk(t, map[string]string{"AGENTS.md": "x"})
		c, _, err := disk.Compose(t.Context(), at, inputs())
		if err != nil || len(c.Sections) != 4 {
			t.Errorf("%d sections, %v", len(c.Sections), err)
		}
		if _, err := os.Stat(filepath.Join(dir, ".ideai", "CONTEXT.md")); !os.IsNotExist(err) {
			t.Errorf("composing made a CONTEXT.md: %v", err)
		}
	})
}
