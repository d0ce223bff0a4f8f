package server

import (
	"context"
	"errors"
	"path/filepath"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/agenttools"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/project"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/store/storefile"
	"github.com/idea-ide/ideai/internal/tokens"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
	"github.com/idea-ide/ideai/services/context/contextgrpc"
	launchersvc "github.com/idea-ide/ideai/services/launcher"
	"github.com/idea-ide/ideai/services/launcher/launchergrpc"
	memorysvc "github.com/idea-ide/ideai/services/memory"
	"github.com/idea-ide/ideai/services/memory/memorygrpc"
)

// runFunc does a service's background work until ctx ends.
type runFunc func(ctx context.Context) error

// service is one service behind its pipe.
type service struct {
	name string // full gRPC name
	pipe *rpc.Pipe
	grpc *grpc.Server
	run  runFunc
	conn *grpc.ClientConn // of the gateway
}

// assemble makes the services, joins them and puts the gateway before them.
func (s *Server) assemble(key *auth.Key) error {
	registry := project.OpenRegistry(filepath.Join(s.config.StateDir, "projects"))
	catalogue := provider.Builtin()
	counter := tokens.NewCounter()
	relay := auth.NewRelay(key.Issuer())

	memory, err := memorysvc.New(s.config.Memory, memorysvc.Deps{
		Stores: s.opener("memory", registry), Log: s.log, Traces: s.config.Tracer, Tokens: counter.Count,
	})
	if err != nil {
		return err
	}
	if err := s.add(key, memoryv1.MemoryService_ServiceDesc.ServiceName, memory.Run, func(r grpc.ServiceRegistrar) {
		memorygrpc.Register(r, memory)
	}); err != nil {
		return err
	}
	contexts, err := contextsvc.New(contextsvc.Config{}, contextsvc.Deps{
		Stores: s.opener("context", registry), Files: contextsvc.NewFiles(registry.Tree), Catalogue: catalogue, Tokens: counter,
	})
	if err != nil {
		return err
	}
	if err := s.add(key, contextv1.ContextService_ServiceDesc.ServiceName, contexts.Run, func(r grpc.ServiceRegistrar) {
		contextgrpc.Register(r, contexts)
	}); err != nil {
		return err
	}
	return s.addGateway(key, relay, registry, catalogue)
}

// opener gives a service its own stores, under its own locks.
func (s *Server) opener(name string, registry *project.Registry) *storefile.Opener {
	o := storefile.NewOpener(name, registry.Tree)
	o.Options.Logger = s.log
	s.closers = append(s.closers, o.Close)
	return o
}

// add puts a service behind a pipe of its own and connects the gateway to it.
func (s *Server) add(key *auth.Key, name string, run runFunc, register func(grpc.ServiceRegistrar)) error {
	svc := &service{name: name, pipe: rpc.NewPipe(), grpc: rpc.NewServer(s.serverConfig(key)), run: run}
	register(svc.grpc)
	conn, err := svc.pipe.Dial(rpc.ClientConfig{
		NoRetry: true, Tracer: s.config.Tracer, Meter: s.config.Meter, Propagator: s.config.Propagator,
	})
	if err != nil {
		return err
	}
	svc.conn = conn
	s.closers = append(s.closers, conn.Close)
	s.services = append(s.services, svc)
	return nil
}

// addGateway makes the launcher service and forwards all else.
func (s *Server) addGateway(key *auth.Key, relay *auth.Relay, registry *project.Registry, catalogue *provider.Catalogue) error {
	backends := map[string]grpc.ClientConnInterface{}
	clients := map[string]grpc.ClientConnInterface{}
	for _, svc := range s.services {
		backends[svc.name] = svc.conn
		own, err := svc.pipe.Dial(rpc.ClientConfig{
			Token: relay.Token, Tracer: s.config.Tracer, Meter: s.config.Meter, Propagator: s.config.Propagator,
		})
		if err != nil {
			return err
		}
		s.closers = append(s.closers, own.Close)
		clients[svc.name] = own
	}
	state, err := storefile.Open(s.config.StateDir, "server", storefile.Options{Logger: s.log})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, state.Close)
	s.launcher, err = launchersvc.New(s.config.Launcher, launchersvc.Deps{
		Context:   contextv1.NewContextServiceClient(clients[contextv1.ContextService_ServiceDesc.ServiceName]),
		Memory:    memoryv1.NewMemoryServiceClient(clients[memoryv1.MemoryService_ServiceDesc.ServiceName]),
		Projects:  registry,
		Stores:    s.opener("launcher", registry),
		State:     state,
		Catalogue: catalogue,
		Issuer:    key.Issuer(),
		Build:     s.config.Build,
		Features:  []string{"context", "memory", "launch", "refresh"},
		Tools:     agenttools.Names(),
		Logger:    s.log,
	})
	if err != nil {
		return err
	}
	cfg := s.serverConfig(key)
	cfg.Drain = s.drain
	cfg.Unknown = s.traffic.counted(rpc.Forward(rpc.ForwardConfig{Backends: backends, Relay: relay}))
	s.gateway = rpc.NewServer(cfg)
	s.inside = rpc.NewOwnerPipe()
	launchergrpc.Register(s.gateway, s.launcher)
	healthv1.RegisterHealthServer(s.gateway, s.health)
	reflectionv1.RegisterServerReflectionServer(s.gateway, reflection.NewServerV1(reflection.ServerOptions{Services: s}))
	return nil
}

// GetServiceInfo names every service the gateway answers for, the forwarded
// ones too: what health and reflection tell of.
func (s *Server) GetServiceInfo() map[string]grpc.ServiceInfo {
	all := s.gateway.GetServiceInfo()
	for _, svc := range s.services {
		all[svc.name] = svc.grpc.GetServiceInfo()[svc.name]
	}
	return all
}

// close closes what assemble opened, the last first. It is called once the
// services have ended.
func (s *Server) close() error {
	var errs []error
	for i := range s.closers {
		errs = append(errs, s.closers[len(s.closers)-1-i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}
