package launchersvc

import (
	"fmt"
	"strings"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/provider"
)

const (
	maxWarnings = 64
	maxText     = 1024
)

func warning(kind launcherv1.WarningKind, section typev1.SectionKind, subject, format string, args ...any) *launcherv1.Warning {
	return &launcherv1.Warning{Kind: kind, Section: section, Subject: clip(subject), Message: clip(fmt.Sprintf(format, args...))}
}

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
}

func memoryDown(err error) *launcherv1.Warning {
	return warning(launcherv1.WarningKind_WARNING_KIND_SECTION_DEGRADED, typev1.SectionKind_SECTION_KIND_MEMORY, memoryService,
		"no notes could be recalled (%s); the agent starts without project memory", reasonText(err))
}

// reasonText is what a person may be told of an error.
func reasonText(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Msg
	}
	return "the service failed"
}

func refreshWaits(cli, why string) *launcherv1.Warning {
	return warning(launcherv1.WarningKind_WARNING_KIND_REFRESH_WAITS, 0, cli,
		"%s; the agent has all of it when the session is resumed", why)
}

func noPersona(agent string) *launcherv1.Warning {
	return warning(launcherv1.WarningKind_WARNING_KIND_NO_PERSONA, typev1.SectionKind_SECTION_KIND_PERSONA, agent,
		"the agent %s has no persona; `ideai agent edit %s` writes one", agent, agent)
}

func noTools(profile, why string) *launcherv1.Warning {
	return warning(launcherv1.WarningKind_WARNING_KIND_NO_TOOLS, 0, profile, "%s", why)
}

// unusable warns of a file that cannot be used: what is wrong with it, where
// that is known.
func unusable(section typev1.SectionKind, item *typev1.LeftOut) *launcherv1.Warning {
	if item.GetDetail() != "" {
		return warning(launcherv1.WarningKind_WARNING_KIND_LEFT_OUT, section, item.GetName(), "left out: %s", item.GetDetail())
	}
	return warning(launcherv1.WarningKind_WARNING_KIND_LEFT_OUT, section, item.GetName(), "%s %s", item.GetName(), whyUnusable(item.GetName()))
}

// leftOut warns of what should have entered the context and did not: once of
// all that waits for trust, and of each file that cannot be used.
func leftOut(projectID string, composed *contextv1.ComposeContextResponse) []*launcherv1.Warning {
	var out []*launcherv1.Warning
	untrusted := false
	consider := func(section typev1.SectionKind, items []*typev1.LeftOut) {
		for _, item := range items {
			switch item.GetReason() {
			case typev1.LeftOutReason_LEFT_OUT_REASON_UNTRUSTED:
				untrusted = true
			case typev1.LeftOutReason_LEFT_OUT_REASON_UNUSABLE:
				out = append(out, unusable(section, item))
			case typev1.LeftOutReason_LEFT_OUT_REASON_MISSING:
				out = append(out, warning(launcherv1.WarningKind_WARNING_KIND_LEFT_OUT, section, item.GetName(),
					"%s is named but not there; make it, or stop naming it", item.GetName()))
			default: // as intended: budgets, and files the CLI reads by itself
			}
		}
	}
	consider(typev1.SectionKind_SECTION_KIND_UNSPECIFIED, composed.GetLeftOut())
	for _, sec := range composed.GetContext().GetSections() {
		consider(sec.GetReport().GetKind(), sec.GetReport().GetLeftOut())
	}
	if untrusted {
		out = append([]*launcherv1.Warning{warning(launcherv1.WarningKind_WARNING_KIND_UNTRUSTED, typev1.SectionKind_SECTION_KIND_UNSPECIFIED, projectID,
			"the project's own rules, personas and skills were left out: you have not trusted it yet; `ideai trust` lists them and asks")}, out...)
	}
	return out
}

func whyUnusable(name string) string {
	if strings.HasPrefix(name, ".ideai/profiles/") {
		return "is never used: a profile says what is executed, and a repository may not; only the built-in profiles count"
	}
	return "cannot be used as it is and was left out; open it in an editor and mend it"
}

// injectionWarnings tells how far an injection is to be relied on.
func injectionWarnings(report *launcherv1.InjectionReport, p *provider.Profile, kind typev1.LaunchKind) []*launcherv1.Warning {
	var out []*launcherv1.Warning
	profile := p.Name
	installed := report.GetCliVersion()
	if installed == "" {
		installed = "of unknown version"
	}
	switch v := report.GetVerification(); {
	case v == typev1.Verification_VERIFICATION_OTHER_VERSION:
		out = append(out, warning(launcherv1.WarningKind_WARNING_KIND_UNVERIFIED_INJECTION, 0, installed,
			"%s %s: the context was seen to arrive with version %s, this one was not tried; try it with `ideai doctor --prove %s`", profile, installed, report.GetVerifiedVersion(), p.ID))
	case v == typev1.Verification_VERIFICATION_UNVERIFIED && report.GetProveTime() != nil:
		out = append(out, disproved(report, profile, p.ID))
	case v == typev1.Verification_VERIFICATION_UNVERIFIED:
		out = append(out, warning(launcherv1.WarningKind_WARNING_KIND_UNVERIFIED_INJECTION, 0, installed,
			"%s %s: the context was never seen to arrive by %s; try it with `ideai doctor --prove %s`", profile, installed, report.GetCarrier(), p.ID))
	}
	if report.GetFrozenOnResume() && kind == typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME {
		out = append(out, warning(launcherv1.WarningKind_WARNING_KIND_FROZEN_CONTEXT, 0, report.GetCarrier(),
			"the resumed session keeps the context it began with until it is compacted; start a fresh one for the current context"))
	}
	return out
}
