package rpc_test

import (
	"context"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const memoryService = "idea.memory.v1.MemoryService"

// notes is a MemoryService of functions.
type notes struct {
	memoryv1.UnimplementedMemoryServiceServer
	get    func(ctx context.Context, r *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error)
	recall func(ctx context.Context, r *memoryv1.RecallNotesRequest) (*memoryv1.RecallNotesResponse, error)
	watch  func(r *memoryv1.WatchNotesRequest, s grpc.ServerStreamingServer[memoryv1.WatchNotesResponse]) error
	save   func(ctx context.Context, r *memoryv1.SaveNoteRequest) (*memoryv1.SaveNoteResponse, error)
}

func (n *notes) GetNote(ctx context.Context, r *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
	if n.get == nil {
		return &memoryv1.GetNoteResponse{}, nil
	}
	return n.get(ctx, r)
}

func (n *notes) RecallNotes(ctx context.Context, r *memoryv1.RecallNotesRequest) (*memoryv1.RecallNotesResponse, error) {
	if n.recall == nil {
		return &memoryv1.RecallNotesResponse{}, nil
	}
	return n.recall(ctx, r)
}

func (n *notes) SaveNote(ctx context.Context, r *memoryv1.SaveNoteRequest) (*memoryv1.SaveNoteResponse, error) {
	return n.save(ctx, r)
}

func (n *notes) WatchNotes(r *memoryv1.WatchNotesRequest, s grpc.ServerStreamingServer[memoryv1.WatchNotesResponse]) error {
	return n.watch(r, s)
}

// serve runs a server on listeners until the test ends.
func serve(t testing.TB, cfg rpc.ServerConfig, register func(*grpc.Server), listeners ...net.Listener) *grpc.Server {
	t.Helper()
	s := rpc.NewServer(cfg)
	register(s)
	done := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { done <- s.Serve(l) }()
	}
	t.Cleanup(func() {
		s.Stop()
		for range listeners {
			if err := <-done; err != nil {
				t.Error("serve:", err)
			}
		}
	})
	return s
}

func serveNotes(t testing.TB, cfg rpc.ServerConfig, n *notes, listeners ...net.Listener) *grpc.Server {
	t.Helper()
	return serve(t, cfg, func(s *grpc.Server) { memoryv1.RegisterMemoryServiceServer(s, n) }, listeners...)
}

func dialPipe(t testing.TB, p *rpc.Pipe, cfg rpc.ClientConfig) *grpc.ClientConn {
	t.Helper()
	conn, err := p.Dial(cfg)
	return closing(t, conn, err)
}

func closing(t testing.TB, conn *grpc.ClientConn, err error) *grpc.ClientConn {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIt(t, conn) })
	return conn
}

func closeIt(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// owner returns a client of n as the owner.
func owner(t testing.TB, n *notes) memoryv1.MemoryServiceClient {
	t.Helper()
	p := rpc.NewOwnerPipe()
	serveNotes(t, rpc.ServerConfig{Person: "ada"}, n, p)
	return memoryv1.NewMemoryServiceClient(dialPipe(t, p, rpc.ClientConfig{}))
}

func newKey(t testing.TB) *auth.Key {
	t.Helper()
	k, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func agentClaims() auth.Claims {
	return auth.Claims{
		Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT},
		Person:   "ada", Project: "atelier", Worktree: "main", Agent: "reviewer", Instance: "reviewer",
		Conversation: "c1", Launch: "l1", Generation: 1,
	}
}
