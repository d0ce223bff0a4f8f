package memorysvc_test

import (
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// A version that the store kept beside a note is pointed out until someone has
// looked at it; it is never recalled and in nobody's way.
func TestAVersionKeptBesideANoteIsListedAsAProblem(t *testing.T) {
	const kept, again = "paint.md.conflict-0a1b2c3d", "paint.md.conflict-0a1b2c3d-k7xq2m4a5b"
	f := open(t, map[string]string{
		"paint.md": "---\nname: paint\ndescription: Which paint\n---\n\nBlue paint.\n",
		kept:       "---\nname: paint\ndescription: Which paint\n---\n\nRed paint.\n",
		again:      "Red paint.\n",
	})
	n := f.list()[kept]
	if n == nil || len(n.Problems) != 1 || n.Problems[0].Kind != memorysvc.ProblemConflict || !n.Excluded() ||
		!strings.Contains(n.Problems[0].Message, "paint.md,") || !strings.Contains(n.Problems[0].Message, "delete this file") {
		t.Fatalf("listed %+v", n)
	}
	if n := f.list()[again]; n == nil || !n.Excluded() {
		t.Errorf("listed %+v", n)
	}
	if got := f.get(kept); got.Source == nil || !strings.Contains(*got.Source, "Red paint") {
		t.Errorf("got %+v, want its text", got)
	}
	for _, hit := range f.recall("which paint is red") {
		if hit.ID != "paint" || strings.Contains(hit.Text, "Red") {
			t.Errorf("recalled %+v", hit)
		}
	}
	if p := f.get("paint").Problems; len(p) > 0 {
		t.Errorf("problems of the note itself: %+v", p)
	}
	if err := f.DeleteNote(t.Context(), here, kept, "", false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.GetNote(t.Context(), here, kept); fault.ReasonOf(err) != fault.NoteNotFound || f.list()["paint"] == nil {
		t.Errorf("after the delete: %v, %v", err, f.list())
	}
}
