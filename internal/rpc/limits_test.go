package rpc_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
)

func TestSizes(t *testing.T) {
	const limit = 64 << 10
	p := rpc.NewOwnerPipe()
	answer := 0
	e := newEcho(t, func(s *lines) error {
		if _, err := s.recv(); err != nil {
			return err
		}
		return s.send(strings.Repeat("x", answer))
	})
	e.serve(t, rpc.ServerConfig{MaxMessage: limit}, p)
	small := dialPipe(t, p, rpc.ClientConfig{MaxMessage: limit, Files: e.files})
	large := dialPipe(t, p, rpc.ClientConfig{Files: e.files})
	for name, c := range map[string]struct {
		conn      *grpc.ClientConn
		ask, back int
		want      fault.Reason
	}{
		"fits":                    {small, limit - 100, limit - 100, ""},
		"refused by the client":   {small, limit + 1, 1, fault.MessageTooLarge},
		"refused by the server":   {large, limit + 1, 1, fault.MessageTooLarge},
		"refused by gRPC itself":  {large, 3 * limit, 1, fault.MessageTooLarge},
		"the answer is too large": {large, 1, limit + 1, fault.MessageTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"One", "Down"} {
				answer = c.back
				s := e.open(t.Context(), t, c.conn, kind)
				_, err := s.askAndRead(strings.Repeat("x", c.ask))
				if fault.ReasonOf(err) != c.want {
					t.Errorf("%s: %v", kind, err)
				}
			}
		})
	}
}

func TestUnaryCallsGetADeadline(t *testing.T) {
	p := rpc.NewOwnerPipe()
	e := newEcho(t, func(s *lines) error {
		<-s.Context().Done()
		return s.Context().Err()
	})
	e.serve(t, rpc.ServerConfig{Deadline: 10 * time.Millisecond}, p)
	conn := dialPipe(t, p, rpc.ClientConfig{Files: e.files})
	// A raw stream skips the client's own deadline.
	if _, err := e.open(t.Context(), t, conn, "One").askAndRead("x"); fault.ReasonOf(err) != fault.ReasonDeadlineExceeded {
		t.Fatal(err)
	}
}

func TestClientSetsADeadline(t *testing.T) {
	p := rpc.NewOwnerPipe()
	e := newEcho(t, func(s *lines) error {
		<-s.Context().Done()
		return s.Context().Err()
	})
	e.serve(t, rpc.ServerConfig{}, p)
	conn := dialPipe(t, p, rpc.ClientConfig{Files: e.files, Deadline: 10 * time.Millisecond})
	if _, err := e.call(t.Context(), conn, "One", "x"); fault.ReasonOf(err) != fault.ReasonDeadlineExceeded {
		t.Fatal(err)
	}
}

func TestDrain(t *testing.T) {
	drain := rpc.NewDrain(echoMethod("One"))
	p := rpc.NewOwnerPipe()
	began := make(chan struct{}, 1)
	e := newEcho(t, func(s *lines) error {
		if _, err := s.recv(); err != nil {
			return err
		}
		if _, ok := s.anyStream.(*oneEach); ok {
			return s.send("still here")
		}
		began <- struct{}{}
		<-s.Context().Done()
		return s.Context().Err()
	})
	server := e.serve(t, rpc.ServerConfig{Drain: drain}, p)
	conn := dialPipe(t, p, rpc.ClientConfig{Files: e.files, NoRetry: true})
	s := e.open(t.Context(), t, conn, "Both")
	if err := s.send("x"); err != nil {
		t.Fatal(err)
	}
	<-began
	drain.Begin()
	drain.Begin()
	<-drain.Begun()
	if _, err := s.recv(); fault.ReasonOf(err) != fault.Draining {
		t.Error("an open stream:", err)
	}
	if _, err := e.call(t.Context(), conn, "Once", "x"); fault.ReasonOf(err) != fault.Draining {
		t.Error("a new call:", err)
	}
	if _, err := e.open(t.Context(), t, conn, "Down").askAndRead("x"); fault.ReasonOf(err) != fault.Draining {
		t.Error("a new stream:", err)
	}
	if got, err := e.call(t.Context(), conn, "One", "x"); err != nil || got != "still here" {
		t.Error("an exempt call:", got, err)
	}
	server.GracefulStop() // returns, because no stream is left
}

// A gateway's unary calls finish while it drains.
func TestForwardedCallFinishesDuringDrain(t *testing.T) {
	key, drain := newKey(t), rpc.NewDrain()
	began, finish := make(chan struct{}), make(chan struct{})
	e := newEcho(t, func(s *lines) error {
		began <- struct{}{}
		select {
		case <-finish:
			return shout(s)
		case <-s.Context().Done():
			return s.Context().Err()
		}
	})
	behind, front := rpc.NewPipe(), rpc.NewOwnerPipe()
	e.serve(t, rpc.ServerConfig{Verifier: key.Verifier()}, behind)
	gate := serve(t, rpc.ServerConfig{Files: e.files, Drain: drain, Unknown: rpc.Forward(rpc.ForwardConfig{
		Backends: map[string]grpc.ClientConnInterface{echoService: dialPipe(t, behind, rpc.ClientConfig{NoRetry: true})},
		Relay:    auth.NewRelay(key.Issuer()), Methods: auth.NewMethods(e.files),
	})}, func(*grpc.Server) {}, front)
	conn := dialPipe(t, front, rpc.ClientConfig{Files: e.files, NoRetry: true})
	watch := e.open(t.Context(), t, conn, "Both")
	if err := watch.send("x"); err != nil {
		t.Fatal(err)
	}
	<-began
	answer := make(chan string, 1)
	go func() {
		got, err := e.call(context.Background(), conn, "One", "x")
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	<-began
	drain.Begin()
	if _, err := e.call(t.Context(), conn, "One", "x"); fault.ReasonOf(err) != fault.Draining {
		t.Error("a new call:", err)
	}
	if _, err := watch.recv(); fault.ReasonOf(err) != fault.Draining {
		t.Error("an open stream:", err)
	}
	close(finish)
	if got := <-answer; got != "X" {
		t.Errorf("got %q", got)
	}
	gate.GracefulStop()
}

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		cfg    rpc.ClientConfig
		err    error
		want   int32
	}{
		"idempotent":     {"One", rpc.ClientConfig{}, fault.New(fault.Draining, nil, "later"), 3},
		"not idempotent": {"Once", rpc.ClientConfig{}, fault.New(fault.Draining, nil, "later"), 1},
		"gateway":        {"One", rpc.ClientConfig{NoRetry: true}, fault.New(fault.Draining, nil, "later"), 1},
		"another error":  {"One", rpc.ClientConfig{}, fault.New(fault.StaleEtag, fault.Meta{"current_etag": ""}, "changed"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			e := newEcho(t, func(*lines) error { calls.Add(1); return c.err })
			conn := direct(t, e, c.cfg)
			if _, err := e.call(t.Context(), conn, c.method, "x"); !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if got := calls.Load(); got != c.want {
				t.Fatalf("%d calls, want %d", got, c.want)
			}
		})
	}
}

func TestRetrySucceeds(t *testing.T) {
	var calls atomic.Int32
	e := newEcho(t, func(s *lines) error {
		if calls.Add(1) < 3 {
			return fault.New(fault.Draining, nil, "later")
		}
		return shout(s)
	})
	conn, _ := gateway(t, e, newKey(t), rpc.ClientConfig{})
	if got, err := e.call(t.Context(), conn, "One", "x"); err != nil || got != "X" {
		t.Fatal(got, err)
	}
}

func TestTokenErrorsStopTheCall(t *testing.T) {
	e := newEcho(t, shout)
	conn := direct(t, e, rpc.ClientConfig{Token: func(context.Context) (string, error) {
		return "", fault.New(fault.TokenExpired, nil, "expired; renew")
	}})
	if _, err := e.call(t.Context(), conn, "One", "x"); fault.ReasonOf(err) != fault.TokenExpired {
		t.Fatal(err)
	}
	if _, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, echoMethod("Down")); fault.ReasonOf(err) != fault.TokenExpired {
		t.Fatal(err)
	}
}

func TestPipeClosed(t *testing.T) {
	p := rpc.NewPipe()
	closeIt(t, p)
	closeIt(t, p)
	conn := dialPipe(t, p, rpc.ClientConfig{NoRetry: true})
	if err := get(t.Context(), memoryv1.NewMemoryServiceClient(conn)); fault.ReasonOf(err) != fault.ServiceUnavailable {
		t.Fatal(err)
	}
	if p.Addr().Network() != "pipe" || p.Addr().String() != "pipe" {
		t.Fatal(p.Addr())
	}
}

// One trace spans client, gateway and service, and panics are counted.
func TestTelemetry(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	key := newKey(t)
	e := newEcho(t, func(*lines) error { panic("boom") })
	behind, front := rpc.NewPipe(), rpc.NewOwnerPipe()
	backend := e.serve(t, rpc.ServerConfig{Verifier: key.Verifier(), Tracer: tracer, Meter: meter}, behind)
	cfg := rpc.ClientConfig{Tracer: tracer, Propagator: propagation.TraceContext{}, Files: e.files}
	gate := serve(t, rpc.ServerConfig{Tracer: tracer, Files: e.files, Unknown: rpc.Forward(rpc.ForwardConfig{
		Backends: map[string]grpc.ClientConnInterface{echoService: dialPipe(t, behind, cfg)},
		Relay:    auth.NewRelay(key.Issuer()), Methods: auth.NewMethods(e.files),
	})}, func(*grpc.Server) {}, front)
	conn := dialPipe(t, front, cfg)
	if _, err := e.call(t.Context(), conn, "One", "secret text"); fault.ReasonOf(err) != fault.ReasonInternal {
		t.Fatal(err)
	}
	gate.GracefulStop() // a server's span ends after its client has the answer
	backend.GracefulStop()
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	traces, text := map[string]int{}, ""
	for _, s := range spans.Ended() {
		traces[s.SpanContext().TraceID().String()]++
		for _, a := range s.Attributes() {
			text += a.Value.String()
		}
	}
	if len(traces) != 1 || len(spans.Ended()) < 4 {
		t.Errorf("%d spans in traces %v", len(spans.Ended()), traces)
	}
	if strings.Contains(text, "secret") {
		t.Error("a span holds a text")
	}
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if n := counter(got, "ideai.rpc.panics"); n != 1 {
		t.Errorf("%d panics counted", n)
	}
	if n := counter(got, "ideai.rpc.calls"); n != 1 {
		t.Errorf("%d calls counted", n)
	}
}

func counter(rm metricdata.ResourceMetrics, name string) (n int64) {
	for _, s := range rm.ScopeMetrics {
		for _, m := range s.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == name {
				for _, p := range sum.DataPoints {
					n += p.Value
				}
			}
		}
	}
	return n
}
