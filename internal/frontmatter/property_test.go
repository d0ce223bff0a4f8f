package frontmatter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/frontmatter"
)

var pathGen = rapid.SampledFrom([][]string{{"name"}, {"metadata", "type"}, {"tags"}, {"new"}, {"x", "y", "z"}, {"metadata", "author", "name"}, {"long"}, {"key: odd #"}})

func TestSetThenRead(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "true", "~", "1.0", "a: b", "a #b", "- x", "'q'", "\"", "{a}", "[b]", "&a", "*a", "!t", "|", "> x", "a\n\nb ", "\u2028", "é, è", "---", "...", "=", "<<", "0x1f", "1_000", "2026-11-30", "null"}))
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ReplaceAll(note, "\n", rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"))
		d, err := frontmatter.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			path := pathGen.Draw(t, "path")
			body := d.Body()
			if rapid.Bool().Draw(t, "list") {
				list := rapid.SliceOfN(text, 0, 4).Draw(t, "list value")
				if err := d.Set(list, path...); err != nil {
					t.Fatalf("Set(%q, %q): %v\n%s", list, path, err, d.Bytes())
				}
				if got, ok := d.Strings(path...); !ok || !slices.Equal(got, list) && len(got)+len(list) > 0 {
					t.Fatalf("Strings = %q, %v; want %q\n%s", got, ok, list, d.Bytes())
				}
			} else {
				v := text.Draw(t, "value")
				if err := d.Set(v, path...); err != nil {
					t.Fatalf("Set(%q, %q): %v\n%s", v, path, err, d.Bytes())
				}
				if got, ok := d.String(path...); !ok || got != v {
					t.Fatalf("String = %q, %v; want %q\n%s", got, ok, v, d.Bytes())
				}
			}
			again, err := frontmatter.Parse(d.Bytes())
			if err != nil || again.Body() != body {
				t.Fatalf("the edited file: %v\n%s", err, d.Bytes())
			}
			if day, _ := again.String("day"); day != "2026-11-30" {
				t.Fatalf("another key changed:\n%s", d.Bytes())
			}
		}
	})
}

func TestSetBodyThenRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SampledFrom([]string{note, note + "\n", "", "x", "---\na: b\n---"}).Draw(t, "src")
		d, err := frontmatter.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		body := rapid.StringOf(rapid.SampledFrom([]rune("\n\r- #aé"))).Draw(t, "body")
		d.SetBody(body)
		again, err := frontmatter.Parse(d.Bytes())
		if err != nil {
			t.Fatalf("%v in %q", err, d.Bytes())
		}
		want := strings.TrimRight(strings.TrimLeft(strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n"), "\n"), "\n")
		if got := strings.TrimRight(again.Body(), "\n"); got != want {
			t.Fatalf("Body = %q, want %q", got, want)
		}
	})
}

// hostileMeta are texts that YAML libraries have stumbled over.
var hostileMeta = []string{
	"aliases: !000000 0", "name: !00", "name: !!int x", "name: !!set {}", "name: !<x> y", "name: &a [*a]", "name: *b",
	"!x", "? [name]\n: x", "? {name: x}\n: y", "<<: *x", "&a name: x", "name: !x &y", "metadata: !x\n  type: a", "name: >", "? ",
}

// A file that panics would take a whole service down.
func TestHostileFrontMatterDoesNotPanic(t *testing.T) {
	for _, meta := range hostileMeta {
		d, err := frontmatter.Parse([]byte("---\n" + meta + "\n---\ntext\n"))
		var e *frontmatter.Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 2 {
				t.Errorf("%q: %v names no line", meta, err)
			}
			continue
		}
		for _, key := range append(d.Keys(), "name", "metadata") {
			d.String(key)
			d.Strings(key)
			d.Int(key, "type")
			_ = d.Set("x", key, "type") // may be refused, must not panic
			_ = d.Remove(key)
		}
		if d.Body() != "text\n" {
			t.Errorf("%q: the body became %q", meta, d.Body())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(note), "v")
	f.Add([]byte("---\na: &x [1, 2]\nb: *x\n? c\n: d\n---\n"), "")
	f.Add([]byte("\uFEFF---\r\na: >-\r\n  b\r\n...\r\n"), "a: b")
	for _, hostile := range hostileMeta {
		f.Add([]byte("---\n"+hostile+"\n---\n"), "v")
	}
	f.Fuzz(func(t *testing.T, src []byte, value string) {
		d, err := frontmatter.Parse(src)
		if err != nil {
			var e *frontmatter.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(string(src), "\n") {
				t.Fatalf("error %v names no line of %q", err, src)
			}
			return
		}
		if string(d.Bytes()) != string(src) {
			t.Fatalf("Bytes = %q, want %q", d.Bytes(), src)
		}
		for _, key := range append(d.Keys(), "metadata") {
			for _, path := range [][]string{{key}, {key, "type"}} {
				d.String(path...)
				d.Strings(path...)
				d.Int(path...)
				if line := d.Line(path...); line > 1+strings.Count(string(src), "\n") {
					t.Fatalf("%q stands on line %d of %q", path, line, src)
				}
			}
		}
		body := d.Body()
		for _, path := range [][]string{{"name"}, {"metadata", "type"}} {
			before := string(d.Bytes())
			if err := d.Set(value, path...); err != nil {
				if string(d.Bytes()) != before {
					t.Fatalf("a failed Set changed %q to %q", before, d.Bytes())
				}
				continue
			}
			again, err := frontmatter.Parse(d.Bytes())
			if err != nil {
				t.Fatalf("%v after Set in %q", err, d.Bytes())
			}
			if got, ok := again.String(path...); !ok || got != value || again.Body() != body {
				t.Fatalf("Set(%q) in %q read back %q", value, before, got)
			}
			if err := again.Remove(path...); err == nil && again.Line(path...) > 0 {
				t.Fatalf("Remove left %q in %q", path, again.Bytes())
			}
		}
	})
}
