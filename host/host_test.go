//go:build unix

package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
)

// The test program plays three parts: the tests, a fake CLI, and ideai itself.
const (
	partVar = "HOST_TEST_PART"
	planVar = "HOST_TEST_PLAN"
	rootVar = "HOST_TEST_ROOT"
)

func TestMain(m *testing.M) {
	// A program built with -race otherwise waits a second before it exits.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	switch os.Getenv(partVar) {
	case "cli":
		os.Exit(fakeCLI(os.Args[1:]))
	case "ideai":
		os.Exit(fakeIdeai())
	}
	goleak.VerifyTestMain(m)
}

// seen is what the fake CLI reports of itself.
type seen struct {
	Args  []string
	Cwd   string
	Env   map[string]string
	Stdin string
	Group int
}

// fakeCLI obeys its first argument.
func fakeCLI(args []string) int {
	switch args[0] {
	case "report":
		in, _ := io.ReadAll(os.Stdin)
		cwd, _ := os.Getwd()
		s := seen{Args: args, Cwd: cwd, Stdin: string(in), Env: map[string]string{}, Group: syscall.Getpgrp()}
		for _, kv := range os.Environ() {
			name, value, _ := strings.Cut(kv, "=")
			s.Env[name] = value
		}
		_ = json.NewEncoder(os.Stdout).Encode(s)
		return 0
	case "exit":
		code, _ := strconv.Atoi(args[1])
		return code
	case "kill":
		n, _ := strconv.Atoi(args[1])
		_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
		select {}
	case "cat":
		data, err := os.ReadFile(args[1])
		fmt.Fprint(os.Stdout, string(data))
		return map[bool]int{true: 0, false: 1}[err == nil]
	case "ignore-stdin":
		return 0
	case "stop":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGCONT)
		fmt.Fprintln(os.Stdout, "stopping")
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-c // the thread that sent the signal may run on for a moment
		fmt.Fprintln(os.Stdout, "continued")
		return 5
	case "stop-group":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGCONT)
		for n, _ := strconv.Atoi(args[1]); n > 0; n-- {
			_ = syscall.Kill(0, syscall.SIGSTOP)
			<-c
		}
		return 5
	case "raw":
		modes, _ := termios(os.Stdin)
		modes.Lflag &^= unix.ICANON | unix.ECHO
		_ = setTermios(os.Stdin, modes)
		fmt.Fprintln(os.Stdout, "raw")
		_, _ = os.Stdin.Read(make([]byte, 1))
		fmt.Fprintln(os.Stdout, "killed")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "signals":
		return reportSignals()
	}
	return 99
}

// reportSignals prints each signal it gets, and ends at a line on its standard
// input with the number of signals as its code.
func reportSignals() int {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	lines := make(chan string)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		lines <- line
	}()
	fmt.Fprintln(os.Stdout, "ready")
	n := 0
	for {
		select {
		case s := <-c:
			n++
			fmt.Fprintln(os.Stdout, "got", s)
		case <-lines:
			return n
		}
	}
}

// fakeIdeai runs the plan of its environment, as `ideai claude` would.
func fakeIdeai() int {
	var plan launcherv1.LaunchPlan
	if err := protojson.Unmarshal([]byte(os.Getenv(planVar)), &plan); err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 98
	}
	code, err := host.Run(context.Background(), &plan, host.Options{
		ProjectRoot: os.Getenv(rootVar),
		OnStarted:   func(int, time.Time) { fmt.Fprintln(os.Stdout, "started") },
	})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 97
	}
	return code
}

// newPlan plans a launch of the fake CLI in a new project.
func newPlan(t *testing.T, args ...string) (*launcherv1.LaunchPlan, string) {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plan := &launcherv1.LaunchPlan{
		LaunchId:      "launch-1",
		SideDirectory: filepath.Join(project, ".ideai", "run", "launch-1"),
		Cwd:           project,
		Argv:          []*typev1.Arg{{Value: self}},
		Env:           []*typev1.EnvVar{{Name: partVar, Value: "cli"}},
	}
	for _, a := range args {
		plan.Argv = append(plan.Argv, &typev1.Arg{Value: a})
	}
	return plan, project
}

// pipe returns a pipe that is closed at the end of the test.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

// devNull is an empty standard input.
func devNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// run runs a plan and returns the code and what the CLI wrote.
func run(t *testing.T, plan *launcherv1.LaunchPlan, o host.Options) (int, string) {
	t.Helper()
	r, w := pipe(t)
	o.Stdout = w
	if o.Stdin == nil {
		o.Stdin = devNull(t)
	}
	out := make(chan string)
	go func() {
		data, _ := io.ReadAll(r)
		out <- string(data)
	}()
	code, err := host.Run(t.Context(), plan, o)
	_ = w.Close()
	text := <-out
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return code, text
}

// gone fails the test when the side directory is still there.
func gone(t *testing.T, plan *launcherv1.LaunchPlan) {
	t.Helper()
	if _, err := os.Lstat(plan.GetSideDirectory()); !os.IsNotExist(err) {
		t.Errorf("the side directory is left behind: %v", err)
	}
}
