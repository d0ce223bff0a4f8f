package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

const geminiSession = "7d5c1a52-5b1c-4a39-9d3c-3b0f5b7f0c11"

var gemini = cli{
	profile: "gemini",
	rules:   "GEMINI.md",
	setUp:   func(w *world) { w.inClosedFolder(); useGemini(w) },
	fresh:   func(prompt string) []string { return []string{"--session-id", geminiSession, "-p", prompt} },
	resume:  func(id, prompt string) []string { return []string{"--resume", id, "-p", prompt} },
	session: func(*testing.T, result) string { return geminiSession },
}

// useGemini is a person whose Gemini CLI talks to the stub, trusts the project
// and has an MCP server and a policy.
func useGemini(w *world) {
	w.t.Helper()
	w.env = append(w.env, "GOOGLE_GEMINI_BASE_URL="+w.model.URL, "GEMINI_API_KEY=dummy", "NO_BROWSER=1")
	self, err := os.Executable()
	must(w.t, err)
	for name, content := range map[string]any{
		"trustedFolders.json": map[string]string{w.project: "TRUST_FOLDER"},
		"settings.json": map[string]any{
			"security":   map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
			"privacy":    map[string]any{"usageStatisticsEnabled": false},
			"mcpServers": map[string]any{"own": map[string]any{"command": self, "args": []string{"own-mcp-server"}, "trust": true}},
		},
	} {
		text, err := json.Marshal(content)
		must(w.t, err)
		w.write(filepath.Join(w.home, ".gemini", name), string(text))
	}
	w.write(filepath.Join(w.home, ".gemini/policies/mine.toml"), `[[rule]]
toolName = "replace"
argsPattern = '"file_path":"[^"]*secret.txt"'
decision = "deny"
priority = 500
`)
}

func TestGeminiReceivesTheWholeContextByEveryCarrier(t *testing.T) {
	for _, c := range []struct{ strategy, carrier string }{{"convention_file", "side_directory"}, {"stdin", "stdin"}} {
		t.Run(c.carrier, func(t *testing.T) { gemini.carries(t, "project", c.strategy, c.carrier) })
	}
}

// Gemini CLI takes no settings from below a folder that others may write to,
// such as the one for temporary files.
func TestGeminiBelowAnOpenFolderGoesWithoutToolsAndSaysSo(t *testing.T) {
	w := newWorld(t)
	must(t, os.Chmod(filepath.Dir(w.project), 0o770)) //nolint:gosec // that is the point
	useGemini(w)
	w.setUpProject()
	r := w.run("ideai", "gemini", "-p", "hello")
	if !strings.Contains(r.stderr, "chmod go-w") || strings.Contains(r.stderr, "Skipping system") {
		t.Errorf("standard error:\n%s", r.stderr)
	}
	if strings.Contains(w.lastTurn().Text(), "idea_memory_") {
		t.Error("the model is told of tools that are not there")
	}
}

// inClosedFolder moves a world's project to where only its owner writes.
func (w *world) inClosedFolder() {
	w.t.Helper()
	base, err := os.MkdirTemp(clisDir, "world")
	must(w.t, err)
	w.t.Cleanup(func() {
		w.stopServer() // it writes there until it ends
		must(w.t, os.RemoveAll(base))
	})
	for dir := base; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(w.t, err)
		if info.Mode().Perm()&0o022 != 0 {
			w.t.Skipf("others may write to %s", dir)
		}
	}
	w.project = filepath.Join(base, "atelier été")
	must(w.t, os.MkdirAll(w.project, 0o700))
	w.run("git", "init", "-q", w.project)
}

func TestGeminiCallsOurToolsAndThePersonsOwnAndRespectsBothsRules(t *testing.T) {
	w := newWorld(t)
	w.inClosedFolder()
	useGemini(w)
	w.setUpProject()
	w.write("main.go", "package main\n")
	w.write("secret.txt", "nothing yet\n")
	path := func(name string) string { return filepath.Join(w.project, name) }
	calls := []stubmodel.Call{
		{Name: "mcp_ideai_idea_memory_recall", Args: map[string]any{"query": "comment arrondir une facture"}},
		{Name: "mcp_ideai_idea_memory_read", Args: map[string]any{"name": "decoupe-des-factures"}},
		{Name: "mcp_own_own_echo", Args: map[string]any{"text": "still here"}},
		{Name: "replace", Args: map[string]any{"file_path": path("main.go"), "instruction": "rename", "old_string": "package main", "new_string": "package shop"}},
		{Name: "replace", Args: map[string]any{"file_path": path("secret.txt"), "instruction": "change", "old_string": "nothing yet", "new_string": "changed"}},
		{Name: "write_file", Args: map[string]any{"file_path": path(".ideai/memory/mine.md"), "content": "past every gate"}},
	}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn < len(calls) {
			return stubmodel.Reply{Call: &calls[turn]}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "gemini", "--approval-mode", "auto_edit", "-p", "rename the package")
	results := w.lastTurn().ToolResults()
	if n := strings.Count(results, "ARRONDI-44e0"); n < 2 {
		t.Errorf("recall and read gave the note %d times, want twice:\n%s", n, results)
	}
	if !strings.Contains(results, "OWN-ECHO still here") {
		t.Errorf("the person's own MCP server was not reached:\n%s", results)
	}
	if got := w.read("main.go"); got != "package shop\n" {
		t.Errorf("the edit by the CLI's own tool did not arrive: %q\n%s", got, results)
	}
	if got := w.read("secret.txt"); got != "nothing yet\n" {
		t.Errorf("the person's policy did not hold: %q", got)
	}
	if _, err := os.Stat(path(".ideai/memory/mine.md")); err == nil {
		t.Error("the agent wrote into .ideai/memory with its own tool")
	}
}
