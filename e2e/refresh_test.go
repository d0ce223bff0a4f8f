package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	changedRule = "CHANGED-RULE-2e8d"
	changedNote = "CHANGED-NOTE-77b0"

	secondChange = "SECOND-CHANGE-c19d"
)

// changeProject edits a rule and a pinned note by hand, as an editor or a pull
// would.
func (w *world) changeProject() {
	w.t.Helper()
	w.write(".ideai/CONTEXT.md", strings.Replace(w.read(".ideai/CONTEXT.md"), rulesTail, changedRule, 1))
	w.write(".ideai/memory/retry-policy.md", strings.Replace(w.read(".ideai/memory/retry-policy.md"), noteText, changedNote, 1))
	deadline, tick := time.After(time1), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(strings.Join(w.effectiveContext("claude"), ""), changedNote) { // an edit is noticed within a moment
		select {
		case <-deadline:
			w.t.Fatal("the edited note is not noticed")
		case <-tick.C:
		}
	}
}

// knownFolder makes the project one that the person used Claude Code in before.
func (w *world) knownFolder() {
	w.t.Helper()
	state, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{"dummy"}, "rejected": []string{}},
		"projects":              map[string]any{w.project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	must(w.t, err)
	w.write(filepath.Join(w.home, ".claude.json"), string(state))
}

// A refresh of a running Claude Code reaches the model with the next prompt, as
// what changed and not as the whole text again.
func TestClaudeTakesARefreshWithTheNextPrompt(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	w.knownFolder()
	term := w.openTerminal("ideai claude --permission-mode default")
	say := func(text string) string {
		t.Helper()
		w.model.Reset()
		term.wait("the prompt of Claude Code", func() bool { return strings.Contains(term.screen(), "❯") })
		term.keys("-l", text)
		term.wait("the typed text", func() bool { return strings.Contains(term.screen(), text) })
		term.keys("Enter")
		term.wait("a request with "+text, func() bool {
			for _, r := range w.model.Requests() {
				if r.MainTurn() && strings.Contains(r.Text(), text) {
					return true
				}
			}
			return false
		})
		return w.lastTurn().Text()
	}
	first := say("first prompt of all")
	if !strings.Contains(first, rulesTail) || !strings.Contains(first, noteText) {
		t.Fatal("the first prompt comes without the context")
	}

	w.changeProject()
	out := w.run("ideai", "refresh", "--dry-run", "--diff").stdout
	for _, want := range []string{"rules", "memory", "with the next prompt", "-" + rulesTail, "+" + changedRule} {
		if !strings.Contains(out, want) {
			t.Errorf("refresh --dry-run lacks %q:\n%s", want, out)
		}
	}
	second := say("second prompt of all")
	if strings.Contains(second, changedRule) {
		t.Error("the model was told of a change that nobody asked for")
	}
	w.run("ideai", "refresh")
	third := say("third prompt of all")
	for _, want := range []string{changedRule, changedNote, "third prompt of all"} {
		if !strings.Contains(third, want) {
			t.Errorf("the next prompt lacks %q", want)
		}
	}
	if n := strings.Count(third, rulesHead); n != 1 {
		t.Errorf("the unchanged part is in the request %d times, want once", n)
	}
	t.Logf("the request of 60 KB of rules grew by %d bytes", len(third)-len(second))
	if out := w.run("ideai", "refresh").stdout; !strings.Contains(out, "it has it already") {
		t.Errorf("after the refresh:\n%s", out)
	}

	// It shows no second change: that is said.
	w.write(".ideai/CONTEXT.md", strings.Replace(w.read(".ideai/CONTEXT.md"), changedRule, secondChange, 1))
	again := w.run("ideai", "refresh")
	if !strings.Contains(again.stdout, "when the session is resumed") || !strings.Contains(again.stderr, "the first change only") {
		t.Errorf("a second change:\n%s", again.all())
	}
	if strings.Contains(say("fourth prompt of all"), secondChange) {
		t.Error("Claude Code shows a second change now: next_turn_once is not so any more")
	}
	term.keys("-l", "/exit")
	term.wait("the command typed", func() bool { return strings.Contains(term.screen(), "/exit") })
	term.keys("Enter")
	term.wait("the end", func() bool { return strings.Contains(term.screen(), "EXIT-CODE-0") })
}

// What changed while Codex ran arrives when its session is resumed.
func TestCodexTakesARefreshAtAResume(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	out := w.run("ideai", "codex", "exec", "--json", "hello there")
	var started struct {
		ThreadID string `json:"thread_id"`
	}
	must(t, json.Unmarshal([]byte(strings.SplitN(out.stdout, "\n", 2)[0]), &started))
	if !strings.Contains(w.lastTurn().Text(), rulesTail) {
		t.Fatal("the first turn comes without the context")
	}
	w.changeProject()
	w.model.Reset()
	w.run("ideai", "codex", "exec", "resume", started.ThreadID, "and now")
	got := w.lastTurn().Text()
	for _, want := range []string{changedRule, changedNote, "hello there", "and now"} {
		if !strings.Contains(got, want) {
			t.Errorf("the resumed session's request lacks %q", want)
		}
	}
}
