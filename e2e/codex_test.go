package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

func TestCodexReceivesTheWholeContextByEveryCarrier(t *testing.T) {
	for _, carrier := range []struct {
		workspace, strategy, carrier string
		resume                       bool // the carrier reaches a resumed session too
	}{
		{"project", "flag", "mcp_instructions", true},
		{"project", "flag", "developer_instructions", false},
		{"project", "stdin", "stdin", false},
		{"run_directory", "convention_file", "agents_md", true},
	} {
		t.Run(carrier.workspace+"/"+carrier.carrier, func(t *testing.T) {
			w := newWorld(t)
			w.setUpProject()
			args := func(more ...string) []string {
				return append([]string{"launch", "--profile", "codex", "--workspace", carrier.workspace,
					"--strategy", carrier.strategy, "--carrier", carrier.carrier, "--"}, more...)
			}
			out := w.run("ideai", args("exec", "--json", "hello there")...)
			w.mustHoldWhole(w.lastTurn(), w.effectiveContext("codex"))
			if !strings.Contains(w.lastTurn().Text(), "hello there") {
				t.Error("the person's prompt did not reach the model")
			}

			w.write(".ideai/agents/dev.md", "---\nname: Dev\ndescription: writes the code\n---\nPERSONA-CHANGED-6d You review too.\n")
			w.model.Reset()
			resume := args("exec", "resume", threadID(t, out.stdout), "and now")
			if !carrier.resume {
				r, err := w.try(time1, w.project, "", "ideai", resume...)
				if err == nil || !strings.Contains(r.stderr, "mcp_instructions") {
					t.Errorf("a carrier that a resume ignores must be refused, naming one that works: code %d\n%s", r.code, r.stderr)
				}
				return
			}
			w.run("ideai", resume...)
			got := w.lastTurn().Text()
			for _, want := range []string{"PERSONA-CHANGED-6d", "hello there", "and now"} {
				if !strings.Contains(got, want) {
					t.Errorf("the resumed session's request lacks %q", want)
				}
			}
		})
	}
}

// The newest models get their tools in another form ("code mode"), in which
// codex by itself shows them one line of a server's instructions.
func TestCodexWithItsNewestModelReceivesTheWholeContext(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	config := filepath.Join(w.home, ".codex/config.toml")
	w.write(config, strings.Replace(w.read(config), "stub-model", "gpt-5.6-sol", 1))
	w.run("ideai", "codex", "exec", "hello there")
	w.mustHoldWhole(w.lastTurn(), w.effectiveContext("codex"))
	if !strings.Contains(w.lastTurn().Text(), "idea_memory_recall") {
		t.Error("the model was not told of idea_memory_recall")
	}
}

func threadID(t *testing.T, out string) string {
	t.Helper()
	m := regexp.MustCompile(`"thread_id":"([^"]+)"`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no thread id in:\n%s", out)
	}
	return m[1]
}

// codex takes 32 KiB of AGENTS.md files together, those of the folders above
// first: here they fill that alone, and the launch is from a subfolder.
func TestCodexGetsAllOfOursBesideLargeAgentsFiles(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	own := "AGENTS-HEAD-aa01\n" + strings.Repeat("A long house rule of the team.\n", 1500) // about 46 KB
	w.write("AGENTS.md", own)
	w.write("services/api/AGENTS.md", "AGENTS-OF-THE-SUBFOLDER\n")
	w.runIn(filepath.Join(w.project, "services/api"), "", "ideai", "codex", "exec", "hello")
	w.mustHoldWhole(w.lastTurn(), w.effectiveContext("codex"))
	if n := strings.Count(w.lastTurn().Text(), "AGENTS-HEAD-aa01"); n != 1 {
		t.Errorf("the project's AGENTS.md is in the request %d times, want once", n)
	}
	if w.read("AGENTS.md") != own {
		t.Error("AGENTS.md was changed")
	}
}

func TestCodexCallsOurToolsAndThePersonsOwnAndEditsTheProject(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	w.write("main.go", "package main\n")
	self, err := os.Executable()
	must(t, err)
	mark := filepath.Join(w.home, "notified")
	config := filepath.Join(w.home, ".codex/config.toml")
	w.write(config, "notify = [\"touch\", \""+mark+"\"]\n"+w.read(config)+
		"[mcp_servers.own]\ncommand = \""+self+"\"\nargs = [\"own-mcp-server\"]\n")
	calls := []stubmodel.Call{
		{Namespace: "mcp__ideai", Name: "idea_memory_recall", Args: map[string]any{"query": "comment arrondir une facture"}},
		{Namespace: "mcp__ideai", Name: "idea_memory_read", Args: map[string]any{"name": "decoupe-des-factures"}},
		{Namespace: "mcp__own", Name: "own_echo", Args: map[string]any{"text": "still here"}},
		{Name: "exec_command", Args: map[string]any{"cmd": "sed -i 's/main/shop/' main.go"}},
	}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn < len(calls) {
			return stubmodel.Reply{Call: &calls[turn]}
		}
		return stubmodel.Reply{Text: "done"}
	})
	w.run("ideai", "codex", "exec", "rename the package")
	results := w.lastTurn().ToolResults()
	if n := strings.Count(results, "ARRONDI-44e0"); n < 2 {
		t.Errorf("recall and read gave the note %d times, want twice:\n%s", n, results)
	}
	if !strings.Contains(results, "OWN-ECHO still here") {
		t.Errorf("the person's own MCP server was not reached:\n%s", results)
	}
	if got := w.read("main.go"); got != "package shop\n" {
		t.Errorf("the edit by the CLI's own tool did not arrive: %q", got)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("the person's own notify program did not run")
	}
}
