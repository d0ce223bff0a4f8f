package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

// terminal is a person's terminal: tmux running one command in the project.
type terminal struct {
	w      *world
	socket string
}

func (w *world) openTerminal(command string) *terminal {
	w.t.Helper()
	term := &terminal{w: w, socket: filepath.Join(filepath.Dir(w.home), "tmux.sock")}
	term.tmux("new-session", "-d", "-x", "120", "-y", "50", "-c", w.project, command+"; echo EXIT-CODE-$?; exec sh")
	w.t.Cleanup(func() { _ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() })
	return term
}

func (t *terminal) tmux(args ...string) string {
	t.w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", t.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = t.w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.w.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (t *terminal) screen() string { return t.tmux("capture-pane", "-p") }

func (t *terminal) keys(keys ...string) { t.tmux(append([]string{"send-keys"}, keys...)...) }

// wait looks at the world until cond holds, for a minute at most.
func (t *terminal) wait(what string, cond func() bool) {
	t.w.t.Helper()
	deadline, tick := time.After(time1), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			t.w.t.Fatalf("waited for %s; the screen shows:\n%s", what, t.screen())
		case <-tick.C:
		}
	}
}

func TestClaudeInATerminalShowsNoDialogOfOurs(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	w.knownFolder()
	recall := stubmodel.Call{Name: "mcp__ideai__idea_memory_recall", Args: map[string]any{"query": "arrondi des montants"}}
	w.model.SetScript(func(_ stubmodel.Request, turn int) stubmodel.Reply {
		if turn == 0 {
			return stubmodel.Reply{Call: &recall}
		}
		return stubmodel.Reply{Text: "ANSWER-19fe"}
	})

	term := w.openTerminal("ideai claude --permission-mode default")
	term.wait("the prompt of Claude Code", func() bool { return strings.Contains(term.screen(), "❯") })
	if strings.Contains(term.screen(), "directory") && strings.Contains(term.screen(), "trust") {
		t.Fatalf("a trust dialog:\n%s", term.screen())
	}
	term.keys("-l", "hello from a terminal")
	term.wait("the typed text", func() bool { return strings.Contains(term.screen(), "hello from a terminal") })
	term.keys("Enter")
	term.wait("the answer after the tool call", func() bool { return strings.Contains(term.screen(), "ANSWER-19fe") })
	w.mustHoldWhole(w.lastTurn(), w.effectiveContext("claude"))
	if got := w.lastTurn().ToolResults(); !strings.Contains(got, "ARRONDI-44e0") {
		t.Errorf("recall in the terminal gave:\n%s", got)
	}

	term.keys("-l", "/exit")
	term.wait("the command typed", func() bool { return strings.Contains(term.screen(), "/exit") })
	term.keys("Enter")
	term.wait("the end", func() bool { return strings.Contains(term.screen(), "EXIT-CODE-0") })
}
