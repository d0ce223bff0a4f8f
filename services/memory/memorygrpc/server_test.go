package memorygrpc_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storefile"
	"github.com/idea-ide/ideai/internal/store/storemem"
	memorysvc "github.com/idea-ide/ideai/services/memory"
	"github.com/idea-ide/ideai/services/memory/memorygrpc"
	"github.com/idea-ide/ideai/services/memory/memorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPIOnMemory(t *testing.T) {
	memorytest.Run(t, func(t *testing.T) memoryv1.MemoryServiceClient {
		return memoryv1.NewMemoryServiceClient(serve(t, storemem.Opener(), rpc.ServerConfig{}))
	})
}

func TestAPIOnFiles(t *testing.T) {
	memorytest.Run(t, func(t *testing.T) memoryv1.MemoryServiceClient {
		tree := t.TempDir()
		stores := storefile.NewOpener("memory", func(context.Context, string, string) (string, error) { return tree, nil })
		t.Cleanup(func() {
			if err := stores.Close(); err != nil {
				t.Error(err)
			}
		})
		return memoryv1.NewMemoryServiceClient(serve(t, stores, rpc.ServerConfig{}))
	})
}

// TestAPIOverASocket reaches the service as a person's other programs do.
func TestAPIOverASocket(t *testing.T) {
	memorytest.Run(t, func(t *testing.T) memoryv1.MemoryServiceClient {
		addr := "unix://" + filepath.Join(t.TempDir(), "s")
		lis, err := rpc.Listen(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := rpc.Dial(addr, rpc.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, storemem.Opener(), rpc.ServerConfig{}, lis, conn)
		return memoryv1.NewMemoryServiceClient(conn)
	})
}

// serve runs the service behind an in-memory pipe whose clients are the owner.
func serve(t *testing.T, stores store.Opener, cfg rpc.ServerConfig) *grpc.ClientConn {
	t.Helper()
	pipe := rpc.NewOwnerPipe()
	conn, err := pipe.Dial(rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, stores, cfg, pipe, conn)
	return conn
}

// serveOn runs the service on a listener until the test ends, and closes conn
// then.
func serveOn(t *testing.T, stores store.Opener, cfg rpc.ServerConfig, lis net.Listener, conn *grpc.ClientConn) {
	t.Helper()
	s, err := memorysvc.New(memorysvc.Config{}, memorysvc.Deps{Stores: stores})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	server := rpc.NewServer(cfg)
	memorygrpc.Register(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(lis) }()
	t.Cleanup(func() {
		_ = conn.Close()
		stop()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// TestAgentsRecallAndReadOnly calls every method with an agent's token.
func TestAgentsRecallAndReadOnly(t *testing.T) {
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	const project = memorytest.Project
	token, err := key.Issuer().Issue(auth.Claims{
		Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT}, Person: "ada",
		Project: project, Worktree: "main", Agent: "dev", Instance: "dev",
	}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	stores := sameForMain{storemem.Opener()}
	c := memoryv1.NewMemoryServiceClient(serve(t, stores, rpc.ServerConfig{Verifier: key.Verifier()}))
	note := &memoryv1.Note{NoteId: "a", Description: "the spare key", Body: "Under the mat.\n"}
	if _, err := c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: project, Note: note}); err != nil {
		t.Fatal(err)
	}
	ctx := auth.WithToken(t.Context(), token)
	answer, err := c.RecallNotes(ctx, &memoryv1.RecallNotesRequest{ProjectId: project, Query: "spare key", IndexBudgetTokens: 100})
	if err != nil || len(answer.GetNotes()) != 1 {
		t.Errorf("recall: %v, %v", answer, err)
	}
	if part, err := c.ReadNote(ctx, &memoryv1.ReadNoteRequest{ProjectId: project, NoteId: "a"}); err != nil || part.GetText() != "Under the mat.\n" {
		t.Errorf("read: %v, %v", part, err)
	}
	for name, err := range map[string]error{
		"save":   second(c.SaveNote(ctx, &memoryv1.SaveNoteRequest{ProjectId: project, Note: note})),
		"get":    second(c.GetNote(ctx, &memoryv1.GetNoteRequest{ProjectId: project, NoteId: "a"})),
		"list":   second(c.ListNotes(ctx, &memoryv1.ListNotesRequest{ProjectId: project})),
		"delete": second(c.DeleteNote(ctx, &memoryv1.DeleteNoteRequest{ProjectId: project, NoteId: "a"})),
		"watch":  watch(ctx, c, project),
	} {
		if fault.ReasonOf(err) != fault.CallerNotAllowed {
			t.Errorf("%s: %v, want CALLER_NOT_ALLOWED", name, err)
		}
	}
	if _, err := c.RecallNotes(ctx, &memoryv1.RecallNotesRequest{ProjectId: "other"}); fault.ReasonOf(err) != fault.OutOfScope {
		t.Errorf("another project: %v, want OUT_OF_SCOPE", err)
	}
}

// sameForMain gives the main checkout under both of its names.
type sameForMain struct{ store.Opener }

func (o sameForMain) Versioned(ctx context.Context, project, worktree string) (store.Docs, error) {
	if worktree == auth.MainWorktree {
		worktree = ""
	}
	return o.Opener.Versioned(ctx, project, worktree)
}

func watch(ctx context.Context, c memoryv1.MemoryServiceClient, project string) error {
	s, err := c.WatchNotes(ctx, &memoryv1.WatchNotesRequest{ProjectId: project})
	if err != nil {
		return err
	}
	_, err = s.Recv()
	return err
}

func second[T any](_ T, err error) error { return err }
