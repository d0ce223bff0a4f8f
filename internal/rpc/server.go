package rpc

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/idea-ide/ideai/internal/auth"
)

const (
	// DefaultMaxMessage is the largest message, in bytes, either way.
	DefaultMaxMessage = 16 << 20
	// DefaultDeadline bounds unary calls whose caller set no deadline.
	DefaultDeadline = 60 * time.Second
)

// ServerConfig is what a server is made of. The zero value takes calls from
// the owner only.
type ServerConfig struct {
	// Log gets one line a call and the causes of masked errors; nil for none.
	Log *slog.Logger
	// Tracer and Meter are nil when telemetry is off, which then costs nothing.
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator

	// Verifier checks tokens; nil refuses every token.
	Verifier *auth.Verifier
	// Person names the owner; empty means the user the process runs as.
	Person string
	// TLS secures TCP listeners; without it Listen takes loopback only.
	TLS credentials.TransportCredentials

	// MaxMessage bounds messages both ways, in bytes; 0 = DefaultMaxMessage.
	MaxMessage int
	// Deadline bounds unary calls that come without one; 0 = DefaultDeadline.
	Deadline time.Duration
	// Drain, when it begins, ends streams and refuses calls; nil for never.
	Drain *Drain
	// Unknown handles the methods of no registered service, as Forward does;
	// nil answers UNKNOWN_METHOD.
	Unknown grpc.StreamHandler
	// Files describes the methods; nil means all that are linked in.
	Files *protoregistry.Files
}

func (c ServerConfig) withDefaults() ServerConfig {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Person == "" {
		c.Person = auth.OSUser()
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	if c.Deadline == 0 {
		c.Deadline = DefaultDeadline
	}
	if c.Drain == nil {
		c.Drain = NewDrain()
	}
	if c.Unknown == nil {
		c.Unknown = unknownMethod
	}
	return c
}

// NewServer makes a server with the chain. Services are registered on it as
// on any other; health and reflection are open to everyone who can connect.
func NewServer(cfg ServerConfig) *grpc.Server {
	cfg = cfg.withDefaults()
	var unary []grpc.UnaryServerInterceptor
	var stream []grpc.StreamServerInterceptor
	for _, l := range chain(cfg) {
		unary = append(unary, l.unary)
		stream = append(stream, l.stream)
	}
	opts := []grpc.ServerOption{
		grpc.Creds(&serverCreds{tls: cfg.TLS}),
		grpc.ForceServerCodecV2(codec{}),
		// The limits interceptor answers MESSAGE_TOO_LARGE up to twice the
		// limit; beyond it gRPC itself hangs up on the call.
		grpc.MaxRecvMsgSize(2 * cfg.MaxMessage),
		grpc.MaxSendMsgSize(2 * cfg.MaxMessage),
		grpc.ChainUnaryInterceptor(unary...),
		grpc.ChainStreamInterceptor(stream...),
		grpc.UnknownServiceHandler(cfg.Unknown),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}
	if cfg.Tracer != nil || cfg.Meter != nil {
		opts = append(opts, grpc.StatsHandler(otelgrpc.NewServerHandler(otelOptions(cfg.Tracer, cfg.Meter, cfg.Propagator)...)))
	}
	return grpc.NewServer(opts...)
}

func otelOptions(t trace.TracerProvider, m metric.MeterProvider, p propagation.TextMapPropagator) []otelgrpc.Option {
	t, m, p = otelDefaults(t, m, p)
	return []otelgrpc.Option{
		otelgrpc.WithTracerProvider(t), otelgrpc.WithMeterProvider(m), otelgrpc.WithPropagators(p),
	}
}
