package launchertest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPI(t *testing.T) {
	launchertest.Run(t, func(t *testing.T) launchertest.Subject { return launchertest.NewRig(t).Subject() })
}
