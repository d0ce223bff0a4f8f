package background

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shortDir is a folder whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bg") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestAddress(t *testing.T) {
	run, state := shortDir(t), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run)
	a, err := Address(state)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(a, "unix://"+run+"/ideai/") || !strings.HasSuffix(a, ".sock") {
		t.Errorf("address is %s, want a socket below %s/ideai", a, run)
	}
	st, err := os.Stat(filepath.Join(run, "ideai"))
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder is %v (%v), want mode 0700", st, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(state, link); err != nil {
		t.Fatal(err)
	}
	if same, _ := Address(link); same != a {
		t.Errorf("a link to the state directory has %s, the directory has %s", same, a)
	}
	if other, _ := Address(t.TempDir()); other == a {
		t.Error("two state directories have one address")
	}
}

func TestAddressWithoutRoomBelowTheRuntimeDirectory(t *testing.T) {
	for name, runtime := range map[string]string{
		"none": "", "too long": filepath.Join(t.TempDir(), strings.Repeat("x", 120)), "relative": "run",
	} {
		t.Run(name, func(t *testing.T) {
			tmp := shortDir(t)
			t.Setenv("TMPDIR", tmp)
			t.Setenv("XDG_RUNTIME_DIR", runtime)
			a, err := Address(t.TempDir())
			if err != nil || !strings.HasPrefix(a, "unix://"+tmp) {
				t.Errorf("address is %s (%v), want one below %s", a, err, tmp)
			}
		})
	}
}

// cron, su and ssh have no XDG_RUNTIME_DIR: a second server for them would be
// refused the projects the first one holds.
func TestAddressIsThatOfTheServerWhateverTheEnvironment(t *testing.T) {
	state, runtime := t.TempDir(), shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	first, err := Address(state)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", strings.TrimPrefix(first, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Remember(state, first); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", shortDir(t))
	if got, err := Address(state); err != nil || got != first {
		t.Errorf("while it runs the address is %s (%v), want %s", got, err, first)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := Address(state); err != nil || got == first {
		t.Errorf("once it is gone the address is still %s (%v)", got, err)
	}
}

func TestAddressRefusesAFolderOfSomeoneElse(t *testing.T) {
	tmp := shortDir(t)
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	a, err := Address(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(strings.TrimPrefix(a, "unix://"))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if a, err := Address(t.TempDir()); err == nil {
		t.Errorf("took %s, whose folder is a link that another user could have made", a)
	}
}

func TestClaimRefusesASecondServer(t *testing.T) {
	addr := "unix://" + filepath.Join(shortDir(t), "s.sock")
	release, err := Claim(context.Background(), addr, 0)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if _, err := Claim(context.Background(), addr, 0); !errors.As(err, &inUse) || inUse.Address != addr {
		t.Errorf("a second claim gives %v, want that %s is in use", err, addr)
	}
	release()
	again, err := Claim(context.Background(), addr, 0)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	again()
}

// An address may name a file of the person by mistake.
func TestClaimLeavesWhatStandsAtTheAddress(t *testing.T) {
	path := filepath.Join(shortDir(t), "notes.txt")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := Claim(context.Background(), "unix://"+path, 0)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
		t.Errorf("the file at the address is now %q (%v)", got, err)
	}
}

func TestClaimWaitsForThePredecessor(t *testing.T) {
	addr := "unix://" + filepath.Join(shortDir(t), "s.sock")
	release, err := Claim(context.Background(), addr, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		next, err := Claim(context.Background(), addr, drainTimeout)
		if err != nil {
			t.Errorf("the successor: %v", err)
			return
		}
		next()
	})
	release()
	wg.Wait()
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	got := Environment([]string{
		"HOME=/home/a", "PATH=/bin", "LANG=fr_FR.UTF-8", "LC_ALL=C", "XDG_STATE_HOME=/s", "IDEAI_LANGUAGE=fr", "OTEL_SERVICE_NAME=x",
		"IDEAI_TOKEN=secret", "IDEAI_ADDRESS=unix:///x", "ANTHROPIC_API_KEY=secret", "AWS_SECRET_ACCESS_KEY=secret", "SSH_AUTH_SOCK=/a", "LD_PRELOAD=/x.so",
	})
	want := []string{"HOME=/home/a", "PATH=/bin", "LANG=fr_FR.UTF-8", "LC_ALL=C", "XDG_STATE_HOME=/s", "IDEAI_LANGUAGE=fr", "OTEL_SERVICE_NAME=x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "server.log")
	log, err := OpenLog(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if _, err := log.Write([]byte("a line of thirty characters..\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + ".1"} {
		st, err := os.Stat(p)
		if err != nil || st.Size() > 100 || st.Size() == 0 || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v (%v), want at most 100 bytes, mode 0600", p, st, err)
		}
	}
	if got := lastLines(path, 0, 1); got != "a line of thirty characters.." {
		t.Errorf("the last line is %q", got)
	}
}

func TestStartTellsWhyTheServerDied(t *testing.T) {
	o := Options{StateDir: t.TempDir(), Exe: "/bin/sh", Args: []string{"-c", "echo starting; echo the disk is on fire >&2; exit 1", "--"}}
	err := o.start(context.Background())
	if err == nil || !strings.Contains(err.Error(), "the disk is on fire") || !strings.Contains(err.Error(), o.LogPath()) {
		t.Errorf("got %v, want the log's last lines and its path", err)
	}
}

func TestStartReturnsWhenTheServerIsReady(t *testing.T) {
	o := Options{StateDir: t.TempDir(), Exe: "/bin/sh", Args: []string{"-c", "echo ready >&3", "--"}}
	if err := o.start(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestEnsureDoesNotStartServersElsewhere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, err = Options{Address: addr, StateDir: t.TempDir()}.Ensure(context.Background())
	if err == nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v, want that nothing answers at %s", err, addr)
	}
}
