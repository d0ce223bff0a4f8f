package agenttools

import (
	"context"
	"strings"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/safetext"
)

// Bounds of idea_memory_read.
const (
	maxName  = 120 // characters
	maxParts = 1000
)

type readArgs struct {
	Name string `json:"name"`
	Part int32  `json:"part"`
}

var readTool = newTool("idea_memory_read", reads(),
	func(w *language) object {
		return arguments([]string{"name"}, object{
			"name": stringOf(w.argName, 1, maxName),
			"part": integerOf(w.argPart, 1, maxParts, 1),
		})
	},
	func(ctx context.Context, d *desk, in readArgs) (string, error) {
		ctx, cancel, ready := d.reach(ctx)
		defer cancel()
		r, err := d.memory.ReadNote(ctx, &memoryv1.ReadNoteRequest{
			ProjectId: d.options.Project, WorktreeId: d.options.Worktree,
			NoteId: noteName(in.Name), Part: in.Part,
		}, ready)
		if err != nil {
			return "", err
		}
		return d.words.read(r), nil
	})

// noteName takes a name as models write it: as a link, in backticks, with the
// ending of its file.
func noteName(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "`")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "[["), "]]")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "note:"), ".md")
	return strings.ToLower(strings.TrimSpace(s))
}

// read renders one part of a note.
func (w *language) read(r *memoryv1.ReadNoteResponse) string {
	body := strings.TrimRight(r.GetText(), "\n")
	if about := safetext.Line(r.GetDescription()); about != "" && r.GetPart() <= 1 {
		body = about + "\n\n" + body
	}
	block := safetext.Block("note:"+r.GetNoteId(), body)
	if r.GetParts() > 1 {
		return w.part(int(r.GetPart()), int(r.GetParts())) + "\n" + block
	}
	return block
}
