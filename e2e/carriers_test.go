package e2e

import (
	"strings"
	"testing"
)

// cli is how a test speaks with one CLI in its print mode.
type cli struct {
	profile string
	setUp   func(w *world)
	fresh   func(prompt string) []string
	resume  func(id, prompt string) []string
	session func(t *testing.T, out result) string // the id of a session
	// rules is a file of the project that the CLI reads by itself.
	rules string
}

// carries fails unless the model of a fresh session receives the context whole
// and once, that of a resumed one the context as it is then, by one carrier.
func (c cli) carries(t *testing.T, workspace, strategy, carrier string) {
	w := newWorld(t)
	c.setUp(w)
	w.setUpProject()
	own := "OWN-RULES-aa01 @docs/none.md\n"
	w.write(c.rules, own)
	launch := func(args []string) result {
		return w.run("ideai", append([]string{"launch", "--profile", c.profile, "--workspace", workspace,
			"--strategy", strategy, "--carrier", carrier, "--"}, args...)...)
	}
	out := launch(c.fresh("hello there"))
	w.mustHoldWhole(w.lastTurn(), w.effectiveContext(c.profile))
	for _, want := range []string{"hello there", "OWN-RULES-aa01"} {
		if n := strings.Count(w.lastTurn().Text(), want); n != 1 {
			t.Errorf("%s is in the model request %d times, want once", want, n)
		}
	}

	w.write(".ideai/agents/dev.md", "---\nname: Dev\ndescription: writes the code\n---\nPERSONA-CHANGED-6d You review too.\n")
	w.model.Reset()
	launch(c.resume(c.session(t, out), "and now"))
	got := w.lastTurn().Text()
	for _, want := range []string{"PERSONA-CHANGED-6d", rulesTail, "hello there", "and now"} {
		if !strings.Contains(got, want) {
			t.Errorf("the resumed session's request lacks %q", want)
		}
	}
	if w.read(c.rules) != own {
		t.Errorf("%s was changed", c.rules)
	}
}
