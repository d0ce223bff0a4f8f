package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var pi = cli{
	profile: "pi",
	rules:   "AGENTS.md",
	setUp:   usePi,
	fresh:   func(prompt string) []string { return []string{"--mode", "json", "-p", prompt} },
	resume:  func(id, prompt string) []string { return []string{"--session", id, "-p", prompt} },
	session: func(t *testing.T, out result) string {
		t.Helper()
		m := regexp.MustCompile(`"type":"session",.*?"id":"([^"]+)"`).FindStringSubmatch(out.stdout)
		if m == nil {
			t.Fatalf("no session id in:\n%s", out.all())
		}
		return m[1]
	},
}

// usePi is a person whose pi talks to the stub.
func usePi(w *world) {
	w.t.Helper()
	w.env = append(w.env, "PI_OFFLINE=1")
	w.write(filepath.Join(w.home, ".pi/agent/models.json"), `{"providers":{"stub":{"baseUrl":"`+w.model.URL+`/v1","apiKey":"dummy",
		"api":"openai-completions","models":[{"id":"stub-model","contextWindow":1000000}]}}}`)
	w.write(filepath.Join(w.home, ".pi/agent/settings.json"), `{"defaultProvider":"stub","defaultModel":"stub-model"}`)
}

func TestPiReceivesTheWholeContextByEveryCarrier(t *testing.T) {
	for _, c := range []struct{ strategy, carrier string }{{"flag", "append_system_prompt_file"}, {"stdin", "stdin"}} {
		t.Run(c.carrier, func(t *testing.T) { pi.carries(t, "project", c.strategy, c.carrier) })
	}
}

func TestPiIsNotToldOfToolsItCannotHave(t *testing.T) {
	w := newWorld(t)
	usePi(w)
	w.setUpProject()
	r := w.run("ideai", "pi", "--append-system-prompt", "PERSONS-OWN-b00c", "-p", "hello")
	text := w.lastTurn().Text()
	if !strings.Contains(text, "PERSONS-OWN-b00c") || !strings.Contains(text, rulesTail) {
		t.Error("the person's own text or the rules did not arrive")
	}
	if strings.Contains(text, "idea_memory_") {
		t.Error("the model is told of tools that are not there")
	}
	if !strings.Contains(r.stderr, "takes no MCP servers") {
		t.Errorf("nothing said that the tools are missing:\n%s", r.stderr)
	}
}
