package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/grpc"

	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server"
	launchersvc "github.com/idea-ide/ideai/services/launcher"
)

func (a *app) buildInfo() build.Info { return a.build(filepath.Join(a.config.StateDir, "cache")) }

// clientConfig is how this command calls: by the token it found, as an agent
// when it is one's, else as the owner.
func (a *app) clientConfig() (rpc.ClientConfig, *agentToken, error) {
	raw := a.getenv("IDEAI_TOKEN")
	if raw == "" {
		return rpc.ClientConfig{}, nil, nil
	}
	agent, err := readToken(raw)
	if err != nil {
		return rpc.ClientConfig{}, nil, err
	}
	cfg := rpc.ClientConfig{Token: func(context.Context) (string, error) { return raw, nil }}
	if !agent.agentic {
		return cfg, nil, nil
	}
	return cfg, agent, nil
}

// backgroundServer is the server this command wants and how to start it.
func (a *app) backgroundServer(cfg rpc.ClientConfig) (background.Options, error) {
	exe, err := os.Executable()
	if err != nil {
		return background.Options{}, fmt.Errorf("cannot find the program itself: %w", err)
	}
	return background.Options{
		Address: a.config.Address, StateDir: a.config.StateDir, Exe: exe, Build: a.buildInfo(),
		Args: append([]string{"serve", "--background"}, a.givenFlags(a.cmd.Flags())...),
		Dial: func(address string) (*grpc.ClientConn, error) { return rpc.Dial(address, cfg) },
	}, nil
}

// connect connects to the server, starting it when needed. An agent only
// connects: the server it belongs to runs.
func (a *app) connect(ctx context.Context) (*session, error) {
	cfg, agent, err := a.clientConfig()
	if err != nil {
		return nil, err
	}
	if a.flags.inProcess {
		return a.connectInside(ctx, cfg, agent, "")
	}
	if agent != nil {
		conn, err := rpc.Dial(a.config.Address, cfg)
		if err != nil {
			return nil, err
		}
		return newSession(a.config.Address, conn, agent, func() { _ = conn.Close() }), nil
	}
	bg, err := a.backgroundServer(cfg)
	if err != nil {
		return nil, err
	}
	conn, err := bg.Ensure(ctx)
	if err != nil {
		return nil, err
	}
	return newSession(a.config.Address, conn, nil, func() { _ = conn.Close() }), nil
}

// connectRunning connects to a server only if one runs.
func (a *app) connectRunning(ctx context.Context) (*session, bool) {
	cfg, agent, err := a.clientConfig()
	if err != nil {
		return nil, false
	}
	bg, err := a.backgroundServer(cfg)
	if err != nil {
		return nil, false
	}
	conn, ok := bg.Find(ctx)
	if !ok {
		return nil, false
	}
	return newSession(a.config.Address, conn, agent, func() { _ = conn.Close() }), true
}

// connectToLaunch connects for a launch, whose agent has to reach the server
// by an address, also the one of this process.
func (a *app) connectToLaunch(ctx context.Context) (*session, error) {
	if !a.flags.inProcess {
		return a.connect(ctx)
	}
	cfg, agent, err := a.clientConfig()
	if err != nil {
		return nil, err
	}
	address, remove, err := background.PrivateAddress()
	if err != nil {
		return nil, err
	}
	s, err := a.connectInside(ctx, cfg, agent, address)
	if err != nil {
		remove()
		return nil, err
	}
	end := s.close
	s.close = func() { end(); remove() }
	return s, nil
}

// serverConfig is a server of this process.
func (a *app) serverConfig(address string) server.Config {
	return server.Config{
		Address: address, StateDir: a.config.StateDir, Build: a.buildInfo(), Person: a.config.Person,
		Launcher: launchersvc.Config{PersonName: a.personName()},
	}
}

// connectInside runs all services in this process for the time of one command,
// listening at an address if one is given.
func (a *app) connectInside(ctx context.Context, cfg rpc.ClientConfig, agent *agentToken, address string) (*session, error) {
	return a.runInside(ctx, a.serverConfig(address), cfg, agent)
}

// runInside runs a server in this process until the session is closed.
func (a *app) runInside(ctx context.Context, serve server.Config, cfg rpc.ClientConfig, agent *agentToken) (*session, error) {
	srv, err := server.New(serve)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready():
	case err := <-done:
		cancel()
		return nil, err
	}
	stop := func() {
		cancel()
		if err := <-done; err != nil {
			a.remark("%s", err)
		}
	}
	conn, err := srv.Dial(cfg)
	if err != nil {
		stop()
		return nil, err
	}
	return newSession(serve.Address, conn, agent, func() { _ = conn.Close(); stop() }), nil
}
