//go:build unix

package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalModes remembers how a terminal was set. A shell puts a terminal
// right after a program that a signal killed; it does not see that one here,
// because the caller goes on and ends by itself.
type terminalModes struct {
	tty   *os.File
	modes *unix.Termios
}

func rememberTerminal(tty *os.File) terminalModes {
	modes, err := unix.IoctlGetTermios(int(tty.Fd()), getModes)
	if err != nil {
		return terminalModes{} // not a terminal
	}
	return terminalModes{tty, modes}
}

// restore sets the terminal as it was, if it is still ours to set.
func (t terminalModes) restore() {
	if t.modes != nil && inForeground() {
		_ = unix.IoctlSetTermios(int(t.tty.Fd()), setModes, t.modes)
	}
}
