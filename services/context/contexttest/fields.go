package contexttest

import (
	"slices"
	"strings"
	"testing"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// invalidFields sends a bad value for the rules of each request.
func invalidFields(t *testing.T, c client) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, tc := range map[string]struct {
		field string
		call  func(client) error
	}{
		"GetSettings without a project": {"project_id", func(c client) error { return second(c.GetSettings(c.t.Context(), &contextv1.GetSettingsRequest{})) }},
		"GetSettings of a path": {"worktree_id", func(c client) error {
			return second(c.GetSettings(c.t.Context(), &contextv1.GetSettingsRequest{ProjectId: Project, WorktreeId: "../x"}))
		}},
		"SaveSettings without settings": {"settings", func(c client) error {
			return second(c.SaveSettings(c.t.Context(), &contextv1.SaveSettingsRequest{ProjectId: Project}))
		}},
		"SaveSettings in German": {"settings.language", func(c client) error { return c.trySettings(&contextv1.Settings{Language: "de"}) }},
		"SaveSettings for no agent": {"settings.default_agent", func(c client) error {
			return c.trySettings(&contextv1.Settings{DefaultAgent: "A b"})
		}},
		"SaveSettings beyond a budget": {"settings.budgets.memory_tokens", func(c client) error {
			return c.trySettings(&contextv1.Settings{Budgets: &contextv1.Budgets{MemoryTokens: 1_000_001}})
		}},
		"GetRules": {"project_id", func(c client) error {
			return second(c.GetRules(c.t.Context(), &contextv1.GetRulesRequest{ProjectId: "a/b"}))
		}},
		"SaveRules too long":   {"rules.body", func(c client) error { return c.tryRules(&contextv1.Rules{Body: long(262145)}) }},
		"SaveRules from many":  {"rules.rules_from", func(c client) error { return c.tryRules(&contextv1.Rules{RulesFrom: slices.Repeat([]string{"a"}, 17)}) }},
		"SaveRules from empty": {"rules.rules_from[0]", func(c client) error { return c.tryRules(&contextv1.Rules{RulesFrom: []string{""}}) }},
		"ListPersonas": {"page_size", func(c client) error {
			return second(c.ListPersonas(c.t.Context(), &contextv1.ListPersonasRequest{ProjectId: Project, PageSize: -1}))
		}},
		"GetPersona": {"agent_id", func(c client) error {
			return second(c.GetPersona(c.t.Context(), &contextv1.GetPersonaRequest{ProjectId: Project, AgentId: "../x"}))
		}},
		"SavePersona":           {"persona.agent_id", func(c client) error { return c.tryPersona(&contextv1.Persona{}) }},
		"SavePersona of a path": {"persona.agent_id", func(c client) error { return c.tryPersona(&contextv1.Persona{AgentId: "a..b"}) }},
		"SavePersona's name":    {"persona.name", func(c client) error { return c.tryPersona(&contextv1.Persona{AgentId: "a", Name: long(129)}) }},
		"SavePersona's profile": {"persona.profile_id", func(c client) error { return c.tryPersona(&contextv1.Persona{AgentId: "a", ProfileId: "X"}) }},
		"SavePersona's notes": {"persona.pinned_notes[0]", func(c client) error {
			return c.tryPersona(&contextv1.Persona{AgentId: "a", PinnedNotes: []string{"a/b"}})
		}},
		"SavePersona's many hints": {"persona.recall_hints", func(c client) error {
			return c.tryPersona(&contextv1.Persona{AgentId: "a", RecallHints: slices.Repeat([]string{"a"}, 33)})
		}},
		"DeletePersona": {"etag", func(c client) error {
			return second(c.DeletePersona(c.t.Context(), &contextv1.DeletePersonaRequest{ProjectId: Project, AgentId: "a", Etag: long(129)}))
		}},
		"ListSkills": {"page_token", func(c client) error {
			return second(c.ListSkills(c.t.Context(), &contextv1.ListSkillsRequest{ProjectId: Project, PageToken: long(1025)}))
		}},
		"GetSkill": {"skill_id", func(c client) error {
			return second(c.GetSkill(c.t.Context(), &contextv1.GetSkillRequest{ProjectId: Project, SkillId: "A"}))
		}},
		"SaveSkill": {"skill.skill_id", func(c client) error {
			return second(c.SaveSkill(c.t.Context(), &contextv1.SaveSkillRequest{ProjectId: Project, Skill: &contextv1.Skill{SkillId: "/"}}))
		}},
		"ListProfiles": {"page_size", func(c client) error {
			return second(c.ListProfiles(c.t.Context(), &contextv1.ListProfilesRequest{PageSize: -1}))
		}},
		"GetProfile":             {"profile_id", func(c client) error { return second(c.GetProfile(c.t.Context(), &contextv1.GetProfileRequest{})) }},
		"ComposeContext's agent": {"agent_id", func(c client) error { return c.tryCompose(func(r *contextv1.ComposeContextRequest) { r.AgentId = "" }) }},
		"ComposeContext's language": {"language", func(c client) error {
			return c.tryCompose(func(r *contextv1.ComposeContextRequest) { r.Language = "it" })
		}},
		"ComposeContext's state": {"state", func(c client) error {
			return c.tryCompose(func(r *contextv1.ComposeContextRequest) { r.State = long(16385) })
		}},
		"ComposeContext's total": {"notes_total", func(c client) error {
			return c.tryCompose(func(r *contextv1.ComposeContextRequest) { r.NotesTotal = -1 })
		}},
		"ComposeContext's notes": {"notes[0].note_id", func(c client) error {
			return c.tryCompose(func(r *contextv1.ComposeContextRequest) { r.Notes[0].NoteId = ".." })
		}},
		"RenderInjection without context": {"context", func(c client) error {
			return c.tryRender(func(r *contextv1.RenderInjectionRequest) { r.Context = nil })
		}},
		"RenderInjection without a kind":  {"kind", func(c client) error { return c.tryRender(func(r *contextv1.RenderInjectionRequest) { r.Kind = 0 }) }},
		"RenderInjection of another kind": {"kind", func(c client) error { return c.tryRender(func(r *contextv1.RenderInjectionRequest) { r.Kind = 99 }) }},
		"RenderInjection nowhere": {"side_directory", func(c client) error {
			return c.tryRender(func(r *contextv1.RenderInjectionRequest) { r.SideDirectory = "" })
		}},
		"RenderInjection's strategy": {"strategy", func(c client) error {
			return c.tryRender(func(r *contextv1.RenderInjectionRequest) { r.Strategy = typev1.Strategy(99) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.call(client{c.ContextServiceClient, t})
			refused(t, err, fault.InvalidField)
			if f, _ := fault.As(err); !slices.ContainsFunc(f.Fields, func(v fault.Field) bool { return v.Path == tc.field }) {
				t.Errorf("%v does not name the field %s", err, tc.field)
			}
		})
	}
}

func (c client) trySettings(s *contextv1.Settings) error {
	return second(c.SaveSettings(c.t.Context(), &contextv1.SaveSettingsRequest{ProjectId: Project, Settings: s}))
}

func (c client) tryRules(r *contextv1.Rules) error {
	return second(c.SaveRules(c.t.Context(), &contextv1.SaveRulesRequest{ProjectId: Project, Rules: r}))
}

func (c client) tryPersona(p *contextv1.Persona) error {
	return second(c.SavePersona(c.t.Context(), &contextv1.SavePersonaRequest{ProjectId: Project, Persona: p}))
}

func (c client) tryCompose(change func(*contextv1.ComposeContextRequest)) error {
	r := request()
	change(r)
	return second(c.ComposeContext(c.t.Context(), r))
}

func (c client) tryRender(change func(*contextv1.RenderInjectionRequest)) error {
	r := renderRequest(&contextv1.EffectiveContext{})
	change(r)
	return second(c.RenderInjection(c.t.Context(), r))
}
