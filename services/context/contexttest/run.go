// Package contexttest is the API suite of idea.context.v1: what every server of
// it answers, whatever its store and however it is reached.
package contexttest

import (
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// Project is the project that the suite works in. The main checkout is enough.
const Project = "contexttest"

// Run runs the suite. newClient is called once a subtest, and returns a client
// that acts as a person and a host on a server with the built-in profiles,
// where Project is registered and has no files yet; it cleans up with
// t.Cleanup.
func Run(t *testing.T, newClient func(t *testing.T) contextv1.ContextServiceClient) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, client)
	}{
		{"Settings", settings},
		{"Rules", rules},
		{"Personas", personas},
		{"DeletePersona", deletePersona},
		{"Skills", skills},
		{"RuleFiles", ruleFiles},
		{"Pages", pages},
		{"Profiles", profiles},
		{"StaleEtags", staleEtags},
		{"SavesAreIdempotent", idempotent},
		{"OneOfManyWritersWins", manyWriters},
		{"NotFound", notFound},
		{"SavesRefuseWhatCannotBeUsed", saveRefuses},
		{"InvalidFields", invalidFields},
		{"Compose", compose},
		{"ComposeUntrusted", composeUntrusted},
		{"ComposeRefuses", composeRefuses},
		{"Render", render},
		{"RenderRefuses", renderRefuses},
		{"WatchDocuments", watchDocuments},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, client{newClient(t), t}) })
	}
}

// client is the client under test, with the calls that must succeed.
type client struct {
	contextv1.ContextServiceClient
	t *testing.T
}

func (c client) saveSettings(s *contextv1.Settings) *contextv1.Settings {
	c.t.Helper()
	r, err := c.SaveSettings(c.t.Context(), &contextv1.SaveSettingsRequest{ProjectId: Project, Settings: s})
	must(c.t, err)
	return r.GetSettings()
}

func (c client) settings() *contextv1.Settings {
	c.t.Helper()
	r, err := c.GetSettings(c.t.Context(), &contextv1.GetSettingsRequest{ProjectId: Project})
	must(c.t, err)
	return r.GetSettings()
}

func (c client) saveRules(s *contextv1.Rules) *contextv1.Rules {
	c.t.Helper()
	r, err := c.SaveRules(c.t.Context(), &contextv1.SaveRulesRequest{ProjectId: Project, Rules: s})
	must(c.t, err)
	return r.GetRules()
}

func (c client) rules() *contextv1.Rules {
	c.t.Helper()
	r, err := c.GetRules(c.t.Context(), &contextv1.GetRulesRequest{ProjectId: Project})
	must(c.t, err)
	return r.GetRules()
}

func (c client) savePersona(p *contextv1.Persona) *contextv1.Persona {
	c.t.Helper()
	r, err := c.SavePersona(c.t.Context(), &contextv1.SavePersonaRequest{ProjectId: Project, Persona: p})
	must(c.t, err)
	return r.GetPersona()
}

func (c client) saveSkill(s *contextv1.Skill) *contextv1.Skill {
	c.t.Helper()
	r, err := c.SaveSkill(c.t.Context(), &contextv1.SaveSkillRequest{ProjectId: Project, Skill: s})
	must(c.t, err)
	return r.GetSkill()
}

func (c client) compose(r *contextv1.ComposeContextRequest) *contextv1.ComposeContextResponse {
	c.t.Helper()
	out, err := c.ComposeContext(c.t.Context(), r)
	must(c.t, err)
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// refused holds an error to a reason, the keys of its metadata, and the values
// of some, given as key, value pairs.
func refused(t *testing.T, err error, reason fault.Reason, pairs ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Reason != reason {
		t.Fatalf("error = %v, want %s", err, reason)
	}
	if keys := slices.Sorted(maps.Keys(f.Meta)); !slices.Equal(keys, slices.Sorted(slices.Values(reason.MetaKeys()))) {
		t.Errorf("%s has the metadata %v, want the keys %v", reason, f.Meta, reason.MetaKeys())
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := f.Meta[pairs[i]]; got != pairs[i+1] {
			t.Errorf("%s: %s = %q, want %q", reason, pairs[i], got, pairs[i+1])
		}
	}
}

func equal(t *testing.T, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
