package rpc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
	"github.com/idea-ide/ideai/internal/telemetry"
)

// requestIDHeader names a call through every hop; clients may choose the value.
const requestIDHeader = "x-request-id"

const maxRequestID = 128

// record collects what inner interceptors learn of a call for the outer ones.
type record struct {
	caller auth.Claims
}

type recordKey struct{}

func recordOf(ctx context.Context) *record {
	r, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return &record{}
	}
	return r
}

// requestID names the call: by the client's id when it is a short printable
// word, else by a new one. The answer's trailer tells it; a header would commit
// the call, and a client's gRPC could not try it again.
func requestID() link {
	begin := func(ctx context.Context) (context.Context, string) {
		id := ""
		if v := metadata.ValueFromIncomingContext(ctx, requestIDHeader); len(v) == 1 {
			id = v[0]
		}
		if !validRequestID(id) {
			id = uuid.NewString()
		}
		ctx = context.WithValue(ctx, recordKey{}, &record{})
		return telemetry.WithRequestID(ctx, id), id
	}
	return link{
		name: "request id",
		unary: func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			ctx, id := begin(ctx)
			_ = grpc.SetTrailer(ctx, metadata.Pairs(requestIDHeader, id)) // fails only without a stream
			return next(ctx, req)
		},
		stream: func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			ctx, id := begin(ss.Context())
			ss.SetTrailer(metadata.Pairs(requestIDHeader, id))
			return next(srv, &stream{ServerStream: ss, ctx: ctx})
		},
	}
}

func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for _, r := range []byte(id) {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return true
}

// report makes a link of what is to be done when a call ends.
func report(name string, end func(ctx context.Context, m interceptors.CallMeta, err error, took time.Duration)) link {
	r := interceptors.CommonReportableFunc(func(ctx context.Context, m interceptors.CallMeta) (interceptors.Reporter, context.Context) {
		return &reporter{end: func(err error, took time.Duration) { end(ctx, m, err, took) }}, ctx
	})
	return link{name: name, unary: interceptors.UnaryServerInterceptor(r), stream: interceptors.StreamServerInterceptor(r)}
}

type reporter struct {
	interceptors.NoopReporter
	end func(err error, took time.Duration)
}

func (r *reporter) PostCall(err error, took time.Duration) { r.end(err, took) }

// accessLog writes one line a call: what was called, by whom, how it ended.
// Never a text and never the error itself, which is logged once, inside.
func accessLog(log *slog.Logger) link {
	return report("access log", func(ctx context.Context, m interceptors.CallMeta, err error, took time.Duration) {
		code := status.Code(err)
		level := levelOf(code)
		if !log.Enabled(ctx, level) {
			return
		}
		caller := recordOf(ctx).caller
		attrs := []slog.Attr{
			slog.String("method", m.FullMethod()),
			slog.String("code", code.String()),
			slog.Duration("took", took),
			slog.String("person", caller.Person),
			slog.String("surfaces", caller.SurfaceNames()),
		}
		if err != nil {
			attrs = append(attrs, slog.String("reason", string(reasonOf(err))))
		}
		if caller.Agent != "" {
			attrs = append(attrs, slog.String("agent", caller.Agent), slog.String("launch", caller.Launch))
		}
		log.LogAttrs(ctx, level, "call", attrs...)
	})
}

func levelOf(code codes.Code) slog.Level {
	switch code {
	case codes.OK, codes.Canceled:
		return slog.LevelDebug
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return slog.LevelError
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

func reasonOf(err error) fault.Reason { return fault.ReasonOf(grpcerr.FromStatus(err, grpcerr.Call{})) }

// metrics counts calls by method, code and reason; otelgrpc has durations.
func metrics(mp metric.MeterProvider) link {
	_, mp, _ = otelDefaults(nil, mp, nil)
	// An instrument that cannot be made is a no-op one.
	calls, _ := mp.Meter(scope).Int64Counter("ideai.rpc.calls", metric.WithDescription("Calls answered, by method, code and reason."))
	var known sync.Map // of metric.MeasurementOption
	type key struct {
		method string
		code   codes.Code
		reason fault.Reason
	}
	return report("metrics", func(ctx context.Context, m interceptors.CallMeta, err error, _ time.Duration) {
		if !calls.Enabled(ctx) {
			return
		}
		k := key{method: m.FullMethod(), code: status.Code(err)}
		if err != nil {
			k.reason = reasonOf(err)
		}
		if k.reason == fault.UnknownMethod {
			k.method = "unknown" // chosen by the client: not a label
		}
		opt, ok := known.Load(k)
		if !ok {
			opt = metric.WithAttributeSet(attribute.NewSet(attribute.String("method", k.method),
				attribute.String("code", k.code.String()), attribute.String("reason", string(k.reason))))
			known.Store(k, opt)
		}
		calls.Add(ctx, 1, opt.(metric.MeasurementOption))
	})
}
