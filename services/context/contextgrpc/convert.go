package contextgrpc

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

func each[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// i32 takes counts and budgets, which the domain keeps far below 2^31.
func i32(n int) int32 { return int32(min(n, 1<<31-1)) }

func settingsToProto(s contextsvc.Settings) *contextv1.Settings {
	b := s.Budgets
	return &contextv1.Settings{
		Language: s.Language, DefaultAgent: s.DefaultAgent, Etag: s.Etag,
		Budgets: &contextv1.Budgets{
			FixedTokens: i32(b.Fixed), MemoryTokens: i32(b.Memory), MemoryIndexTokens: i32(b.MemoryIndex),
			StateTokens: i32(b.State), HandoffTokens: i32(b.Handoff),
		},
	}
}

func settingsFromProto(s *contextv1.Settings) contextsvc.Settings {
	b := s.GetBudgets()
	return contextsvc.Settings{
		Language: s.GetLanguage(), DefaultAgent: s.GetDefaultAgent(), Etag: s.GetEtag(),
		Budgets: contextsvc.Budgets{
			Fixed: int(b.GetFixedTokens()), Memory: int(b.GetMemoryTokens()), MemoryIndex: int(b.GetMemoryIndexTokens()),
			State: int(b.GetStateTokens()), Handoff: int(b.GetHandoffTokens()),
		},
	}
}

func rulesToProto(r contextsvc.Rules) *contextv1.Rules {
	return &contextv1.Rules{Body: r.Body, RulesFrom: r.From, Etag: r.Etag, UpdateTime: timestamp(r.Updated), Problem: r.Problem}
}

func personaToProto(p contextsvc.Persona) *contextv1.Persona {
	return &contextv1.Persona{
		AgentId: p.Agent, Name: p.Name, Description: p.Description, ProfileId: p.Profile,
		RecallHints: p.Recall, PinnedNotes: p.Pinned, Body: p.Body, Etag: p.Etag,
		UpdateTime: timestamp(p.Updated), Problem: p.Problem,
	}
}

func personaFromProto(p *contextv1.Persona) contextsvc.Persona {
	return contextsvc.Persona{
		Agent: p.GetAgentId(), Name: p.GetName(), Description: p.GetDescription(), Profile: p.GetProfileId(),
		Recall: p.GetRecallHints(), Pinned: p.GetPinnedNotes(), Body: p.GetBody(), Etag: p.GetEtag(),
	}
}

func ruleFileToProto(f contextsvc.RuleFile) *contextv1.RuleFile {
	return &contextv1.RuleFile{Path: f.Path, Section: sections.proto(f.Section), SizeBytes: int64(f.Size)}
}

func skillToProto(s contextsvc.Skill) *contextv1.Skill {
	return &contextv1.Skill{
		SkillId: s.ID, Name: s.Name, Description: s.Description, Path: s.Path, Body: s.Body, Etag: s.Etag, Problem: s.Problem,
	}
}

func profileToProto(p *provider.Profile) *contextv1.Profile {
	carriers := make([]*contextv1.Carrier, len(p.Carriers))
	for i, c := range p.Carriers {
		carriers[i] = &contextv1.Carrier{
			Kinds:     each(c.Kinds, func(k provider.Kind) typev1.LaunchKind { return kinds.proto(k) }),
			Workspace: workspaces.proto(c.Workspace), Strategy: strategies.proto(c.Strategy), Carrier: c.Name,
			LimitBytes: c.LimitBytes, FrozenOnResume: c.FrozenOnResume, VerifiedVersion: c.VerifiedVersion, HeadlessOnly: c.HeadlessOnly,
			Applies: applies.proto(c.Applies),
		}
	}
	return &contextv1.Profile{ProfileId: p.ID, Binary: p.Binary, VerifiedVersion: p.VerifiedVersion, Carriers: carriers}
}

func inputsFromProto(r *contextv1.ComposeContextRequest) contextsvc.Inputs {
	return contextsvc.Inputs{
		Agent: r.GetAgentId(), Profile: r.GetProfileId(), Person: r.GetPersonName(), Language: r.GetLanguage(), Trusted: r.GetTrusted(),
		Notes: each(r.GetNotes(), func(n *contextv1.NoteInput) contextsvc.Note {
			return contextsvc.Note{ID: n.GetNoteId(), Description: n.GetDescription(), Form: forms.domain(n.GetForm()), Text: n.GetText()}
		}),
		NotesTotal: int(r.GetNotesTotal()), MemoryUnavailable: r.GetMemoryUnavailable(),
		State: r.GetState(), Handoff: r.GetHandoff(), Tools: r.GetTools(),
	}
}

func contextToProto(c contextsvc.EffectiveContext) *contextv1.EffectiveContext {
	return &contextv1.EffectiveContext{
		Sections: each(c.Sections, sectionToProto), Digest: c.Digest, StableDigest: c.StableDigest,
		Tokens: i32(c.Tokens), Language: c.Language,
	}
}

func sectionToProto(s contextsvc.Section) *contextv1.Section {
	return &contextv1.Section{Text: s.Text, Report: &typev1.SectionReport{
		Kind: sections.proto(s.Kind), Tokens: i32(s.Tokens), BudgetTokens: i32(s.Budget), Stable: s.Stable,
		Sources: each(s.Sources, func(s contextsvc.Source) *typev1.Source {
			return &typev1.Source{Name: s.Name, Tokens: i32(s.Tokens)}
		}),
		LeftOut: each(s.LeftOut, leftOutToProto),
	}}
}

func leftOutToProto(l contextsvc.LeftOut) *typev1.LeftOut {
	return &typev1.LeftOut{Name: l.Name, Reason: reasons.proto(l.Why), Tokens: i32(l.Tokens), Detail: l.Detail,
		Count: i32(l.Count), LimitTokens: i32(l.Limit)}
}

func contextFromProto(c *contextv1.EffectiveContext) contextsvc.EffectiveContext {
	return contextsvc.EffectiveContext{
		Sections: each(c.GetSections(), func(s *contextv1.Section) contextsvc.Section {
			return contextsvc.Section{Kind: sections.domain(s.GetReport().GetKind()), Text: s.GetText(), Stable: s.GetReport().GetStable()}
		}),
		Digest: c.GetDigest(), Language: c.GetLanguage(),
	}
}

func injectionFromProto(r *contextv1.RenderInjectionRequest) contextsvc.Injection {
	return contextsvc.Injection{
		Context: contextFromProto(r.GetContext()), Profile: r.GetProfileId(), Kind: kinds.domain(r.GetKind()),
		Workspace: workspaces.domain(r.GetWorkspace()), Strategy: strategies.domain(r.GetStrategy()), Carrier: r.GetCarrier(),
		Headless: r.GetHeadless(), SideDirectory: r.GetSideDirectory(), ProjectRoot: r.GetProjectRoot(),
		CLIVersion: r.GetCliVersion(), ItemLimit: r.GetArgvItemLimitBytes(),
	}
}

func injectionToProto(r contextsvc.Rendered) *typev1.Injection {
	return &typev1.Injection{
		Strategy: strategies.proto(r.Carrier.Strategy), Carrier: r.Carrier.Name,
		Files: each(r.Piece.Files, func(f provider.File) *typev1.File {
			return &typev1.File{Path: f.Path, Content: f.Content, Mode: f.Mode}
		}),
		Args: each(r.Piece.Args, func(a provider.Arg) *typev1.Arg { return &typev1.Arg{Value: a.Value, Secret: a.Secret} }),
		Env: each(r.Piece.Env, func(e provider.EnvVar) *typev1.EnvVar {
			return &typev1.EnvVar{Name: e.Name, Value: e.Value, Secret: e.Secret, ListSeparator: e.Separator}
		}),
		Stdin: r.Piece.Stdin, Verification: verifications.proto(r.Verification),
		VerifiedVersion: r.Carrier.VerifiedVersion, FrozenOnResume: r.Carrier.FrozenOnResume,
	}
}

func documentEvent(ev contextsvc.DocumentEvent) *contextv1.WatchDocumentsResponse {
	switch {
	case ev.Synced:
		return &contextv1.WatchDocumentsResponse{Event: &contextv1.WatchDocumentsResponse_Synced{Synced: &contextv1.DocumentsSynced{}}}
	case ev.Document != nil:
		return &contextv1.WatchDocumentsResponse{Event: &contextv1.WatchDocumentsResponse_Document{Document: &contextv1.Document{
			Path: ev.Document.Path, Section: sections.proto(ev.Document.Section), Etag: ev.Document.Etag,
		}}}
	}
	return &contextv1.WatchDocumentsResponse{Event: &contextv1.WatchDocumentsResponse_DeletedPath{DeletedPath: ev.Deleted}}
}
