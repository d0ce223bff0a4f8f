package memorytest

import (
	"context"
	"slices"
	"strings"
	"testing"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// invalidFields sends one bad value for each rule of each request.
func invalidFields(t *testing.T, c client) {
	ctx := t.Context()
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, calls := range map[string]map[string]func() error{
		"SaveNote": {
			"project_id": func() error { return c.try(&memoryv1.SaveNoteRequest{ProjectId: "No Id", Note: ok()}) },
			"worktree_id": func() error {
				return c.try(&memoryv1.SaveNoteRequest{ProjectId: Project, WorktreeId: "../x", Note: ok()})
			},
			"note":             func() error { return c.try(&memoryv1.SaveNoteRequest{ProjectId: Project}) },
			"note.description": func() error { return c.try(with(func(n *memoryv1.Note) { n.Description = long(1025) })) },
			"note.type":        func() error { return c.try(with(func(n *memoryv1.Note) { n.Type = long(65) })) },
			"note.body":        func() error { return c.try(with(func(n *memoryv1.Note) { n.Body = long(393217) })) },
			"note.etag":        func() error { return c.try(with(func(n *memoryv1.Note) { n.Etag = long(129) })) },
		},
		"GetNote": {
			"project_id": func() error { return second(c.GetNote(ctx, &memoryv1.GetNoteRequest{NoteId: "a"})) },
			"note_id":    func() error { return second(c.GetNote(ctx, &memoryv1.GetNoteRequest{ProjectId: Project})) },
		},
		"ListNotes": {
			"project_id": func() error { return second(c.ListNotes(ctx, &memoryv1.ListNotesRequest{ProjectId: "A"})) },
			"page_size": func() error {
				return second(c.ListNotes(ctx, &memoryv1.ListNotesRequest{ProjectId: Project, PageSize: -1}))
			},
			"page_token": func() error {
				return second(c.ListNotes(ctx, &memoryv1.ListNotesRequest{ProjectId: Project, PageToken: long(1025)}))
			},
		},
		"DeleteNote": {
			"project_id": func() error { return second(c.DeleteNote(ctx, &memoryv1.DeleteNoteRequest{NoteId: "a"})) },
			"note_id":    func() error { return second(c.DeleteNote(ctx, &memoryv1.DeleteNoteRequest{ProjectId: Project})) },
			"etag": func() error {
				return second(c.DeleteNote(ctx, &memoryv1.DeleteNoteRequest{ProjectId: Project, NoteId: "a", Etag: long(129)}))
			},
		},
		"WatchNotes": {
			"project_id": func() error {
				s, err := c.WatchNotes(ctx, &memoryv1.WatchNotesRequest{})
				if err == nil {
					_, err = s.Recv()
				}
				return err
			},
		},
		"RecallNotes": {
			"project_id": func() error { return c.ask(&memoryv1.RecallNotesRequest{ProjectId: "a/b"}) },
			"query":      func() error { return c.ask(&memoryv1.RecallNotesRequest{Query: long(16385)}) },
			"hints":      func() error { return c.ask(&memoryv1.RecallNotesRequest{Hints: slices.Repeat([]string{"x"}, 65)}) },
			"hints[0]":   func() error { return c.ask(&memoryv1.RecallNotesRequest{Hints: []string{""}}) },
			"pinned_note_ids": func() error {
				return c.ask(&memoryv1.RecallNotesRequest{PinnedNoteIds: slices.Repeat([]string{"x"}, 33)})
			},
			"pinned_note_ids[0]":  func() error { return c.ask(&memoryv1.RecallNotesRequest{PinnedNoteIds: []string{"../x"}}) },
			"max_notes":           func() error { return c.ask(&memoryv1.RecallNotesRequest{MaxNotes: 33}) },
			"budget_tokens":       func() error { return c.ask(&memoryv1.RecallNotesRequest{BudgetTokens: 100001}) },
			"index_budget_tokens": func() error { return c.ask(&memoryv1.RecallNotesRequest{IndexBudgetTokens: -1}) },
		},
		"ReadNote": {
			"note_id": func() error { return second(c.ReadNote(ctx, &memoryv1.ReadNoteRequest{ProjectId: Project})) },
			"part": func() error {
				return second(c.ReadNote(ctx, &memoryv1.ReadNoteRequest{ProjectId: Project, NoteId: "a", Part: 1001}))
			},
		},
	} {
		for field, call := range calls {
			t.Run(name+"/"+field, func(t *testing.T) {
				f := faultOf(t, call(), fault.InvalidField)
				if len(f.Fields) != 1 || f.Fields[0].Path != field || f.Fields[0].Message == "" {
					t.Errorf("fields = %v, want %s", f.Fields, field)
				}
			})
		}
	}
	for name, id := range map[string]string{
		"empty": "", "parent": "../secret", "absolute": "/etc/passwd", "inside": "a/b", "backslash": `a\b`, "hidden": ".env",
		"control": "a\nb", "bidi": "a\u202Eb", "long": long(121),
	} {
		t.Run("note_id/"+name, func(t *testing.T) {
			f := faultOf(t, c.try(with(func(n *memoryv1.Note) { n.NoteId = id })), fault.InvalidField)
			if len(f.Fields) != 1 || f.Fields[0].Path != "note.note_id" {
				t.Errorf("fields = %v", f.Fields)
			}
		})
	}
}

func ok() *memoryv1.Note { return &memoryv1.Note{NoteId: "a", Description: "d", Body: "b"} }

func with(change func(*memoryv1.Note)) *memoryv1.SaveNoteRequest {
	n := ok()
	change(n)
	return &memoryv1.SaveNoteRequest{ProjectId: Project, Note: n}
}

func (c client) try(r *memoryv1.SaveNoteRequest) error {
	return second(c.SaveNote(c.t.Context(), r))
}

func (c client) ask(r *memoryv1.RecallNotesRequest) error {
	if r.GetProjectId() == "" {
		r.ProjectId = Project
	}
	return second(c.RecallNotes(context.WithoutCancel(c.t.Context()), r))
}

func second[T any](_ T, err error) error { return err }
