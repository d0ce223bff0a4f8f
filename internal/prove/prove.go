package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/provider"
)

// DefaultTimeout bounds one run of a CLI.
const DefaultTimeout = time.Minute

// Options say what to prove, and with what.
type Options struct {
	Profile *provider.Profile
	// Carrier is the door to prove; "" = every door.
	Carrier string
	// Launcher is a server's whose state is thrown away afterwards: the proof
	// registers and trusts a project of its own with it.
	Launcher launcherv1.LauncherServiceClient
	// Host is what host.Facts says of this machine, with ServerAddress.
	Host *launcherv1.Host
	// Env is the environment of the person.
	Env []string
	// Dir is an empty folder for the throw-away project and home. The caller
	// removes it.
	Dir string
	// Timeout bounds one run of the CLI; 0 = DefaultTimeout.
	Timeout time.Duration
	// Done is told each result as it comes; nil = nobody.
	Done func(Result)

	killAfter time.Duration // what a CLI gets to end by itself; 0 = killAfter
}

// UnprovableError says that the catalogue does not tell how to prove a CLI.
type UnprovableError struct{ Profile string }

func (e *UnprovableError) Error() string {
	return fmt.Sprintf("there is no way to prove %s offline", e.Profile)
}

// proof is a proof in the making.
type proof struct {
	Options
	world   *world
	stub    *stub
	project string // id
	env     []string
	values  provider.Values
}

// Run proves the doors of a CLI without a terminal, and in one of its own: each
// with a new session and, where it can, a resumed one whose context has changed. The error tells
// that it could not be tried; what did not arrive is in the results.
func Run(ctx context.Context, o Options) ([]Result, error) {
	spec := o.Profile.Prove
	if spec == nil {
		return nil, &UnprovableError{o.Profile.ID}
	}
	protocol, ok := protocols[spec.Protocol]
	if !ok {
		return nil, fmt.Errorf("%s: the protocol %q is none of %s", o.Profile.ID, spec.Protocol, strings.Join(Protocols(), ", "))
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.killAfter == 0 {
		o.killAfter = killAfter
	}
	w, err := makeWorld(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("make a project to prove with: %w", err)
	}
	s, err := startStub(ctx, protocol)
	if err != nil {
		return nil, err
	}
	defer s.close()
	p := &proof{Options: o, world: w, stub: s}
	if err := p.setUp(ctx); err != nil {
		return nil, err
	}
	return p.all(ctx)
}

// setUp points the CLI at the stand-in and gives the server the project.
func (p *proof) setUp(ctx context.Context) error {
	p.values = provider.Values{Home: p.world.home, Project: p.world.project, Endpoint: p.stub.url}
	piece := p.Profile.Prove.Setup(p.values)
	for _, f := range piece.Files {
		if err := p.world.write(f.Path, string(f.Content)); err != nil {
			return err
		}
	}
	p.env = p.world.environment(p.Profile.Prove, p.Env, p.stub.url, piece)
	r, err := p.Launcher.RegisterProject(ctx, &launcherv1.RegisterProjectRequest{Path: p.world.project})
	if err != nil {
		return err
	}
	p.project = r.GetProject().GetProjectId()
	p.Host = proto.CloneOf(p.Host)
	p.Host.ProjectRoot, p.Host.CwdRelative, p.Host.RunRoot = r.GetProject().GetRoot(), "", ""
	p.Host.OpenFolder = host.OpenFolder(p.Host.GetProjectRoot())
	if why := p.Profile.WithoutTools(p.Host.GetOpenFolder()); why != p.Profile.WithoutTools("") {
		return errors.New(why)
	}
	p.Host.Proofs, p.Host.EnvNames = nil, nil // what they speak of is to be found out
	_, err = p.Launcher.SetTrust(ctx, &launcherv1.SetTrustRequest{ProjectId: p.project, Trusted: true})
	return err
}

// all tries every cell, a resumed session after the new one it resumes.
func (p *proof) all(ctx context.Context) ([]Result, error) {
	var out []Result
	add := func(r Result) {
		out = append(out, r)
		if p.Done != nil {
			p.Done(r)
		}
	}
	for _, first := range cells(p.Profile, p.Carrier) {
		fresh, session, err := p.try(ctx, first, "", "first")
		if err != nil {
			return out, err
		}
		add(fresh)
		again, ok := first.resumed(p.Profile)
		if !ok {
			continue
		}
		if session == "" {
			again.Problems = []Problem{{Kind: NoSession}}
			add(again)
			continue
		}
		resumed, _, err := p.try(ctx, again.Cell, session, "second")
		if err != nil {
			return out, err
		}
		add(resumed)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no carrier %q that works without a terminal", p.Profile.ID, p.Carrier)
	}
	return out, nil
}

// try launches the CLI once and judges what it sent. It returns the session's
// id, "" when the CLI did not tell it.
func (p *proof) try(ctx context.Context, cell Cell, session, which string) (Result, string, error) {
	if err := p.world.setPersona(which); err != nil {
		return Result{}, "", err
	}
	values := p.values
	values.Prompt, values.Session = "Say ok. PROMPT-"+which+"-"+p.world.mark, session
	args := p.Profile.Prove.Args(values)
	if cell.Terminal {
		args = p.Profile.Prove.TerminalArgs(values, cell.Resumed)
	}
	plan, sections, err := p.prepare(ctx, cell, args)
	if err != nil {
		return Result{}, "", err
	}
	word := "PROVED" + which + p.world.mark // differs from what a resumed session shows again
	names := map[string]string{}
	for _, tool := range toolsOf(plan) {
		names[tool] = strings.ReplaceAll(p.Profile.ToolName, "{tool}", tool)
	}
	p.stub.begin(names, recallTool, map[string]any{"query": noteQuery}, word)
	began := time.Now()
	ended, err := p.carryOut(ctx, plan, cell.Terminal, word)
	if err != nil {
		return Result{}, "", err
	}
	result := Result{Cell: cell, Took: time.Since(began)}
	p.judge(&result, expected{sections: sections, tools: toolsOf(plan), prompt: values.Prompt}, ended)
	_, err = p.Launcher.ReportLaunch(ctx, &launcherv1.ReportLaunchRequest{ProjectId: p.project, LaunchId: plan.GetLaunchId(),
		Event: &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{ExitCode: int32(ended.code)}}})
	if cell.Terminal {
		return result, "the last", err
	}
	return result, p.Profile.Prove.FindSession(ended.output), err
}

// prepare gets the plan as for any launch, and the texts of its context.
func (p *proof) prepare(ctx context.Context, cell Cell, args []string) (*launcherv1.LaunchPlan, []section, error) {
	facts := proto.CloneOf(p.Host)
	facts.Interactive = cell.Terminal
	prepared, err := p.Launcher.PrepareLaunch(ctx, &launcherv1.PrepareLaunchRequest{
		ProjectId: p.project, LaunchId: "proof-" + uuid.NewString()[:8], AgentId: agentID, ProfileId: p.Profile.ID,
		Workspace: workspaces[cell.Workspace], Carrier: cell.Carrier, PassthroughArgs: args, Host: facts,
	})
	if err != nil {
		return nil, nil, err
	}
	preview, err := p.Launcher.PreviewContext(ctx, &launcherv1.PreviewContextRequest{
		ProjectId: p.project, AgentId: agentID, ProfileId: p.Profile.ID, Locale: p.Host.GetLocale(),
	})
	if err != nil {
		return nil, nil, err
	}
	plan := prepared.GetPlan()
	if preview.GetContext().GetDigest() != plan.GetContextDigest() {
		return nil, nil, errors.New("the context changed while it was being proved; start again")
	}
	var out []section
	for _, s := range preview.GetContext().GetSections() {
		name := strings.ToLower(strings.TrimPrefix(s.GetReport().GetKind().String(), "SECTION_KIND_"))
		out = append(out, section{name, strings.TrimSpace(provider.Neutralise(s.GetText(), cell.carrier.Neutralise))})
	}
	return plan, out, nil
}

// killAfter is what a CLI gets to end by itself.
const killAfter = 5 * time.Second

// ended is how a run of the CLI ended.
type ended struct {
	code    int
	expired bool
	output  string // both streams, one after the other
}

// carryOut runs the plan, within the time that is allowed.
func (p *proof) carryOut(ctx context.Context, plan *launcherv1.LaunchPlan, inTerminal bool, word string) (ended, error) {
	limit, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	var e ended
	var err error
	if inTerminal {
		e, err = p.runInTerminal(limit, plan, word)
	} else {
		e, err = p.runPrinting(limit, plan)
	}
	if ctx.Err() != nil {
		return ended{}, ctx.Err()
	}
	return e, err
}

// runPrinting runs a plan whose CLI prints its answer and ends.
func (p *proof) runPrinting(ctx context.Context, plan *launcherv1.LaunchPlan) (ended, error) {
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := p.outputFile(plan.GetLaunchId() + ".out")
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = stdout.Close() }()
	stderr, err := p.outputFile(plan.GetLaunchId() + ".err")
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = stderr.Close() }()
	code, failure := p.start(ctx, plan, stdin, stdout, stderr)
	return ended{code: code, expired: ctx.Err() != nil, output: readBack(stdout) + readBack(stderr) + failure}, nil
}

// runInTerminal runs a plan whose CLI stays in its terminal, until its answer
// is on the screen: the word that the stand-in says last. Tools may come late,
// since a CLI need not wait for them in a terminal; then it is asked again.
func (p *proof) runInTerminal(ctx context.Context, plan *launcherv1.LaunchPlan, word string) (ended, error) {
	t, err := openTerminal()
	if err != nil {
		return ended{}, err
	}
	enough, answered := context.WithCancel(ctx)
	defer answered()
	again, secondWord := "AGAIN"+p.world.mark, word+"AGAIN"
	t.play(step{word, func() {
		if p.stub.hasCalled() {
			answered()
			return
		}
		p.stub.say(secondWord)
		t.enter(again)
		t.next(step{again, func() { t.enter("\r") }}, step{secondWord, answered})
	}})
	code, failure := p.start(enough, plan, t.slave, t.slave, t.slave)
	e := ended{code: code, expired: ctx.Err() != nil}
	if enough.Err() != nil && !e.expired {
		e.code = 0 // it was asked to end
	}
	e.output = t.close() + failure
	return e, nil
}

// start starts the plan's CLI and waits for its end; one that does not end when
// ctx does is killed.
func (p *proof) start(ctx context.Context, plan *launcherv1.LaunchPlan, stdin, stdout, stderr *os.File) (code int, failure string) {
	over := make(chan struct{})
	defer close(over)
	code, err := host.Run(ctx, plan, host.Options{
		ProjectRoot: p.Host.GetProjectRoot(), Stdin: stdin, Stdout: stdout, Stderr: stderr, Env: p.env,
		OnStarted: func(pid int, _ time.Time) {
			if process, err := os.FindProcess(pid); err == nil {
				go killLate(ctx, over, process, p.killAfter)
			}
		},
	})
	if err != nil {
		return 1, err.Error() + "\n"
	}
	return code, ""
}

func (p *proof) outputFile(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(p.world.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// maxOutput bounds what is read of a CLI's output, in bytes.
const maxOutput = 4 << 20

func readBack(f *os.File) string {
	b := make([]byte, maxOutput)
	n, _ := f.ReadAt(b, 0)
	return string(b[:n])
}

// killLate kills a CLI that does not end when it is asked to.
func killLate(limit context.Context, over <-chan struct{}, process *os.Process, after time.Duration) {
	defer func() { _ = process.Release() }()
	select {
	case <-over:
		return
	case <-limit.Done():
	}
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
		_ = process.Kill()
	}
}

var workspaces = map[provider.Workspace]typev1.Workspace{
	provider.Project:      typev1.Workspace_WORKSPACE_PROJECT,
	provider.RunDirectory: typev1.Workspace_WORKSPACE_RUN_DIRECTORY,
}

func toolsOf(plan *launcherv1.LaunchPlan) []string {
	var out []string
	for _, s := range plan.GetMcpServers() {
		out = append(out, s.GetTools()...)
	}
	return out
}
