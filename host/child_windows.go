package host

import (
	"os"
	"os/signal"
	"strings"

	"github.com/mattn/go-isatty"
)

// child is the CLI's process.
type child struct{ process *os.Process }

func spawn(argv []string, attr *os.ProcAttr) (*child, error) {
	p, err := os.StartProcess(argv[0], argv, attr)
	if err != nil {
		return nil, err
	}
	return &child{process: p}, nil
}

func (c *child) pid() int { return c.process.Pid }

// terminate ends the CLI; Windows has no softer way for another's console.
func (c *child) terminate() { _ = c.process.Kill() }

func (c *child) wait() (code int, killed bool) {
	state, err := c.process.Wait()
	if err != nil {
		return 1, false
	}
	return state.ExitCode(), false
}

// terminalModes is nothing here: the console belongs to every program alike.
type terminalModes struct{}

func rememberTerminal(*os.File) (t terminalModes) { return t }

func (terminalModes) restore() {}

// signals keeps Ctrl-C, which the console gives to the CLI too, from ending
// this process.
type signals struct{ c chan os.Signal }

func catchSignals() *signals {
	s := &signals{c: make(chan os.Signal, 1)}
	signal.Notify(s.c, os.Interrupt)
	return s
}

func (s *signals) forward(*child) {
	for range s.c {
		continue
	}
}

func (s *signals) stop() {
	signal.Stop(s.c)
	close(s.c)
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

func sameEnvName(a, b string) bool { return strings.EqualFold(a, b) }
