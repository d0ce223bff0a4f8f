package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

const time1 = time.Minute

// Two launches in two terminals share one server, also when the first, which
// started the server, is killed under the second.
func TestTwoLaunchesShareOneServerAlsoWhenTheFirstIsKilled(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	w.stopServer()
	recall := stubmodel.Call{Name: "mcp__ideai__idea_memory_recall", Args: map[string]any{"query": "arrondi des montants"}}
	in := map[string]chan struct{}{"I am the first": make(chan struct{}), "I am the second": make(chan struct{})}
	asked := map[string]func(){}
	for who, ch := range in {
		asked[who] = sync.OnceFunc(func() { close(ch) })
	}
	release := make(chan struct{})
	w.model.SetScript(func(r stubmodel.Request, turn int) stubmodel.Reply {
		for who, first := range asked {
			if strings.Contains(r.Text(), who) {
				first()
			}
		}
		<-release
		if turn == 0 {
			return stubmodel.Reply{Call: &recall}
		}
		return stubmodel.Reply{Text: "done"}
	})
	start := func(prompt string) *exec.Cmd {
		cmd := exec.Command(w.lookPath("ideai"), "claude", "-p", prompt)
		cmd.Dir, cmd.Env = w.project, w.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		must(t, cmd.Start())
		select {
		case <-in[prompt]:
		case <-time.After(time1):
			t.Fatalf("%q made no request", prompt)
		}
		return cmd
	}
	first := start("I am the first")
	pid := w.serverPID()
	second := start("I am the second")
	must(t, syscall.Kill(-first.Process.Pid, syscall.SIGKILL))
	_ = first.Wait()
	close(release)
	if err := second.Wait(); err != nil {
		t.Errorf("the second launch: %v", err)
	}
	if got := w.lastTurn().ToolResults(); !strings.Contains(got, "ARRONDI-44e0") {
		t.Errorf("recall in the second launch:\n%s", got)
	}
	if now := w.serverPID(); now != pid {
		t.Errorf("the server changed from pid %s to %s", pid, now)
	}
}

func (w *world) serverPID() string {
	w.t.Helper()
	out := w.run("ideai", "version", "--server", "--json").stdout
	var r struct {
		Server struct {
			Pid json.Number `json:"pid"`
		} `json:"server"`
	}
	must(w.t, json.Unmarshal([]byte(out), &r))
	if r.Server.Pid == "" {
		w.t.Fatalf("no server pid in %s", out)
	}
	return strings.Trim(r.Server.Pid.String(), `"`)
}

// What begins no session of the CLI is the CLI's alone.
func TestArgumentsThatBeginNoSessionGoToTheCLI(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"claude", "codex"} {
		want, got := w.run(name, "--version").stdout, w.run("ideai", name, "--version").stdout
		if got != want {
			t.Errorf("ideai %s --version says %q, %s itself %q", name, got, name, want)
		}
	}
	w.run("ideai", "claude", "mcp", "list")
	if _, err := os.Stat(filepath.Join(w.project, ".ideai")); err == nil {
		t.Error("the folder was made a project")
	}
}

func TestCLINotInstalledIsSaidPlainly(t *testing.T) {
	w := newWorld(t)
	for i, kv := range w.env {
		if strings.HasPrefix(kv, "PATH=") {
			w.env[i] = "PATH=" + strings.TrimSuffix(w.lookPath("ideai"), "/ideai") + ":/usr/bin:/bin"
		}
	}
	r, err := w.try(time1, w.project, "", "ideai", "claude", "-p", "hello")
	if err == nil || !strings.Contains(r.stderr, "claude") || !strings.Contains(r.stderr, "install") {
		t.Errorf("code %d\n%s", r.code, r.all())
	}
	if _, err := os.Stat(w.project + "/.ideai/run"); err == nil {
		entries, err := os.ReadDir(w.project + "/.ideai/run")
		must(t, err)
		for _, e := range entries {
			if e.Name() != "locks" && e.Name() != "launches" {
				t.Errorf("left behind: .ideai/run/%s", e.Name())
			}
		}
	}
}
