package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

func TestClaudeReceivesTheWholeContextByEveryCarrier(t *testing.T) {
	for _, carrier := range []struct{ workspace, strategy, carrier string }{
		{"project", "convention_file", "side_directory"},
		{"project", "flag", "append_system_prompt_file"},
		{"project", "stdin", "stdin"},
	} {
		t.Run(carrier.workspace+"/"+carrier.carrier, func(t *testing.T) {
			w := newWorld(t)
			w.setUpProject()
			launch := func(args ...string) result {
				return w.run("ideai", append([]string{"launch", "--profile", "claude", "--workspace", carrier.workspace,
					"--strategy", carrier.strategy, "--carrier", carrier.carrier, "--"}, args...)...)
			}
			out := launch("-p", "hello there", "--output-format", "json")
			w.mustHoldWhole(w.lastTurn(), w.effectiveContext("claude"))
			if !strings.Contains(w.lastTurn().Text(), "hello there") {
				t.Error("the person's prompt did not reach the model")
			}

			// A resumed session gets the context as it is now.
			w.write(".ideai/agents/dev.md", "---\nname: Dev\ndescription: writes the code\n---\nPERSONA-CHANGED-6d You review too.\n")
			w.model.Reset()
			launch("-p", "and now", "--resume", sessionID(t, out.stdout))
			got := w.lastTurn().Text()
			for _, want := range []string{"PERSONA-CHANGED-6d", "hello there", "and now"} {
				if !strings.Contains(got, want) {
					t.Errorf("the resumed session's request lacks %q", want)
				}
			}
		})
	}
}

func sessionID(t *testing.T, out string) string {
	t.Helper()
	var r struct {
		SessionID string `json:"session_id"`
	}
	must(t, json.Unmarshal([]byte(out), &r))
	return r.SessionID
}

func TestClaudeKeepsTheProjectsOwnRulesFileAndSaysNothingTwice(t *testing.T) {
	w := newWorld(t)
	const own = "# Team rules\n\nTEAM-RULE-e1a9 Use tabs.\n"
	w.write("CLAUDE.md", own)
	w.write(".ideai/CONTEXT.md", "---\nrules_from: [CLAUDE.md]\n---\n"+rulesHead+"\n")
	w.run("ideai", "init", "--yes")
	w.run("ideai", "claude", "-p", "hello")
	text := w.lastTurn().Text()
	for _, marker := range []string{"TEAM-RULE-e1a9", rulesHead} {
		if n := strings.Count(text, marker); n != 1 {
			t.Errorf("%s is in the request %d times, want once", marker, n)
		}
	}
	if got := w.read("CLAUDE.md"); got != own {
		t.Errorf("CLAUDE.md was changed:\n%s", got)
	}

	// The CLI that does not read CLAUDE.md is given it.
	w.model.Reset()
	w.run("ideai", "codex", "exec", "hello")
	if n := strings.Count(w.lastTurn().Text(), "TEAM-RULE-e1a9"); n != 1 {
		t.Errorf("codex was given CLAUDE.md's rule %d times, want once", n)
	}
}

func TestClaudeInDefaultModeCallsOurToolsAndEditsTheProject(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	w.write("main.go", "package main\n")
	w.write("secret.txt", "TOP-SECRET-f00d\n")
	w.write(".claude/settings.json", `{"permissions":{"deny":["Read(./secret.txt)"]}}`)
	w.write(filepath.Join(w.home, ".claude/settings.json"), `{"permissions":{"allow":["Edit","Write"]}}`)

	calls := []stubmodel.Call{
		{Name: "mcp__ideai__idea_memory_recall", Args: map[string]any{"query": "comment arrondir une facture"}},
		{Name: "mcp__ideai__idea_memory_read", Args: map[string]any{"name": "decoupe-des-factures"}},
		{Name: "Read", Args: map[string]any{"file_path": filepath.Join(w.project, "secret.txt")}},
		{Name: "Read", Args: map[string]any{"file_path": filepath.Join(w.project, "main.go")}},
		{Name: "Edit", Args: map[string]any{"file_path": filepath.Join(w.project, "main.go"), "old_string": "package main", "new_string": "package shop"}},
		{Name: "Write", Args: map[string]any{"file_path": filepath.Join(w.project, ".ideai/memory/mine.md"), "content": "past every gate"}},
	}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn < len(calls) {
			return stubmodel.Reply{Call: &calls[turn]}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "claude", "-p", "rename the package")

	results := w.lastTurn().ToolResults()
	if n := strings.Count(results, "ARRONDI-44e0"); n < 2 {
		t.Errorf("recall and read gave the note %d times, want twice:\n%s", n, results)
	}
	if strings.Contains(results, "TOP-SECRET-f00d") {
		t.Error("the project's deny rule did not hold: the secret reached the model")
	}
	if got := w.read("main.go"); got != "package shop\n" {
		t.Errorf("the edit by the CLI's own tool did not arrive: %q\n%s", got, results)
	}
	if _, err := os.Stat(filepath.Join(w.project, ".ideai/memory/mine.md")); err == nil {
		t.Error("the agent wrote into .ideai/memory with its own tool")
	}
}

func TestClaudeKeepsThePersonsOwnServersAndHooks(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	self, err := os.Executable()
	must(t, err)
	server, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"own": map[string]any{
		"type": "stdio", "command": self, "args": []string{"own-mcp-server"}}}})
	must(t, err)
	w.write(filepath.Join(w.home, ".claude.json"), string(server))
	mark := filepath.Join(w.home, "hook-ran")
	w.write(filepath.Join(w.home, ".claude/settings.json"),
		`{"permissions":{"allow":["mcp__own"]},"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch '`+mark+`'"}]}]}}`)
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn == 0 {
			return stubmodel.Reply{Call: &stubmodel.Call{Name: "mcp__own__own_echo", Args: map[string]any{"text": "still here"}}}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "claude", "-p", "hello")
	if got := w.lastTurn().ToolResults(); !strings.Contains(got, "OWN-ECHO still here") {
		t.Errorf("the person's own MCP server was not reached:\n%s", got)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("the person's own hook did not run")
	}
}

func TestClaudeLeavesNothingBehindInTheProject(t *testing.T) {
	w := newWorld(t)
	w.write("main.go", "package main\n")
	w.run("git", "add", "-A")
	w.run("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "start")
	w.run("ideai", "claude", "-p", "hello")
	if out := w.run("git", "status", "--porcelain").stdout; out != "" {
		t.Errorf("git status after a launch:\n%s", out)
	}
	runs, err := filepath.Glob(filepath.Join(w.project, ".ideai/run/*/CLAUDE.md"))
	must(t, err)
	if len(runs) > 0 {
		t.Errorf("side directories left: %v", runs)
	}
}

func TestTokenNeverShowsInArgvOrLogs(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	plan := w.run("ideai", "launch", "--profile", "claude", "--dry-run", "--json", "--", "-p", "hello").stdout
	var p struct {
		Argv []struct{ Value string } `json:"argv"`
		Env  []struct {
			Name, Value string
			Secret      bool
		} `json:"env"`
	}
	must(t, json.Unmarshal([]byte(plan), &p))
	jwt := regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)
	for _, a := range p.Argv {
		if jwt.MatchString(a.Value) {
			t.Errorf("a token in argv: %s", a.Value)
		}
	}
	w.run("ideai", "claude", "-p", "hello")
	must(t, filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "ideai") {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && jwt.Match(b) {
			t.Errorf("a token in %s", path)
		}
		return nil
	}))
}
