package main

import (
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version, and that of the running server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := a.buildInfo()
			r := &launcherv1.GetServerInfoResponse{BuildId: b.ID, Version: b.Version, BuildTime: timestamppb.New(b.Time)}
			return a.show(r, func() {
				a.say("ideai %s, build %s of %s", b.Version, b.ID, b.Time.Format("2006-01-02 15:04"))
				s, ok := a.connectRunning(cmd.Context())
				if !ok {
					a.say("no server runs")
					return
				}
				defer s.close()
				if info, err := s.launcher.GetServerInfo(cmd.Context(), &launcherv1.GetServerInfoRequest{}); err == nil {
					a.say("server %s, build %s, process %d, %d launches", info.GetVersion(), info.GetBuildId(), info.GetPid(), info.GetLiveLaunches())
				}
			})
		},
	}
}
