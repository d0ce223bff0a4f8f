package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

const time1 = time.Minute

// Two launches in two terminals share one server, also when the first is
// killed: the second's tools still work.
func TestTwoLaunchesShareOneServerAndSurviveEachOther(t *testing.T) {
	w := newWorld(t)
	w.setUpProject()
	recall := stubmodel.Call{Name: "mcp__ideai__idea_memory_recall", Args: map[string]any{"query": "arrondi des montants"}}
	firstIn, release := make(chan struct{}), make(chan struct{})
	w.model.SetScript(func(r stubmodel.Request, turn int) stubmodel.Reply {
		switch {
		case strings.Contains(r.Text(), "I am the first"):
			close(firstIn)
			<-release
			return stubmodel.Reply{Text: "done"}
		case turn == 0:
			return stubmodel.Reply{Call: &recall}
		}
		return stubmodel.Reply{Text: "done"}
	})

	first := exec.Command(w.lookPath("ideai"), "claude", "-p", "I am the first")
	first.Dir, first.Env = w.project, w.env
	first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, first.Start())
	select {
	case <-firstIn:
	case <-time.After(time1):
		t.Fatal("the first launch made no request")
	}
	pid := w.serverPID()
	must(t, syscall.Kill(-first.Process.Pid, syscall.SIGKILL))
	_ = first.Wait()
	close(release)

	w.run("ideai", "claude", "-p", "I am the second")
	if got := w.lastTurn().ToolResults(); !strings.Contains(got, "ARRONDI-44e0") {
		t.Errorf("recall in the second launch:\n%s", got)
	}
	if now := w.serverPID(); now != pid {
		t.Errorf("the server changed from pid %s to %s", pid, now)
	}
	if err := syscall.Kill(atoi(t, pid), 0); err != nil {
		t.Errorf("the server is gone: %v", err)
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
