package host

import "syscall"

// childAttr has the CLI hung up when ideai dies without a word, as it would be
// when a terminal goes away: an agent must not work on unseen.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGHUP}
}
