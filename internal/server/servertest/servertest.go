// Package servertest starts the all-in-one server for tests and gives clients
// of any surface: the owner over the socket, and agents by their tokens.
package servertest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server"
)

// Server is a running all-in-one server on folders of its own.
type Server struct {
	*server.Server
	StateDir string
	Address  string

	// Calls, when set before clients are made, hears of their calls.
	Calls *Calls

	t    testing.TB
	stop context.CancelFunc
	done chan error
}

// Build is the build id that servers of this package give.
var Build = build.Info{ID: "servertest", Version: "v0.0.0-test", Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

// Start runs a server until the test ends, on a Unix socket. edit may change
// its configuration first.
func Start(t testing.TB, edit ...func(*server.Config)) *Server {
	t.Helper()
	// The folders of a test go away in the order of their making, backwards: so
	// that those with projects outlive the server, the first is made now.
	t.TempDir()
	// A test's own folder may be too deep for a socket.
	dir, err := os.MkdirTemp("", "ideai") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cfg := server.Config{
		Address: "unix://" + filepath.Join(dir, "s.sock"), StateDir: filepath.Join(dir, "state"),
		Build: Build, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, fn := range edit {
		fn(&cfg)
	}
	return run(t, cfg)
}

func run(t testing.TB, cfg server.Config) *Server {
	t.Helper()
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Server: srv, StateDir: cfg.StateDir, Address: cfg.Address, t: t, stop: cancel, done: make(chan error, 1)}
	go func() { s.done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready():
	case err := <-s.done:
		cancel()
		t.Fatalf("the server ended before it was ready: %v", err)
	}
	t.Cleanup(func() {
		cancel()
		if err, open := <-s.done; open && err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// Stop asks the server to end and waits for it.
func (s *Server) Stop() error {
	s.stop()
	return s.Wait()
}

// Wait waits until the server ends.
func (s *Server) Wait() error {
	err := <-s.done
	close(s.done)
	return err
}

// Clients are connections to the gateway from one surface.
type Clients struct {
	Conn     grpc.ClientConnInterface
	Launcher launcherv1.LauncherServiceClient
	Context  contextv1.ContextServiceClient
	Memory   memoryv1.MemoryServiceClient
}

func (s *Server) clients(cfg rpc.ClientConfig) *Clients {
	s.t.Helper()
	address := s.Address
	if !strings.HasPrefix(address, "unix:") {
		address = s.Addr().String() // the port was the system's choice
	}
	conn, err := rpc.Dial(address, cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	var cc grpc.ClientConnInterface = conn
	if s.Calls != nil {
		cc = s.Calls.hear(conn)
	}
	return &Clients{
		Conn: cc, Launcher: launcherv1.NewLauncherServiceClient(cc),
		Context: contextv1.NewContextServiceClient(cc), Memory: memoryv1.NewMemoryServiceClient(cc),
	}
}

// Owner returns clients of the person who owns the server.
func (s *Server) Owner() *Clients {
	s.t.Helper()
	return s.clients(rpc.ClientConfig{})
}

// Bearer returns clients that give a token.
func (s *Server) Bearer(token string) *Clients {
	s.t.Helper()
	return s.clients(rpc.ClientConfig{Token: func(context.Context) (string, error) { return token, nil }})
}

// Agent returns clients of an agent of a project's main checkout.
func (s *Server) Agent(project, agent string) *Clients {
	s.t.Helper()
	return s.Bearer(s.Token(auth.Claims{
		Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT}, Person: auth.OSUser(),
		Project: project, Worktree: auth.MainWorktree, Agent: agent, Instance: agent,
	}))
}

// Token signs claims as the server does.
func (s *Server) Token(c auth.Claims) string {
	s.t.Helper()
	key, err := auth.LoadKey(server.KeyPath(s.StateDir))
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := key.Issuer().Issue(c, time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// inside is the launcher as this process reaches it, wherever else it listens.
func (s *Server) inside() launcherv1.LauncherServiceClient {
	s.t.Helper()
	conn, err := s.Dial(rpc.ClientConfig{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return launcherv1.NewLauncherServiceClient(conn)
}

// Project makes a folder of files, given by their paths, and registers it.
func (s *Server) Project(id string, files map[string]string) (root string) {
	s.t.Helper()
	root = filepath.Join(s.t.TempDir(), id)
	if err := os.MkdirAll(root, 0o755); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	_, err := s.inside().RegisterProject(s.t.Context(), &launcherv1.RegisterProjectRequest{Path: root, ProjectId: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return root
}
