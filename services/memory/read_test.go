package memorysvc_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/fault"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

func TestReadNoteInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.StringMatching(`[a-zé ]{0,80}`),
			rapid.Map(rapid.IntRange(8000, 20000), func(n int) string { return strings.Repeat("é", n/2) }))
		body := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
		var joined strings.Builder
		parts := memorysvc.Split(body)
		for i, part := range parts {
			if len(part) > memorysvc.PartBytes || !utf8.ValidString(part) {
				t.Fatalf("part %d has %d bytes, valid %v", i, len(part), utf8.ValidString(part))
			}
			if i < len(parts)-1 && !strings.HasSuffix(part, "\n") && strings.Contains(part, "\n") {
				t.Fatalf("part %d is cut inside a line that fits", i)
			}
			joined.WriteString(part)
		}
		if joined.String() != body || len(parts) == 0 {
			t.Fatal("the parts are not the body")
		}
	})
}

func TestReadNote(t *testing.T) {
	f := open(t, map[string]string{"a.md": file("a", "d", "project", strings.Repeat("twelve bytes\n", 1000)), "empty.md": file("empty", "d", "project", "")})
	part, err := f.ReadNote(t.Context(), here, "A", 0)
	if err != nil || part.ID != "a" || part.Part != 1 || part.Parts != 2 || len(part.Text) != 8190 {
		t.Errorf("part = %d of %d, %d bytes, %v", part.Part, part.Parts, len(part.Text), err)
	}
	if part, err = f.ReadNote(t.Context(), here, "a", 2); err != nil || len(part.Text) != 13000-8190 {
		t.Errorf("second part: %d bytes, %v", len(part.Text), err)
	}
	if part, err = f.ReadNote(t.Context(), here, "empty", 0); err != nil || part.Parts != 1 || part.Text != "" {
		t.Errorf("empty: %+v, %v", part, err)
	}
	for _, tc := range []struct {
		id     string
		part   int
		reason fault.Reason
	}{{"a", 3, fault.InvalidField}, {"b", 1, fault.NoteNotFound}, {"../a", 1, fault.InvalidField}} {
		if _, err := f.ReadNote(t.Context(), here, tc.id, tc.part); fault.ReasonOf(err) != tc.reason {
			t.Errorf("%s part %d: %v, want %s", tc.id, tc.part, err, tc.reason)
		}
	}
}

func TestListPages(t *testing.T) {
	files := map[string]string{"bad.md": "---\nname: [\n---\n"}
	for i := range 120 {
		files[fmt.Sprintf("n%03d.md", i)] = file(fmt.Sprintf("n%03d", i), "d", "project", "")
	}
	f := open(t, files)
	var got []string
	token := ""
	for {
		list, err := f.ListNotes(t.Context(), here, false, 0, token)
		if err != nil || list.Total != 121 || len(list.Notes) > 50 {
			t.Fatalf("%d of %d, %v", len(list.Notes), list.Total, err)
		}
		for _, n := range list.Notes {
			got = append(got, n.ID)
		}
		if token = list.Next; token == "" {
			break
		}
	}
	if len(got) != 121 || got[0] != "bad" || got[120] != "n119" {
		t.Errorf("%d notes, %v … %v", len(got), got[0], got[len(got)-1])
	}
	list, err := f.ListNotes(t.Context(), here, true, 0, "")
	if err != nil || list.Total != 1 || list.Notes[0].ID != "bad" {
		t.Errorf("with problems: %+v, %v", list, err)
	}
	first, _ := f.ListNotes(t.Context(), here, false, 10, "")
	if _, err := f.ListNotes(t.Context(), here, true, 10, first.Next); fault.ReasonOf(err) != fault.PageTokenInvalid {
		t.Errorf("token of another list: %v", err)
	}
}

func TestCanonicalID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := memorysvc.CanonicalID(rapid.String().Draw(t, "stem"))
		if again := memorysvc.CanonicalID(id); again != id {
			t.Fatalf("%q became %q", id, again)
		}
	})
}
