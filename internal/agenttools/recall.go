package agenttools

import (
	"context"
	"fmt"
	"strings"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/safetext"
)

// Bounds of idea_memory_recall.
const (
	maxQuery     = 500 // characters
	maxNotes     = 8
	defaultNotes = 5
	recallTokens = 2000
	// maxRecallBytes bounds a result whatever the server sends: beyond it notes
	// are only named. Some CLIs cut long results in the middle.
	maxRecallBytes = 24 << 10
	maxReasons     = 4
	maxReasonWord  = 60 // characters
)

type recallArgs struct {
	Query string `json:"query"`
	Limit int32  `json:"limit"`
}

var recallTool = newTool("idea_memory_recall", reads(),
	func(w *language) object {
		return arguments([]string{"query"}, object{
			"query": stringOf(w.argQuery, 1, maxQuery),
			"limit": integerOf(w.argLimit, 1, maxNotes, defaultNotes),
		})
	},
	func(ctx context.Context, d *desk, in recallArgs) (string, error) {
		ctx, cancel, ready := d.reach(ctx)
		defer cancel()
		r, err := d.memory.RecallNotes(ctx, &memoryv1.RecallNotesRequest{
			ProjectId: d.options.Project, WorktreeId: d.options.Worktree,
			Query: in.Query, MaxNotes: in.Limit, BudgetTokens: recallTokens,
		}, ready)
		if err != nil {
			return "", err
		}
		return d.words.recalled(r), nil
	})

// recalled renders an answer: the notes with a text first, then the named ones.
func (w *language) recalled(r *memoryv1.RecallNotesResponse) string {
	if len(r.GetNotes()) == 0 {
		return w.noNote
	}
	var out strings.Builder
	out.WriteString(w.found(len(r.GetNotes()), int(r.GetTotalNotes())))
	var named []string
	for _, n := range r.GetNotes() {
		text := w.recalledNote(n)
		if n.GetForm() == typev1.NoteForm_NOTE_FORM_POINTER || n.GetText() == "" || out.Len()+len(text) > maxRecallBytes {
			named = append(named, w.namedNote(n))
			continue
		}
		out.WriteString("\n\n" + text)
	}
	for _, id := range r.GetLeftOutNoteIds() {
		named = append(named, "- `"+safetext.Line(id)+"`")
	}
	if len(named) > 0 {
		out.WriteString("\n\n" + w.byName + "\n" + safetext.Block("notes", strings.Join(named, "\n")))
	}
	return out.String()
}

// recalledNote is a note: why it was chosen, then what it says. All of it
// stands in the data block, for names and matched words are the notes' too.
func (w *language) recalledNote(n *memoryv1.RecalledNote) string {
	var head []string
	if n.GetForm() == typev1.NoteForm_NOTE_FORM_EXCERPT {
		head = append(head, w.excerpt)
	}
	if why := w.why(n.GetWhy()); why != "" {
		head = append(head, why)
	}
	body := strings.TrimSpace(n.GetText())
	if about := safetext.Line(n.GetDescription()); about != "" {
		body = about + "\n\n" + body
	}
	if len(head) > 0 {
		body = "(" + strings.Join(head, "; ") + ")\n" + body
	}
	return safetext.Block("note:"+n.GetNoteId(), body)
}

func (w *language) namedNote(n *memoryv1.RecalledNote) string {
	line := "- `" + safetext.Line(n.GetNoteId()) + "`"
	if about := safetext.Line(n.GetDescription()); about != "" {
		line += ": " + about
	}
	return line
}

// why tells in one line what brought a note here.
func (w *language) why(reasons []*memoryv1.RecallReason) string {
	var parts []string
	for _, r := range reasons {
		if len(parts) == maxReasons {
			break
		}
		if part := w.reason(r); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

func (w *language) reason(r *memoryv1.RecallReason) string {
	term, matched := word(r.GetTerm()), word(r.GetMatched())
	field := w.fields[r.GetField()]
	switch r.GetKind() {
	case memoryv1.RecallReasonKind_RECALL_REASON_KIND_TERM, memoryv1.RecallReasonKind_RECALL_REASON_KIND_HINT:
		if matched == "" {
			matched = term
		}
		return strings.TrimSpace(fmt.Sprintf("“%s” %s", matched, field))
	case memoryv1.RecallReasonKind_RECALL_REASON_KIND_GLOSSARY:
		return strings.TrimSpace(fmt.Sprintf("“%s” = “%s” %s", term, matched, field))
	case memoryv1.RecallReasonKind_RECALL_REASON_KIND_LINK:
		return fmt.Sprintf(w.linked, term)
	case memoryv1.RecallReasonKind_RECALL_REASON_KIND_PINNED:
		return w.pinned
	}
	return ""
}

// word makes a word of a note or a query fit for a line.
func word(s string) string {
	runes := []rune(safetext.Line(s))
	if len(runes) > maxReasonWord {
		return string(runes[:maxReasonWord]) + "…"
	}
	return string(runes)
}
