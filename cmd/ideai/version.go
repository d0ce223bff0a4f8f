package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (a *app) versionCommand() *cobra.Command {
	var need bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version, and that of the running server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var server *launcherv1.GetServerInfoResponse
			if s, ok := a.connectRunning(cmd.Context()); ok {
				defer s.close()
				server, _ = s.launcher.GetServerInfo(cmd.Context(), &launcherv1.GetServerInfoRequest{})
			}
			if server == nil && need {
				return fault.New(fault.ServiceUnavailable, fault.Meta{"service": "server"}, "no server runs; any command but this one starts it")
			}
			if server == nil && !a.asJSON {
				defer a.say("no server runs")
			}
			return a.versions(server)
		},
	}
	cmd.Flags().BoolVar(&need, "server", false, "fail when no server runs")
	return cmd
}

// versions shows this program's build and, unless nil, the server's.
func (a *app) versions(server *launcherv1.GetServerInfoResponse) error {
	b := a.buildInfo()
	if a.asJSON {
		client := &launcherv1.GetServerInfoResponse{BuildId: b.ID, Version: b.Version, BuildTime: timestamppb.New(b.Time)}
		doc := map[string]json.RawMessage{}
		for name, info := range map[string]*launcherv1.GetServerInfoResponse{"client": client, "server": server} {
			if info == nil {
				continue
			}
			data, err := protojson.Marshal(info)
			if err != nil {
				return err
			}
			doc[name] = data
		}
		data, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		return a.rawJSON(data)
	}
	a.say("ideai %s, build %s of %s", b.Version, b.ID, b.Time.Format("2006-01-02 15:04"))
	if server != nil {
		a.say("server %s, build %s, process %d, %d launches", server.GetVersion(), server.GetBuildId(), server.GetPid(), server.GetLiveLaunches())
	}
	return nil
}
