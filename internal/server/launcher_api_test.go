package server_test

import (
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// The launcher's suite over TCP, where everyone gives a token.
func TestLauncherOverTCP(t *testing.T) {
	launchertest.Run(t, func(t *testing.T) launchertest.Subject {
		s := servertest.Start(t, func(c *server.Config) { c.Address = "127.0.0.1:0" })
		s.Address = s.Addr().String()
		as := func(token string) launcherv1.LauncherServiceClient { return s.Bearer(token).Launcher }
		return launchertest.Subject{Owner: as(s.Token(auth.Owner("alice"))), As: as}
	})
}
