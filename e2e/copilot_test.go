package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

const copilotSession = "0cb916db-26aa-40f2-86b5-1ba81b225fd2"

var copilot = cli{
	profile: "copilot",
	rules:   "AGENTS.md",
	setUp:   useCopilot,
	fresh: func(prompt string) []string {
		return []string{"--session-id=" + copilotSession, "-p", prompt}
	},
	resume:  func(id, prompt string) []string { return []string{"--resume=" + id, "-p", prompt} },
	session: func(*testing.T, result) string { return copilotSession },
}

// useCopilot is a person whose Copilot CLI talks to the stub, has an MCP server
// and instructions of their own.
func useCopilot(w *world) {
	w.t.Helper()
	w.write(filepath.Join(w.home, "mine/own.instructions.md"), "PERSONS-OWN-b00c\n")
	w.env = append(w.env, "COPILOT_PROVIDER_BASE_URL="+w.model.URL+"/v1", "COPILOT_PROVIDER_API_KEY=dummy",
		"COPILOT_MODEL=gpt-5", "COPILOT_AUTO_UPDATE=false", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS="+filepath.Join(w.home, "mine"))
	self, err := os.Executable()
	must(w.t, err)
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"own": map[string]any{
		"type": "local", "command": self, "args": []string{"own-mcp-server"}, "tools": []string{"*"}}}})
	must(w.t, err)
	w.write(filepath.Join(w.home, ".copilot/mcp-config.json"), string(servers))
	// What it unpacks for every new home is 235 MB: one copy serves all tests.
	shared := filepath.Join(clisDir, "copilot-cache")
	must(w.t, os.MkdirAll(shared, 0o700))
	must(w.t, os.MkdirAll(filepath.Join(w.home, ".cache"), 0o700))
	must(w.t, os.Symlink(shared, filepath.Join(w.home, ".cache/copilot")))
}

func TestCopilotReceivesTheWholeContext(t *testing.T) {
	copilot.carries(t, "project", "env", "custom_instructions")
}

func TestCopilotCallsOurToolsAndThePersonsOwnAndRespectsBothsRules(t *testing.T) {
	w := newWorld(t)
	useCopilot(w)
	w.setUpProject()
	w.write("main.go", "package main\n")
	w.write("secret.txt", "nothing yet\n")
	path := func(name string) string { return filepath.Join(w.project, name) }
	calls := []stubmodel.Call{
		{Name: "ideai-idea_memory_recall", Args: map[string]any{"query": "comment arrondir une facture"}},
		{Name: "ideai-idea_memory_read", Args: map[string]any{"name": "decoupe-des-factures"}},
		{Name: "own-own_echo", Args: map[string]any{"text": "still here"}},
		{Name: "edit", Args: map[string]any{"path": path("main.go"), "old_str": "package main", "new_str": "package shop"}},
		{Name: "edit", Args: map[string]any{"path": path("secret.txt"), "old_str": "nothing yet", "new_str": "changed"}},
		{Name: "create", Args: map[string]any{"path": path(".ideai/memory/mine.md"), "file_text": "past every gate"}},
	}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn < len(calls) {
			return stubmodel.Reply{Call: &calls[turn]}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "copilot", "--allow-tool=write", "--allow-tool=own", "--deny-tool=write(secret.txt)", "-p", "rename the package")
	results := w.lastTurn().ToolResults()
	if n := strings.Count(results, "ARRONDI-44e0"); n < 2 {
		t.Errorf("recall and read gave the note %d times, want twice:\n%s", n, results)
	}
	if !strings.Contains(results, "OWN-ECHO still here") {
		t.Errorf("the person's own MCP server was not reached:\n%s", results)
	}
	if !strings.Contains(w.lastTurn().Text(), "PERSONS-OWN-b00c") {
		t.Error("the person's own instructions are gone")
	}
	if got := w.read("main.go"); got != "package shop\n" {
		t.Errorf("the edit by the CLI's own tool did not arrive: %q\n%s", got, results)
	}
	if got := w.read("secret.txt"); got != "nothing yet\n" {
		t.Errorf("the person's deny rule did not hold: %q", got)
	}
	if _, err := os.Stat(path(".ideai/memory/mine.md")); err == nil {
		t.Error("the agent wrote into .ideai/memory with its own tool")
	}
}

// The list that carries the context is separated by commas.
func TestCopilotRefusesAFolderItsListCannotHold(t *testing.T) {
	w := newWorld(t)
	useCopilot(w)
	w.project = filepath.Join(filepath.Dir(w.project), "one, two")
	must(t, os.MkdirAll(w.project, 0o700))
	w.setUpProject()
	r, err := w.try(time1, w.project, "", "ideai", "copilot", "-p", "hello")
	if err == nil || !strings.Contains(r.stderr, "one, two") || len(w.model.Requests()) > 0 {
		t.Errorf("code %d, %d requests\n%s", r.code, len(w.model.Requests()), r.stderr)
	}
}
