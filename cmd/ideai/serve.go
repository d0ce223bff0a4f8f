package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/internal/telemetry"
)

// takeoverWait is how long a server waits for the one it replaces to end.
const takeoverWait = 10 * time.Second

func (a *app) serveCommand() *cobra.Command {
	var behind, stop, ensure bool
	var readyFD int
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server in the foreground, or see to the one behind", Args: cobra.NoArgs,
		Long: "Runs all services in this process until it is interrupted. Commands start such a server in the\nbackground by themselves; there is no need for this one but to watch it, or for the IDE.\nAt a unix:// address its owner is served as such; at a loopback host:port only holders of a token\nare, such as agents.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case stop:
				return a.stopServer(cmd.Context())
			case ensure:
				return a.ensureServer(cmd.Context())
			}
			cfg, end, err := a.observed(cmd.Context(), a.serverConfig(a.config.Address), behind)
			if err != nil {
				return err
			}
			defer end()
			if behind {
				cfg.IdleTimeout, cfg.TakeoverWait = a.config.IdleTimeout, takeoverWait
			}
			return a.serve(cmd.Context(), cfg, readyFD)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stop, "stop", false, "end the running server; launches go on without it")
	f.BoolVar(&ensure, "ensure", false, "make sure that a server runs in the background, and tell its address")
	f.BoolVar(&behind, "background", false, "log to a file and end when idle")
	f.IntVar(&readyFD, background.ReadyFlag, -1, "descriptor on which to say that the server listens")
	cmd.MarkFlagsMutuallyExclusive("stop", "ensure", "background")
	_ = f.MarkHidden("background")
	_ = f.MarkHidden(background.ReadyFlag)
	return cmd
}

func (a *app) serve(ctx context.Context, cfg server.Config, readyFD int) error {
	srv, err := server.New(cfg)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready():
	case err := <-done:
		return err
	}
	if readyFD >= 0 {
		if err := background.Ready(readyFD); err != nil {
			cfg.Log.Warn("nobody waits for the server to be ready", "error", err)
		}
	} else {
		a.remark("listening at %s", cfg.Address)
	}
	return <-done
}

// observed gives a server its log and telemetry: in the background, or when a
// file is named, to a file of bounded size, else to standard error.
func (a *app) observed(ctx context.Context, cfg server.Config, behind bool) (server.Config, func(), error) {
	w, path := a.err, a.config.LogFile
	if path == "" && behind {
		path = background.Options{StateDir: a.config.StateDir}.LogPath()
	}
	closeLog := func() {}
	if path != "" {
		file, err := background.OpenLog(path, background.LogLimit)
		if err != nil {
			return cfg, nil, err
		}
		w, closeLog = file, func() { _ = file.Close() }
	}
	t, err := telemetry.New(ctx, telemetry.Config{
		Service: "ideai", Version: cfg.Build.Version, Log: w, Level: a.config.LogLevel, JSON: a.config.LogFormat == "json",
	})
	if err != nil {
		closeLog()
		return cfg, nil, err
	}
	cfg.Log, cfg.Tracer, cfg.Meter, cfg.Propagator = t.Log, t.Tracer, t.Meter, t.Propagator
	return cfg, func() {
		if err := t.Shutdown(context.WithoutCancel(ctx)); err != nil {
			t.Log.Warn("telemetry was not sent", "error", err)
		}
		closeLog()
	}, nil
}

// ensureServer starts the background server when none runs, for programs that
// want to connect to it themselves.
func (a *app) ensureServer(ctx context.Context) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	info, err := s.launcher.GetServerInfo(ctx, &launcherv1.GetServerInfoRequest{})
	if err != nil {
		return err
	}
	if !a.asJSON {
		a.say("listening at %s", s.address)
		return nil
	}
	server, err := protojson.Marshal(info)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"address": s.address, "server": json.RawMessage(server)})
	if err != nil {
		return err
	}
	return a.rawJSON(data)
}

// stopServer asks the running server to end and waits until it has.
func (a *app) stopServer(ctx context.Context) error {
	s, ok := a.connectRunning(ctx)
	if !ok {
		return a.show(&launcherv1.DrainResponse{}, func() { a.say("no server runs") })
	}
	defer s.close()
	r, err := s.launcher.Drain(ctx, &launcherv1.DrainRequest{Why: "asked by ideai serve --stop"})
	if err != nil {
		return err
	}
	release, err := background.Claim(ctx, a.config.Address, takeoverWait)
	if err != nil {
		return err
	}
	release()
	return a.show(r, func() { a.say("the server has ended") })
}
