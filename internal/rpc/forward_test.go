package rpc_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/telemetry"
)

// gateway puts a forwarding server before e and returns a connection to it as
// its owner, and the function that stops what is behind it.
func gateway(t testing.TB, e *echo, key *auth.Key, cfg rpc.ClientConfig) (conn *grpc.ClientConn, stopBackend func()) {
	t.Helper()
	behind, front := rpc.NewPipe(), rpc.NewOwnerPipe()
	backend := e.serve(t, rpc.ServerConfig{Verifier: key.Verifier(), Person: "ada"}, behind)
	to := dialPipe(t, behind, rpc.ClientConfig{NoRetry: true})
	serve(t, rpc.ServerConfig{
		Verifier: key.Verifier(), Person: "ada", Files: e.files,
		Unknown: rpc.Forward(rpc.ForwardConfig{
			Backends: map[string]grpc.ClientConnInterface{echoService: to},
			Relay:    auth.NewRelay(key.Issuer()), Methods: auth.NewMethods(e.files),
		}),
	}, func(*grpc.Server) {}, front)
	cfg.Files = e.files
	return dialPipe(t, front, cfg), backend.Stop
}

// direct is a connection to e without a gateway.
func direct(t testing.TB, e *echo, cfg rpc.ClientConfig) *grpc.ClientConn {
	t.Helper()
	p := rpc.NewOwnerPipe()
	e.serve(t, rpc.ServerConfig{Person: "ada"}, p)
	cfg.Files = e.files
	return dialPipe(t, p, cfg)
}

// bothWays runs a test on a connection to e and on one through a gateway: a
// client must not see the difference.
func bothWays(t *testing.T, handler func(s *lines) error, test func(t *testing.T, e *echo, conn *grpc.ClientConn)) {
	t.Run("direct", func(t *testing.T) {
		e := newEcho(t, handler)
		test(t, e, direct(t, e, rpc.ClientConfig{}))
	})
	t.Run("forwarded", func(t *testing.T) {
		e := newEcho(t, handler)
		conn, _ := gateway(t, e, newKey(t), rpc.ClientConfig{})
		test(t, e, conn)
	})
}

// shout answers every line in capitals.
func shout(s *lines) error {
	for {
		text, err := s.recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.send(strings.ToUpper(text)); err != nil {
			return err
		}
	}
}

func TestUnary(t *testing.T) {
	bothWays(t, shout, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		for _, text := range []string{"hello", "", strings.Repeat("x", 5<<20)} {
			got, err := e.call(t.Context(), conn, "One", text)
			if err != nil || got != strings.ToUpper(text) {
				t.Fatalf("%d bytes back, %v", len(got), err)
			}
		}
	})
}

func TestServerStream(t *testing.T) {
	bothWays(t, func(s *lines) error {
		text, err := s.recv()
		if err != nil {
			return err
		}
		for _, r := range text {
			if err := s.send(string(r)); err != nil {
				return err
			}
		}
		return fault.New(fault.WatchLagged, nil, "too slow; watch again")
	}, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		s := e.open(t.Context(), t, conn, "Down")
		got, err := s.askAndRead("abc")
		if !slices.Equal(got, []string{"a", "b", "c"}) || fault.ReasonOf(err) != fault.WatchLagged {
			t.Fatal(got, err)
		}
	})
}

// askAndRead sends one line, half-closes and reads to the end.
func (l *lines) askAndRead(text string) ([]string, error) {
	if err := l.send(text); err != nil {
		return nil, err
	}
	if err := l.client().CloseSend(); err != nil {
		return nil, err
	}
	var got []string
	for {
		line, err := l.recv()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, line)
	}
}

func TestClientStream(t *testing.T) {
	bothWays(t, func(s *lines) error {
		var all []string
		for {
			text, err := s.recv()
			if errors.Is(err, io.EOF) {
				return s.send(strings.Join(all, " "))
			}
			if err != nil {
				return err
			}
			all = append(all, text)
		}
	}, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		s := e.open(t.Context(), t, conn, "Up")
		for _, w := range []string{"one", "two"} {
			if err := s.send(w); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.askAndRead("three")
		if err != nil || !slices.Equal(got, []string{"one two three"}) {
			t.Fatal(got, err)
		}
	})
}

func TestBidiStream(t *testing.T) {
	bothWays(t, func(s *lines) error {
		if err := shout(s); err != nil {
			return err
		}
		return s.send("after the half-close")
	}, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		s := e.open(t.Context(), t, conn, "Both")
		for _, w := range []string{"a", "b"} {
			if err := s.send(w); err != nil {
				t.Fatal(err)
			}
			if got, err := s.recv(); err != nil || got != strings.ToUpper(w) {
				t.Fatal(got, err)
			}
		}
		got, err := s.askAndRead("c")
		if err != nil || !slices.Equal(got, []string{"C", "after the half-close"}) {
			t.Fatal(got, err)
		}
	})
}

// A service may end while its client still sends.
func TestServiceEndsFirst(t *testing.T) {
	bothWays(t, func(s *lines) error {
		if _, err := s.recv(); err != nil {
			return err
		}
		return fault.New(fault.StaleEtag, fault.Meta{"current_etag": "e2"}, "changed; read again")
	}, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		s := e.open(t.Context(), t, conn, "Both")
		if err := s.send("x"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.recv(); fault.ReasonOf(err) != fault.StaleEtag {
			t.Fatal(err)
		}
	})
}

func TestFaultKeepsItsDetails(t *testing.T) {
	want := fault.New(fault.Damaged, fault.Meta{"name": "n.md", "line": "7"}, "n.md, line 7: cannot be read").
		WithDetail(wrapperspb.String("the text"))
	bothWays(t, func(*lines) error { return want.Wrap(errors.New("inner secret")) }, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		_, err := e.call(t.Context(), conn, "One", "x")
		got, ok := fault.As(err)
		if !ok || strings.Contains(err.Error(), "secret") {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform(), cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "cause" }, cmp.Ignore())); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Details this program does not know pass the gateway too.
func TestForwardKeepsForeignDetails(t *testing.T) {
	e := newEcho(t, func(*lines) error {
		return fault.New(fault.Draining, nil, "later").WithDetail(&errdetails.Help{Links: []*errdetails.Help_Link{{Url: "https://example.org"}}})
	})
	conn, _ := gateway(t, e, newKey(t), rpc.ClientConfig{NoRetry: true})
	_, err := e.call(t.Context(), conn, "One", "x")
	f, _ := fault.As(err)
	if help, ok := f.Detail.(*errdetails.Help); !ok || len(help.GetLinks()) != 1 {
		t.Fatalf("%+v", f)
	}
}

func TestMetadataThroughTheGateway(t *testing.T) {
	seen := make(chan metadata.MD, 1)
	e := newEcho(t, func(s *lines) error {
		md, _ := metadata.FromIncomingContext(s.Context())
		md.Set("ctx-request-id", telemetry.RequestID(s.Context()))
		seen <- md
		if err := s.server().SetHeader(metadata.Pairs("x-ideai-head", "1", "x-other", "1")); err != nil {
			return err
		}
		s.server().SetTrailer(metadata.Pairs("x-ideai-tail", "1", "x-other", "1"))
		return shout(s)
	})
	conn, _ := gateway(t, e, newKey(t), rpc.ClientConfig{})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-ideai-want", "1", "x-other", "1", "cookie", "1",
		"x-request-id", "call-1", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	var header, trailer metadata.MD
	if _, err := e.call(ctx, conn, "One", "x", grpc.Header(&header), grpc.Trailer(&trailer)); err != nil {
		t.Fatal(err)
	}
	got := <-seen
	for k, want := range map[string]string{"x-ideai-want": "1", "x-other": "", "cookie": "", "x-request-id": "call-1", "ctx-request-id": "call-1",
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"} {
		if g := strings.Join(got.Get(k), ","); g != want {
			t.Errorf("the service sees %s = %q, want %q", k, g, want)
		}
	}
	if header.Get("x-ideai-head") == nil || header.Get("x-other") != nil {
		t.Errorf("header: %v", header)
	}
	if trailer.Get("x-ideai-tail") == nil || trailer.Get("x-other") != nil || !slices.Equal(trailer.Get("x-request-id"), []string{"call-1"}) {
		t.Errorf("trailer: %v", trailer)
	}
}

func TestWhoCallsThroughTheGateway(t *testing.T) {
	key := newKey(t)
	token, err := key.Issuer().Issue(agentClaims(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	who := make(chan auth.Claims, 1)
	e := newEcho(t, func(s *lines) error {
		c, _ := auth.FromContext(s.Context())
		who <- c
		return shout(s)
	})
	conn, _ := gateway(t, e, key, rpc.ClientConfig{})

	if _, err := e.call(t.Context(), conn, "One", "x"); err != nil {
		t.Fatal(err)
	}
	if c := <-who; c.Person != "ada" || c.SurfaceNames() != "HUMAN,HOST" || c.Expires.IsZero() || time.Until(c.Expires) > time.Minute {
		t.Fatalf("the owner arrives as %+v", c)
	}
	agent := auth.WithToken(t.Context(), token)
	if _, err := e.call(agent, conn, "One", "x"); err != nil {
		t.Fatal(err)
	}
	if c := <-who; c.Agent != "reviewer" || c.SurfaceNames() != "AGENT" || c.Generation != 1 {
		t.Fatalf("the agent arrives as %+v", c)
	}
	// The gateway refuses by itself: nothing arrives.
	if _, err := e.open(agent, t, conn, "Human").askAndRead("x"); fault.ReasonOf(err) != fault.CallerNotAllowed {
		t.Fatal(err)
	}
	if _, err := e.call(auth.WithToken(t.Context(), "nonsense"), conn, "One", "x"); fault.ReasonOf(err) != fault.ReasonUnauthenticated {
		t.Fatal(err)
	}
	if len(who) != 0 {
		t.Fatal("a refused call arrived")
	}
	// The service refuses what the gateway cannot read.
	out := e.new("x")
	out.Set(e.line.Fields().ByName("project_id"), e.new("").Get(e.line.Fields().ByName("text")))
	if err := conn.Invoke(agent, echoMethod("One"), out, e.new("")); fault.ReasonOf(err) != fault.OutOfScope {
		t.Fatal(err)
	}
}

func TestForwardUnknownMethods(t *testing.T) {
	e := newEcho(t, shout)
	conn, _ := gateway(t, e, newKey(t), rpc.ClientConfig{})
	for _, method := range []string{echoMethod("Nothing"), "/idea.none.v1.NoService/Get", "/" + memoryService + "/GetNote"} {
		err := conn.Invoke(t.Context(), method, e.new("x"), e.new(""))
		if f, _ := fault.As(err); f == nil || f.Reason != fault.UnknownMethod || f.Meta["method"] != method {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestClientCancels(t *testing.T) {
	for _, kind := range []string{"One", "Down", "Up", "Both"} {
		t.Run(kind, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan error, 1)
			bothWays(t, func(s *lines) error {
				began <- struct{}{}
				<-s.Context().Done()
				ended <- s.Context().Err()
				return s.Context().Err()
			}, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := e.open(ctx, t, conn, kind)
				if err := s.send("x"); err != nil {
					t.Fatal(err)
				}
				<-began
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Fatal("the service's context:", err)
				}
				if _, err := s.recv(); fault.ReasonOf(err) != fault.ReasonCanceled {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestDeadlineReachesTheService(t *testing.T) {
	bothWays(t, func(s *lines) error {
		if _, ok := s.Context().Deadline(); !ok {
			return errors.New("no deadline")
		}
		<-s.Context().Done()
		return s.Context().Err()
	}, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := e.call(ctx, conn, "One", "x"); fault.ReasonOf(err) != fault.ReasonDeadlineExceeded {
			t.Fatal(err)
		}
	})
}

func TestServiceDies(t *testing.T) {
	began := make(chan struct{}, 1)
	e := newEcho(t, func(s *lines) error {
		began <- struct{}{}
		<-s.Context().Done()
		return nil
	})
	conn, stopBackend := gateway(t, e, newKey(t), rpc.ClientConfig{NoRetry: true})
	s := e.open(t.Context(), t, conn, "Both")
	if err := s.send("x"); err != nil {
		t.Fatal(err)
	}
	<-began
	stopBackend()
	_, err := s.recv()
	if f, _ := fault.As(err); f == nil || f.Reason != fault.ServiceUnavailable || f.Meta["service"] != echoService {
		t.Fatal(err)
	}
	if _, err := e.call(t.Context(), conn, "One", "x"); fault.ReasonOf(err) != fault.ServiceUnavailable {
		t.Fatal(err)
	}
}
