// Package server assembles every service of ideai in one process: the embedded
// default behind the commands of one person.
//
// Each service has a gRPC server of its own behind an in-memory pipe, with the
// same interceptors and the same authentication as between containers; there
// is no second code path. The gateway takes the calls of the outside: it holds
// the launcher service and forwards the methods of the others as they come.
//
// A server ends when its context ends, when it is asked to drain, when it was
// idle for long enough, or with an error when one of its services fails. However
// it ends, it frees its files and its address.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
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
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/lifecycle"
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
	// stops; 0 = lifecycle.DefaultStopTimeout.
	StopTimeout time.Duration
	// TakeoverWait is how long to wait for the address while another server
	// still holds it; 0 = refuse at once.
	TakeoverWait time.Duration

	// Person names the owner; empty = the user of the operating system.
	Person   string
	Build    build.Info
	Launcher launchersvc.Config
	Memory   memorysvc.Config

	Log *slog.Logger // nil = none
	// Tracer and Meter are nil when telemetry is off.
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator
}

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
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, fault.New(fault.StoreReadOnly, fault.Meta{"path": cfg.StateDir},
			"%s cannot be made; give yourself write permission there, or set another state_dir", cfg.StateDir).Wrap(err)
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
		Verifier: key.Verifier(), Person: s.config.Person,
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
// it fails. It stops in the order of lifecycle.Run, the gateway first and the
// services after it; last, the address is free.
func (s *Server) Run(ctx context.Context) error {
	listeners, release, err := s.listen(ctx)
	if err != nil {
		return errors.Join(err, s.close())
	}
	defer release()
	until, stopWatch := s.until(ctx)
	defer stopWatch()
	err = lifecycle.Run(ctx, lifecycle.Plan{
		Log:         s.log,
		Units:       append(s.units(), lifecycle.Unit{Name: "gateway", Server: s.gateway, Listeners: listeners, Run: s.launcher.Run}),
		Ready:       func() { s.begun(ctx) },
		Until:       until,
		NotServing:  s.health.Shutdown,
		EndStreams:  func() { s.drain.Begin(); s.launcher.Drain(ctx, "stopping") },
		Close:       []func() error{s.close},
		StopTimeout: s.config.StopTimeout,
	})
	s.log.InfoContext(ctx, "stopped")
	return err
}

// units are the services behind the gateway, those called by others first.
func (s *Server) units() []lifecycle.Unit {
	var out []lifecycle.Unit
	for _, svc := range s.services {
		out = append(out, lifecycle.Unit{Name: svc.name, Server: svc.grpc, Listeners: []net.Listener{svc.pipe}, Run: svc.run})
	}
	return out
}

func (s *Server) begun(ctx context.Context) {
	for name := range s.GetServiceInfo() {
		s.health.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	close(s.ready)
	s.log.InfoContext(ctx, "serving", "address", s.config.Address, "build", s.config.Build.ID, "pid", os.Getpid())
}

// until tells why the server has to stop although nobody said so to Run.
func (s *Server) until(ctx context.Context) (<-chan string, func()) {
	watch, stop := context.WithCancel(ctx)
	idle := idleAfter(watch, s.config.IdleTimeout, s.lastUse)
	go giveBack(watch, s.lastUse, debug.FreeOSMemory)
	gone := goneAfter(watch, s.config.Address)
	why := make(chan string, 1)
	go func() {
		select {
		case <-watch.Done():
		case <-s.launcher.Drained():
			why <- "drained"
		case <-idle:
			why <- "idle"
		case <-gone:
			why <- "its socket is gone"
		}
	}()
	return why, stop
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
	if strings.HasPrefix(s.config.Address, "unix://") {
		if err := background.Remember(s.config.StateDir, s.config.Address); err != nil {
			s.log.WarnContext(ctx, "address not written; shells with another environment may not find this server", "error", err)
		}
	}
	s.addr = l.Addr()
	return append(listeners, l), release, nil
}
