package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadArgs(t *testing.T) {
	for _, c := range []struct {
		profile, args string // split at "|"
		want          Invocation
	}{
		{"claude", "", Invocation{Kind: Fresh}},
		{"claude", "fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"claude", "--model|opus|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"claude", "--model=opus|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"claude", "-p|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"claude", "--print|--output-format|json|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"claude", "-c", Invocation{Kind: NativeResume}},
		{"claude", "-cp|go on", Invocation{Kind: NativeResume, Headless: true, Prompt: "go on"}},
		{"claude", "--continue|--fork-session", Invocation{Kind: NativeResume, Fork: true}},
		{"claude", "-r", Invocation{Kind: NativeResume}},
		{"claude", "-r|abc|go on", Invocation{Kind: NativeResume, Session: "abc", Prompt: "go on"}},
		{"claude", "--resume=abc|go on", Invocation{Kind: NativeResume, Session: "abc", Prompt: "go on"}},
		{"claude", "--resume|-p|go on", Invocation{Kind: NativeResume, Headless: true, Prompt: "go on"}},
		{"claude", "--add-dir|a|b", Invocation{Kind: Fresh}},
		{"claude", "--add-dir|a|--|fix", Invocation{Kind: Fresh, Prompt: "fix"}},
		{"claude", "-d|api|fix", Invocation{Kind: Fresh, Prompt: "fix"}},
		{"claude", "mcp|list", Invocation{Kind: Fresh, Manage: true}},
		{"claude", "--version", Invocation{Kind: Fresh, Manage: true}},
		{"claude", "fix|mcp", Invocation{Kind: Fresh, Prompt: "fix mcp"}},
		{"claude", "--unknown-switch|fix", Invocation{Kind: Fresh, Prompt: "fix"}},
		{"claude", "--model", Invocation{Kind: Fresh}},
		{"codex", "", Invocation{Kind: Fresh}},
		{"codex", "fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"codex", "-mgpt-6|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"codex", "exec|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"codex", "-c|a=1|e|--json|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"codex", "exec|-", Invocation{Kind: Headless, Headless: true}},
		{"codex", "exec|resume|abc|go on", Invocation{Kind: NativeResume, Headless: true, Session: "abc", Prompt: "go on"}},
		{"codex", "exec|resume|--last|go on", Invocation{Kind: NativeResume, Headless: true, Prompt: "go on"}},
		{"codex", "e|resume|--last", Invocation{Kind: NativeResume, Headless: true}},
		{"codex", "exec|fork|abc|go on", Invocation{Kind: NativeResume, Headless: true, Session: "abc", Fork: true, Prompt: "go on"}},
		{"codex", "resume", Invocation{Kind: NativeResume}},
		{"codex", "resume|abc", Invocation{Kind: NativeResume, Session: "abc"}},
		{"codex", "resume|--last|go on", Invocation{Kind: NativeResume, Prompt: "go on"}},
		{"codex", "fork|abc", Invocation{Kind: NativeResume, Session: "abc", Fork: true}},
		{"codex", "login|status", Invocation{Kind: Fresh, Manage: true}},
		{"codex", "exec|help", Invocation{Kind: Headless, Headless: true, Manage: true}},
		{"codex", "fix|login", Invocation{Kind: Fresh, Prompt: "fix login"}},
		{"copilot", "-p|fix it|--model|x", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"copilot", "-i|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"copilot", "--resume=abc|-p|go on", Invocation{Kind: NativeResume, Headless: true, Session: "abc", Prompt: "go on"}},
		{"copilot", "--continue", Invocation{Kind: NativeResume}},
		{"copilot", "mcp|list", Invocation{Kind: Fresh, Manage: true}},
		{"gemini", "fix|it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"gemini", "-p|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"gemini", "-i|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"gemini", "-r|latest|-p|go on", Invocation{Kind: NativeResume, Headless: true, Session: "latest", Prompt: "go on"}},
		{"gemini", "--resume", Invocation{Kind: NativeResume}},
		{"gemini", "--list-sessions", Invocation{Kind: Fresh, Manage: true}},
		{"gemini", "mcp|list", Invocation{Kind: Fresh, Manage: true}},
		{"opencode", "", Invocation{Kind: Fresh}},
		{"opencode", ".", Invocation{Kind: Fresh}},
		{"opencode", ".|--prompt|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"opencode", "run|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"opencode", "run|-i|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"opencode", "run|-s|abc|go on", Invocation{Kind: NativeResume, Headless: true, Session: "abc", Prompt: "go on"}},
		{"opencode", "-c|--fork", Invocation{Kind: NativeResume, Fork: true}},
		{"opencode", "auth|login", Invocation{Kind: Fresh, Manage: true}},
		{"pi", "-p|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"pi", "--mode|json|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"pi", "fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"pi", "--session|abc|go on", Invocation{Kind: NativeResume, Session: "abc", Prompt: "go on"}},
		{"pi", "--fork|abc", Invocation{Kind: NativeResume, Session: "abc", Fork: true}},
		{"pi", "list", Invocation{Kind: Fresh, Manage: true}},
		{"qwen", "", Invocation{Kind: Fresh}},
		{"qwen", "fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"qwen", "fix|it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"qwen", "-p|fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"qwen", "--prompt=fix it", Invocation{Kind: Headless, Headless: true, Prompt: "fix it"}},
		{"qwen", "-i|fix it", Invocation{Kind: Fresh, Prompt: "fix it"}},
		{"qwen", "--resume|abc", Invocation{Kind: NativeResume, Session: "abc"}},
		{"qwen", "-c|go on", Invocation{Kind: NativeResume, Headless: true, Prompt: "go on"}},
		{"qwen", "mcp|list", Invocation{Kind: Fresh, Manage: true}},
	} {
		t.Run(c.profile+" "+c.args, func(t *testing.T) {
			var args []string
			if c.args != "" {
				args = strings.Split(c.args, "|")
			}
			got := profile(t, c.profile).ReadArgs(args)
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Invocation{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ReadArgs takes whatever a shell can give.
func FuzzReadArgs(f *testing.F) {
	f.Add("-p\x00--resume\x00=\x00--\x00-")
	f.Add("exec\x00resume\x00-c=\x00-cx=1\x00---\x00-é")
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		for _, p := range Builtin().Profiles() {
			inv := p.ReadArgs(args)
			if !strings.Contains(strings.Join(args, " "), inv.Prompt) {
				t.Errorf("%s: the prompt %q is not in %q", p.ID, inv.Prompt, args)
			}
			if _, err := p.Choose(Want{Kind: inv.Kind, Headless: inv.Headless, Invocation: inv}); err != nil {
				_ = err.Error()
			}
		}
	})
}
