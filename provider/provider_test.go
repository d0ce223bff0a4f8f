package provider

import (
	"slices"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
)

func profile(t *testing.T, id string) *Profile {
	t.Helper()
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Profile(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheBuiltinCatalogueLoads(t *testing.T) {
	var ids []string
	for _, p := range Builtin().Profiles() {
		ids = append(ids, p.ID)
	}
	if want := []string{"claude", "codex", "copilot", "gemini", "opencode", "pi", "qwen"}; !slices.Equal(ids, want) {
		t.Errorf("profiles %v, want %v", ids, want)
	}
	_, err := Builtin().Profile("absent")
	if fault.ReasonOf(err) != fault.ProfileNotFound || !strings.Contains(err.Error(), "claude, codex, copilot, gemini, opencode, pi, qwen") {
		t.Errorf("an absent profile: %v", err)
	}
	if _, err := NewCatalogue(&Profile{ID: "a"}, &Profile{ID: "a"}); err == nil {
		t.Error("two profiles of one id were taken")
	}
}

func TestVersionsAreParsed(t *testing.T) {
	for _, c := range []struct{ profile, output, want string }{
		{"claude", "2.1.332 (Claude Code)\n", "2.1.332"},
		{"claude", "Claude Code\n", ""},
		{"codex", "codex-cli 0.171.0\n", "0.171.0"},
		{"codex", "WARNING: no PATH aliases\ncodex-cli 0.171.0\n", "0.171.0"},
		{"codex", "", ""},
		{"copilot", "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n", "1.0.102"},
		{"gemini", "0.61.0\n", "0.61.0"},
		{"opencode", "1.18.33\n", "1.18.33"},
		{"pi", "0.73.1\n", "0.73.1"},
		{"qwen", "0.24.4\n", "0.24.4"},
	} {
		if got := profile(t, c.profile).Version.Parse(c.output); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.profile, c.output, got, c.want)
		}
	}
}

func TestReadsFile(t *testing.T) {
	for _, c := range []struct {
		profile, path string
		present       []string
		want          bool
	}{
		{"claude", "CLAUDE.md", []string{"CLAUDE.md"}, true},
		{"claude", "AGENTS.md", []string{"AGENTS.md"}, true},
		{"claude", "AGENTS.md", []string{"AGENTS.md", "CLAUDE.md"}, false},
		{"claude", "AGENTS.md", []string{"AGENTS.md", ".claude/CLAUDE.md"}, false},
		{"claude", "docs/RULES.md", nil, false},
		{"codex", "CLAUDE.md", nil, false},
		{"codex", "AGENTS.md", []string{"AGENTS.md"}, true},
		{"codex", "AGENTS.md", []string{"AGENTS.md", "AGENTS.override.md"}, false},
	} {
		got := profile(t, c.profile).ReadsFile(c.path, func(p string) bool { return slices.Contains(c.present, p) })
		if got != c.want {
			t.Errorf("%s reads %s beside %v: %v, want %v", c.profile, c.path, c.present, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name, profile string
		want          Want
		args          []string
		carrier       string
		reason        fault.Reason
	}{
		{"claude fresh", "claude", Want{Kind: Fresh}, nil, "side_directory", ""},
		{"claude resume", "claude", Want{Kind: NativeResume}, nil, "side_directory", ""},
		{"claude flag", "claude", Want{Kind: Fresh, Strategy: Flag}, nil, "append_system_prompt_file", ""},
		{"claude by name", "claude", Want{Kind: NativeResume, Carrier: "append_system_prompt_file"}, nil, "append_system_prompt_file", ""},
		{"claude stdin with a terminal", "claude", Want{Kind: Fresh, Strategy: Stdin}, nil, "", fault.InjectionUnsupported},
		{"claude stdin headless", "claude", Want{Kind: Headless, Strategy: Stdin, Headless: true}, nil, "stdin", ""},
		{"claude has no variable", "claude", Want{Kind: Fresh, Strategy: Env}, nil, "", fault.InjectionUnsupported},
		{"claude bare takes another door", "claude", Want{Kind: Fresh}, []string{"--bare"}, "append_system_prompt_file", ""},
		{"claude bare, door asked for", "claude", Want{Kind: Fresh, Carrier: "side_directory"}, []string{"--bare"}, "", fault.ArgumentConflict},
		{"claude in the background", "claude", Want{Kind: Fresh}, []string{"--bg", "x"}, "", fault.ArgumentConflict},
		{"claude with its own file", "claude", Want{Kind: Fresh}, []string{"--append-system-prompt-file=x"}, "side_directory", ""},
		{"claude with two files", "claude", Want{Kind: Fresh, Strategy: Flag}, []string{"--append-system-prompt-file", "x"}, "", fault.ArgumentConflict},
		{"codex fresh", "codex", Want{Kind: Fresh}, nil, "mcp_instructions", ""},
		{"codex resume", "codex", Want{Kind: NativeResume}, nil, "mcp_instructions", ""},
		{"codex frozen text on resume", "codex", Want{Kind: NativeResume, Carrier: "developer_instructions"}, nil, "", fault.InjectionUnsupported},
		{"codex own instructions", "codex", Want{Kind: Fresh, Carrier: "developer_instructions"}, []string{"-c", "developer_instructions=x"}, "", fault.ArgumentConflict},
		{"codex own server of our name", "codex", Want{Kind: Fresh}, []string{"--config=mcp_servers.ideai.command=x"}, "", fault.ArgumentConflict},
		{"codex own server of another name", "codex", Want{Kind: Fresh}, []string{"-cmcp_servers.ideai2.command=x"}, "mcp_instructions", ""},
		{"codex with all servers at once", "codex", Want{Kind: Fresh}, []string{"exec", "-c", "mcp_servers={}"}, "", fault.ArgumentConflict},
		{"codex with another feature", "codex", Want{Kind: Fresh}, []string{"-c", "features.goals=true"}, "mcp_instructions", ""},
		{"codex in a run directory", "codex", Want{Kind: NativeResume, Workspace: RunDirectory}, nil, "agents_md", ""},
		{"codex moved out of it", "codex", Want{Kind: Fresh, Workspace: RunDirectory}, []string{"-C/tmp"}, "", fault.ArgumentConflict},
		{"claude has no run directory", "claude", Want{Kind: Fresh, Workspace: RunDirectory}, nil, "", fault.InjectionUnsupported},
		{"qwen fresh", "qwen", Want{Kind: Fresh}, nil, "append_system_prompt", ""},
		{"qwen with its own text", "qwen", Want{Kind: Headless, Headless: true}, []string{"--append-system-prompt", "x", "p"}, "mcp_instructions", ""},
		{"qwen with its own text in a terminal", "qwen", Want{Kind: Fresh}, []string{"--append-system-prompt", "x"}, "", fault.ArgumentConflict},
		{"qwen with servers of its own", "qwen", Want{Kind: Fresh}, []string{"--mcp-config=x"}, "", fault.ArgumentConflict},
		{"copilot fresh", "copilot", Want{Kind: Fresh}, nil, "custom_instructions", ""},
		{"copilot without instructions", "copilot", Want{Kind: Fresh}, []string{"--no-custom-instructions"}, "", fault.ArgumentConflict},
		{"pi fresh", "pi", Want{Kind: Fresh}, nil, "append_system_prompt_file", ""},
		{"pi with a text of its own", "pi", Want{Kind: Fresh}, []string{"--append-system-prompt", "x"}, "append_system_prompt_file", ""},
		{"codex remote", "codex", Want{Kind: Fresh}, []string{"--remote", "ws://x"}, "", fault.ArgumentConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := profile(t, c.profile)
			c.want.Invocation = p.ReadArgs(c.args)
			got, err := p.Choose(c.want)
			if fault.ReasonOf(err) != c.reason {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			if got.Name != c.carrier {
				t.Errorf("carrier %q, want %q", got.Name, c.carrier)
			}
		})
	}
}

// A plan never claims an injection the CLI would ignore: whatever is chosen
// serves that very launch.
func TestChooseHoldsForEveryCell(t *testing.T) {
	for _, p := range Builtin().Profiles() {
		for _, kind := range kinds {
			for _, ws := range workspaces {
				for _, headless := range []bool{false, true} {
					c, err := p.Choose(Want{Kind: kind, Workspace: ws, Headless: headless})
					if err == nil && (!c.Serves(kind, ws, headless) || c.VerifiedVersion == "") {
						t.Errorf("%s %s %s: %s does not serve it", p.ID, kind, ws, c.Name)
					}
					if err != nil && ws == Project {
						t.Errorf("%s %s: %v", p.ID, kind, err)
					}
				}
			}
		}
	}
}

func TestVerification(t *testing.T) {
	for _, c := range []struct {
		verified, installed string
		want                Verification
	}{
		{"1.2", "1.2", Verified},
		{"1.2", "1.3", OtherVersion},
		{"1.2", "", OtherVersion},
		{"", "1.2", Unverified},
		{"", "", Unverified},
	} {
		if got := (&Carrier{VerifiedVersion: c.verified}).Verification(c.installed); got != c.want {
			t.Errorf("%q with %q installed: %s, want %s", c.verified, c.installed, got, c.want)
		}
	}
}

func TestDialogs(t *testing.T) {
	p := profile(t, "claude")
	if got := p.DialogsIn(Project, false); len(got) == 0 || got[0].Kind != DialogTrust {
		t.Errorf("dialogs %v", got)
	}
	if got := p.DialogsIn(Project, true); got != nil {
		t.Errorf("dialogs without a terminal: %v", got)
	}
}
