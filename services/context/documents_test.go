package contextsvc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

func file(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A save touches the lines it means; what people wrote around them stays.
func TestSavesKeepTheFile(t *testing.T) {
	w, dir := onDisk(t, map[string]string{
		".ideai/project.yaml":   "# of the team\nid: atelier\nx-ci: [1, 2] # theirs\nlanguage: fr # for now\nbudgets:\n  # small\n  memory_tokens: 10\n",
		".ideai/CONTEXT.md":     "\uFEFF---\r\nowner: 'us' # theirs\r\nrules_from:\r\n  - a.md\r\n---\r\n\r\nOld.",
		".ideai/agents/dev.md":  "---\nmodel: big # theirs\nname: Dev\n---\nOld.\n",
		".ideai/skills/s/x.txt": "theirs",
	})
	settings, err := w.Settings(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	settings.Language, settings.DefaultAgent, settings.Budgets.State = "en", "dev", 7
	if _, err := w.SaveSettings(t.Context(), at, settings); err != nil {
		t.Fatal(err)
	}
	rules, err := w.Rules(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	rules.Body, rules.From = "New.\nAnd more.\n", nil
	if _, err := w.SaveRules(t.Context(), at, rules); err != nil {
		t.Fatal(err)
	}
	dev, err := w.Persona(t.Context(), at, "dev")
	if err != nil {
		t.Fatal(err)
	}
	dev.Description = "Does: things"
	if _, err := w.SavePersona(t.Context(), at, dev); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		".ideai/project.yaml":  "# of the team\nid: atelier\nx-ci: [1, 2] # theirs\nlanguage: en # for now\nbudgets:\n  # small\n  memory_tokens: 10\n  state_tokens: 7\nagent: dev\n",
		".ideai/CONTEXT.md":    "\uFEFF---\r\nowner: 'us' # theirs\r\n---\r\n\r\nNew.\r\nAnd more.",
		".ideai/agents/dev.md": "---\nmodel: big # theirs\nname: Dev\ndescription: \"Does: things\"\n---\nOld.\n",
	} {
		if diff := cmp.Diff(want, file(t, dir, name)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A damaged file is shown as it is, listed with its problem, and repaired by a
// save.
func TestDamagedFilesAreShownAndRepaired(t *testing.T) {
	const broken = "---\nname: [x\n---\nbody\n"
	w, dir := onDisk(t, map[string]string{
		".ideai/agents/dev.md": broken, ".ideai/agents/ok.md": "fine", ".ideai/agents/Big.md": "x", ".ideai/agents/readme.txt": "x",
		".ideai/skills/s/SKILL.md": "a\u202Eb", ".ideai/CONTEXT.md": broken,
	})
	list, _, err := w.Personas(t.Context(), at, contextsvc.Page{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, p := range list {
		if (p.Problem == "") != (p.Agent == "ok") {
			t.Errorf("%s has the problem %q", p.Agent, p.Problem)
		}
	}
	dev, err := w.Persona(t.Context(), at, "dev")
	if err != nil || dev.Body != broken || !strings.Contains(dev.Problem, ".ideai/agents/dev.md, line 2") {
		t.Errorf("dev = %+v, %v", dev, err)
	}
	dev.Name, dev.Body = "Dev", "body\n"
	if saved, err := w.SavePersona(t.Context(), at, dev); err != nil || saved.Problem != "" || saved.Name != "Dev" {
		t.Errorf("repaired: %+v, %v", saved, err)
	}
	if got, want := file(t, dir, ".ideai/agents/dev.md"), "---\nname: Dev\n---\n\nbody\n"; got != want {
		t.Errorf("the repaired file is %q, want %q", got, want)
	}
	skills, _, err := w.Skills(t.Context(), at, contextsvc.Page{})
	if err != nil || len(skills) != 1 || !strings.Contains(skills[0].Problem, "U+202E") {
		t.Errorf("skills = %+v, %v", skills, err)
	}
	_, err = w.Rules(t.Context(), at)
	checkFault(t, err, fault.Damaged, fault.Meta{"name": ".ideai/CONTEXT.md", "line": "2"})
}

// A broken skill or persona of another agent does not stop a launch; the report
// says which line is wrong and what to do.
func TestABrokenFileIsLeftOutWithItsLine(t *testing.T) {
	w := inMemory(t, map[string]string{
		".ideai/skills/s/SKILL.md": "---\nname: s\ndescription: [x\n---\n", ".ideai/agents/other.md": "---\nname: [x\n---\n",
	})
	c, _, err := w.Compose(t.Context(), at, contextsvc.Inputs{Agent: "dev", Profile: "claude", Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	details := map[string]string{}
	for _, s := range c.Sections {
		for _, l := range s.LeftOut {
			details[l.Name] = l.Detail
		}
	}
	for name, line := range map[string]string{".ideai/skills/s/SKILL.md": "3", ".ideai/agents/other.md": "2"} {
		if d := details[name]; !strings.HasPrefix(d, name+", line "+line+": ") || !strings.HasSuffix(d, "; mend this line") {
			t.Errorf("%s is left out with %q", name, d)
		}
	}
}

// French puts a space before a colon, and people do not quote it.
func TestAlmostYAMLIsUsedReportedAndQuotedByASave(t *testing.T) {
	w, dir := onDisk(t, map[string]string{
		".ideai/agents/dev.md":     "---\nname: Dev\ndescription: Rôle : tout faire\nx-own: kept\n---\n\nDo it.\n",
		".ideai/skills/s/SKILL.md": "---\ndescription: Publier : pas à pas\n---\n\nSteps.\n",
		".ideai/CONTEXT.md":        "---\ntitle: Règles : les nôtres\nrules_from: [NOTES.md]\n---\n\nBe kind.\n",
	})
	dev, err := w.Persona(t.Context(), at, "dev")
	if err != nil || dev.Description != "Rôle : tout faire" || dev.Body != "Do it.\n" || !strings.Contains(dev.Problem, ".ideai/agents/dev.md, line 3: ") {
		t.Errorf("dev = %+v, %v", dev, err)
	}
	skill, err := w.Skill(t.Context(), at, "s")
	if err != nil || skill.Description != "Publier : pas à pas" || !strings.Contains(skill.Problem, ".ideai/skills/s/SKILL.md, line 2: ") {
		t.Errorf("skill = %+v, %v", skill, err)
	}
	rules, err := w.Rules(t.Context(), at)
	if err != nil || rules.Body != "Be kind.\n" || len(rules.From) != 1 || !strings.Contains(rules.Problem, ".ideai/CONTEXT.md, line 2: ") {
		t.Errorf("rules = %+v, %v", rules, err)
	}
	c, left, err := w.Compose(t.Context(), at, contextsvc.Inputs{Agent: "dev", Profile: "claude", Trusted: true})
	if text := c.Text(); err != nil || !strings.Contains(text, "Be kind.") || !strings.Contains(text, "Do it.") || !strings.Contains(text, "Publier : pas à pas") {
		t.Errorf("composed %q, left out %v, %v", text, left, err)
	}
	dev.Body = "Do it well.\n"
	if saved, err := w.SavePersona(t.Context(), at, dev); err != nil || saved.Problem != "" {
		t.Errorf("saved %+v, %v", saved, err)
	}
	if got, want := file(t, dir, ".ideai/agents/dev.md"), "---\nname: Dev\ndescription: 'Rôle : tout faire'\nx-own: kept\n---\n\nDo it well.\n"; got != want {
		t.Errorf("the saved file is %q, want %q", got, want)
	}
	if saved, err := w.SaveSkill(t.Context(), at, skill); err != nil || saved.Problem != "" {
		t.Errorf("saved %+v, %v", saved, err)
	}
	rules.Body = "Be kinder.\n"
	if saved, err := w.SaveRules(t.Context(), at, rules); err != nil || saved.Problem != "" || len(saved.From) != 1 {
		t.Errorf("saved %+v, %v", saved, err)
	}
}

func TestNewChecks(t *testing.T) {
	good := contextsvc.Deps{Stores: inMemory(t, nil).stores, Files: memFiles{}, Catalogue: provider.Builtin(), Tokens: counter}
	for name, change := range map[string]func(*contextsvc.Config, *contextsvc.Deps){
		"no stores":    func(_ *contextsvc.Config, d *contextsvc.Deps) { d.Stores = nil },
		"no files":     func(_ *contextsvc.Config, d *contextsvc.Deps) { d.Files = nil },
		"no catalogue": func(_ *contextsvc.Config, d *contextsvc.Deps) { d.Catalogue = nil },
		"no tokens":    func(_ *contextsvc.Config, d *contextsvc.Deps) { d.Tokens = nil },
		"language":     func(c *contextsvc.Config, _ *contextsvc.Deps) { c.Language = "de" },
		"budget":       func(c *contextsvc.Config, _ *contextsvc.Deps) { c.Budgets.Memory = -1 },
	} {
		config, deps := contextsvc.Config{}, good
		change(&config, &deps)
		if _, err := contextsvc.New(config, deps); err == nil {
			t.Errorf("%s: New succeeded", name)
		}
	}
}
