package telemetry

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// Hidden is what a log shows instead of a secret.
const Hidden = "[hidden]"

// NewLogger makes a logger whose lines carry the request id and the trace id of
// their context. Attributes whose key speaks of a token, password, secret or
// authorization are hidden, at any depth. A nil w logs nowhere.
func NewLogger(w io.Writer, level slog.Leveler, json bool) *slog.Logger {
	if w == nil {
		return slog.New(slog.DiscardHandler)
	}
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: hideSecrets}
	if json {
		return slog.New(contextHandler{slog.NewJSONHandler(w, opts)})
	}
	return slog.New(contextHandler{slog.NewTextHandler(w, opts)})
}

var secretWords = []string{"token", "password", "secret", "authorization", "api_key", "apikey"}

func hideSecrets(_ []string, a slog.Attr) slog.Attr {
	key := strings.ToLower(a.Key)
	for _, w := range secretWords {
		if !strings.Contains(key, w) {
			continue
		}
		switch a.Value.Kind() {
		case slog.KindString, slog.KindAny:
			return slog.String(a.Key, Hidden)
		default: // a count such as context_tokens is no secret
		}
	}
	return a
}

// contextHandler adds what the context knows of a call.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	if sc := trace.SpanContextFromContext(ctx); sc.HasTraceID() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
