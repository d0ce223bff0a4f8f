//go:build unix

package host

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

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

// wait returns the exit code, and whether a signal killed the CLI. A CLI that stops takes this process with it, so
// that the shell sees its job stopped; `fg` continues both, as one group.
func (c *child) wait() (code int, killed bool) {
	defer close(c.release)
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.process.Pid, &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err == nil && status.Stopped() {
			if inForeground() {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
			continue
		}
		c.mu.Lock()
		c.ended = true
		c.mu.Unlock()
		_ = c.process.Release()
		if err != nil {
			return 1, false // someone else has waited for it; its code is lost
		}
		if status.Signaled() {
			return 128 + int(status.Signal()), true
		}
		return status.ExitStatus(), false
	}
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
