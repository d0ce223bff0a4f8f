package contexttest

import (
	"context"
	"testing"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func watchDocuments(t *testing.T, c client) {
	c.saveRules(&contextv1.Rules{Body: "Amounts are in cents.\n"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.WatchDocuments(ctx, &contextv1.WatchDocumentsRequest{ProjectId: Project})
	must(t, err)
	next := func() *contextv1.WatchDocumentsResponse {
		t.Helper()
		ev, err := stream.Recv()
		must(t, err)
		return ev
	}
	if d := next().GetDocument(); d.GetPath() != ".ideai/CONTEXT.md" || d.GetSection() != typev1.SectionKind_SECTION_KIND_RULES || d.GetEtag() == "" {
		t.Errorf("document %v", d)
	}
	if ev := next(); ev.GetSynced() == nil {
		t.Fatalf("event %v, want synced", ev)
	}
	saved := c.savePersona(&contextv1.Persona{AgentId: "dev", Body: "You write.\n"})
	if d := next().GetDocument(); d.GetPath() != ".ideai/agents/dev.md" || d.GetEtag() != saved.GetEtag() {
		t.Errorf("document %v", d)
	}
	c.saveSettings(&contextv1.Settings{Language: "fr"})
	if d := next().GetDocument(); d.GetPath() != ".ideai/project.yaml" || d.GetSection() != 0 {
		t.Errorf("document %v", d)
	}
	_, err = c.DeletePersona(t.Context(), &contextv1.DeletePersonaRequest{ProjectId: Project, AgentId: "dev"})
	must(t, err)
	if got := next().GetDeletedPath(); got != ".ideai/agents/dev.md" {
		t.Errorf("deleted %q", got)
	}
	cancel()
	_, err = stream.Recv()
	refused(t, err, fault.ReasonCanceled)

	stream, err = c.WatchDocuments(t.Context(), &contextv1.WatchDocumentsRequest{ProjectId: "a/b"})
	must(t, err)
	_, err = stream.Recv()
	refused(t, err, fault.InvalidField)
}
