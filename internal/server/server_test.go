package server_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/internal/server/servertest"
)

func TestServesAndStops(t *testing.T) {
	s := servertest.Start(t)
	s.Project("shop", map[string]string{".ideai/memory/a.md": "---\ndescription: A\n---\nText.\n"})
	owner := s.Owner()
	info, err := owner.Launcher.GetServerInfo(t.Context(), &launcherv1.GetServerInfoRequest{})
	if err != nil || info.GetBuildId() != servertest.Build.ID || info.GetPid() != int64(os.Getpid()) {
		t.Errorf("server info: %v, %v", info, err)
	}
	list, err := owner.Memory.ListNotes(t.Context(), &memoryv1.ListNotesRequest{ProjectId: "shop"})
	if err != nil || list.GetTotal() != 1 {
		t.Errorf("notes: %v, %v", list, err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := os.Lstat(strings.TrimPrefix(s.Address, "unix://")); !os.IsNotExist(err) {
		t.Error("the socket is still there")
	}
	// The locks are free: another server takes the same files and address.
	again := servertest.Start(t, func(c *server.Config) { c.Address, c.StateDir = s.Address, s.StateDir })
	if _, err := again.Owner().Memory.ListNotes(t.Context(), &memoryv1.ListNotesRequest{ProjectId: "shop"}); err != nil {
		t.Errorf("the next server: %v", err)
	}
}

func TestDrainEndsStreamsAndRefusesCalls(t *testing.T) {
	s := servertest.Start(t)
	s.Project("shop", nil)
	owner := s.Owner()
	watch, err := owner.Memory.WatchNotes(t.Context(), &memoryv1.WatchNotesRequest{ProjectId: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := watch.Recv(); err != nil || m.GetSynced() == nil {
		t.Fatalf("watch: %v, %v", m, err)
	}
	if _, err := owner.Launcher.Drain(t.Context(), &launcherv1.DrainRequest{Why: "test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); fault.ReasonOf(err) != fault.Draining {
		t.Errorf("the stream ended with %v, want DRAINING", err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := owner.Memory.ListNotes(t.Context(), &memoryv1.ListNotesRequest{ProjectId: "shop"}); !errors.Is(err, fault.Of(fault.ServiceUnavailable)) && !errors.Is(err, fault.Of(fault.Draining)) {
		t.Errorf("a call after the drain: %v", err)
	}
}

func TestSecondServerIsRefused(t *testing.T) {
	s := servertest.Start(t)
	second, err := server.New(server.Config{Address: s.Address, StateDir: s.StateDir})
	if err != nil {
		t.Fatal(err)
	}
	var inUse *background.InUseError
	if err := second.Run(t.Context()); !errors.As(err, &inUse) {
		t.Errorf("a second server: %v", err)
	}
	if _, err := s.Owner().Launcher.GetServerInfo(t.Context(), &launcherv1.GetServerInfoRequest{}); err != nil {
		t.Errorf("the first after that: %v", err)
	}
}

func TestSecondServerOfAProjectIsRefused(t *testing.T) {
	a, b := servertest.Start(t), servertest.Start(t)
	root := a.Project("shop", nil)
	save := &memoryv1.SaveNoteRequest{ProjectId: "shop", Note: &memoryv1.Note{NoteId: "a", Description: "A", Body: "x"}}
	if _, err := a.Owner().Memory.SaveNote(t.Context(), save); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Owner().Launcher.RegisterProject(t.Context(), &launcherv1.RegisterProjectRequest{Path: root, ProjectId: "shop"}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Owner().Memory.SaveNote(t.Context(), save)
	if fault.ReasonOf(err) != fault.StoreLocked {
		t.Errorf("the second server saves a note: %v, want STORE_LOCKED", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	dir, err := os.MkdirTemp("", "ideai") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	s := servertest.Start(t, func(c *server.Config) { c.Address = "unix://" + path })
	if _, err := s.Owner().Launcher.GetServerInfo(t.Context(), &launcherv1.GetServerInfoRequest{}); err != nil {
		t.Error(err)
	}
}

// Neither a file of the person nor another program's live socket is ours to
// remove, whatever the address says.
func TestServerLeavesWhatIsNotADeadServers(t *testing.T) {
	dir, err := os.MkdirTemp("", "ideai") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file, socket := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "other.sock")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{file, socket} {
		s, err := server.New(server.Config{Address: "unix://" + path, StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("serving at %s: %v, want a refusal that names it", path, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file is now %q (%v)", got, err)
	}
}

func TestInsideOneProcess(t *testing.T) {
	s := servertest.Start(t, func(c *server.Config) { c.Address = "" })
	if s.Addr() != nil {
		t.Errorf("listens at %v", s.Addr())
	}
	conn, err := s.Dial(rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := launcherv1.NewLauncherServiceClient(conn).ListProjects(t.Context(), &launcherv1.ListProjectsRequest{}); err != nil {
		t.Error(err)
	}
}

func TestTCPNeedsAToken(t *testing.T) {
	s := servertest.Start(t, func(c *server.Config) { c.Address = "127.0.0.1:0" })
	conn, err := rpc.Dial(s.Addr().String(), rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = launcherv1.NewLauncherServiceClient(conn).ListProjects(t.Context(), &launcherv1.ListProjectsRequest{})
	if fault.ReasonOf(err) != fault.ReasonUnauthenticated {
		t.Errorf("a stranger got %v", err)
	}
}

func TestHealthNamesEveryService(t *testing.T) {
	s := servertest.Start(t)
	c := healthv1.NewHealthClient(s.Owner().Conn)
	for _, name := range []string{"", "idea.launcher.v1.LauncherService", "idea.context.v1.ContextService", "idea.memory.v1.MemoryService"} {
		r, err := c.Check(t.Context(), &healthv1.HealthCheckRequest{Service: name})
		if err != nil || r.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", name, r, err)
		}
	}
}

func TestIdleServerEnds(t *testing.T) {
	s := servertest.Start(t, func(c *server.Config) { c.IdleTimeout = time.Millisecond })
	if err := s.Wait(); err != nil {
		t.Errorf("the idle server ended with %v", err)
	}
}

func TestTokenKeyOutlivesTheServer(t *testing.T) {
	s := servertest.Start(t)
	s.Project("shop", nil)
	recall := &memoryv1.RecallNotesRequest{ProjectId: "shop", Query: "x"}
	if _, err := s.Agent("shop", "dev").Memory.RecallNotes(t.Context(), recall); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := servertest.Start(t, func(c *server.Config) { c.StateDir = s.StateDir })
	if _, err := again.Agent("shop", "dev").Memory.RecallNotes(t.Context(), recall); err != nil {
		t.Errorf("a token of the server before: %v", err)
	}
}

func TestAgentsStayInTheirProject(t *testing.T) {
	s := servertest.Start(t)
	s.Project("shop", nil)
	s.Project("bank", nil)
	agent := s.Agent("shop", "dev")
	for name, call := range map[string]func(ctx context.Context) error{
		"another project": func(ctx context.Context) error {
			_, err := agent.Memory.RecallNotes(ctx, &memoryv1.RecallNotesRequest{ProjectId: "bank", Query: "x"})
			return err
		},
		"another worktree": func(ctx context.Context) error {
			_, err := agent.Memory.RecallNotes(ctx, &memoryv1.RecallNotesRequest{ProjectId: "shop", WorktreeId: "other", Query: "x"})
			return err
		},
		"a person's method": func(ctx context.Context) error {
			_, err := agent.Memory.ListNotes(ctx, &memoryv1.ListNotesRequest{ProjectId: "shop"})
			return err
		},
		"a host's method": func(ctx context.Context) error {
			_, err := agent.Launcher.ListLaunches(ctx, &launcherv1.ListLaunchesRequest{ProjectId: "shop"})
			return err
		},
		"the end of the server": func(ctx context.Context) error {
			_, err := agent.Launcher.Drain(ctx, &launcherv1.DrainRequest{})
			return err
		},
	} {
		if r := fault.ReasonOf(call(t.Context())); r != fault.OutOfScope && r != fault.CallerNotAllowed {
			t.Errorf("an agent reaches for %s and gets %q", name, r)
		}
	}
}

func TestUnknownServiceIsRefused(t *testing.T) {
	s := servertest.Start(t)
	err := s.Owner().Conn.Invoke(t.Context(), "/idea.nosuch.v1.NoSuchService/Do", &launcherv1.DrainRequest{}, &launcherv1.DrainResponse{}, grpc.WaitForReady(true))
	if fault.ReasonOf(err) != fault.UnknownMethod {
		t.Errorf("got %v", err)
	}
}
