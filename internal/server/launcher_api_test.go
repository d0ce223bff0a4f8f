package server_test

import (
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// The launcher's suite over both ways into the all-in-one server.
func TestLauncherAPI(t *testing.T) {
	as := func(s *servertest.Server) func(string) launcherv1.LauncherServiceClient {
		return func(token string) launcherv1.LauncherServiceClient { return s.Bearer(token).Launcher }
	}
	t.Run("socket", func(t *testing.T) {
		launchertest.Run(t, func(t *testing.T) launchertest.Subject {
			s := servertest.Start(t)
			return launchertest.Subject{Owner: s.Owner().Launcher, As: as(s)}
		})
	})
	t.Run("TCP", func(t *testing.T) {
		launchertest.Run(t, func(t *testing.T) launchertest.Subject {
			s := servertest.Start(t, func(c *server.Config) { c.Address = "127.0.0.1:0" })
			s.Address = s.Addr().String()
			return launchertest.Subject{Owner: as(s)(s.Token(auth.Owner("alice"))), As: as(s)}
		})
	})
}
