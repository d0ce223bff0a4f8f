//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/rpc"
)

// builtAt is a program of the same code that says it was built at another time.
func builtAt(year int) func() {
	info := build.Info{ID: "test-" + strconv.Itoa(year), Version: "v" + strconv.Itoa(year), Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
	return func() { os.Exit(run(os.Args[1:], func(string) build.Info { return info })) }
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ideai":      builtAt(2026),
		"ideai-2025": builtAt(2025),
		"ideai-2027": builtAt(2027),
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"kill9": kill9, "code": code, "same": same,
		},
	})
}

// setUpScript gives a script a person's own folders and no one else's
// settings, and ends the server that the script leaves behind.
func setUpScript(env *testscript.Env) error {
	// The socket's path has to stay short.
	runtime, err := os.MkdirTemp("", "ideai-run")
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	env.Vars = append(env.Vars,
		"HOME="+home, "XDG_RUNTIME_DIR="+runtime, "IDEAI_STATE_DIR="+filepath.Join(env.WorkDir, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "LANG=C.UTF-8",
		"PATH="+filepath.Join(env.WorkDir, "bin")+string(filepath.ListSeparator)+env.Getenv("PATH"),
		"EXAMPLES="+examples(),
		"GORACE=atexit_sleep_ms=0", // else each program waits a second at its end
	)
	env.Defer(func() {
		endServers(runtime)
		_ = os.RemoveAll(runtime)
	})
	return nil
}

func examples() string {
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		return ""
	}
	return dir
}

// endServers drains the servers of a runtime folder and waits until they are
// gone.
func endServers(runtime string) {
	sockets, _ := filepath.Glob(filepath.Join(runtime, "ideai", "*.sock"))
	for _, path := range sockets {
		addr := "unix://" + path
		conn, err := rpc.Dial(addr, rpc.ClientConfig{NoRetry: true})
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_, _ = launcherv1.NewLauncherServiceClient(conn).Drain(ctx, &launcherv1.DrainRequest{Why: "end of the test"})
		if release, err := background.Claim(ctx, addr, 10*time.Second); err == nil {
			release()
		}
		cancel()
		_ = conn.Close()
	}
}

// kill9 kills the process of the pid in a file, without a word.
func kill9(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill9 pidfile")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
}

// code runs a command and checks its exit code: code N command args…
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// same checks that two files hold equal bytes.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same a b")
	}
	if (ts.ReadFile(args[0]) == ts.ReadFile(args[1])) == neg {
		ts.Fatalf("%s and %s: equal is %v", args[0], args[1], neg)
	}
}
