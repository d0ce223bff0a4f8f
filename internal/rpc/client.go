package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/idea-ide/ideai/internal/auth"
)

// ClientConfig is what a client connection is made of. The zero value calls
// without a token.
type ClientConfig struct {
	// Token gives the token of each call, "" for none; nil for none at all. A
	// context made with auth.WithToken comes first.
	Token func(ctx context.Context) (string, error)
	// TLS secures TCP; without it Dial takes loopback only.
	TLS credentials.TransportCredentials

	// Tracer and Meter are nil when telemetry is off, which then costs nothing.
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator

	// Deadline bounds unary calls whose context has none; 0 = DefaultDeadline.
	Deadline time.Duration
	// NoRetry leaves retries to the caller, as a gateway does.
	NoRetry bool
	// MaxMessage bounds messages both ways, in bytes; 0 = DefaultMaxMessage.
	MaxMessage int
	// Files describes the methods; nil means all that are linked in.
	Files *protoregistry.Files
}

// Dial makes a client connection to unix:///path or host:port. It connects at
// the first call. Calls fail with faults: fault.ReasonOf tells why. Calls of
// methods without side effects, or idempotent, are tried up to three times
// while the server is UNAVAILABLE.
func Dial(addr string, cfg ClientConfig) (*grpc.ClientConn, error) {
	if path, ok := socketPath(addr); ok {
		if err := checkSocketPath(path); err != nil {
			return nil, err
		}
		return dial("passthrough:///"+path, cfg, func(ctx context.Context, _ string) (net.Conn, error) {
			if err := checkServer(path); err != nil {
				return nil, err
			}
			return new(net.Dialer).DialContext(ctx, "unix", path)
		})
	}
	ok, err := isLoopback(addr)
	if err != nil {
		return nil, err
	}
	if !ok && cfg.TLS == nil {
		return nil, fmt.Errorf("rpc: %s is another machine and needs TLS; set certificates", addr)
	}
	return dial("dns:///"+addr, cfg, nil)
}

func dial(target string, cfg ClientConfig, dialer func(context.Context, string) (net.Conn, error)) (*grpc.ClientConn, error) {
	if cfg.Deadline == 0 {
		cfg.Deadline = DefaultDeadline
	}
	if cfg.MaxMessage == 0 {
		cfg.MaxMessage = DefaultMaxMessage
	}
	creds := cfg.TLS
	if creds == nil || dialer != nil {
		creds = insecure.NewCredentials()
	}
	unary, stream := clientChain(cfg)
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithChainUnaryInterceptor(unary...),
		grpc.WithChainStreamInterceptor(stream...),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2*cfg.MaxMessage), grpc.MaxCallSendMsgSize(2*cfg.MaxMessage)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
	if dialer != nil {
		opts = append(opts, grpc.WithContextDialer(dialer), grpc.WithAuthority("localhost"))
	}
	if !cfg.NoRetry {
		opts = append(opts, grpc.WithDefaultServiceConfig(retryPolicy(cfg.Files)))
	}
	if cfg.Tracer != nil || cfg.Meter != nil {
		opts = append(opts, grpc.WithStatsHandler(otelgrpc.NewClientHandler(otelOptions(cfg.Tracer, cfg.Meter, cfg.Propagator)...)))
	}
	conn, err := grpc.NewClient(target, opts...)
	if err != nil {
		return nil, fmt.Errorf("rpc: dial %s: %w", target, err)
	}
	return conn, nil
}

// retryPolicy is the service config that lets gRPC try again, once the server
// is UNAVAILABLE, what may be called twice.
func retryPolicy(files *protoregistry.Files) string {
	type name struct {
		Service string `json:"service"`
		Method  string `json:"method"`
	}
	var names []name
	if files == nil {
		files = protoregistry.GlobalFiles
	}
	files.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(string(fd.Package()), "idea.") {
			return true
		}
		for i := range fd.Services().Len() {
			sd := fd.Services().Get(i)
			for j := range sd.Methods().Len() {
				if md := sd.Methods().Get(j); auth.Describe(md).Retryable {
					names = append(names, name{string(sd.FullName()), string(md.Name())})
				}
			}
		}
		return true
	})
	if len(names) == 0 {
		return "{}"
	}
	policy, _ := json.Marshal(map[string]any{"methodConfig": []any{map[string]any{ // strings always marshal
		"name": names,
		"retryPolicy": map[string]any{
			"maxAttempts": 3, "initialBackoff": "0.05s", "maxBackoff": "0.5s", "backoffMultiplier": 3,
			"retryableStatusCodes": []string{"UNAVAILABLE"},
		},
	}}})
	return string(policy)
}
