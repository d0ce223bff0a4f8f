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

var opencode = cli{
	profile: "opencode",
	rules:   "AGENTS.md",
	setUp:   useOpencode,
	fresh:   func(prompt string) []string { return []string{"run", "--format", "json", prompt} },
	resume:  func(id, prompt string) []string { return []string{"run", "-s", id, prompt} },
	session: func(t *testing.T, out result) string {
		t.Helper()
		m := regexp.MustCompile(`"sessionID":"([^"]+)"`).FindStringSubmatch(out.stdout)
		if m == nil {
			t.Fatalf("no session id in:\n%s", out.all())
		}
		return m[1]
	},
}

// useOpencode is a person whose opencode talks to the stub, asks before edits
// and has an MCP server and instructions of their own.
func useOpencode(w *world) {
	w.t.Helper()
	w.env = append(w.env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"npm_config_offline=true") // else it fetches a package into each new home
	self, err := os.Executable()
	must(w.t, err)
	w.write(filepath.Join(w.home, "own.md"), "PERSONS-OWN-b00c\n")
	config, err := json.Marshal(map[string]any{
		"model": "stub/stub-model", "small_model": "stub/stub-model",
		"provider": map[string]any{"stub": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Stub",
			"options": map[string]any{"baseURL": w.model.URL + "/v1", "apiKey": "dummy"},
			"models":  map[string]any{"stub-model": map[string]any{"name": "stub", "limit": map[string]any{"context": 1000000, "output": 8000}}},
		}},
		"instructions": []string{filepath.Join(w.home, "own.md")},
		"mcp":          map[string]any{"own": map[string]any{"type": "local", "command": []string{self, "own-mcp-server"}, "enabled": true}},
		"permission":   map[string]any{"*": "ask", "own_*": "allow"},
	})
	must(w.t, err)
	w.write(filepath.Join(w.home, ".config/opencode/opencode.json"), string(config))
}

func TestOpencodeReceivesTheWholeContextByEveryCarrier(t *testing.T) {
	for _, c := range []struct{ strategy, carrier string }{{"env", "instructions"}, {"stdin", "stdin"}} {
		t.Run(c.carrier, func(t *testing.T) { opencode.carries(t, "project", c.strategy, c.carrier) })
	}
}

func TestOpencodeCallsOurToolsAndThePersonsOwnAndKeepsTheirRules(t *testing.T) {
	w := newWorld(t)
	useOpencode(w)
	w.setUpProject()
	calls := []stubmodel.Call{
		{Name: "ideai_idea_memory_recall", Args: map[string]any{"query": "comment arrondir une facture"}},
		{Name: "ideai_idea_memory_read", Args: map[string]any{"name": "decoupe-des-factures"}},
		{Name: "own_own_echo", Args: map[string]any{"text": "still here"}},
		{Name: "write", Args: map[string]any{"filePath": filepath.Join(w.project, "mine.txt"), "content": "unasked"}},
	}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn < len(calls) {
			return stubmodel.Reply{Call: &calls[turn]}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "opencode", "run", "look around")
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
	if _, err := os.Stat(filepath.Join(w.project, "mine.txt")); err == nil {
		t.Error("the person's rule to ask did not hold")
	}
}

func TestOpencodeWithSettingsInAVariableIsRefused(t *testing.T) {
	w := newWorld(t)
	useOpencode(w)
	w.env = append(w.env, `OPENCODE_CONFIG_CONTENT={"instructions":["x.md"]}`)
	w.setUpProject()
	r, err := w.try(time1, w.project, "", "ideai", "opencode", "run", "hello")
	if err == nil || !strings.Contains(r.stderr, "OPENCODE_CONFIG_CONTENT") || len(w.model.Requests()) > 0 {
		t.Errorf("code %d, %d requests\n%s", r.code, len(w.model.Requests()), r.stderr)
	}
}
