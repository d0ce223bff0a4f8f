package launchertest_test

import (
	"testing"

	"go.uber.org/goleak"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPI(t *testing.T) {
	launchertest.Run(t, func(t *testing.T) launchertest.Subject {
		r := launchertest.NewRig(t)
		r.Context.Set(func(d *launchertest.ContextDocs) {
			d.Files = []*contextv1.RuleFile{{Path: "AGENTS.md", Section: typev1.SectionKind_SECTION_KIND_RULES, SizeBytes: 8}}
		})
		return r.Subject()
	})
}
