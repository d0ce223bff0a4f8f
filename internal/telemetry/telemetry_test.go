package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/idea-ide/ideai/internal/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestLogCarriesTheCall(t *testing.T) {
	var buf bytes.Buffer
	log := telemetry.NewLogger(&buf, slog.LevelInfo, true).With("service", "memory").WithGroup("g")
	ctx := telemetry.WithRequestID(t.Context(), "r-1")
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	log.InfoContext(ctx, "hello", "token", "t0p", "api_key", []byte("k3y"), "secrets", []string{"t0p"}, "context_tokens", 377,
		slog.Group("inner", "Authorization", "Bearer t0p", "path", "notes/a.md"))
	log.DebugContext(ctx, "not this")
	var got map[string]any
	if err := json.Unmarshal(buf.Bytes(), &got); err != nil {
		t.Fatal(err, buf.String())
	}
	g, _ := got["g"].(map[string]any)
	if got["service"] != "memory" || g["request_id"] != "r-1" || !strings.HasPrefix(g["trace_id"].(string), "01") {
		t.Error(buf.String())
	}
	if strings.Contains(buf.String(), "t0p") || strings.Contains(buf.String(), "k3y") || strings.Contains(buf.String(), "azN5") || g["context_tokens"] != 377.0 ||
		!strings.Contains(buf.String(), "notes/a.md") {
		t.Error(buf.String())
	}
}

func TestLogWithoutACall(t *testing.T) {
	var buf bytes.Buffer
	telemetry.NewLogger(&buf, slog.LevelInfo, false).Info("hello")
	if got := buf.String(); strings.Contains(got, "request_id") || strings.Contains(got, "trace_id") || !strings.Contains(got, "msg=hello") {
		t.Error(got)
	}
	telemetry.NewLogger(nil, slog.LevelInfo, false).Info("nowhere")
}

func TestNothingIsExportedUnasked(t *testing.T) {
	for name, getenv := range map[string]func(string) string{
		"no variables":  env(),
		"disabled":      env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317", "OTEL_SDK_DISABLED", "TRUE"),
		"no exporter":   env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317", "OTEL_TRACES_EXPORTER", "none", "OTEL_METRICS_EXPORTER", "none"),
		"only the name": env("OTEL_SERVICE_NAME", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			tel, err := telemetry.New(t.Context(), telemetry.Config{Service: "ideai", Getenv: getenv})
			if err != nil || tel.Tracer != nil || tel.Meter != nil {
				t.Fatal(tel, err)
			}
			_, span := tel.TracerProvider().Tracer("t").Start(t.Context(), "nothing")
			if span.IsRecording() {
				t.Error("records")
			}
			if tel.MeterProvider() == nil || tel.Propagator == nil {
				t.Error("nil providers")
			}
			if err := tel.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownExporters(t *testing.T) {
	for _, c := range [][]string{{"OTEL_TRACES_EXPORTER", "zipkin"}, {"OTEL_METRICS_EXPORTER", "console"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}} {
		if _, err := telemetry.New(t.Context(), telemetry.Config{Getenv: env(c...)}); err == nil || !strings.Contains(err.Error(), c[0]+"="+c[1]) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// collector is an OTLP receiver.
type collector struct {
	mu    sync.Mutex
	names []string
}

type traceSide struct {
	collectortrace.UnimplementedTraceServiceServer
	*collector
}

func (c traceSide) Export(_ context.Context, r *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range r.GetResourceSpans() {
		for _, a := range rs.GetResource().GetAttributes() {
			c.names = append(c.names, a.GetKey()+"="+a.GetValue().GetStringValue())
		}
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				c.names = append(c.names, "span="+s.GetName())
			}
		}
	}
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

type metricSide struct {
	collectormetrics.UnimplementedMetricsServiceServer
	*collector
}

func (c metricSide) Export(_ context.Context, r *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rm := range r.GetResourceMetrics() {
		for _, sm := range rm.GetScopeMetrics() {
			for _, m := range sm.GetMetrics() {
				c.names = append(c.names, "metric="+m.GetName())
			}
		}
	}
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}

// Shutdown sends what is left. The exporters read OTEL_* from the process.
func TestExportOverOTLP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var c collector
	s := grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(s, traceSide{collector: &c})
	collectormetrics.RegisterMetricsServiceServer(s, metricSide{collector: &c})
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	defer func() {
		s.Stop()
		<-done
	}()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=atelier")
	tel, err := telemetry.New(t.Context(), telemetry.Config{Service: "ideai", Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	_, span := tel.TracerProvider().Tracer("t").Start(t.Context(), "work")
	span.End()
	n, err := tel.MeterProvider().Meter("t").Int64Counter("ideai.things")
	if err != nil {
		t.Fatal(err)
	}
	n.Add(t.Context(), 1)
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, want := range []string{"span=work", "metric=ideai.things", "service.name=ideai", "service.version=1.2.3", "team=atelier"} {
		if !slices.Contains(c.names, want) {
			t.Errorf("no %s in %q", want, c.names)
		}
	}
}

// lockedLog is written to by exporters that may outlive Shutdown's deadline.
type lockedLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// A collector that is gone costs a bounded time and a log line, nothing else.
func TestShutdownWithoutACollector(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+addr)
	var log lockedLog
	tel, err := telemetry.New(t.Context(), telemetry.Config{Service: "ideai", Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	_, span := tel.TracerProvider().Tracer("t").Start(t.Context(), "work")
	span.End()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err = tel.Shutdown(ctx)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if !strings.Contains(log.buf.String(), "not sent") {
		t.Errorf("the log says %q", log.buf.String())
	}
}
