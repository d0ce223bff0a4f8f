//go:build unix

package host

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// child is the CLI's process. It is waited for by pid, not through os.Process,
// because only so is a CLI noticed that stops itself.
type child struct {
	process *os.Process
	release chan struct{} // lets the thread that started it go

	mu    sync.Mutex
	ended bool // the pid may belong to another from here on
}

// spawn starts the CLI from a thread that lives as long as the CLI does: the
// kernel takes the death of that thread for the death of its parent.
func spawn(argv []string, attr *os.ProcAttr) (*child, error) {
	attr.Sys = childAttr()
	c := &child{release: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p, err := os.StartProcess(argv[0], argv, attr)
		c.process = p
		started <- err
		if err == nil {
			<-c.release
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

func (c *child) pid() int { return c.process.Pid }

func (c *child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		_ = syscall.Kill(c.process.Pid, s)
	}
}

// terminate asks the CLI to end, also one that is stopped.
func (c *child) terminate() {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
}

// stopRest is how long a CLI must have been seen stopped before this process
// follows it.
const stopRest = 50 * time.Millisecond

// wait returns the exit code, and whether a signal killed the CLI. A CLI that
// stops takes this process with it, so that the shell sees its job stopped; fg
// continues both, as one group. A CLI may also stop the whole group, this
// process included, and be running again when its stop is read here: so this
// process stops only after a rest that it was itself awake for, and that
// brought no word of the CLI going on.
func (c *child) wait() (code int, killed bool) {
	defer close(c.release)
	follow := false
	for {
		options := syscall.WUNTRACED | syscall.WCONTINUED
		rested := false
		if follow {
			begun := time.Now()
			<-time.After(stopRest)
			rested = time.Since(begun) < 2*stopRest
			options |= syscall.WNOHANG
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(c.process.Pid, &status, options, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			c.end()
			return 1, false // someone else has waited for it; its code is lost
		case pid == 0:
			if rested {
				follow = false
				if inForeground() {
					_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				}
			}
		case continued(status):
			follow = false
		case stopped(status):
			follow = inForeground()
		case status.Signaled():
			c.end()
			return 128 + int(status.Signal()), true
		default:
			c.end()
			return status.ExitStatus(), false
		}
	}
}

// end gives up the pid.
func (c *child) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	_ = c.process.Release()
}

// stopped reports whether a status is that of a stop, by whatever signal.
func stopped(w syscall.WaitStatus) bool { return w&0xff == 0x7f }

// continued reports whether a status tells of going on, as Linux, FreeBSD and
// macOS write it.
func continued(w syscall.WaitStatus) bool {
	return w == 0xffff || w == syscall.WaitStatus(syscall.SIGCONT) ||
		stopped(w) && syscall.Signal(w>>8&0xff) == syscall.SIGCONT
}

// inForeground reports whether this process group owns a terminal: then the
// keys that make signals reach the CLI without help.
func inForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = tty.Close() }()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// signals catches what is sent to this process while the CLI runs.
type signals struct{ c chan os.Signal }

func catchSignals() *signals {
	s := &signals{c: make(chan os.Signal, 16)}
	signal.Notify(s.c, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT)
	return s
}

// forward passes signals on until stop. In the foreground the terminal and the
// shell speak to the whole group: what they send has reached the CLI already.
func (s *signals) forward(c *child) {
	for sig := range s.c {
		toGroup := sig == syscall.SIGINT || sig == syscall.SIGQUIT || sig == syscall.SIGCONT
		if toGroup && inForeground() {
			continue
		}
		if n, ok := sig.(syscall.Signal); ok {
			c.signal(n)
		}
	}
}

func (s *signals) stop() {
	signal.Stop(s.c)
	close(s.c)
}

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

func sameEnvName(a, b string) bool { return a == b }
