package host_test

import (
	"os"

	"golang.org/x/sys/unix"
)

func termios(f *os.File) (*unix.Termios, error) {
	return unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
}

func setTermios(f *os.File, t *unix.Termios) error {
	return unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, t)
}
