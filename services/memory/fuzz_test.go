package memorysvc_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/store"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// FuzzNote reads any file as a note. A usable one that is saved as it was read
// says the same and has no problem; saved again it keeps its bytes. One
// without problems keeps them at once.
func FuzzNote(f *testing.F) {
	for _, seed := range []string{
		good, "", "# Only a body\n", "---\nname: a\n---\n---\nname: a\ndescription: x : y\nk: {a: b}\n---\nBody",
		"---\r\nname: A\r\ndescription: >\r\n  folded\r\n  text\r\n---\r\n\r\nBody\r\n", "\uFEFF---\ndescription: a\n---\n",
		"---\nname: [\n---\n", "---\n---\n---\nname: a\n---\n", "---\nmetadata: {type: user, x: 1}\n---\nx", "---\ntype: a\n---\n---\nmetadata:\n  type: b\n  y: 2\ndescription: d\n---\nx",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n := memorysvc.Parse(store.Doc{Key: "memory/a.md", Data: src})
		if n.ID != "a" || !utf8.ValidString(n.Body+n.Description+n.Type) || len(n.Description) > memorysvc.MaxDescription || strings.ContainsAny(n.Description, "\r\n") {
			t.Fatalf("note = %+v", n)
		}
		if n.Excluded() || strings.TrimSpace(n.Description+n.Body) == "" || strings.Contains(n.Body, "\r") {
			return
		}
		d := memorysvc.Draft{ID: "a", Description: n.Description, Type: n.Type, Body: n.Body}
		saved, err := memorysvc.Compose(src, d)
		if err != nil {
			t.Skip(err) // front matter that cannot be edited line by line
		}
		if len(n.Problems) == 0 && !bytes.Equal(saved, src) {
			t.Fatalf("%q became %q", src, saved)
		}
		again := memorysvc.Parse(store.Doc{Key: "memory/a.md", Data: saved})
		if again.Description != n.Description || again.Type != n.Type || strings.TrimRight(again.Body, "\n") != strings.TrimRight(n.Body, "\n") {
			t.Fatalf("%q\nsays  %+v\nsaved %q\nsays  %+v", src, n, saved, again)
		}
		if len(again.Problems) > 0 {
			t.Fatalf("%q\nsaved %q\nhas %+v", src, saved, again.Problems)
		}
		if twice, err := memorysvc.Compose(saved, d); err != nil || !bytes.Equal(twice, saved) {
			t.Fatalf("%q\nthen %q, %v", saved, twice, err)
		}
	})
}
