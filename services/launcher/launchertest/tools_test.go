package launchertest_test

import (
	"slices"
	"strings"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// An agent whose CLI cannot be given the tools is not told of them, and the
// plan says why.
func TestALaunchWithoutTools(t *testing.T) {
	for _, c := range []struct{ profile, openFolder, why string }{
		{"claude", "/srv/open", ""},
		{"pi", "", "takes no MCP servers"},
		{"gemini", "", ""},
		{"gemini", "/srv/open", "chmod go-w '/srv/open'"},
	} {
		t.Run(c.profile+" "+c.openFolder, func(t *testing.T) {
			r := launchertest.NewRig(t)
			id, root := shop(t, r, true)
			req := launchertest.Request(id, "l1", root)
			req.ProfileId, req.Host.OpenFolder = c.profile, c.openFolder
			plan := prepare(t, r, req)
			without := c.why != ""
			if got := slices.Contains(warnings(plan), launcherv1.WarningKind_WARNING_KIND_NO_TOOLS); got != without {
				t.Errorf("warnings %v", plan.GetWarnings())
			}
			if without && !slices.ContainsFunc(plan.GetWarnings(), func(w *launcherv1.Warning) bool { return strings.Contains(w.GetMessage(), c.why) }) {
				t.Errorf("warnings %v, want %q", plan.GetWarnings(), c.why)
			}
			if got := len(plan.GetMcpServers()) == 0; got != without {
				t.Errorf("servers %v", plan.GetMcpServers())
			}
			if got := len(r.Context.LastCompose().GetTools()) == 0; got != without {
				t.Errorf("the context is composed with tools %v", r.Context.LastCompose().GetTools())
			}
		})
	}
}

// A variable of the person's that a carrier would replace is refused by name.
func TestAVariableOfThePersonsIsNotReplaced(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	req := launchertest.Request(id, "l1", root)
	req.ProfileId, req.Host.EnvNames = "opencode", []string{"OPENCODE_CONFIG_CONTENT"}
	_, err := r.Owner.PrepareLaunch(t.Context(), req)
	if reason := fault.ReasonOf(grpcerr.FromStatus(err, grpcerr.Call{})); reason != fault.ArgumentConflict {
		t.Errorf("got %v: %v", reason, err)
	}
}
