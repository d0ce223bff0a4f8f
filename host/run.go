package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
)

// Options are what a plan cannot know. Nil files are those of this process.
type Options struct {
	// ProjectRoot is the project as this machine sees it. A run root below it
	// is opened without following any link out of it.
	ProjectRoot string
	// RunRoot is the only folder in which the side directory may lie; "" =
	// .ideai/run of the project.
	RunRoot string

	Stdin, Stdout, Stderr *os.File
	Env                   []string // the environment to start from; nil = this process's
	// OnStarted is told of the CLI's process, in the goroutine of Run: be quick.
	OnStarted func(pid int, at time.Time)
}

// Run carries out a plan: it writes the side directory, starts the CLI in the
// caller's terminal and process group, and removes the directory when the CLI
// has ended. It returns the CLI's exit code, 128 + n when signal n ended it;
// err tells that the CLI could not be run, never that it ended badly.
//
// Ctrl-C and Ctrl-\ reach the CLI from the terminal and leave the caller
// running; SIGTERM and SIGHUP are passed on; a CLI that stops itself stops the
// caller too, so that the shell's job control works. When ctx ends the CLI is
// asked to end by SIGTERM.
func Run(ctx context.Context, plan *launcherv1.LaunchPlan, o Options) (exitCode int, err error) {
	o.complete()
	if err := check(plan); err != nil {
		return 0, err
	}
	runRoot, err := openRunRoot(o.ProjectRoot, o.RunRoot)
	if err != nil {
		return 0, err
	}
	defer func() { _ = runRoot.Close() }()
	side, err := createSide(runRoot, o.RunRoot, plan.GetSideDirectory(), plan.GetLaunchId())
	if err != nil {
		return 0, err
	}
	defer side.remove()
	if err := side.write(plan.GetFiles()); err != nil {
		return 0, err
	}
	return start(ctx, plan, o, side)
}

// Pass starts a CLI as it is, for arguments that begin no session, such as
// help, login or settings (provider.Invocation.Manage): nothing is added or
// written. Of the options only the files, Env and OnStarted count. The rest is
// as for Run.
func Pass(ctx context.Context, p *provider.Profile, args []string, o Options) (exitCode int, err error) {
	o.complete()
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find the path of ideai: %w", err)
	}
	path, err := findCLI(p, self)
	if err != nil {
		return 0, err
	}
	c := command{argv: append([]string{path}, args...), env: o.Env}
	return c.run(ctx, o)
}

func (o *Options) complete() {
	if o.RunRoot == "" {
		o.RunRoot = filepath.Join(o.ProjectRoot, ".ideai", "run")
	}
	for _, f := range []struct {
		file **os.File
		std  *os.File
	}{{&o.Stdin, os.Stdin}, {&o.Stdout, os.Stdout}, {&o.Stderr, os.Stderr}} {
		if *f.file == nil {
			*f.file = f.std
		}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
}

// check refuses plans that would depend on where the caller stands.
func check(plan *launcherv1.LaunchPlan) error {
	switch {
	case len(plan.GetArgv()) == 0:
		return errors.New("the plan has no program to start")
	case !filepath.IsAbs(plan.GetArgv()[0].GetValue()):
		return fmt.Errorf("the plan's program %q is not an absolute path", plan.GetArgv()[0].GetValue())
	case !filepath.IsAbs(plan.GetCwd()):
		return fmt.Errorf("the plan's working directory %q is not an absolute path", plan.GetCwd())
	case plan.GetLaunchId() == "" || filepath.Base(plan.GetSideDirectory()) != sideNameOf(plan):
		return fmt.Errorf("the plan's side directory %q does not end in %q", plan.GetSideDirectory(), sideNameOf(plan))
	}
	return nil
}

// sideNameOf is how a plan's side directory is named: structured turns of one
// conversation have the same, so that a CLI finds its files where they were.
func sideNameOf(plan *launcherv1.LaunchPlan) string {
	if plan.GetKind() == typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN {
		return plan.GetIdentity().GetConversationId()
	}
	return plan.GetLaunchId()
}

// start starts the plan's CLI, whose directory is written.
func start(ctx context.Context, plan *launcherv1.LaunchPlan, o Options, side *sideDir) (int, error) {
	argv := make([]string, len(plan.GetArgv()))
	for i, a := range plan.GetArgv() {
		argv[i] = a.GetValue()
	}
	c := command{argv: argv, dir: plan.GetCwd(), env: environment(o.Env, plan), stdin: plan.GetStdin(), started: side.started}
	return c.run(ctx, o)
}

// command is a CLI to run in the caller's terminal.
type command struct {
	argv    []string
	dir     string // "" = the caller's
	env     []string
	stdin   []byte              // before the person's own; nil = inherit
	started func(pid int) error // an error ends the CLI; nil for none
}

func (c *command) run(ctx context.Context, o Options) (int, error) {
	stdin, feed, err := standardInput(c.stdin, o.Stdin)
	if err != nil {
		return 0, err
	}
	modes := rememberTerminal(o.Stdin)
	signals := catchSignals() // before the CLI exists: none may be lost
	defer signals.stop()

	child, err := spawn(c.argv, &os.ProcAttr{Dir: c.dir, Env: c.env, Files: []*os.File{stdin, o.Stdout, o.Stderr}})
	if feed != nil {
		_ = stdin.Close() // the CLI has its own
	}
	if err != nil {
		if feed != nil {
			_ = feed.w.Close()
		}
		return 0, startError(c.argv[0], err)
	}
	if c.started != nil {
		if err := c.started(child.pid()); err != nil {
			child.terminate()
			child.wait()
			return 0, err
		}
	}
	if o.OnStarted != nil {
		o.OnStarted(child.pid(), time.Now())
	}
	if feed != nil {
		go feed.run()
		defer feed.stop()
	}
	defer context.AfterFunc(ctx, child.terminate)()
	go signals.forward(child)
	code, killed := child.wait()
	if killed {
		modes.restore()
	}
	return code, nil
}

func startError(program string, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return fmt.Errorf("start %s: its arguments and environment are longer than this machine takes; give long texts in a file or on standard input: %w", program, err)
	}
	return fmt.Errorf("start %s: %w", program, err)
}

// environment is the base without what the plan removes, with what it sets.
func environment(base []string, plan *launcherv1.LaunchPlan) []string {
	drop := slices.Clone(plan.GetEnvUnset())
	for _, e := range plan.GetEnv() {
		drop = append(drop, e.GetName())
	}
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(drop, func(d string) bool { return sameEnvName(d, name) })
	})
	for _, e := range plan.GetEnv() {
		value := e.GetValue()
		if own := lookUp(base, e.GetName()); own != "" && e.GetListSeparator() != "" {
			value = own + e.GetListSeparator() + value
		}
		env = append(env, e.GetName()+"="+value)
	}
	return env
}

// lookUp returns the value of a variable, the last when it is there twice.
func lookUp(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, value, ok := strings.Cut(kv, "="); ok && sameEnvName(n, name) {
			return value
		}
	}
	return ""
}

// feed writes the plan's text to the CLI, then what the person pipes in.
type feed struct {
	text   []byte
	person *os.File // nil when the person pipes nothing
	w      *os.File
	done   chan struct{}
}

// standardInput returns the CLI's standard input, and what feeds it when the
// plan puts a text before the person's own. A terminal is never read: there the
// CLI gets the text alone.
func standardInput(text []byte, person *os.File) (*os.File, *feed, error) {
	if len(text) == 0 {
		return person, nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe for standard input: %w", err)
	}
	if isTerminal(person) {
		person = nil
	}
	return r, &feed{text: text, person: person, w: w, done: make(chan struct{})}, nil
}

// run ends early when the CLI stops reading, which is its right.
func (f *feed) run() {
	defer close(f.done)
	defer func() { _ = f.w.Close() }()
	if _, err := f.w.Write(f.text); err != nil || f.person == nil {
		return
	}
	_, _ = io.Copy(f.w, f.person)
}

// stop ends the copying after the CLI has ended. A read from a file that takes
// no deadline cannot be broken off; it is left to the end of the process.
func (f *feed) stop() {
	_ = f.w.SetWriteDeadline(time.Unix(1, 0))
	if f.person != nil && f.person.SetReadDeadline(time.Unix(1, 0)) != nil {
		return
	}
	<-f.done
	if f.person != nil {
		_ = f.person.SetReadDeadline(time.Time{})
	}
}
