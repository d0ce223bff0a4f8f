package prove

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/creack/pty"
)

// terminal is a terminal for one CLI: it answers what programs ask of one at
// their start, and waits for a word on the screen.
type terminal struct {
	master, slave *os.File
	done          chan struct{}

	mu     sync.Mutex
	output []byte
	from   int // where the next step's word is looked for
	steps  []step
}

// step is what to do once a word is on the screen.
type step struct {
	word string
	then func()
}

func openTerminal() (*terminal, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	t := &terminal{master: master, slave: slave, done: make(chan struct{})}
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 50, Cols: 160}); err != nil {
		_ = master.Close()
		_ = slave.Close()
		return nil, err
	}
	return t, nil
}

// play begins to read; it takes the steps in turn, until close.
func (t *terminal) play(steps ...step) {
	t.steps = steps
	go t.read()
}

// next adds steps; it may be called by one.
func (t *terminal) next(steps ...step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, steps...)
}

// enter writes what a person would type.
func (t *terminal) enter(keys string) { _, _ = t.master.WriteString(keys) }

func (t *terminal) read() {
	defer close(t.done)
	buffer := make([]byte, 32<<10)
	for {
		n, err := t.master.Read(buffer)
		t.take(buffer[:n])
		if err != nil {
			return
		}
	}
}

// questions are what programs ask of a terminal, with an answer each.
var questions = []struct{ ask, answer string }{
	{"\x1b[6n", "\x1b[1;1R"},                          // where is the cursor?
	{"\x1b[c", "\x1b[?62;22c"},                        // which terminal is this?
	{"\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"}, // which colours?
	{"\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\"}, //
	{"\x1b[?u", "\x1b[?0u"},                           // which keyboard protocol?
}

func (t *terminal) take(data []byte) {
	for _, q := range questions {
		for range bytes.Count(data, []byte(q.ask)) {
			_, _ = t.master.WriteString(q.answer)
		}
	}
	for then := t.keep(data); then != nil; then = t.keep(nil) {
		then()
	}
}

// keep adds to the output and returns what is to be done now.
func (t *terminal) keep(data []byte) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, data...)
	if len(t.steps) == 0 || !bytes.Contains(t.output[t.from:], []byte(t.steps[0].word)) {
		return nil
	}
	then := t.steps[0].then
	t.steps, t.from = t.steps[1:], len(t.output)
	return then
}

// close ends the terminal and returns what was written to it, as plain text.
func (t *terminal) close() string {
	_ = t.slave.Close()
	_ = t.master.Close()
	<-t.done
	return plain(string(t.output))
}

// plain is about what a terminal would show.
func plain(output string) string {
	text := movesRight.ReplaceAllString(output, " ")
	text = movesAway.ReplaceAllString(text, "\n")
	return strings.ReplaceAll(escapes.ReplaceAllString(text, ""), "\r", "\n")
}

var (
	movesRight = regexp.MustCompile(`\x1b\[[0-9]*C`)
	movesAway  = regexp.MustCompile(`\x1b\[[0-9;]*[ABEFHd]`)
)

// escapes are the control sequences of a terminal.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78M])`)
