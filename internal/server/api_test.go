package server_test

import (
	"testing"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/context/contexttest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
	"github.com/idea-ide/ideai/services/memory/memorytest"
)

// TestAPI runs the suites of all services against the all-in-one, over its
// socket and through the gateway, and then looks whether they left out a method.
func TestAPI(t *testing.T) {
	var calls servertest.Calls
	start := func(t *testing.T) *servertest.Server {
		s := servertest.Start(t)
		s.Calls = &calls
		return s
	}
	t.Run("memory", func(t *testing.T) {
		memorytest.Run(t, func(t *testing.T) memoryv1.MemoryServiceClient {
			s := start(t)
			s.Project(memorytest.Project, nil)
			return s.Owner().Memory
		})
	})
	t.Run("context", func(t *testing.T) {
		contexttest.Run(t, func(t *testing.T) contextv1.ContextServiceClient {
			s := start(t)
			s.Project(contexttest.Project, nil)
			return s.Owner().Context
		})
	})
	t.Run("launcher", func(t *testing.T) {
		launchertest.Run(t, func(t *testing.T) launchertest.Subject {
			s := start(t)
			return launchertest.Subject{
				Owner: s.Owner().Launcher,
				As:    func(token string) launcherv1.LauncherServiceClient { return s.Bearer(token).Launcher },
			}
		})
	})
	t.Run("every method", func(t *testing.T) {
		if n := len(servertest.Methods()); n < 35 {
			t.Fatalf("the descriptors have only %d methods: the walk does not work", n)
		}
		for _, m := range calls.Missing() {
			t.Errorf("no suite had an answer of %s", m)
		}
	})
}

// TestAPIOverTCP runs a suite as a person with a token reaches a server.
func TestAPIOverTCP(t *testing.T) {
	memorytest.Run(t, func(t *testing.T) memoryv1.MemoryServiceClient {
		s := servertest.Start(t, func(c *server.Config) { c.Address = "127.0.0.1:0" })
		s.Project(memorytest.Project, nil)
		return s.Bearer(s.Token(auth.Owner("ada"))).Memory
	})
}
