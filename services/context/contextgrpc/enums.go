package contextgrpc

import (
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

// enum pairs the values of a domain type with those of a proto enum. What it
// does not know is the zero value on the other side.
type enum[D, P comparable] struct {
	toProto  map[D]P
	toDomain map[P]D
}

func newEnum[D, P comparable](pairs map[D]P) enum[D, P] {
	e := enum[D, P]{toProto: pairs, toDomain: map[P]D{}}
	for d, p := range pairs {
		e.toDomain[p] = d
	}
	return e
}

func (e enum[D, P]) proto(d D) P  { return e.toProto[d] }
func (e enum[D, P]) domain(p P) D { return e.toDomain[p] }

var (
	kinds = newEnum(map[provider.Kind]typev1.LaunchKind{
		provider.Fresh:          typev1.LaunchKind_LAUNCH_KIND_FRESH,
		provider.Continue:       typev1.LaunchKind_LAUNCH_KIND_CONTINUE,
		provider.NativeResume:   typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME,
		provider.Swap:           typev1.LaunchKind_LAUNCH_KIND_SWAP,
		provider.Rotation:       typev1.LaunchKind_LAUNCH_KIND_ROTATION,
		provider.StructuredTurn: typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN,
		provider.Headless:       typev1.LaunchKind_LAUNCH_KIND_HEADLESS,
	})
	workspaces = newEnum(map[provider.Workspace]typev1.Workspace{
		provider.Project:      typev1.Workspace_WORKSPACE_PROJECT,
		provider.RunDirectory: typev1.Workspace_WORKSPACE_RUN_DIRECTORY,
	})
	strategies = newEnum(map[provider.Strategy]typev1.Strategy{
		provider.ConventionFile: typev1.Strategy_STRATEGY_CONVENTION_FILE,
		provider.Flag:           typev1.Strategy_STRATEGY_FLAG,
		provider.Stdin:          typev1.Strategy_STRATEGY_STDIN,
		provider.Env:            typev1.Strategy_STRATEGY_ENV,
	})
	applies = newEnum(map[provider.Applies]typev1.Applies{
		provider.NextTurn:  typev1.Applies_APPLIES_NEXT_TURN,
		provider.AtResume:  typev1.Applies_APPLIES_AT_RESUME,
		provider.AtRestart: typev1.Applies_APPLIES_AT_RESTART,
	})
	verifications = newEnum(map[provider.Verification]typev1.Verification{
		provider.Verified:     typev1.Verification_VERIFICATION_VERIFIED,
		provider.OtherVersion: typev1.Verification_VERIFICATION_OTHER_VERSION,
		provider.Unverified:   typev1.Verification_VERIFICATION_UNVERIFIED,
	})
	sections = newEnum(map[contextsvc.SectionKind]typev1.SectionKind{
		contextsvc.RulesSection:        typev1.SectionKind_SECTION_KIND_RULES,
		contextsvc.PersonaSection:      typev1.SectionKind_SECTION_KIND_PERSONA,
		contextsvc.CapabilitiesSection: typev1.SectionKind_SECTION_KIND_CAPABILITIES,
		contextsvc.MemorySection:       typev1.SectionKind_SECTION_KIND_MEMORY,
		contextsvc.StateSection:        typev1.SectionKind_SECTION_KIND_STATE,
		contextsvc.HandoffSection:      typev1.SectionKind_SECTION_KIND_HANDOFF,
	})
	forms = newEnum(map[contextsvc.Form]typev1.NoteForm{
		contextsvc.Full:    typev1.NoteForm_NOTE_FORM_FULL,
		contextsvc.Excerpt: typev1.NoteForm_NOTE_FORM_EXCERPT,
		contextsvc.Pointer: typev1.NoteForm_NOTE_FORM_POINTER,
	})
	reasons = newEnum(map[contextsvc.Why]typev1.LeftOutReason{
		contextsvc.OverItsBudget: typev1.LeftOutReason_LEFT_OUT_REASON_BUDGET,
		contextsvc.ReadByCLI:     typev1.LeftOutReason_LEFT_OUT_REASON_READ_BY_CLI,
		contextsvc.Untrusted:     typev1.LeftOutReason_LEFT_OUT_REASON_UNTRUSTED,
		contextsvc.Unusable:      typev1.LeftOutReason_LEFT_OUT_REASON_UNUSABLE,
		contextsvc.Missing:       typev1.LeftOutReason_LEFT_OUT_REASON_MISSING,
		contextsvc.Shortened:     typev1.LeftOutReason_LEFT_OUT_REASON_SHORTENED,
		contextsvc.Unavailable:   typev1.LeftOutReason_LEFT_OUT_REASON_UNAVAILABLE,
		contextsvc.OverItsIndex:  typev1.LeftOutReason_LEFT_OUT_REASON_INDEX,
	})
)
