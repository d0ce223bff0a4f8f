package launchersvc

import (
	"slices"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
)

// choose takes the first carrier that goes together with the person's
// arguments. One that a run on the host showed not to work comes last.
func (b *planner) choose() (*provider.Carrier, error) {
	want := provider.Want{
		Kind: b.kind, Workspace: b.workspace, Strategy: strategiesIn[b.req.GetStrategy()], Carrier: b.req.GetCarrier(),
		Headless: b.headless, Invocation: b.invocation,
	}
	for _, p := range b.req.GetHost().GetProofs() {
		if b.about(p) && !p.GetArrived() {
			want.Avoid = append(want.Avoid, p.GetCarrier())
		}
	}
	carrier, err := b.profile.Choose(want)
	if err != nil && len(want.Avoid) > 0 {
		want.Avoid = nil
		return b.profile.Choose(want)
	}
	return carrier, err
}

// about reports whether a proof is about launches like this one.
func (b *planner) about(p *launcherv1.Proof) bool {
	return p.GetKind() == kindsOut[b.kind] && p.GetWorkspace() == workspacesOut[b.workspace] && p.GetTerminal() != b.headless
}

// believe puts what a run on the host showed of the carrier above what the
// catalogue says.
func (b *planner) believe(report *launcherv1.InjectionReport) {
	proofs := b.req.GetHost().GetProofs()
	i := slices.IndexFunc(proofs, func(p *launcherv1.Proof) bool { return b.about(p) && p.GetCarrier() == report.GetCarrier() })
	if i < 0 || report.GetCliVersion() == "" {
		return
	}
	report.ProveTime = proofs[i].GetProveTime()
	report.Verification = typev1.Verification_VERIFICATION_UNVERIFIED
	report.VerifiedVersion = ""
	if proofs[i].GetArrived() {
		report.Verification = typev1.Verification_VERIFICATION_VERIFIED
		report.VerifiedVersion = report.GetCliVersion()
	}
}

// disproved is the warning for a carrier that a run on the host showed not to
// work.
func disproved(report *launcherv1.InjectionReport, profile, profileID string) *launcherv1.Warning {
	return warning(launcherv1.WarningKind_WARNING_KIND_UNVERIFIED_INJECTION, 0, report.GetCliVersion(),
		"%s %s: on this machine the context did not arrive whole by %s; `ideai doctor --prove %s` shows what is missing",
		profile, report.GetCliVersion(), report.GetCarrier(), profileID)
}
