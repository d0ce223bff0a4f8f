package launchertest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/project"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storemem"
	"github.com/idea-ide/ideai/provider"
	launchersvc "github.com/idea-ide/ideai/services/launcher"
	"github.com/idea-ide/ideai/services/launcher/launchergrpc"
)

// Person is who owns a rig's server.
const Person = "alice"

// Tools are the tools of a rig's launches.
var Tools = []string{"idea_memory_recall", "idea_memory_read"}

// Rig is a launcher with fakes of the services it calls, joined by pipes with
// the whole chain of interceptors.
type Rig struct {
	Context *Context
	Memory  *Memory
	Clock   *Clock
	Logs    *Logs
	Stores  store.Opener
	State   *storemem.Store
	Home    string // has the registry of projects

	Service *launchersvc.Service
	Drain   *rpc.Drain
	Owner   launcherv1.LauncherServiceClient

	t          testing.TB
	key        *auth.Key
	contextSrv *grpc.Server
	memorySrv  *grpc.Server
	pipe       *rpc.Pipe
	stop       func()
}

// NewRig starts a launcher. It ends with the test. edit may change what it
// stands on first.
func NewRig(t testing.TB, edit ...func(*Rig)) *Rig {
	t.Helper()
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	r := &Rig{
		Context: &Context{}, Memory: &Memory{}, Clock: &Clock{now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)}, Logs: &Logs{},
		Stores: storemem.Opener(), State: storemem.New(), t: t, key: key, Home: t.TempDir(),
	}
	for _, fn := range edit {
		fn(r)
	}
	r.start()
	t.Cleanup(func() { r.stop() })
	return r
}

// Restart ends the server, which writes what waits, and starts another one on
// the same files.
func (r *Rig) Restart() {
	r.t.Helper()
	r.stop()
	r.start()
}

func (r *Rig) start() {
	r.t.Helper()
	relay := auth.NewRelay(r.key.Issuer())
	var stops []func()
	serve := func(cfg rpc.ServerConfig, pipe *rpc.Pipe, register func(grpc.ServiceRegistrar)) *grpc.Server {
		cfg.Verifier, cfg.Person, cfg.Log = r.key.Verifier(), Person, r.logger()
		srv := rpc.NewServer(cfg)
		register(srv)
		done := make(chan error, 1)
		go func() { done <- srv.Serve(pipe) }()
		stops = append(stops, func() { srv.Stop(); r.ended(<-done) })
		return srv
	}
	dial := func(pipe *rpc.Pipe, cfg rpc.ClientConfig) *grpc.ClientConn {
		conn, err := pipe.Dial(cfg)
		if err != nil {
			r.t.Fatal(err)
		}
		stops = append(stops, func() { _ = conn.Close() })
		return conn
	}
	contextPipe, memoryPipe := rpc.NewPipe(), rpc.NewPipe()
	r.contextSrv = serve(rpc.ServerConfig{}, contextPipe, func(s grpc.ServiceRegistrar) { contextv1.RegisterContextServiceServer(s, r.Context) })
	r.memorySrv = serve(rpc.ServerConfig{}, memoryPipe, func(s grpc.ServiceRegistrar) { memoryv1.RegisterMemoryServiceServer(s, r.Memory) })
	svc, err := launchersvc.New(launchersvc.Config{MemoryWait: 200 * time.Millisecond}, launchersvc.Deps{
		Context:   contextv1.NewContextServiceClient(dial(contextPipe, rpc.ClientConfig{Token: relay.Token})),
		Memory:    memoryv1.NewMemoryServiceClient(dial(memoryPipe, rpc.ClientConfig{Token: relay.Token})),
		Projects:  r.Registry(),
		Stores:    r.Stores,
		State:     r.State,
		Catalogue: provider.Builtin(),
		Issuer:    r.key.Issuer(),
		Build:     build.Info{ID: "build-1", Version: "v0", Time: time.Unix(1_700_000_000, 0)},
		Features:  []string{"launch"},
		Tools:     Tools,
		Clock:     r.Clock.Now,
		Logger:    r.logger(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Service = svc
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- svc.Run(ctx) }()
	stops = append(stops, func() { cancel(); r.ended(<-ran) })
	r.Drain = rpc.NewDrain(launcherv1.LauncherService_GetServerInfo_FullMethodName, launcherv1.LauncherService_Drain_FullMethodName)
	r.pipe = rpc.NewOwnerPipe()
	serve(rpc.ServerConfig{Drain: r.Drain}, r.pipe, func(s grpc.ServiceRegistrar) { launchergrpc.Register(s, svc) })
	r.Owner = launcherv1.NewLauncherServiceClient(dial(r.pipe, rpc.ClientConfig{NoRetry: true}))
	r.stop = sync.OnceFunc(func() {
		for i := len(stops) - 1; i >= 0; i-- {
			stops[i]()
		}
	})
}

func (r *Rig) ended(err error) {
	if err != nil {
		r.t.Error(err)
	}
}

// Registry is the registry of projects.
func (r *Rig) Registry() *project.Registry {
	return project.OpenRegistry(filepath.Join(r.Home, "projects"))
}

func (r *Rig) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(r.Logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// As returns a client that calls with a token.
func (r *Rig) As(token string) launcherv1.LauncherServiceClient {
	r.t.Helper()
	conn, err := r.pipe.Dial(rpc.ClientConfig{NoRetry: true, Token: func(context.Context) (string, error) { return token, nil }})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	return launcherv1.NewLauncherServiceClient(conn)
}

// Issue signs a token.
func (r *Rig) Issue(c auth.Claims) string {
	r.t.Helper()
	token, err := r.key.Issuer().Issue(c, time.Hour)
	if err != nil {
		r.t.Fatal(err)
	}
	return token
}

// Subject is the rig for the API suite.
func (r *Rig) Subject() Subject { return Subject{Owner: r.Owner, As: r.As} }

// StopContext ends the context service.
func (r *Rig) StopContext() { r.contextSrv.Stop() }

// StopMemory ends the memory service.
func (r *Rig) StopMemory() { r.memorySrv.Stop() }

// Clock is a clock that stands until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time; each look is a millisecond later than the one before,
// so that what is made one after the other has an order.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// Pass moves the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Logs collects what is logged.
type Logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns everything logged so far.
func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

var _ io.Writer = (*Logs)(nil)
