package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// flushTimeout bounds Shutdown: a collector that is gone does not hold a
// server's end.
const flushTimeout = 3 * time.Second

// Config says what a process tells of itself.
type Config struct {
	// Service names the process in traces and metrics, such as ideai;
	// OTEL_SERVICE_NAME comes first.
	Service string
	// Version of the program.
	Version string
	// Log is where log lines go, nil for nowhere.
	Log io.Writer
	// Level is the least level logged.
	Level slog.Level
	// JSON writes one JSON object a line instead of text.
	JSON bool
	// Getenv reads the OTEL_* variables; nil means os.Getenv.
	Getenv func(string) string
}

// Telemetry is a process's logger and providers. Shut it down last.
type Telemetry struct {
	Log *slog.Logger
	// Tracer and Meter are nil when nothing is exported, as package rpc wants it.
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator

	shutdown []func(context.Context) error
}

// New makes a logger, and the exporters that the standard OTEL_* variables ask
// for: OTLP over gRPC when OTEL_EXPORTER_OTLP_ENDPOINT or its form for one
// signal is set, and nothing otherwise. OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER
// and OTEL_METRICS_EXPORTER (otlp, none) hold too. No connection is made before
// there is something to send.
func New(ctx context.Context, cfg Config) (*Telemetry, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	t := &Telemetry{
		Log:        NewLogger(cfg.Log, cfg.Level, cfg.JSON),
		Propagator: propagation.TraceContext{},
	}
	traces, err := wanted(cfg.Getenv, "TRACES")
	if err != nil {
		return nil, err
	}
	metrics, err := wanted(cfg.Getenv, "METRICS")
	if err != nil {
		return nil, err
	}
	if !traces && !metrics {
		return t, nil
	}
	res, err := describe(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if traces {
		err = t.exportTraces(ctx, res)
	}
	if metrics {
		err = errors.Join(err, t.exportMetrics(ctx, res))
	}
	if err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	return t, nil
}

// TracerProvider is Tracer, or one that does nothing.
func (t *Telemetry) TracerProvider() trace.TracerProvider {
	if t.Tracer == nil {
		return tracenoop.NewTracerProvider()
	}
	return t.Tracer
}

// MeterProvider is Meter, or one that does nothing.
func (t *Telemetry) MeterProvider() metric.MeterProvider {
	if t.Meter == nil {
		return metricnoop.NewMeterProvider()
	}
	return t.Meter
}

// Shutdown sends what is left, within three seconds or ctx's deadline, and
// ends the exporters. What cannot be sent by then is lost.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	errs := make(chan error, len(t.shutdown))
	for _, f := range t.shutdown {
		go func() { errs <- f(ctx) }()
	}
	var all error
	for range t.shutdown {
		all = errors.Join(all, <-errs)
	}
	t.shutdown = nil
	if all != nil {
		return fmt.Errorf("telemetry: the last traces and metrics are lost: %w", all)
	}
	return nil
}

// wanted reports whether a signal is to be exported.
func wanted(getenv func(string) string, signal string) (bool, error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := getenv("OTEL_" + signal + "_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("telemetry: OTEL_%s_EXPORTER=%s is not known here; use otlp or none", signal, exporter)
	}
	for _, key := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := getenv(key); p != "" && p != "grpc" {
			return false, fmt.Errorf("telemetry: %s=%s is not known here; use grpc", key, p)
		}
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != "", nil
}

func describe(ctx context.Context, cfg Config) (*resource.Resource, error) {
	res, err := resource.New(ctx,
		resource.WithAttributes(serviceName(cfg.Service), serviceVersion(cfg.Version)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // last, so that OTEL_SERVICE_NAME wins
	)
	if err != nil {
		return nil, fmt.Errorf("telemetry: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return res, nil
}
