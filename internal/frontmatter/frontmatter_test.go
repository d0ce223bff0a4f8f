package frontmatter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/frontmatter"
)

const note = `---
# kept by hand
name: payments-rounding # the id
description: 'Rounding: half up, always'
tags:
  - money   # first
  - "a: b"

metadata:
  type: project
  # who wrote it
  author: {name: Zoé, mail: "z@example.test"}
long: |
  line one
  # not a comment
ratio: 1.50
count: 12
draft: true
day: 2026-11-30
deep: {é: 1, in: {it: 2, or: [3]}} # c
empty:
---

# Rounding

---
name: inside the body
---
text`

func parse(t *testing.T, src string) *frontmatter.Doc {
	t.Helper()
	d, err := frontmatter.Parse([]byte(src))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return d
}

func TestRead(t *testing.T) {
	d := parse(t, note)
	for path, want := range map[string]string{
		"name": "payments-rounding", "description": "Rounding: half up, always", "metadata.type": "project",
		"metadata.author.name": "Zoé", "metadata.author.mail": "z@example.test", "long": "line one\n# not a comment\n",
		"ratio": "1.50", "count": "12", "draft": "true", "day": "2026-11-30", "empty": "",
	} {
		if got, ok := d.String(strings.Split(path, ".")...); !ok || got != want {
			t.Errorf("String(%s) = %q, %v; want %q", path, got, ok, want)
		}
	}
	for _, path := range []string{"tags", "metadata", "absent", "name.x", "metadata.absent"} {
		if got, ok := d.String(strings.Split(path, ".")...); ok {
			t.Errorf("String(%s) = %q, want none", path, got)
		}
	}
	if got, ok := d.Strings("tags"); !ok || !slices.Equal(got, []string{"money", "a: b"}) {
		t.Errorf("Strings(tags) = %q, %v", got, ok)
	}
	if got, ok := d.Strings("name"); !ok || !slices.Equal(got, []string{"payments-rounding"}) {
		t.Errorf("Strings of one scalar = %q, %v", got, ok)
	}
	if got, ok := d.Strings("empty"); !ok || len(got) != 0 {
		t.Errorf("Strings of null = %q, %v", got, ok)
	}
	if _, ok := d.Strings("metadata"); ok {
		t.Error("Strings of a mapping is a list")
	}
	if n, ok := d.Int("count"); !ok || n != 12 {
		t.Errorf("Int(count) = %d, %v", n, ok)
	}
	if _, ok := d.Int("name"); ok {
		t.Error("Int of a word is a number")
	}
	if got := d.Line("metadata", "type"); got != 10 {
		t.Errorf("Line(metadata.type) = %d, want 10", got)
	}
	if got := d.Keys(); !slices.Equal(got, []string{"name", "description", "tags", "metadata", "long", "ratio", "count", "draft", "day", "deep", "empty"}) {
		t.Errorf("Keys = %q", got)
	}
	if got := d.Body(); !strings.HasPrefix(got, "# Rounding\n\n---\nname: inside") || !strings.HasSuffix(got, "\ntext") {
		t.Errorf("Body = %q", got)
	}
	if got := string(d.Bytes()); got != note {
		t.Errorf("Bytes differ:\n%s", cmp.Diff(note, got))
	}
}

func TestErrorsNameTheFilesLine(t *testing.T) {
	for name, tc := range map[string]struct {
		src  string
		line int
	}{
		"never closed":   {"---\nname: x\n", 1},
		"only a fence":   {"---", 1},
		"broken flow":    {"---\nname: x\ntags: [a\nb: c\n---\n", 4},
		"tab":            {"---\nname: x\n\tb: c\n---\n", 3},
		"two colons":     {"---\n\nname: a: b\n---\n", 3},
		"key twice":      {"---\nname: a\nname: b\n---\n", 3},
		"a list":         {"---\n- a\n---\n", 2},
		"a word":         {"---\nhello\n---\n", 2},
		"marks":          {"---\nname: x\n<<<<<<< ours\na: b\n=======\na: c\n>>>>>>> theirs\n---\n", 3},
		"crlf":           {"---\r\nname: x\r\ntags: [a\r\nb: c\r\n---\r\n", 4},
		"lone returns":   {"---\n\r\r0\n---", 2},
		"with a mark":    {"\uFEFF---\nname: a: b\n---\n", 2},
		"deep nesting":   {"---\na: " + strings.Repeat("[", 20_000) + "\n---\n", 2},
		"beyond a limit": {"---\n" + strings.Repeat("# x\n", frontmatter.MaxMeta/4+1) + "---\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := frontmatter.Parse([]byte(tc.src))
			var e *frontmatter.Error
			if !errors.As(err, &e) || e.Line != tc.line {
				t.Errorf("Parse error = %v, want line %d", err, tc.line)
			}
		})
	}
	if _, err := frontmatter.ParseYAML([]byte("a: 1\n---\nb: 2\n")); err == nil || !strings.HasPrefix(err.Error(), "line 3") {
		t.Errorf("two documents: %v", err)
	}
}

func TestConflict(t *testing.T) {
	for src, want := range map[string]int{
		"x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n":                   2,
		"<<<<<<< HEAD\r\na\r\n||||||| base\r\n=======\r\n>>>>>>> topic\r\n": 1,
		"Title\n=======\n":                     0,
		"<<<<<<< HEAD\n=======\n":              0,
		"    <<<<<<< HEAD\n=======\n>>>>>>> x": 0,
	} {
		if got := frontmatter.Conflict([]byte(src)); got != want {
			t.Errorf("Conflict(%q) = %d, want %d", src, got, want)
		}
	}
}

func TestSetTouchesOneEntry(t *testing.T) {
	for name, tc := range map[string]struct {
		path     string
		value    any
		old, new string
	}{
		"scalar keeps its comment": {"name", "rounding", "name: payments-rounding # the id\n", "name: rounding # the id\n"},
		"equal changes nothing":    {"description", "Rounding: half up, always", "", ""},
		"quotes where needed":      {"description", "a: b # c", "'Rounding: half up, always'", `"a: b # c"`},
		"nested":                   {"metadata.type", "user", "  type: project\n", "  type: user\n"},
		"nested new":               {"metadata.since", 3, "\"z@example.test\"}\n", "\"z@example.test\"}\n  since: 3\n"},
		"flow":                     {"metadata.author.name", "A, B", "{name: Zoé, ", "{name: \"A, B\", "},
		"flow new":                 {"metadata.author.teams", []string{"x", "z"}, "test\"}", "test\", teams: [x, z]}"},
		"flow in a flow":           {"deep.in.it", "x", "deep: {é: 1, in: {it: 2, or: [3]}} # c", "deep: {é: 1, in: {it: x, or: [3]}} # c"},
		"list":                     {"tags", []string{"one", "2"}, "  - money   # first\n  - \"a: b\"\n", "  - one\n  - \"2\"\n"},
		"empty list":               {"tags", []string{}, "tags:\n  - money   # first\n  - \"a: b\"\n", "tags: []\n"},
		"block scalar":             {"long", "short", "long: |\n  line one\n  # not a comment\n", "long: short\n"},
		"null":                     {"empty", "full", "empty:\n", "empty: full\n"},
		"new at the end":           {"extra", "yes", "empty:\n", "empty:\nextra: \"yes\"\n"},
		"new below new":            {"a.b", true, "empty:\n", "empty:\na:\n  b: true\n"},
		"word that was a boolean":  {"draft", "true", "draft: true", "draft: \"true\""},
		"lines in a value":         {"name", "a\nb\t\"c\"\\", "payments-rounding", `"a\nb\t\"c\"\\"`},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(note, tc.old) != 1 && tc.old != "" {
				t.Fatalf("test: %q is in the note %d times", tc.old, strings.Count(note, tc.old))
			}
			for _, eol := range []string{"\n", "\r\n"} {
				withEOL := func(s string) string { return strings.ReplaceAll(s, "\n", eol) }
				d := parse(t, withEOL(note))
				if err := d.Set(tc.value, strings.Split(tc.path, ".")...); err != nil {
					t.Fatal(err)
				}
				want := withEOL(strings.Replace(note, tc.old, tc.new, 1))
				if got := string(d.Bytes()); got != want {
					t.Errorf("%q (-want +got):\n%s", eol, cmp.Diff(want, got))
				}
			}
		})
	}
}

func TestSetFailsAndChangesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		src  string
		path []string
		v    any
	}{
		"below a scalar":    {"---\na: b\n---\n", []string{"a", "c"}, "x"},
		"below a list":      {"---\na: [b]\n---\n", []string{"a", "c"}, "x"},
		"not UTF-8":         {"---\na: b\n---\n", []string{"a"}, "\xff"},
		"not a value":       {"---\na: b\n---\n", []string{"a"}, 1.5},
		"no path":           {"---\na: b\n---\n", nil, "x"},
		"flow of two lines": {"---\na: {b: c,\n  d: e}\n---\n", []string{"a", "b"}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tc.src)
			if err := d.Set(tc.v, tc.path...); err == nil {
				t.Errorf("Set succeeded: %s", d.Bytes())
			}
			if got := string(d.Bytes()); got != tc.src {
				t.Errorf("the file changed: %q", got)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for name, tc := range map[string]struct{ path, old string }{
		"scalar":     {"ratio", "ratio: 1.50\n"},
		"list":       {"tags", "tags:\n  - money   # first\n  - \"a: b\"\n"},
		"mapping":    {"metadata.author", "  author: {name: Zoé, mail: \"z@example.test\"}\n"},
		"in a flow":  {"metadata.author.mail", ", mail: \"z@example.test\""},
		"block text": {"long", "long: |\n  line one\n  # not a comment\n"},
		"absent":     {"nothing.here", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, note)
			if err := d.Remove(strings.Split(tc.path, ".")...); err != nil {
				t.Fatal(err)
			}
			if want, got := strings.Replace(note, tc.old, "", 1), string(d.Bytes()); got != want {
				t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
	d := parse(t, "---\na:\n  b: c\n---\nx")
	if err := d.Remove("a", "b"); err != nil || string(d.Bytes()) != "---\n---\nx" {
		t.Errorf("the last key: %q, %v", d.Bytes(), err)
	}
}

func TestFilesOfEveryShape(t *testing.T) {
	for name, tc := range map[string]struct {
		src, body string
		meta      bool
	}{
		"empty":               {"", "", false},
		"no front matter":     {"\n# Title\n", "# Title\n", false},
		"empty front matter":  {"---\n---\nx\n", "x\n", true},
		"comment only":        {"---\n# c\n---\nx", "x", true},
		"closed by dots":      {"---\na: b\n...\nx", "x", true},
		"ends at the fence":   {"---\na: b\n---", "", true},
		"spaces after fences": {"--- \na: b\n---\t\n\n\nx", "x", true},
		"four dashes":         {"----\na: b\n", "----\na: b\n", false},
		"later dashes":        {"x\n---\na: b\n---\n", "x\n---\na: b\n---\n", false},
		"mark":                {"\uFEFF---\na: b\n---\nx", "x", true},
		"crlf":                {"---\r\na: b\r\n---\r\n\r\nx\r\ny", "x\ny", true},
		"doubled":             {"---\na: b\n---\n---\nc: d\n---\nx", "---\nc: d\n---\nx", true},
		"alone a cr":          {"---\na: b\n---\nx\ry\r\n", "x\ry\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tc.src)
			if d.Body() != tc.body || d.HasMeta() != tc.meta {
				t.Errorf("Body = %q, HasMeta = %v; want %q, %v", d.Body(), d.HasMeta(), tc.body, tc.meta)
			}
			if got := string(d.Bytes()); got != tc.src {
				t.Errorf("Bytes = %q, want %q", got, tc.src)
			}
			if err := d.Set("v", "added"); err != nil {
				t.Fatal(err)
			}
			again := parse(t, string(d.Bytes()))
			if got, _ := again.String("added"); got != "v" || again.Body() != tc.body {
				t.Errorf("after Set: %q", d.Bytes())
			}
		})
	}
}

func TestSetBodyKeepsHabits(t *testing.T) {
	for name, tc := range map[string]struct{ src, body, want string }{
		"no final newline stays": {"---\na: b\n---\n\nx", "y\n", "---\na: b\n---\n\ny"},
		"final newline stays":    {"---\na: b\n---\nx\n", "y", "---\na: b\n---\ny\n"},
		"crlf stays":             {"---\r\na: b\r\n---\r\nx\r\n", "y\nz\n", "---\r\na: b\r\n---\r\ny\r\nz\r\n"},
		"after a bare fence":     {"---\na: b\n---", "y", "---\na: b\n---\ny\n"},
		"emptied":                {"---\na: b\n---\nx\n", "", "---\na: b\n---\n"},
		"a body like a head":     {"x\n", "---\na: b\n---\n", "---\n---\n---\na: b\n---\n"},
		"mixed endings":          {"x\r\ny\n", "x\ny\n", "x\r\ny\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tc.src)
			d.SetBody(tc.body)
			if got := string(d.Bytes()); got != tc.want {
				t.Errorf("Bytes = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNew(t *testing.T) {
	d := frontmatter.New()
	if d.HasMeta() || len(d.Bytes()) != 0 {
		t.Errorf("New has %q", d.Bytes())
	}
	for _, kv := range []struct {
		v    any
		path []string
	}{{"x", []string{"name"}}, {"project", []string{"metadata", "type"}}, {[]string{"a", "b"}, []string{"tags"}}} {
		if err := d.Set(kv.v, kv.path...); err != nil {
			t.Fatal(err)
		}
	}
	d.SetBody("# T\n")
	if got, want := string(d.Bytes()), "---\nname: x\nmetadata:\n  type: project\ntags:\n  - a\n  - b\n---\n\n# T\n"; got != want {
		t.Errorf("Bytes = %q, want %q", got, want)
	}
}

func TestYAMLFile(t *testing.T) {
	src := "# settings\nid: atelier\nbudgets: # tokens\n  memory: 10\nother: [1, 2]"
	d, err := frontmatter.ParseYAML([]byte(src))
	if err != nil || string(d.Bytes()) != src || d.Line("budgets", "memory") != 4 {
		t.Fatalf("ParseYAML: %v, %q", err, d.Bytes())
	}
	for _, set := range []struct {
		v    any
		path []string
	}{{20, []string{"budgets", "memory"}}, {30, []string{"budgets", "state"}}, {"fr", []string{"language"}}} {
		if err := d.Set(set.v, set.path...); err != nil {
			t.Fatal(err)
		}
	}
	want := "# settings\nid: atelier\nbudgets: # tokens\n  memory: 20\n  state: 30\nother: [1, 2]\nlanguage: fr"
	if got := string(d.Bytes()); got != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
}
