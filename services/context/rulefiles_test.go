package contextsvc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	contextsvc "github.com/idea-ide/ideai/services/context"
)

func TestRuleFilesAreWhatALaunchUses(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  []contextsvc.RuleFile
	}{
		"nothing":             {nil, []contextsvc.RuleFile{}},
		"the team's own file": {map[string]string{"AGENTS.md": "12345", "CLAUDE.md": "x"}, []contextsvc.RuleFile{{"AGENTS.md", contextsvc.RulesSection, 5}}},
		"all kinds": {
			map[string]string{
				"AGENTS.md": "not used beside CONTEXT.md", "docs/rules.md": "123",
				".ideai/CONTEXT.md":    "---\nrules_from: [docs/../docs/rules.md, gone.md, docs/rules.md]\n---\nx\n",
				".ideai/agents/dev.md": "12", ".ideai/agents/old/dev.md": "no agent", ".ideai/agents/notes.txt": "no agent",
				".ideai/skills/s/SKILL.md": "1", ".ideai/skills/s/other.md": "beside", ".ideai/memory/a.md": "no rule",
			},
			[]contextsvc.RuleFile{
				{".ideai/CONTEXT.md", contextsvc.RulesSection, 70}, {".ideai/agents/dev.md", contextsvc.PersonaSection, 2},
				{".ideai/skills/s/SKILL.md", contextsvc.CapabilitiesSection, 1}, {"docs/rules.md", contextsvc.RulesSection, 3}, {"gone.md", contextsvc.RulesSection, 0},
			},
		},
		"a damaged CONTEXT.md": {map[string]string{".ideai/CONTEXT.md": "---\na: [\n---\n"}, []contextsvc.RuleFile{{".ideai/CONTEXT.md", contextsvc.RulesSection, 13}}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := onDisk(t, tc.files)
			got, err := w.RuleFiles(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, append([]contextsvc.RuleFile{}, got...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
