// Package server assembles every service of ideai in one process: the embedded
// default behind the commands of one person.
//
// Each service has a gRPC server of its own behind an in-memory pipe, with the
// same interceptors and the same authentication as between containers; there
// is no second code path. The gateway takes the calls of the outside: it holds
// the launcher service and forwards the methods of the others as they come.
//
// A server ends when its context ends, when it is asked to drain, when it was
// idle for long enough, or with an error when one of its services fails. It
// stops in the order of Run's comment, and frees its files and its address.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/rpc"
	launchersvc "github.com/idea-ide/ideai/services/launcher"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// Config says where and how to serve.
type Config struct {
	// Address is unix:///path or a loopback host:port; empty serves inside the
	// process only, over Dial.
	Address string
	// StateDir keeps the token key, the registry of projects and the trust.
	StateDir string
	// IdleTimeout ends a server without attached launches, open streams or
	// calls for that long; 0 = never.
	IdleTimeout time.Duration
	// StopTimeout bounds how long running calls may take once the server
	// stops; 0 = DefaultStopTimeout.
	StopTimeout time.Duration
	// TakeoverWait is how long to wait for the address while another server
	// still holds it; 0 = refuse at once.
	TakeoverWait time.Duration

	Build    build.Info
	Launcher launchersvc.Config
	Memory   memorysvc.Config

	Log *slog.Logger // nil = none
	// Tracer and Meter are nil when telemetry is off.
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator
}

// DefaultStopTimeout is how long running calls may take once a server stops.
const DefaultStopTimeout = 5 * time.Second

// Server is all services in one process. Run runs it once.
type Server struct {
	config   Config
	log      *slog.Logger
	gateway  *grpc.Server
	inside   *rpc.Pipe // the gateway for this process
	services []*service
	closers  []func() error
	launcher *launchersvc.Service
	health   *health.Server
	drain    *rpc.Drain
	traffic  traffic
	ready    chan struct{}
	addr     net.Addr
}

// New assembles a server and starts nothing. It creates the state directory
// and, the first time, the key that signs tokens.
func New(cfg Config) (*Server, error) {
	if cfg.StateDir == "" || !filepath.IsAbs(cfg.StateDir) {
		return nil, fmt.Errorf("server: the state directory %q must be an absolute path", cfg.StateDir)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.StopTimeout == 0 {
		cfg.StopTimeout = DefaultStopTimeout
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("server: make the state directory: %w", err)
	}
	key, err := auth.LoadKey(KeyPath(cfg.StateDir))
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: cfg,
		log:    cfg.Log,
		health: health.NewServer(),
		ready:  make(chan struct{}),
		drain: rpc.NewDrain(launcherv1.LauncherService_GetServerInfo_FullMethodName,
			launcherv1.LauncherService_Drain_FullMethodName),
	}
	if err := s.assemble(key); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// KeyPath is where the key that signs tokens is kept.
func KeyPath(stateDir string) string { return filepath.Join(stateDir, "keys", "token.pem") }

// serverConfig is the chain that every gRPC server of the process has.
func (s *Server) serverConfig(key *auth.Key) rpc.ServerConfig {
	return rpc.ServerConfig{
		Log: s.log, Tracer: s.config.Tracer, Meter: s.config.Meter, Propagator: s.config.Propagator,
		Verifier: key.Verifier(),
	}
}

// Ready is closed once calls are taken.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Addr is where the server listens, nil inside the process only. It is set
// once Ready is closed.
func (s *Server) Addr() net.Addr { return s.addr }

// Dial connects this process to the gateway, as the owner unless a token is
// given.
func (s *Server) Dial(cfg rpc.ClientConfig) (*grpc.ClientConn, error) { return s.inside.Dial(cfg) }

// Run serves until ctx ends, the server is drained or idle (nil), or a part of
// it fails. It stops in this order:
//
//  1. health says NOT_SERVING, new calls are refused as DRAINING;
//  2. streams end;
//  3. running calls finish, at most StopTimeout, then they are cut off;
//  4. the services end, the last begun first, each with its gRPC server;
//  5. the stores close, which frees their locks;
//  6. the address is free.
func (s *Server) Run(ctx context.Context) error {
	listeners, release, err := s.listen(ctx)
	if err != nil {
		return errors.Join(err, s.close())
	}
	defer release()

	failed := make(chan error, 2*len(s.services)+len(listeners)+1)
	for _, svc := range s.services {
		svc.begin(failed)
	}
	gateway := newTasks(failed)
	for _, l := range listeners {
		gateway.run("gateway", func(context.Context) error { return s.gateway.Serve(l) })
	}
	gateway.run("launcher", s.launcher.Run)
	for name := range s.GetServiceInfo() {
		s.health.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	close(s.ready)
	s.log.InfoContext(ctx, "serving", "address", s.config.Address, "build", s.config.Build.ID, "pid", os.Getpid())

	why, err := s.wait(ctx, failed)
	s.log.InfoContext(ctx, "stopping", "why", why)
	s.stop(ctx, why, gateway)
	err = errors.Join(err, s.close())
	s.log.InfoContext(ctx, "stopped")
	return err
}

// listen opens the address, if there is one, and the pipe of the process.
func (s *Server) listen(ctx context.Context) ([]net.Listener, func(), error) {
	listeners := []net.Listener{s.inside}
	if s.config.Address == "" {
		return listeners, func() {}, nil
	}
	release, err := background.Claim(ctx, s.config.Address, s.config.TakeoverWait)
	if err != nil {
		return nil, nil, err
	}
	l, err := rpc.Listen(ctx, s.config.Address)
	if err != nil {
		release()
		return nil, nil, err
	}
	s.addr = l.Addr()
	return append(listeners, l), release, nil
}

// wait returns why the server has to stop, with an error when that is one.
func (s *Server) wait(ctx context.Context, failed <-chan error) (why string, err error) {
	watch, stopWatch := context.WithCancel(ctx)
	defer stopWatch()
	select {
	case <-ctx.Done():
		return "asked to stop", nil
	case <-s.launcher.Drained():
		return "drained", nil
	case <-idleAfter(watch, s.config.IdleTimeout, s.lastUse):
		return "idle", nil
	case err := <-failed:
		return "a service failed", err
	}
}

func (s *Server) stop(ctx context.Context, why string, gateway *tasks) {
	s.health.Shutdown()
	s.drain.Begin()
	s.launcher.Drain(ctx, why)
	stopGracefully(s.gateway, s.config.StopTimeout)
	gateway.end()
	for i := range s.services {
		s.services[len(s.services)-1-i].end(s.config.StopTimeout)
	}
}

// stopGracefully lets running calls finish for a while, then cuts them off.
func stopGracefully(g *grpc.Server, timeout time.Duration) {
	cut := time.AfterFunc(timeout, g.Stop)
	defer cut.Stop()
	g.GracefulStop()
}
