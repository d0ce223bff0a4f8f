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

// qwen asks for a session id of its own choice.
var qwen = cli{
	profile: "qwen",
	rules:   "QWEN.md",
	setUp:   useQwen,
	fresh:   func(prompt string) []string { return []string{"-o", "stream-json", prompt} },
	resume:  func(id, prompt string) []string { return []string{"--resume", id, prompt} },
	session: func(t *testing.T, out result) string {
		t.Helper()
		m := regexp.MustCompile(`"session_id":"([^"]+)"`).FindStringSubmatch(out.stdout)
		if m == nil {
			t.Fatalf("no session id in:\n%s", out.all())
		}
		return m[1]
	},
}

// useQwen is a person whose Qwen Code talks to the stub and has an MCP server.
func useQwen(w *world) {
	w.t.Helper()
	w.env = append(w.env, "OPENAI_BASE_URL="+w.model.URL+"/v1", "OPENAI_API_KEY=dummy", "OPENAI_MODEL=stub-model")
	self, err := os.Executable()
	must(w.t, err)
	settings, err := json.Marshal(map[string]any{
		"security":    map[string]any{"auth": map[string]any{"selectedType": "openai"}},
		"memory":      map[string]any{"enableManagedAutoMemory": false},
		"mcpServers":  map[string]any{"own": map[string]any{"command": self, "args": []string{"own-mcp-server"}}},
		"permissions": map[string]any{"allow": []string{"mcp__own__own_echo"}, "deny": []string{"Read(secret.txt)"}},
	})
	must(w.t, err)
	w.write(filepath.Join(w.home, ".qwen/settings.json"), string(settings))
}

func TestQwenReceivesTheWholeContextByEveryCarrier(t *testing.T) {
	for _, c := range []struct{ strategy, carrier string }{
		{"flag", "append_system_prompt"}, {"flag", "mcp_instructions"}, {"stdin", "stdin"},
	} {
		t.Run(c.carrier, func(t *testing.T) { qwen.carries(t, "project", c.strategy, c.carrier) })
	}
}

func TestQwenCallsOurToolsAndThePersonsOwnAndRespectsBothsRules(t *testing.T) {
	w := newWorld(t)
	useQwen(w)
	w.setUpProject()
	w.write("main.go", "package main\n")
	w.write("secret.txt", "TOP-SECRET-f00d\n")
	calls := []stubmodel.Call{
		{Name: "mcp__ideai__idea_memory_recall", Args: map[string]any{"query": "comment arrondir une facture"}},
		{Name: "mcp__ideai__idea_memory_read", Args: map[string]any{"name": "decoupe-des-factures"}},
		{Name: "mcp__own__own_echo", Args: map[string]any{"text": "still here"}},
		{Name: "read_file", Args: map[string]any{"file_path": filepath.Join(w.project, "secret.txt")}},
		{Name: "read_file", Args: map[string]any{"file_path": filepath.Join(w.project, "main.go")}},
		{Name: "edit", Args: map[string]any{"file_path": filepath.Join(w.project, "main.go"), "old_string": "package main", "new_string": "package shop"}},
		{Name: "write_file", Args: map[string]any{"file_path": filepath.Join(w.project, ".ideai/memory/mine.md"), "content": "past every gate"}},
	}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn < len(calls) {
			return stubmodel.Reply{Call: &calls[turn]}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "qwen", "--approval-mode", "auto-edit", "rename the package")
	results := w.lastTurn().ToolResults()
	if n := strings.Count(results, "ARRONDI-44e0"); n < 2 {
		t.Errorf("recall and read gave the note %d times, want twice:\n%s", n, results)
	}
	if !strings.Contains(results, "OWN-ECHO still here") {
		t.Errorf("the person's own MCP server was not reached:\n%s", results)
	}
	if strings.Contains(results, "TOP-SECRET-f00d") {
		t.Error("the person's deny rule did not hold: the secret reached the model")
	}
	if got := w.read("main.go"); got != "package shop\n" {
		t.Errorf("the edit by the CLI's own tool did not arrive: %q\n%s", got, results)
	}
	if _, err := os.Stat(filepath.Join(w.project, ".ideai/memory/mine.md")); err == nil {
		t.Error("the agent wrote into .ideai/memory with its own tool")
	}
}
