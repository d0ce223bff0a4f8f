//go:build !windows

package rpc_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
)

func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	l, err := rpc.Listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// socket returns a path short enough for every system.
func socket(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rpc") //nolint:usetesting // t.TempDir has the test's name in its path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "in", "s.sock")
}

func whoCalls(ctx context.Context, _ *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
	c, _ := auth.FromContext(ctx)
	return &memoryv1.GetNoteResponse{Note: &memoryv1.Note{NoteId: c.Person, Description: c.SurfaceNames()}}, nil
}

func TestOwnerOfASocket(t *testing.T) {
	path := socket(t)
	serveNotes(t, rpc.ServerConfig{Person: "ada"}, &notes{get: whoCalls}, listen(t, "unix://"+path))
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	conn, err := rpc.Dial("unix://"+path, rpc.ClientConfig{})
	c := memoryv1.NewMemoryServiceClient(closing(t, conn, err))
	got, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	if err != nil || got.GetNote().GetNoteId() != "ada" || got.GetNote().GetDescription() != "HUMAN,HOST" {
		t.Fatal(got, err)
	}
}

func TestTCPNeedsAToken(t *testing.T) {
	key := newKey(t)
	l := listen(t, "127.0.0.1:0")
	serveNotes(t, rpc.ServerConfig{Verifier: key.Verifier(), Person: "ada"}, &notes{get: whoCalls}, l)
	relay := auth.NewRelay(key.Issuer())
	for name, c := range map[string]struct {
		token func(context.Context) (string, error)
		want  fault.Reason
	}{
		"none":  {nil, fault.ReasonUnauthenticated},
		"empty": {func(context.Context) (string, error) { return "", nil }, fault.ReasonUnauthenticated},
		"bad":   {func(context.Context) (string, error) { return "x", nil }, fault.ReasonUnauthenticated},
		"good":  {func(context.Context) (string, error) { return relay.OwnerToken("bob") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := rpc.Dial(l.Addr().String(), rpc.ClientConfig{Token: c.token})
			client := memoryv1.NewMemoryServiceClient(closing(t, conn, err))
			got, err := client.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
			if fault.ReasonOf(err) != c.want || err == nil && got.GetNote().GetNoteId() != "bob" {
				t.Fatal(got, err)
			}
		})
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := socket(t)
	first := listen(t, "unix://"+path)
	first.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	closeIt(t, first)
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("the socket is gone:", err)
	}
	serveNotes(t, rpc.ServerConfig{}, &notes{}, listen(t, "unix://"+path))
	conn, err := rpc.Dial("unix://"+path, rpc.ClientConfig{})
	if _, err := memoryv1.NewMemoryServiceClient(closing(t, conn, err)).GetNote(t.Context(),
		&memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"}); err != nil {
		t.Fatal(err)
	}
}

func TestLiveSocketIsRefused(t *testing.T) {
	path := socket(t)
	first := listen(t, "unix://"+path)
	if _, err := rpc.Listen(t.Context(), "unix://"+path); !errors.Is(err, rpc.ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("the live socket is gone:", err)
	}
	closeIt(t, first)
	if _, err := os.Lstat(path); err == nil {
		t.Fatal("a closed listener leaves its socket")
	}
}

// Of several servers that start at once over a stale socket, one wins.
func TestListenAtOnce(t *testing.T) {
	path := socket(t)
	stale := listen(t, "unix://"+path)
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	closeIt(t, stale)
	var mu sync.Mutex
	var won []net.Listener
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := rpc.Listen(t.Context(), "unix://"+path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, l)
			} else if !errors.Is(err, rpc.ErrInUse) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Errorf("%d servers listen", len(won))
	}
	for _, l := range won {
		closeIt(t, l)
	}
}

func TestListenRefuses(t *testing.T) {
	dir := filepath.Dir(filepath.Dir(socket(t)))
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, strings.Repeat("l", 120))
	for addr, want := range map[string]string{
		"unix://" + long:             "set a shorter address",
		"unix://relative.sock":       "absolute path",
		"unix://" + file:             "not a socket",
		"unix://" + open + "/s":      "chmod 700",
		"0.0.0.0:0":                  "needs TLS",
		"192.0.2.1:0":                "needs TLS",
		":0":                         "needs TLS",
		"example.org:443":            "needs TLS",
		"nonsense":                   "neither unix:///path nor host:port",
		"unix://" + file + "/s.sock": "not a directory",
	} {
		if l, err := rpc.Listen(t.Context(), addr); err == nil || !strings.Contains(err.Error(), want) {
			if err == nil {
				closeIt(t, l)
			}
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "precious" {
		t.Error("the file was touched")
	}
}

func TestDialRefuses(t *testing.T) {
	for addr, want := range map[string]string{
		"unix:///" + strings.Repeat("l", 120): "set a shorter address",
		"example.org:443":                     "needs TLS",
		"192.0.2.1:1":                         "needs TLS",
		"nonsense":                            "neither",
	} {
		if conn, err := rpc.Dial(addr, rpc.ClientConfig{}); err == nil || !strings.Contains(err.Error(), want) {
			if err == nil {
				closeIt(t, conn)
			}
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	conn, err := rpc.Dial("unix://"+socket(t), rpc.ClientConfig{})
	_, err = memoryv1.NewMemoryServiceClient(closing(t, conn, err)).GetNote(t.Context(),
		&memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	if f, _ := fault.As(err); f == nil || f.Reason != fault.ServiceUnavailable || f.Meta["service"] != memoryService {
		t.Fatal(err)
	}
}
