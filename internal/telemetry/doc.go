// Package telemetry makes a server's logger, traces and metrics.
//
// It makes its own providers and touches no globals. Without an exporter in the
// standard OTEL_* variables, traces and metrics are no-ops. Texts, tokens and
// other secrets never enter logs or spans.
package telemetry
