package launchersvc

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
)

// about is a proof of claude in a terminal, of a new session.
func about(carrier string, arrived bool) *launcherv1.Proof {
	return &launcherv1.Proof{
		Kind: typev1.LaunchKind_LAUNCH_KIND_FRESH, Workspace: typev1.Workspace_WORKSPACE_PROJECT, Carrier: carrier,
		Terminal: true, Arrived: arrived, ProveTime: timestamppb.New(time.Unix(1000, 0)),
	}
}

func plannerFor(t *testing.T, carrier string, proofs ...*launcherv1.Proof) *planner {
	t.Helper()
	p, err := provider.Builtin().Profile("claude")
	if err != nil {
		t.Fatal(err)
	}
	return &planner{
		preparation: &preparation{req: &launcherv1.PrepareLaunchRequest{Carrier: carrier, Host: &launcherv1.Host{CliVersion: "9.9.9", Proofs: proofs}}},
		gathered:    gathered{profile: p},
		kind:        provider.Fresh, workspace: provider.Project,
	}
}

func TestADisprovedCarrierComesLast(t *testing.T) {
	other := about("side_directory", false)
	other.Terminal = false
	for _, c := range []struct {
		name, asked string
		proofs      []*launcherv1.Proof
		want        string
	}{
		{"nothing is known", "", nil, "side_directory"},
		{"it arrived", "", []*launcherv1.Proof{about("side_directory", true)}, "side_directory"},
		{"it did not arrive", "", []*launcherv1.Proof{about("side_directory", false)}, "append_system_prompt_file"},
		{"it did not arrive, and was asked for", "side_directory", []*launcherv1.Proof{about("side_directory", false)}, "side_directory"},
		{"none arrived", "", []*launcherv1.Proof{about("side_directory", false), about("append_system_prompt_file", false)}, "side_directory"},
		{"it did not arrive in another kind of launch", "", []*launcherv1.Proof{other}, "side_directory"},
	} {
		got, err := plannerFor(t, c.asked, c.proofs...).choose()
		if err != nil || got.Name != c.want {
			t.Errorf("%s: %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}

func TestAPlanBelievesAProofBeforeTheCatalogue(t *testing.T) {
	for _, c := range []struct {
		name    string
		proof   *launcherv1.Proof
		want    typev1.Verification
		version string
		warns   string
	}{
		{"none", about("stdin", true), typev1.Verification_VERIFICATION_OTHER_VERSION, "2.1.332", "doctor --prove claude"},
		{"arrived", about("side_directory", true), typev1.Verification_VERIFICATION_VERIFIED, "9.9.9", ""},
		{"missing", about("side_directory", false), typev1.Verification_VERIFICATION_UNVERIFIED, "", "did not arrive whole by side_directory"},
	} {
		b := plannerFor(t, "", c.proof)
		report := &launcherv1.InjectionReport{
			Carrier: "side_directory", CliVersion: "9.9.9",
			Verification: typev1.Verification_VERIFICATION_OTHER_VERSION, VerifiedVersion: "2.1.332",
		}
		b.believe(report)
		if report.GetVerification() != c.want || report.GetVerifiedVersion() != c.version {
			t.Errorf("%s: %v", c.name, report)
		}
		if proved := report.GetProveTime() != nil; proved != (c.name != "none") {
			t.Errorf("%s: prove time %v", c.name, report.GetProveTime())
		}
		var said string
		for _, w := range injectionWarnings(report, b.profile, typev1.LaunchKind_LAUNCH_KIND_FRESH) {
			said += w.GetMessage()
		}
		if (c.warns == "") != (said == "") || !strings.Contains(said, c.warns) {
			t.Errorf("%s: warned %q, want %q", c.name, said, c.warns)
		}
	}
}
