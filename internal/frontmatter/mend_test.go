package frontmatter_test

import (
	"errors"
	"testing"

	"github.com/idea-ide/ideai/internal/frontmatter"
)

func TestMend(t *testing.T) {
	for _, c := range []struct {
		name, src   string
		line        int
		description string
		bytes       string // "" = those of src
	}{
		{"fine", "---\ndescription: a\n---\nx: y: z\n", 0, "a", ""},
		{"no front matter", "a : b : c\n", 0, "", ""},
		{"a French colon", "---\nname: n\ndescription: Choix : SQLite\n---\nText.\n", 3, "Choix : SQLite",
			"---\nname: n\ndescription: 'Choix : SQLite'\n---\nText.\n"},
		{"an apostrophe too", "---\ndescription: L'usage : d'abord lire\n---\n", 2, "L'usage : d'abord lire",
			"---\ndescription: 'L''usage : d''abord lire'\n---\n"},
		{"a colon at the end", "---\ndescription: In short:\n---\n", 2, "In short:", "---\ndescription: 'In short:'\n---\n"},
		{"a sign YAML keeps for itself", "---\ndescription: @home\nx: `y`\n---\n", 2, "@home", "---\ndescription: '@home'\nx: '`y`'\n---\n"},
		{"CRLF and a byte order mark", "\uFEFF---\r\ndescription: a : b\r\n---\r\n", 2, "a : b", "\uFEFF---\r\ndescription: 'a : b'\r\n---\r\n"},
		{"what is quoted stays", "---\nx: \"a: b\"\ndescription: c : d\n---\n", 3, "c : d", "---\nx: \"a: b\"\ndescription: 'c : d'\n---\n"},
		{"nested", "---\nmetadata:\n  why: a : b\ndescription: d\n---\n", 3, "d", "---\nmetadata:\n  why: 'a : b'\ndescription: d\n---\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, line, err := frontmatter.Mend([]byte(c.src))
			if err != nil || line != c.line {
				t.Fatalf("line %d, %v; want line %d", line, err, c.line)
			}
			if got, _ := doc.String("description"); got != c.description {
				t.Errorf("description %q, want %q", got, c.description)
			}
			if c.bytes == "" {
				c.bytes = c.src
			}
			if got := string(doc.Bytes()); got != c.bytes {
				t.Errorf("bytes %q, want %q", got, c.bytes)
			}
		})
	}
}

func TestMendReportsWhatItCannotMend(t *testing.T) {
	for src, line := range map[string]int{
		"---\na: b : c\nd: [\n---\n":                                2,
		"---\na: b : c\n":                                           1,
		"---\n- a: b : c\n---\n":                                    2,
		"---\na: b : c\na: d\n---\n":                                2,
		"---\n<<<<<<< x\na: b : c\n=======\na: d\n>>>>>>> y\n---\n": 2,
	} {
		doc, mended, err := frontmatter.Mend([]byte(src))
		var e *frontmatter.Error
		if !errors.As(err, &e) || e.Line != line || mended != 0 || doc != nil {
			t.Errorf("%q: line %d, %v; want an error on line %d", src, mended, err, line)
		}
	}
}
