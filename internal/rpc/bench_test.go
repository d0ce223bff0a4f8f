//go:build unix

package rpc_test

import (
	"context"
	"net"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/rpc"
)

const launcherService = "idea.launcher.v1.LauncherService"

type nothing struct {
	launcherv1.UnimplementedLauncherServiceServer
}

func (nothing) GetServerInfo(context.Context, *launcherv1.GetServerInfoRequest) (*launcherv1.GetServerInfoResponse, error) {
	return &launcherv1.GetServerInfoResponse{}, nil
}

func registerNothing(s *grpc.Server) { launcherv1.RegisterLauncherServiceServer(s, nothing{}) }

func benchCalls(b *testing.B, conn *grpc.ClientConn) {
	c := launcherv1.NewLauncherServiceClient(conn)
	ctx := context.Background()
	call := func() {
		if _, err := c.GetServerInfo(ctx, &launcherv1.GetServerInfoRequest{}); err != nil {
			b.Fatal(err)
		}
	}
	measure(b, call)
}

// measure reports the processor time of both ends besides the time that
// passes: on a busy machine only the former can be compared.
func measure(b *testing.B, call func()) {
	call()
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		call()
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e3, "cpu-µs/op")
}

func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEmptyCall is the cost of one unary call that does nothing.
func BenchmarkEmptyCall(b *testing.B) {
	b.Run("pipe, server without the chain", func(b *testing.B) {
		p := rpc.NewPipe()
		s := grpc.NewServer()
		registerNothing(s)
		done := make(chan error, 1)
		go func() { done <- s.Serve(p) }()
		conn, err := p.Dial(rpc.ClientConfig{})
		benchCalls(b, closing(b, conn, err))
		s.Stop()
		<-done
	})
	b.Run("pipe, owner", func(b *testing.B) {
		p := rpc.NewOwnerPipe()
		serve(b, rpc.ServerConfig{}, registerNothing, p)
		benchCalls(b, dialPipe(b, p, rpc.ClientConfig{}))
	})
	b.Run("pipe, token", func(b *testing.B) {
		key := newKey(b)
		relay := auth.NewRelay(key.Issuer())
		p := rpc.NewPipe()
		serve(b, rpc.ServerConfig{Verifier: key.Verifier()}, registerNothing, p)
		benchCalls(b, dialPipe(b, p, rpc.ClientConfig{Token: func(context.Context) (string, error) { return relay.OwnerToken("ada") }}))
	})
	b.Run("pipe, agent", func(b *testing.B) {
		key := newKey(b)
		token, err := key.Issuer().Issue(agentClaims(), time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		p := rpc.NewPipe()
		serve(b, rpc.ServerConfig{Verifier: key.Verifier()}, registerNothing, p)
		benchCalls(b, dialPipe(b, p, rpc.ClientConfig{Token: func(context.Context) (string, error) { return token, nil }}))
	})
	b.Run("unix socket, owner", func(b *testing.B) {
		path := socket(b)
		serve(b, rpc.ServerConfig{}, registerNothing, listen(b, "unix://"+path))
		conn, err := rpc.Dial("unix://"+path, rpc.ClientConfig{})
		benchCalls(b, closing(b, conn, err))
	})
	b.Run("unix socket, without any chain", func(b *testing.B) {
		path := socket(b)
		l := listen(b, "unix://"+path)
		s := grpc.NewServer()
		registerNothing(s)
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		conn, err := grpc.NewClient("passthrough:///x", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", path)
			}))
		benchCalls(b, closing(b, conn, err))
		s.Stop()
		<-done
	})
	b.Run("unix socket, forwarded over a pipe", func(b *testing.B) {
		key := newKey(b)
		behind := rpc.NewPipe()
		serve(b, rpc.ServerConfig{Verifier: key.Verifier()}, registerNothing, behind)
		path := socket(b)
		serve(b, rpc.ServerConfig{Verifier: key.Verifier(), Unknown: rpc.Forward(rpc.ForwardConfig{
			Backends: map[string]grpc.ClientConnInterface{launcherService: dialPipe(b, behind, rpc.ClientConfig{NoRetry: true})},
			Relay:    auth.NewRelay(key.Issuer()),
		})}, func(*grpc.Server) {}, listen(b, "unix://"+path))
		conn, err := rpc.Dial("unix://"+path, rpc.ClientConfig{})
		benchCalls(b, closing(b, conn, err))
	})
}

// BenchmarkFirstCall is what a new client pays: dial, first call, close.
func BenchmarkFirstCall(b *testing.B) {
	path := socket(b)
	serve(b, rpc.ServerConfig{}, registerNothing, listen(b, "unix://"+path))
	for b.Loop() {
		conn, err := rpc.Dial("unix://"+path, rpc.ClientConfig{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := launcherv1.NewLauncherServiceClient(conn).GetServerInfo(context.Background(), &launcherv1.GetServerInfoRequest{}); err != nil {
			b.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkValidation is what the rules of a request cost.
func BenchmarkValidation(b *testing.B) {
	for name, m := range map[string]proto.Message{
		"empty":       &launcherv1.GetServerInfoRequest{},
		"GetNote":     &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "une-note"},
		"RecallNotes": &memoryv1.RecallNotesRequest{ProjectId: "atelier", Query: "how do we build", Hints: []string{"build", "make"}},
	} {
		b.Run(name, func(b *testing.B) {
			measure(b, func() {
				if err := protovalidate.Validate(m); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
