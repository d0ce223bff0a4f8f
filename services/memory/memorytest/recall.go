package memorytest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (c client) shop() {
	for _, n := range []*memoryv1.Note{
		{NoteId: "chains", Description: "When a worn chain is replaced", Type: "project", Body: "Measure the chain. Replace it at 0.75 % wear. See [[cassettes]].\n"},
		{NoteId: "cassettes", Description: "Which cassettes are in stock", Type: "reference", Body: "Third chain, new cassette.\n"},
		{NoteId: "politeness", Description: "Customers are addressed formally", Type: "feedback", Body: "Always.\n"},
		{NoteId: "longread", Description: "History of the chain tool", Type: "reference", Body: strings.Repeat("The chain tool was bought second-hand and repaired.\n\n", 300)},
	} {
		c.save(n)
	}
}

func recallNotes(t *testing.T, c client) {
	c.shop()
	answer := c.recall(&memoryv1.RecallNotesRequest{
		Query: "worn chain", PinnedNoteIds: []string{"politeness", "nothing"}, IndexBudgetTokens: 500, MaxNotes: 1,
	})
	notes := answer.GetNotes()
	if answer.GetTotalNotes() != 4 || len(notes) != 4 || len(answer.GetLeftOutNoteIds()) != 1 || answer.GetLeftOutNoteIds()[0] != "nothing" {
		t.Fatalf("answer = %v", answer)
	}
	pinned, found, rest := notes[0], notes[1], notes[2]
	if pinned.GetNoteId() != "politeness" || pinned.GetForm() != typev1.NoteForm_NOTE_FORM_FULL || pinned.GetText() != "Always.\n" ||
		pinned.GetScore() != 0 || pinned.GetWhy()[0].GetKind() != memoryv1.RecallReasonKind_RECALL_REASON_KIND_PINNED {
		t.Errorf("pinned = %v", pinned)
	}
	if found.GetNoteId() != "chains" || found.GetScore() <= 0 || found.GetScore() > 1 || found.GetTokens() == 0 ||
		found.GetWhy()[0].GetKind() != memoryv1.RecallReasonKind_RECALL_REASON_KIND_TERM || found.GetWhy()[0].GetTerm() == "" {
		t.Errorf("found = %v", found)
	}
	if rest.GetForm() != typev1.NoteForm_NOTE_FORM_POINTER || rest.GetText() != "" ||
		rest.GetWhy()[0].GetKind() != memoryv1.RecallReasonKind_RECALL_REASON_KIND_INDEX {
		t.Errorf("index = %v", rest)
	}
	c.save(&memoryv1.Note{NoteId: "deploy", Description: "Where deployments happen"})
	if got := c.recall(&memoryv1.RecallNotesRequest{Query: "déploiement"}); len(got.GetNotes()) != 1 || got.GetNotes()[0].GetNoteId() != "deploy" {
		t.Errorf("in French: %v", got)
	}
	c.delete("deploy")
	if got := c.recall(&memoryv1.RecallNotesRequest{Query: "submarine periscope"}); len(got.GetNotes()) > 0 {
		t.Errorf("nothing to find: %v", got)
	}
	if got := c.recall(&memoryv1.RecallNotesRequest{}); len(got.GetNotes()) > 0 || got.GetTotalNotes() != 4 {
		t.Errorf("nothing asked: %v", got)
	}
	saved := c.save(&memoryv1.Note{NoteId: "periscope", Description: "A submarine has a periscope"})
	if got := c.recall(&memoryv1.RecallNotesRequest{Query: "submarine periscope"}); len(got.GetNotes()) != 1 {
		t.Errorf("right after the save: %v", got)
	}
	c.save(&memoryv1.Note{NoteId: "periscope", Description: "A telescope", Etag: saved.GetEtag()})
	if got := c.recall(&memoryv1.RecallNotesRequest{Query: "submarine"}); len(got.GetNotes()) > 0 {
		t.Errorf("right after the change: %v", got)
	}
	c.delete("periscope")
	if got := c.recall(&memoryv1.RecallNotesRequest{Query: "telescope"}); len(got.GetNotes()) > 0 {
		t.Errorf("right after the delete: %v", got)
	}
}

func recallBudgets(t *testing.T, c client) {
	c.shop()
	for _, budget := range []int32{1, 20, 60, 200, 1000, 100000} {
		answer := c.recall(&memoryv1.RecallNotesRequest{Query: "chain tool history", PinnedNoteIds: []string{"longread"}, BudgetTokens: budget})
		var sum int32
		for _, n := range answer.GetNotes() {
			sum += n.GetTokens()
		}
		if sum > budget {
			t.Errorf("%d tokens in a budget of %d", sum, budget)
		}
		if budget == 1 && (len(answer.GetNotes()) > 0 || len(answer.GetLeftOutNoteIds()) == 0) {
			t.Errorf("without a budget: %v", answer)
		}
		if budget == 200 && answer.GetNotes()[0].GetForm() != typev1.NoteForm_NOTE_FORM_EXCERPT {
			t.Errorf("a long note in a small budget: %v", answer.GetNotes()[0].GetForm())
		}
	}
}

func readParts(t *testing.T, c client) {
	body := strings.Repeat("Zwölf Boxkämpfer jagen Viktor quer über den Deich.\n", 500)
	c.save(&memoryv1.Note{NoteId: "long", Description: "d", Body: body})
	var text strings.Builder
	for part := int32(1); ; part++ {
		r, err := c.ReadNote(t.Context(), &memoryv1.ReadNoteRequest{ProjectId: Project, NoteId: "long", Part: part})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.GetText()) > 8<<10 || !utf8.ValidString(r.GetText()) || r.GetPart() != part || r.GetNoteId() != "long" || r.GetDescription() != "d" {
			t.Fatalf("part %d: %d bytes", part, len(r.GetText()))
		}
		text.WriteString(r.GetText())
		if part == r.GetParts() {
			break
		}
	}
	if text.String() != body {
		t.Error("the parts are not the body")
	}
	_, err := c.ReadNote(t.Context(), &memoryv1.ReadNoteRequest{ProjectId: Project, NoteId: "long", Part: 99})
	if f := faultOf(t, err, fault.InvalidField); len(f.Fields) != 1 || f.Fields[0].Path != "part" {
		t.Errorf("fields = %v", f.Fields)
	}
	if r, err := c.ReadNote(t.Context(), &memoryv1.ReadNoteRequest{ProjectId: Project, NoteId: "long"}); err != nil || r.GetPart() != 1 {
		t.Errorf("without a part: %v, %v", r.GetPart(), err)
	}
}

// seen receives the next event and names it.
func seen(t *testing.T, s grpc.ServerStreamingClient[memoryv1.WatchNotesResponse]) string {
	t.Helper()
	ev, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	switch ev := ev.GetEvent().(type) {
	case *memoryv1.WatchNotesResponse_Note:
		if ev.Note.GetBody() != "" {
			t.Error("an event has a body")
		}
		return ev.Note.GetNoteId() + " " + ev.Note.GetDescription()
	case *memoryv1.WatchNotesResponse_DeletedNoteId:
		return "deleted " + ev.DeletedNoteId
	case *memoryv1.WatchNotesResponse_Synced:
		return "synced"
	}
	return "nothing"
}

func watchNotes(t *testing.T, c client) {
	c.save(&memoryv1.Note{NoteId: "b", Description: "two"})
	a := c.save(&memoryv1.Note{NoteId: "a", Description: "one"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.WatchNotes(ctx, &memoryv1.WatchNotesRequest{ProjectId: Project})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		if got := seen(t, stream); got != want {
			t.Fatalf("event %q, want %q", got, want)
		}
	}
	expect("a one")
	expect("b two")
	expect("synced")
	c.save(&memoryv1.Note{NoteId: "c", Description: "three"})
	expect("c three")
	c.save(&memoryv1.Note{NoteId: "a", Description: "uno", Etag: a.GetEtag()})
	expect("a uno")
	c.delete("b")
	expect("deleted b")
	cancel()
	_, err = stream.Recv()
	refused(t, err, fault.ReasonCanceled)
}

func watchEnds(t *testing.T, c client) {
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.WatchNotes(ctx, &memoryv1.WatchNotesRequest{ProjectId: Project})
	if err != nil {
		t.Fatal(err)
	}
	if got := seen(t, stream); got != "synced" {
		t.Errorf("event = %q", got)
	}
	cancel()
	for err = nil; err == nil; {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		t.Error("a cancelled watch ended as if it were complete")
	}
}

func cancelled(t *testing.T, c client) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.RecallNotes(ctx, &memoryv1.RecallNotesRequest{ProjectId: Project, Query: "x"})
	refused(t, err, fault.ReasonCanceled)
	_, err = c.SaveNote(ctx, &memoryv1.SaveNoteRequest{ProjectId: Project, Note: &memoryv1.Note{NoteId: "a", Description: "d"}})
	refused(t, err, fault.ReasonCanceled)
}
