package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

func serviceName(name string) attribute.KeyValue { return attribute.String("service.name", name) }

func serviceVersion(v string) attribute.KeyValue { return attribute.String("service.version", v) }

func (t *Telemetry) exportTraces(ctx context.Context, res *resource.Resource) error {
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return fmt.Errorf("telemetry: trace exporter: %w", err)
	}
	p := sdktrace.NewTracerProvider(
		sdktrace.WithResource(res),
		sdktrace.WithBatcher(quietSpans{exporter, t.Log}),
	)
	t.Tracer = p
	t.shutdown = append(t.shutdown, func(ctx context.Context) error {
		err := p.Shutdown(ctx)
		if err != nil {
			// The provider gave up waiting and its worker still sends: stop it.
			err = errors.Join(err, exporter.Shutdown(ctx))
		}
		return err
	})
	return nil
}

func (t *Telemetry) exportMetrics(ctx context.Context, res *resource.Resource) error {
	exporter, err := otlpmetricgrpc.New(ctx)
	if err != nil {
		return fmt.Errorf("telemetry: metric exporter: %w", err)
	}
	p := sdkmetric.NewMeterProvider(
		sdkmetric.WithResource(res),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(quietMetrics{exporter, t.Log})),
	)
	t.Meter = p
	t.shutdown = append(t.shutdown, p.Shutdown)
	return nil
}

// The SDK hands an exporter's errors to a global handler, which writes to
// standard error: the terminal of whoever runs the CLI. These wrappers log them.

type quietSpans struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

func (q quietSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil {
		q.log.WarnContext(ctx, "traces not sent", "spans", len(spans), "error", err)
	}
	return nil
}

type quietMetrics struct {
	sdkmetric.Exporter
	log *slog.Logger
}

func (q quietMetrics) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if err := q.Exporter.Export(ctx, rm); err != nil {
		q.log.WarnContext(ctx, "metrics not sent", "error", err)
	}
	return nil
}
