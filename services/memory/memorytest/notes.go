package memorytest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func saveGetListDelete(t *testing.T, c client) {
	saved := c.save(&memoryv1.Note{NoteId: "paint", Description: "Which paint we use", Type: "reference", Body: "RAL 5015.\n"})
	if saved.GetEtag() == "" || saved.GetSizeBytes() == 0 || len(saved.GetProblems()) > 0 {
		t.Errorf("saved = %v", saved)
	}
	got := c.get("paint")
	got.UpdateTime, saved.UpdateTime = nil, nil
	equal(t, got, saved)
	c.save(&memoryv1.Note{NoteId: "glue", Description: "Which glue we use", Body: "None.\n"})
	list := c.list(&memoryv1.ListNotesRequest{})
	if list.GetTotal() != 2 || len(list.GetNotes()) != 2 || list.GetNotes()[0].GetNoteId() != "glue" || list.GetNextPageToken() != "" {
		t.Errorf("list = %v", list)
	}
	for _, n := range list.GetNotes() {
		if n.GetBody() != "" || n.GetEtag() == "" || n.GetDescription() == "" {
			t.Errorf("listed %v, want it without its body", n)
		}
	}
	if list := c.list(&memoryv1.ListNotesRequest{OnlyProblems: true}); len(list.GetNotes()) > 0 {
		t.Errorf("with problems: %v", list)
	}
	c.delete("paint")
	if list := c.list(&memoryv1.ListNotesRequest{}); list.GetTotal() != 1 {
		t.Errorf("after the delete: %v", list)
	}
}

func saveKeepsEveryField(t *testing.T, c client) {
	for _, n := range []*memoryv1.Note{
		{NoteId: "règle-d'arrondi", Description: "Arrondi : au total, « demi-pair » #1", Type: "feedback", Body: "# Règle\n\n- a\n- b\n"},
		{NoteId: "日本", Description: "\"quoted\" and 'quoted', 100 % & more", Type: "own-word", Body: "emoji 👩‍👩‍👧‍👦 ❤️, tab\there\n"},
		{NoteId: "v1.2", Description: "yes", Type: "project", Body: "---\nA ruler, no front matter.\n"},
		{NoteId: "42", Description: "- a: b # c", Type: "user", Body: "no newline at the end\n"},
	} {
		saved := c.save(proto.CloneOf(n))
		got := c.get(n.GetNoteId())
		if got.GetEtag() != saved.GetEtag() {
			t.Errorf("etag %q, then %q", saved.GetEtag(), got.GetEtag())
		}
		equal(t, &memoryv1.Note{NoteId: got.GetNoteId(), Description: got.GetDescription(), Type: got.GetType(), Body: got.GetBody()}, n)
		if len(got.GetProblems()) > 0 {
			t.Errorf("problems of %s: %v", n.GetNoteId(), got.GetProblems())
		}
	}
}

func saveIsIdempotent(t *testing.T, c client) {
	n := &memoryv1.Note{NoteId: "a", Description: "d", Body: "one\n"}
	first := c.save(n)
	if again := c.save(n); again.GetEtag() != first.GetEtag() {
		t.Errorf("creating again: etag %q, want %q", again.GetEtag(), first.GetEtag())
	}
	n = &memoryv1.Note{NoteId: "a", Description: "d", Body: "two\n", Etag: first.GetEtag()}
	second := c.save(n)
	if again := c.save(n); again.GetEtag() != second.GetEtag() || again.GetBody() != "two\n" {
		t.Errorf("saving again: %v, want %v", again, second)
	}
}

func saveUnwrapsFrontMatter(t *testing.T, c client) {
	got := c.save(&memoryv1.Note{NoteId: "a", Description: "memory note a",
		Body: "---\nname: a\ndescription: What it is.\nmetadata:\n  type: user\n---\n\nText.\n"})
	if got.GetDescription() != "What it is." || got.GetType() != "user" || got.GetBody() != "Text.\n" || len(got.GetProblems()) > 0 {
		t.Errorf("saved = %v", got)
	}
}

func staleEtag(t *testing.T, c client) {
	first := c.save(&memoryv1.Note{NoteId: "a", Description: "d", Body: "one\n"})
	second := c.save(&memoryv1.Note{NoteId: "a", Description: "d", Body: "two\n", Etag: first.GetEtag()})
	third := &memoryv1.Note{NoteId: "a", Description: "d", Body: "three\n", Etag: first.GetEtag()}
	_, err := c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project, Note: third})
	f := faultOf(t, err, fault.StaleEtag)
	if f.Meta["current_etag"] != second.GetEtag() {
		t.Errorf("metadata = %v", f.Meta)
	}
	detail, _ := f.Detail.(*memoryv1.StaleNote)
	if detail.GetCurrentEtag() != second.GetEtag() || detail.GetBaseEtag() != first.GetEtag() {
		t.Errorf("detail = %v", detail)
	}
	for etag, body := range map[string]string{detail.GetCurrentEtag(): "two\n", detail.GetBaseEtag(): "one\n"} {
		if n := c.at("a", etag); n.GetBody() != body || n.GetEtag() != etag {
			t.Errorf("at %q: %v, want the body %q", etag, n, body)
		}
	}
	third.Etag = ""
	_, err = c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project, Note: third})
	if detail, _ := faultOf(t, err, fault.StaleEtag).Detail.(*memoryv1.StaleNote); detail.GetCurrentEtag() != second.GetEtag() || detail.GetBaseEtag() != "" {
		t.Errorf("detail without an etag = %v", detail)
	}
	_, err = c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: Project, NoteId: "a", Etag: "never-was"})
	refused(t, err, fault.NoteNotFound)
	_, err = c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: Project, NoteId: "b", Etag: first.GetEtag()})
	refused(t, err, fault.NoteNotFound)
	_, err = c.DeleteNote(t.Context(), &memoryv1.DeleteNoteRequest{ProjectId: Project, NoteId: "a", Etag: first.GetEtag()})
	f = faultOf(t, err, fault.StaleEtag)
	if detail, _ := f.Detail.(*memoryv1.StaleNote); detail.GetCurrentEtag() != second.GetEtag() {
		t.Errorf("detail of the delete = %v", f.Detail)
	}
	if got := c.get("a"); got.GetBody() != "two\n" {
		t.Errorf("body = %q", got.GetBody())
	}
}

// Two whole notes in the detail made an error that other languages' clients
// refuse to read.
func staleErrorIsSmall(t *testing.T, c client) {
	body := strings.Repeat("0123456789abcde\n", 23<<10)
	id := strings.Repeat("é", 60)
	first := c.save(&memoryv1.Note{NoteId: id, Description: "d", Body: body})
	c.save(&memoryv1.Note{NoteId: id, Description: "d", Body: "x" + body, Etag: first.GetEtag()})
	_, err := c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project,
		Note: &memoryv1.Note{NoteId: id, Description: "d", Body: "y" + body, Etag: first.GetEtag()}})
	_ = faultOf(t, err, fault.StaleEtag)
	if size := proto.Size(status.Convert(err).Proto()); size > 4<<10 {
		t.Errorf("the error has %d bytes", size)
	}
	if n := c.at(id, first.GetEtag()); len(n.GetBody()) != len(body) {
		t.Errorf("the base has %d bytes, want %d", len(n.GetBody()), len(body))
	}
}

func staleEtagOfADeletedNote(t *testing.T, c client) {
	first := c.save(&memoryv1.Note{NoteId: "a", Description: "d", Body: "one\n"})
	c.delete("a")
	_, err := c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project,
		Note: &memoryv1.Note{NoteId: "a", Description: "d", Body: "two\n", Etag: first.GetEtag()}})
	f := faultOf(t, err, fault.StaleEtag)
	detail, _ := f.Detail.(*memoryv1.StaleNote)
	if detail.GetCurrentEtag() != "" || detail.GetBaseEtag() != first.GetEtag() || c.at("a", first.GetEtag()).GetBody() != "one\n" {
		t.Errorf("detail = %v", detail)
	}
}

func notFound(t *testing.T, c client) {
	ctx := t.Context()
	_, err := c.GetNote(ctx, &memoryv1.GetNoteRequest{ProjectId: Project, NoteId: "nothing"})
	if f := faultOf(t, err, fault.NoteNotFound); f.Meta["note"] != "nothing" {
		t.Errorf("metadata = %v", f.Meta)
	}
	_, err = c.ReadNote(ctx, &memoryv1.ReadNoteRequest{ProjectId: Project, NoteId: "nothing"})
	refused(t, err, fault.NoteNotFound)
	_, err = c.DeleteNote(ctx, &memoryv1.DeleteNoteRequest{ProjectId: Project, NoteId: "nothing"})
	refused(t, err, fault.NoteNotFound)
	if _, err := c.DeleteNote(ctx, &memoryv1.DeleteNoteRequest{ProjectId: Project, NoteId: "nothing", AllowMissing: true}); err != nil {
		t.Errorf("allow_missing: %v", err)
	}
}

func saveRefuses(t *testing.T, c client) {
	for name, tc := range map[string]struct {
		note   *memoryv1.Note
		reason fault.Reason
	}{
		"hidden text in the body":        {&memoryv1.Note{NoteId: "a", Description: "d", Body: "a\u202Eb"}, fault.HiddenText},
		"hidden text in the description": {&memoryv1.Note{NoteId: "a", Description: "a\u200Bb", Body: "b"}, fault.HiddenText},
		"a file that is too large":       {&memoryv1.Note{NoteId: "a", Description: "d", Body: strings.Repeat("x", 384<<10)}, fault.TooLarge},
		"an id in upper case":            {&memoryv1.Note{NoteId: "Paint", Description: "d", Body: "x"}, fault.NameMismatch},
		"the file of another note":       {&memoryv1.Note{NoteId: "a", Description: "d", Body: "---\nname: b\n---\nx"}, fault.NameMismatch},
		"conflict markers":               {&memoryv1.Note{NoteId: "a", Description: "d", Body: "<<<<<<< HEAD\n"}, fault.InvalidField},
		"nothing":                        {&memoryv1.Note{NoteId: "a"}, fault.InvalidField},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project, Note: tc.note})
			refused(t, err, tc.reason)
		})
	}
	if list := c.list(&memoryv1.ListNotesRequest{}); list.GetTotal() != 0 {
		t.Errorf("something was written: %v", list)
	}
}

func pages(t *testing.T, c client) {
	for i := range 25 {
		c.save(&memoryv1.Note{NoteId: fmt.Sprintf("n%02d", i), Description: "d"})
	}
	var ids []string
	token := ""
	for {
		list := c.list(&memoryv1.ListNotesRequest{PageSize: 10, PageToken: token})
		for _, n := range list.GetNotes() {
			ids = append(ids, n.GetNoteId())
		}
		if len(list.GetNotes()) > 10 || list.GetTotal() < 23 {
			t.Fatalf("page = %v", list)
		}
		if token = list.GetNextPageToken(); token == "" {
			break
		}
		if len(ids) == 10 { // a page token outlives changes
			c.delete("n09")
			c.delete("n10")
			c.save(&memoryv1.Note{NoteId: "n10", Description: "again"})
		}
		if len(ids) > 25 {
			t.Fatal("pages without end")
		}
	}
	for i, id := range ids {
		if id != fmt.Sprintf("n%02d", i) {
			t.Fatalf("ids = %v", ids)
		}
	}
	if len(ids) != 25 {
		t.Errorf("%d ids, want each once", len(ids))
	}
	first := c.list(&memoryv1.ListNotesRequest{PageSize: 10})
	for name, r := range map[string]*memoryv1.ListNotesRequest{
		"another filter": {ProjectId: Project, PageToken: first.GetNextPageToken(), OnlyProblems: true},
		"nonsense":       {ProjectId: Project, PageToken: "abc"},
	} {
		_, err := c.ListNotes(t.Context(), r)
		t.Log(name)
		refused(t, err, fault.PageTokenInvalid)
	}
}

// manyWriters has eight writers add lines to one note, each retrying when it
// was late: no line is lost.
func manyWriters(t *testing.T, c client) {
	c.save(&memoryv1.Note{NoteId: "log", Description: "d", Body: "start\n"})
	const writers, lines = 8, 5
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for l := range lines {
				for {
					r, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: Project, NoteId: "log"})
					if err != nil {
						t.Error(err)
						return
					}
					n := r.GetNote()
					n.Body += fmt.Sprintf("w%d-%d\n", w, l)
					if _, err = c.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project, Note: n}); err == nil {
						break
					}
				}
			}
		})
	}
	work.Wait()
	if got := strings.Count(c.get("log").GetBody(), "\n"); got != writers*lines+1 {
		t.Errorf("%d lines, want %d", got, writers*lines+1)
	}
}
