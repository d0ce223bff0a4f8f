//go:build unix

package host_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/fsnotify/fsnotify"
	"google.golang.org/protobuf/encoding/protojson"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/host"
)

// ideai is this test program in the part of ideai, started but not waited for.
func ideai(t *testing.T, plan *launcherv1.LaunchPlan, project string) *exec.Cmd {
	t.Helper()
	data, err := protojson.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(plan.GetArgv()[0].GetValue())
	cmd.Env = append(os.Environ(), partVar+"=ideai", planVar+"="+string(data), rootVar+"="+project)
	return cmd
}

// expect reads lines until one contains want.
func expect(t *testing.T, r *bufio.Reader, want string) { t.Helper(); expectAll(t, r, want) }

// expectAll reads lines until all wanted ones came, in any order.
func expectAll(t *testing.T, r *bufio.Reader, want ...string) {
	t.Helper()
	var all strings.Builder
	for len(want) > 0 {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		want = slices.DeleteFunc(want, func(w string) bool { return strings.Contains(line, w) })
		if err != nil && len(want) > 0 {
			t.Fatalf("no %q in %q: %v", want, all.String(), err)
		}
	}
}

// exitCode waits for a command.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

func TestSignalsReachTheCLIWithoutATerminal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			plan, project := newPlan(t, "signals")
			cmd := ideai(t, plan, project)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(out)
			expect(t, r, "ready")
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			expect(t, r, "got "+s.String())
			_, _ = io.WriteString(in, "done\n")
			if code := exitCode(t, cmd); code != 1 {
				t.Errorf("the CLI got %d signals, want one", code)
			}
			gone(t, plan)
		})
	}
}

func TestCtrlCReachesTheCLIOnce(t *testing.T) {
	for key, name := range map[string]string{"\x03": "got interrupt", "\x1c": "got quit"} {
		t.Run(name, func(t *testing.T) {
			plan, project := newPlan(t, "signals")
			cmd := ideai(t, plan, project)
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tty.Close() }()
			r := bufio.NewReader(tty)
			expect(t, r, "ready")
			_, _ = io.WriteString(tty, key)
			expect(t, r, name)
			_, _ = io.WriteString(tty, "done\n")
			_, _ = io.Copy(io.Discard, r)
			if code := exitCode(t, cmd); code != 1 {
				t.Errorf("the CLI got %d signals, want one", code)
			}
			gone(t, plan)
		})
	}
}

func TestTheExitCodePassesThroughATerminal(t *testing.T) {
	plan, project := newPlan(t, "exit", "42")
	cmd := ideai(t, plan, project)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	_, _ = io.Copy(io.Discard, tty)
	if code := exitCode(t, cmd); code != 42 {
		t.Errorf("code %d, want 42", code)
	}
}

func TestAStoppedCLIStopsItsCallerToo(t *testing.T) {
	plan, project := newPlan(t, "stop")
	cmd := ideai(t, plan, project)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	r := bufio.NewReader(tty)
	expect(t, r, "stopping")
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("status %v, %v: the caller did not stop", status, err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT); err != nil { // what a shell's fg does
		t.Fatal(err)
	}
	expect(t, r, "continued")
	_, _ = io.Copy(io.Discard, r)
	if code := exitCode(t, cmd); code != 5 {
		t.Errorf("code %d, want 5", code)
	}
	gone(t, plan)
}

// A CLI that stops its whole group, as Claude Code does at Ctrl-Z, stops the
// caller once: after fg the caller must not stop again because of a stop that
// is over.
func TestACLIThatStopsItsGroupStopsItsCallerOnce(t *testing.T) {
	const rounds = 150
	plan, project := newPlan(t, "stop-group", strconv.Itoa(rounds))
	cmd := ideai(t, plan, project)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	go func() { _, _ = io.Copy(io.Discard, tty) }()
	stops := 0
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
			t.Fatal(err)
		}
		if !status.Stopped() {
			if status.ExitStatus() != 5 {
				t.Errorf("status %v", status)
			}
			break
		}
		stops++
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if stops != rounds {
		t.Errorf("the caller stopped %d times, the CLI %d times", stops, rounds)
	}
	gone(t, plan)
}

func TestAKilledCLILeavesTheTerminalAsItWas(t *testing.T) {
	plan, project := newPlan(t, "raw")
	cmd := ideai(t, plan, project)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	before, err := termios(tty)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(tty)
	expect(t, r, "raw")
	if during, err := termios(tty); err != nil || during.Lflag == before.Lflag {
		t.Fatalf("the CLI did not change the terminal: %v", err)
	}
	_, _ = io.WriteString(tty, "x")
	expect(t, r, "killed")
	_, _ = io.Copy(io.Discard, r)
	if code := exitCode(t, cmd); code != 128+9 {
		t.Errorf("code %d", code)
	}
	if after, err := termios(tty); err != nil || after.Lflag != before.Lflag {
		t.Errorf("modes %x, before %x, %v", after.Lflag, before.Lflag, err)
	}
}

func TestSweepTidiesUpAfterAKilledIdeai(t *testing.T) {
	plan, project := newPlan(t, "signals")
	runRoot := filepath.Dir(plan.GetSideDirectory())
	notOurs := filepath.Join(runRoot, "notes")
	mustMkdir(t, notOurs)
	unmarked := filepath.Join(runRoot, "launch-9")
	mustMkdir(t, unmarked)

	cmd := ideai(t, plan, project)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, in := pipe(t) // open, or the CLI ends by itself
	r, w := pipe(t)
	cmd.Stdin, cmd.Stdout = stdin, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	out := bufio.NewReader(r)
	expectAll(t, out, "ready", "started")

	nobody := func(string) bool { return false }
	if removed, err := host.Sweep(project, runRoot, nobody); err != nil || len(removed) > 0 {
		t.Fatalf("swept %v from under a live launch, %v", removed, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if runtime.GOOS == "linux" {
		expect(t, out, "got hangup") // an agent does not work on unseen
	}
	if removed, err := host.Sweep(project, runRoot, nobody); err != nil || len(removed) > 0 {
		t.Fatalf("swept %v from under a CLI that outlives ideai, %v", removed, err)
	}
	_, _ = io.WriteString(in, "done\n")
	_, _ = io.Copy(io.Discard, out) // the CLI is gone

	if removed, err := host.Sweep(project, runRoot, func(id string) bool { return id == "launch-1" }); err != nil || len(removed) > 0 {
		t.Fatalf("swept %v against the server's word, %v", removed, err)
	}
	var removed []string
	var err error
	for len(removed) == 0 { // between closing its files and being gone lies an instant
		if removed, err = host.Sweep(project, runRoot, nobody); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if len(removed) != 1 || removed[0] != "launch-1" {
		t.Errorf("swept %v", removed)
	}
	gone(t, plan)
	for _, dir := range []string{notOurs, unmarked} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("swept what is not ours: %v", err)
		}
	}
}

func TestSweepTakesSideDirectoriesThatNobodyGotToMark(t *testing.T) {
	project := t.TempDir()
	runRoot := filepath.Join(project, "run")
	old := time.Now().Add(-25 * time.Hour)
	for name, file := range map[string]string{"empty": "", "begun": ".ideai-launch.json.new", "theirs": "notes.txt", "fresh": "", "claimed": ""} {
		dir := filepath.Join(runRoot, name)
		mustMkdir(t, dir)
		if file != "" {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if name == "fresh" {
			continue
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := host.Sweep(project, runRoot, func(id string) bool { return id == "claimed" })
	slices.Sort(removed)
	if err != nil || !slices.Equal(removed, []string{"begun", "empty"}) {
		t.Errorf("swept %v, %v; want begun and empty", removed, err)
	}
}

// Whoever is killed while removing a side directory leaves one that is marked.
func TestTheMarkOfASideDirectoryGoesLast(t *testing.T) {
	project := t.TempDir()
	runRoot := filepath.Join(project, "run")
	dir := filepath.Join(runRoot, "dead")
	mustMkdir(t, dir)
	const mark = ".ideai-launch.json"
	for _, name := range []string{".gitignore", mark, "a.md", "z.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"launch_id":"dead","host":{"pid":1,"start":"another life"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	if removed, err := host.Sweep(project, runRoot, func(string) bool { return false }); err != nil || len(removed) != 1 {
		t.Fatalf("swept %v, %v", removed, err)
	}
	var order []string
	for e := range w.Events {
		if e.Name == dir {
			break
		}
		if e.Has(fsnotify.Remove) {
			order = append(order, filepath.Base(e.Name))
		}
	}
	if len(order) != 4 || order[3] != mark {
		t.Errorf("removed in the order %v, want the mark last", order)
	}
}

func TestSweepTrustsNoForeignMark(t *testing.T) {
	project := t.TempDir()
	runRoot := filepath.Join(project, "run")
	victim := filepath.Join(t.TempDir(), "victim")
	mustMkdir(t, victim)
	write := func(dir, data string) {
		t.Helper()
		mustMkdir(t, dir)
		if err := os.WriteFile(filepath.Join(dir, ".ideai-launch.json"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(victim, `{"launch_id":"victim","host":{"pid":1,"start":"x"}}`)
	write(filepath.Join(runRoot, "other"), `{"launch_id":"launch-1","host":{"pid":1,"start":"x"}}`)
	write(filepath.Join(runRoot, "broken"), `{"launch_id":"broken",`)
	write(filepath.Join(runRoot, "nobody"), `{"launch_id":"nobody"}`)
	write(filepath.Join(runRoot, "dead"), `{"launch_id":"dead","host":{"pid":1,"start":"another life"}}`)
	if err := os.Symlink(victim, filepath.Join(runRoot, "victim")); err != nil {
		t.Fatal(err)
	}
	removed, err := host.Sweep(project, runRoot, func(string) bool { return false })
	if err != nil || len(removed) != 1 || removed[0] != "dead" {
		t.Errorf("swept %v, %v; want only dead", removed, err)
	}
	if _, err := os.Stat(filepath.Join(victim, ".ideai-launch.json")); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
	if removed, err := host.Sweep(project, filepath.Join(project, "absent"), nil); err != nil || removed != nil {
		t.Errorf("an absent run root: %v, %v", removed, err)
	}
}
