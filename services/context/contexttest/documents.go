package contexttest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func settings(t *testing.T, c client) {
	equal(t, c.settings(), &contextv1.Settings{Budgets: &contextv1.Budgets{}})
	want := &contextv1.Settings{
		Language: "fr", DefaultAgent: "reviewer",
		Budgets: &contextv1.Budgets{FixedTokens: 9000, MemoryTokens: 1, MemoryIndexTokens: 2, StateTokens: 3, HandoffTokens: 1_000_000},
	}
	saved := c.saveSettings(want)
	if saved.GetEtag() == "" {
		t.Error("saved settings have no etag")
	}
	want.Etag = saved.GetEtag()
	equal(t, saved, want)
	equal(t, c.settings(), want)
	less := &contextv1.Settings{Language: "en", Budgets: &contextv1.Budgets{StateTokens: 5}, Etag: saved.GetEtag()}
	saved = c.saveSettings(less)
	less.Etag = saved.GetEtag()
	equal(t, c.settings(), less)
}

func rules(t *testing.T, c client) {
	equal(t, c.rules(), &contextv1.Rules{})
	saved := c.saveRules(&contextv1.Rules{Body: "# Rules\n\nAmounts are in cents. « Oui »\n", RulesFrom: []string{"CLAUDE.md", "docs/a b.md"}})
	got := c.rules()
	if got.GetEtag() == "" || got.GetEtag() != saved.GetEtag() || got.GetBody() != "# Rules\n\nAmounts are in cents. « Oui »\n" || len(got.GetRulesFrom()) != 2 || got.GetRulesFrom()[1] != "docs/a b.md" {
		t.Errorf("rules = %v", got)
	}
	saved = c.saveRules(&contextv1.Rules{Body: "---\nA ruler.\n", Etag: got.GetEtag()})
	if got := c.rules(); got.GetBody() != "---\nA ruler.\n" || len(got.GetRulesFrom()) > 0 || got.GetEtag() != saved.GetEtag() {
		t.Errorf("rules = %v", got)
	}
}

func personas(t *testing.T, c client) {
	want := &contextv1.Persona{
		AgentId: "code.reviewer", Name: "La relectrice", Description: "Relit: tout, « vraiment » #1", ProfileId: "codex",
		RecallHints: []string{"style", "a: b"}, PinnedNotes: []string{"règle-d'arrondi"}, Body: "Tu relis.\n\n- tout\n",
	}
	saved := c.savePersona(want)
	got, err := c.GetPersona(t.Context(), &contextv1.GetPersonaRequest{ProjectId: Project, AgentId: "code.reviewer"})
	must(t, err)
	equal(t, got.GetPersona(), saved)
	if saved.GetEtag() == "" || saved.GetProblem() != "" {
		t.Errorf("saved = %v", saved)
	}
	plain := proto.CloneOf(saved)
	plain.Etag, plain.UpdateTime = "", nil
	equal(t, plain, want)

	next := c.savePersona(&contextv1.Persona{AgentId: "code.reviewer", Body: "Tu relis.\n", Etag: saved.GetEtag()})
	if next.GetName() != "" || next.GetProfileId() != "" || len(next.GetRecallHints()) > 0 || next.GetBody() != "Tu relis.\n" {
		t.Errorf("emptied = %v", next)
	}
	list, err := c.ListPersonas(t.Context(), &contextv1.ListPersonasRequest{ProjectId: Project})
	must(t, err)
	if len(list.GetPersonas()) != 1 || list.GetPersonas()[0].GetBody() != "" || list.GetPersonas()[0].GetEtag() != next.GetEtag() {
		t.Errorf("list = %v", list)
	}
}

func deletePersona(t *testing.T, c client) {
	request := func() *contextv1.DeletePersonaRequest {
		return &contextv1.DeletePersonaRequest{ProjectId: Project, AgentId: "dev"}
	}
	refused(t, second(c.DeletePersona(t.Context(), request())), fault.PersonaNotFound)
	missing := request()
	missing.AllowMissing = true
	must(t, second(c.DeletePersona(t.Context(), missing)))

	old := c.savePersona(&contextv1.Persona{AgentId: "dev", Body: "one\n"})
	now := c.savePersona(&contextv1.Persona{AgentId: "dev", Body: "two\n", Etag: old.GetEtag()})
	stale := request()
	stale.Etag = old.GetEtag()
	refused(t, second(c.DeletePersona(t.Context(), stale)), fault.StaleEtag, "current_etag", now.GetEtag())
	stale.Etag = now.GetEtag()
	must(t, second(c.DeletePersona(t.Context(), stale)))
	refused(t, second(c.GetPersona(t.Context(), &contextv1.GetPersonaRequest{ProjectId: Project, AgentId: "dev"})), fault.PersonaNotFound)
	c.savePersona(&contextv1.Persona{AgentId: "dev", Body: "three\n"})
	must(t, second(c.DeletePersona(t.Context(), request())))
}

func skills(t *testing.T, c client) {
	saved := c.saveSkill(&contextv1.Skill{SkillId: "release", Name: "Release", Description: "Cuts a version", Body: "1. Tag.\n"})
	got, err := c.GetSkill(t.Context(), &contextv1.GetSkillRequest{ProjectId: Project, SkillId: "release"})
	must(t, err)
	equal(t, got.GetSkill(), saved)
	equal(t, saved, &contextv1.Skill{
		SkillId: "release", Name: "Release", Description: "Cuts a version", Path: ".ideai/skills/release/SKILL.md",
		Body: "1. Tag.\n", Etag: saved.GetEtag(),
	})
	list, err := c.ListSkills(t.Context(), &contextv1.ListSkillsRequest{ProjectId: Project})
	must(t, err)
	if len(list.GetSkills()) != 1 || list.GetSkills()[0].GetBody() != "" || list.GetSkills()[0].GetEtag() == "" {
		t.Errorf("list = %v", list)
	}
}

func pages(t *testing.T, c client) {
	for i := range 5 {
		c.savePersona(&contextv1.Persona{AgentId: fmt.Sprintf("agent-%d", i)})
		c.saveSkill(&contextv1.Skill{SkillId: fmt.Sprintf("skill-%d", i)})
	}
	var ids []string
	for token, n := "", 0; ; n++ {
		r, err := c.ListPersonas(t.Context(), &contextv1.ListPersonasRequest{ProjectId: Project, PageSize: 2, PageToken: token})
		must(t, err)
		for _, p := range r.GetPersonas() {
			ids = append(ids, p.GetAgentId())
		}
		if token = r.GetNextPageToken(); token == "" || n > 5 {
			break
		}
		other := second(c.ListSkills(t.Context(), &contextv1.ListSkillsRequest{ProjectId: Project, PageSize: 2, PageToken: token}))
		refused(t, other, fault.PageTokenInvalid)
	}
	if got := strings.Join(ids, " "); got != "agent-0 agent-1 agent-2 agent-3 agent-4" {
		t.Errorf("personas by pages: %s", got)
	}
	first, err := c.ListSkills(t.Context(), &contextv1.ListSkillsRequest{ProjectId: Project, PageSize: 4})
	must(t, err)
	rest, err := c.ListSkills(t.Context(), &contextv1.ListSkillsRequest{ProjectId: Project, PageSize: 4, PageToken: first.GetNextPageToken()})
	must(t, err)
	if len(first.GetSkills()) != 4 || len(rest.GetSkills()) != 1 || rest.GetNextPageToken() != "" {
		t.Errorf("skills by pages: %d, then %d", len(first.GetSkills()), len(rest.GetSkills()))
	}
	refused(t, second(c.ListProfiles(t.Context(), &contextv1.ListProfilesRequest{PageToken: "x"})), fault.PageTokenInvalid)
}

func profiles(t *testing.T, c client) {
	list, err := c.ListProfiles(t.Context(), &contextv1.ListProfilesRequest{})
	must(t, err)
	found := map[string]bool{}
	for _, p := range list.GetProfiles() {
		found[p.GetProfileId()] = true
		one, err := c.GetProfile(t.Context(), &contextv1.GetProfileRequest{ProfileId: p.GetProfileId()})
		must(t, err)
		equal(t, one.GetProfile(), p)
		if p.GetBinary() == "" || len(p.GetCarriers()) == 0 {
			t.Errorf("profile = %v", p)
		}
		for _, cell := range p.GetCarriers() {
			if cell.GetWorkspace() == 0 || cell.GetStrategy() == 0 || cell.GetCarrier() == "" || len(cell.GetKinds()) == 0 {
				t.Errorf("%s has the cell %v", p.GetProfileId(), cell)
			}
			for _, kind := range cell.GetKinds() {
				if kind == 0 {
					t.Errorf("%s: a kind of %s has no name", p.GetProfileId(), cell.GetCarrier())
				}
			}
		}
	}
	if !found["claude"] || !found["codex"] {
		t.Errorf("profiles: %v", found)
	}
	refused(t, second(c.GetProfile(t.Context(), &contextv1.GetProfileRequest{ProfileId: "nobody"})), fault.ProfileNotFound)
}

// saves saves each kind of document with a text and an etag.
func (c client) saves() map[string]func(text, etag string) (string, error) {
	ctx := c.t.Context()
	return map[string]func(text, etag string) (string, error){
		"settings": func(text, etag string) (string, error) {
			r, err := c.SaveSettings(ctx, &contextv1.SaveSettingsRequest{ProjectId: Project, Settings: &contextv1.Settings{DefaultAgent: text, Etag: etag}})
			return r.GetSettings().GetEtag(), err
		},
		"rules": func(text, etag string) (string, error) {
			r, err := c.SaveRules(ctx, &contextv1.SaveRulesRequest{ProjectId: Project, Rules: &contextv1.Rules{Body: text, Etag: etag}})
			return r.GetRules().GetEtag(), err
		},
		"persona": func(text, etag string) (string, error) {
			r, err := c.SavePersona(ctx, &contextv1.SavePersonaRequest{ProjectId: Project, Persona: &contextv1.Persona{AgentId: "dev", Body: text, Etag: etag}})
			return r.GetPersona().GetEtag(), err
		},
		"skill": func(text, etag string) (string, error) {
			r, err := c.SaveSkill(ctx, &contextv1.SaveSkillRequest{ProjectId: Project, Skill: &contextv1.Skill{SkillId: "s", Body: text, Etag: etag}})
			return r.GetSkill().GetEtag(), err
		},
	}
}

func staleEtags(t *testing.T, c client) {
	for _, save := range c.saves() {
		refused(t, second(save("zero", "0123")), fault.StaleEtag, "current_etag", "")
		first, err := save("one", "")
		must(t, err)
		current, err := save("two", first)
		must(t, err)
		for _, etag := range []string{"", first, "any", "absent"} {
			refused(t, second(save("three", etag)), fault.StaleEtag, "current_etag", current)
		}
	}
}

func idempotent(t *testing.T, c client) {
	for name, save := range c.saves() {
		first, err := save("one", "")
		must(t, err)
		if again, err := save("one", ""); err != nil || again != first {
			t.Errorf("%s: creating again: %q, %v; want %q", name, again, err, first)
		}
		second, err := save("two", first)
		must(t, err)
		if again, err := save("two", first); err != nil || again != second {
			t.Errorf("%s: saving again: %q, %v; want %q", name, again, err, second)
		}
	}
}

func manyWriters(t *testing.T, c client) {
	start := c.saveRules(&contextv1.Rules{Body: "start\n"})
	var won, lost sync.Map
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := fmt.Sprintf("writer %d\n", i)
			_, err := c.SaveRules(t.Context(), &contextv1.SaveRulesRequest{ProjectId: Project, Rules: &contextv1.Rules{Body: body, Etag: start.GetEtag()}})
			switch {
			case err == nil:
				won.Store(body, true)
			case fault.ReasonOf(err) == fault.StaleEtag:
				lost.Store(body, true)
			default:
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	count := func(m *sync.Map) (n int) {
		m.Range(func(any, any) bool { n++; return true })
		return n
	}
	if _, ok := won.Load(c.rules().GetBody()); !ok || count(&won) != 1 || count(&lost) != 7 {
		t.Errorf("%d won, %d lost, and the rules are %q", count(&won), count(&lost), c.rules().GetBody())
	}
}

func notFound(t *testing.T, c client) {
	refused(t, second(c.GetPersona(t.Context(), &contextv1.GetPersonaRequest{ProjectId: Project, AgentId: "x"})), fault.PersonaNotFound, "agent", "x")
	refused(t, second(c.GetSkill(t.Context(), &contextv1.GetSkillRequest{ProjectId: Project, SkillId: "x"})), fault.SkillNotFound, "skill", "x")
}

// saveRefuses: what an agent could not be given is refused at the save.
func saveRefuses(t *testing.T, c client) {
	for name, save := range c.saves() {
		if name == "settings" {
			continue
		}
		refused(t, second(save("a\u202Eb", "")), fault.HiddenText)
		refused(t, second(save("<<<<<<< a\n=======\n>>>>>>> b\n", "")), fault.Damaged)
		refused(t, second(save(strings.Repeat("x", 256<<10), "")), fault.TooLarge)
		if etag, err := save("fine", ""); err != nil || etag == "" {
			t.Errorf("%s: the refused saves left something behind: %v", name, err)
		}
	}
	refused(t, second(c.SavePersona(t.Context(), &contextv1.SavePersonaRequest{ProjectId: Project,
		Persona: &contextv1.Persona{AgentId: "x", Description: "a\u200Bb"}})), fault.HiddenText, "name", ".ideai/agents/x.md")
	for _, from := range []string{"../CLAUDE.md", "/etc/passwd", "a/../../b", `..\b`} {
		refused(t, second(c.SaveRules(t.Context(), &contextv1.SaveRulesRequest{ProjectId: Project, Rules: &contextv1.Rules{RulesFrom: []string{from}}})), fault.OutsideProject, "name", from)
	}
}

func ruleFiles(t *testing.T, c client) {
	for name, save := range map[string]error{
		"rules":   second(c.SaveRules(t.Context(), &contextv1.SaveRulesRequest{ProjectId: Project, Rules: &contextv1.Rules{RulesFrom: []string{"gone.md"}}})),
		"persona": second(c.SavePersona(t.Context(), &contextv1.SavePersonaRequest{ProjectId: Project, Persona: &contextv1.Persona{AgentId: "dev", Body: "x\n"}})),
		"skill":   second(c.SaveSkill(t.Context(), &contextv1.SaveSkillRequest{ProjectId: Project, Skill: &contextv1.Skill{SkillId: "tidy", Body: "x\n"}})),
	} {
		if save != nil {
			t.Fatalf("%s: %v", name, save)
		}
	}
	r, err := c.ListRuleFiles(t.Context(), &contextv1.ListRuleFilesRequest{ProjectId: Project})
	must(t, err)
	var got []string
	for _, f := range r.GetFiles() {
		got = append(got, f.GetPath()+" "+f.GetSection().String())
		if (f.GetSizeBytes() == 0) != (f.GetPath() == "gone.md") {
			t.Errorf("%s has %d bytes", f.GetPath(), f.GetSizeBytes())
		}
	}
	want := []string{
		".ideai/CONTEXT.md SECTION_KIND_RULES", ".ideai/agents/dev.md SECTION_KIND_PERSONA",
		".ideai/skills/tidy/SKILL.md SECTION_KIND_CAPABILITIES", "gone.md SECTION_KIND_RULES",
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}
