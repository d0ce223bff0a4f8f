package safeyaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/idea-ide/ideai/internal/safeyaml"
)

type settings struct {
	Name    string            `yaml:"name"`
	Aliases []string          `yaml:"aliases"`
	Words   map[string]string `yaml:"words"`
	Count   int               `yaml:"count"`
	Any     any               `yaml:"any"`
}

func TestDecode(t *testing.T) {
	var s settings
	src := "# ours\nname: a # short\naliases: [b, c]\nwords:\n  d: e\ncount: 3\n---\nname: second\n"
	if err := safeyaml.Decode([]byte(src), &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "a" || len(s.Aliases) != 2 || s.Words["d"] != "e" || s.Count != 3 {
		t.Errorf("got %+v", s)
	}
	for _, empty := range []string{"", "\n", "# only a comment\n", "---\n"} {
		if err := safeyaml.Decode([]byte(empty), &settings{}); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

// Each of the tags made the library panic.
func TestHostileTextsAreErrorsWithALine(t *testing.T) {
	for _, c := range []struct {
		name, src string
		line      int
		want      string
	}{
		{"a tag before a number", "name: x\naliases: !000000 0\n", 2, "a tag"},
		{"an int that is none", "count: !!int x\n", 1, "a tag"},
		{"a set for a list", "\n\naliases: !!set {}\n", 3, "a tag"},
		{"a verbatim tag", "aliases: !<tag> b\n", 1, "a tag"},
		{"a tag alone", "!x\n", 1, "a tag"},
		{"a tag deep in what nobody reads", "other:\n  - a: {b: !!binary x}\n", 2, "a tag"},
		{"an alias that multiplies", "any: &a [x, x]\naliases: [*a, *a]\n", 1, "an anchor"},
		{"an alias of nothing", "name: x\nany: *a\n", 2, "an alias"},
		{"a merge key", "<<: {name: x}\n", 1, "a merge key"},
		{"no end", "name: x\nany: [\n", 2, ""},
		{"nested without end", "any: " + strings.Repeat("[", 5000), 1, "brackets"},
		{"a wrong type", "name: x\ncount: many\n", 2, ""},
		{"an unknown key", "name: x\nnom: y\n", 2, "nom"},
		{"a key twice", "name: x\nname: y\n", 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := safeyaml.Decode([]byte(c.src), &settings{}, yaml.DisallowUnknownField())
			var e *safeyaml.Error
			if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Msg, c.want) {
				t.Errorf("got %v, want line %d and %q", err, c.line, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"aliases: !000000 0", "name: !00", "count: !!int x", "any: &a [*a]", "words: {a: b}", "? [a]\n: b", "a: |\n  x", "<<: *x", "%YAML 1.2\n---\na: b", "\"", "- - a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			return
		}
		err := safeyaml.Decode(src, &settings{})
		var e *safeyaml.Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Msg == "") {
			t.Fatalf("%v names no place in %q", err, src)
		}
	})
}
