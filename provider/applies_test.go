package provider

import (
	"strings"
	"testing"
)

// What the runs of docs/providers.md showed.
func TestWhenAChangedContextApplies(t *testing.T) {
	for _, c := range []struct {
		profile, carrier      string
		kind                  Kind
		workspace             Workspace
		interactive, headless Applies
	}{
		{"claude", "side_directory", Fresh, Project, NextTurn, AtResume},
		{"claude", "append_system_prompt_file", Fresh, Project, AtRestart, AtRestart},
		{"claude", "append_system_prompt_file", NativeResume, Project, AtResume, AtResume},
		{"claude", "stdin", StructuredTurn, Project, AtResume, AtResume},
		{"codex", "mcp_instructions", Fresh, Project, AtResume, AtResume},
		{"codex", "developer_instructions", Fresh, Project, AtRestart, AtRestart},
		{"codex", "stdin", Fresh, Project, AtRestart, AtRestart},
		{"codex", "agents_md", Fresh, RunDirectory, AtResume, AtResume},
	} {
		p, err := Builtin().Profile(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		carrier, err := p.Choose(Want{Kind: c.kind, Workspace: c.workspace, Carrier: c.carrier, Headless: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := carrier.AppliesIn(false); got != c.interactive {
			t.Errorf("%s %s %s in a terminal: %s, want %s", c.profile, c.carrier, c.kind, got, c.interactive)
		}
		if got := carrier.AppliesIn(true); got != c.headless {
			t.Errorf("%s %s %s without one: %s, want %s", c.profile, c.carrier, c.kind, got, c.headless)
		}
	}
}

func TestAppliesIsRead(t *testing.T) {
	with := func(line string) (*Profile, error) {
		return Parse("x.yaml", []byte(strings.Replace(small, "kinds: [fresh]", "kinds: [fresh]\n    "+line, 1)))
	}
	if p, err := Parse("x.yaml", []byte(small)); err != nil || p.Carriers[0].Applies != AtRestart {
		t.Errorf("without a word it applies at %v (%v): nothing is claimed that no run has shown", p.Carriers[0].Applies, err)
	}
	if p, err := with("applies: next_turn"); err != nil || p.Carriers[0].Applies != NextTurn {
		t.Errorf("next_turn: %v", err)
	}
	if _, err := with("applies: soon"); err == nil || !strings.Contains(err.Error(), `applies "soon"`) {
		t.Errorf("an unknown moment: %v", err)
	}
	if _, err := with("applies: at_resume\n    next_turn_once: true"); err == nil || !strings.Contains(err.Error(), "next_turn") {
		t.Errorf("a limit of what is not shown: %v", err)
	}
	if _, err := with("applies: at_resume\n    frozen_on_resume: true"); err == nil || !strings.Contains(err.Error(), "frozen") {
		t.Errorf("a frozen text that applies at a resume: %v", err)
	}
}
