package rpc

import (
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// scope names this package's instruments.
const scope = "github.com/idea-ide/ideai/internal/rpc"

// otelDefaults replaces what is nil by what does nothing.
func otelDefaults(t trace.TracerProvider, m metric.MeterProvider, p propagation.TextMapPropagator) (trace.TracerProvider, metric.MeterProvider, propagation.TextMapPropagator) {
	if t == nil {
		t = tracenoop.NewTracerProvider()
	}
	if m == nil {
		m = metricnoop.NewMeterProvider()
	}
	if p == nil {
		p = propagation.TraceContext{}
	}
	return t, m, p
}
