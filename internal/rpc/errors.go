package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
	"github.com/idea-ide/ideai/internal/telemetry"
)

// mapErrors turns what a handler returns into a status, and logs, once, what
// the client does not get to see: causes and masked errors.
func mapErrors(log *slog.Logger) link {
	end := func(ctx context.Context, method string, err error) error {
		if err == nil {
			return nil
		}
		logHidden(ctx, log, method, err)
		return grpcerr.ToStatus(err, grpcerr.Call{Method: method, RequestID: telemetry.RequestID(ctx)})
	}
	return link{
		name: "errors",
		unary: func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			resp, err := next(ctx, req)
			return resp, end(ctx, info.FullMethod, err)
		},
		stream: func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			return end(ss.Context(), info.FullMethod, next(srv, ss))
		},
	}
}

func logHidden(ctx context.Context, log *slog.Logger, method string, err error) {
	attrs := []any{slog.String("method", method), slog.String("error", err.Error())}
	if grpcerr.Masked(err) {
		if p := (*panicError)(nil); errors.As(err, &p) {
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
		log.ErrorContext(ctx, "call failed", attrs...)
		return
	}
	if f, ok := fault.As(err); ok && f.Unwrap() != nil {
		log.InfoContext(ctx, "call refused", append(attrs, slog.String("reason", string(f.Reason)))...)
	}
}

// panicError is a panic of a handler as an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// recoverPanics counts panics and turns them into errors, which the errors
// interceptor logs with their stack and masks.
func recoverPanics(mp metric.MeterProvider) link {
	_, mp, _ = otelDefaults(nil, mp, nil)
	panics, _ := mp.Meter(scope).Int64Counter("ideai.rpc.panics", metric.WithDescription("Handlers that panicked."))
	opt := recovery.WithRecoveryHandlerContext(func(ctx context.Context, p any) error {
		panics.Add(ctx, 1)
		return &panicError{value: p, stack: debug.Stack()}
	})
	return link{name: "recovery", unary: recovery.UnaryServerInterceptor(opt), stream: recovery.StreamServerInterceptor(opt)}
}
