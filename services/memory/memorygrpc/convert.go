package memorygrpc

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

func draft(r *memoryv1.SaveNoteRequest) memorysvc.Draft {
	n := r.GetNote()
	return memorysvc.Draft{
		ID: n.GetNoteId(), Description: n.GetDescription(), Type: n.GetType(), Body: n.GetBody(), Etag: n.GetEtag(),
		Source: r.Source,
	}
}

func whole(n *memorysvc.Note) *memoryv1.Note {
	out := bodiless(n)
	if out != nil {
		out.Body = n.Body
	}
	return out
}

func bodiless(n *memorysvc.Note) *memoryv1.Note {
	if n == nil {
		return nil
	}
	out := &memoryv1.Note{
		NoteId: n.ID, Description: n.Description, Type: n.Type, Etag: n.Etag, SizeBytes: int64(n.Size),
	}
	if !n.Updated.IsZero() {
		out.UpdateTime = timestamppb.New(n.Updated)
	}
	for _, p := range n.Problems {
		out.Problems = append(out.Problems, &memoryv1.NoteProblem{
			Kind: problemKinds[p.Kind], Line: int32(p.Line), Message: p.Message, Excluded: p.Excluded,
		})
	}
	return out
}

var problemKinds = map[memorysvc.ProblemKind]memoryv1.NoteProblemKind{
	memorysvc.ProblemFrontMatter:        memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_FRONT_MATTER,
	memorysvc.ProblemConflict:           memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_CONFLICT,
	memorysvc.ProblemBinary:             memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_BINARY,
	memorysvc.ProblemTooLarge:           memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_TOO_LARGE,
	memorysvc.ProblemHiddenText:         memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_HIDDEN_TEXT,
	memorysvc.ProblemNameMismatch:       memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_NAME_MISMATCH,
	memorysvc.ProblemDuplicateID:        memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_DUPLICATE_ID,
	memorysvc.ProblemDoubledFrontMatter: memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_DOUBLED_FRONT_MATTER,
	memorysvc.ProblemOutsideProject:     memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_OUTSIDE_PROJECT,
	memorysvc.ProblemUnreadable:         memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_UNREADABLE,
	memorysvc.ProblemNoDescription:      memoryv1.NoteProblemKind_NOTE_PROBLEM_KIND_NO_DESCRIPTION,
}

var forms = map[memorysvc.Form]typev1.NoteForm{
	memorysvc.Full:    typev1.NoteForm_NOTE_FORM_FULL,
	memorysvc.Excerpt: typev1.NoteForm_NOTE_FORM_EXCERPT,
	memorysvc.Pointer: typev1.NoteForm_NOTE_FORM_POINTER,
}

var reasonKinds = map[memorysvc.ReasonKind]memoryv1.RecallReasonKind{
	memorysvc.ReasonPinned:   memoryv1.RecallReasonKind_RECALL_REASON_KIND_PINNED,
	memorysvc.ReasonTerm:     memoryv1.RecallReasonKind_RECALL_REASON_KIND_TERM,
	memorysvc.ReasonGlossary: memoryv1.RecallReasonKind_RECALL_REASON_KIND_GLOSSARY,
	memorysvc.ReasonLink:     memoryv1.RecallReasonKind_RECALL_REASON_KIND_LINK,
	memorysvc.ReasonIndex:    memoryv1.RecallReasonKind_RECALL_REASON_KIND_INDEX,
	memorysvc.ReasonHint:     memoryv1.RecallReasonKind_RECALL_REASON_KIND_HINT,
}

func recalled(n memorysvc.Recalled) *memoryv1.RecalledNote {
	out := &memoryv1.RecalledNote{
		NoteId: n.ID, Description: n.Description, Form: forms[n.Form], Text: n.Text,
		Tokens: int32(n.Tokens), Score: n.Score,
	}
	for _, w := range n.Why {
		out.Why = append(out.Why, &memoryv1.RecallReason{
			Kind: reasonKinds[w.Kind], Term: w.Term, Matched: w.Matched, Field: w.Field,
		})
	}
	return out
}

func event(ev memorysvc.Event) *memoryv1.WatchNotesResponse {
	switch {
	case ev.Synced:
		return &memoryv1.WatchNotesResponse{Event: &memoryv1.WatchNotesResponse_Synced{Synced: &memoryv1.Synced{}}}
	case ev.Note != nil:
		return &memoryv1.WatchNotesResponse{Event: &memoryv1.WatchNotesResponse_Note{Note: bodiless(ev.Note)}}
	}
	return &memoryv1.WatchNotesResponse{Event: &memoryv1.WatchNotesResponse_DeletedNoteId{DeletedNoteId: ev.Deleted}}
}

// withDetail puts the message a client reads in place of the domain's.
func withDetail(err error) error {
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	stale, ok := f.Detail.(*memorysvc.Stale)
	if !ok {
		return err
	}
	return f.WithDetail(&memoryv1.StaleNote{CurrentEtag: stale.Current, BaseEtag: stale.Base})
}
