package provider

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var both = []Neutraliser{AtImports, HTMLComments}

func TestNeutralise(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing to do", "plain a@b.c text\n", "plain a@b.c text\n"},
		{"import at the start", "@docs/a.md\n", "\\@docs/a.md\n"},
		{"import in a line", "see @docs/a.md, @~/b and @/c\n", "see \\@docs/a.md, \\@~/b and \\@/c\n"},
		{"import in a list", "- @a.md\n", "- \\@a.md\n"},
		{"a lone at", "meet @ noon\n", "meet @ noon\n"},
		{"code span", "run `npx @scope/x` now\n", "run `npx @scope/x` now\n"},
		{"code span over lines", "run `npx\n @scope/x` @y\n", "run `npx\n @scope/x` \\@y\n"},
		{"double backticks", "``a ` @b`` @c\n", "``a ` @b`` \\@c\n"},
		{"an open backtick opens nothing", "a ` @b\n\nc ` d\n", "a ` \\@b\n\nc ` d\n"},
		{"an escaped backtick opens nothing", "\\` @b `x`\n", "\\` \\@b `x`\n"},
		{"fence", "```java\n@Override\n<!-- x -->\n```\n@a\n", "```java\n@Override\n<!-- x -->\n```\n\\@a\n"},
		{"tilde fence", "~~~\n@x\n```\n@y\n~~~\n@z\n", "~~~\n@x\n```\n@y\n~~~\n\\@z\n"},
		{"longer fence", "````\n```\n@x\n````\n@y", "````\n```\n@x\n````\n\\@y"},
		{"inline triple backticks are no fence", "```a @b``` @c\n@d\n", "```a @b``` \\@c\n\\@d\n"},
		{"comment", "<!-- keep -->\ntext <!-- stays -->\n", "\\<!-- keep -->\ntext <!-- stays -->\n"},
		{"comment over lines", "a\n\n<!-- one\ntwo -->\n", "a\n\n\\<!-- one\ntwo -->\n"},
		{"indented comment", "   <!-- x -->\n    <!-- code -->\n", "   \\<!-- x -->\n    <!-- code -->\n"},
		{"crlf", "@a\r\n<!-- x -->\r\n", "\\@a\r\n\\<!-- x -->\r\n"},
		{"no final newline", "@a", "\\@a"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Neutralise(c.in, both); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestNeutraliseOnlyWhatIsAsked(t *testing.T) {
	const in = "@a\n<!-- x -->\n"
	for _, c := range []struct {
		what []Neutraliser
		want string
	}{
		{nil, in},
		{[]Neutraliser{AtImports}, "\\@a\n<!-- x -->\n"},
		{[]Neutraliser{HTMLComments}, "@a\n\\<!-- x -->\n"},
	} {
		if got := Neutralise(in, c.what); got != c.want {
			t.Errorf("%v: %q", c.what, got)
		}
	}
}

func checkNeutralise(t interface {
	Helper()
	Fatalf(string, ...any)
}, in string,
) {
	t.Helper()
	once := Neutralise(in, both)
	if twice := Neutralise(once, both); twice != once {
		t.Fatalf("not settled:\n%q\n%q\n%q", in, once, twice)
	}
	// Only backslashes are added, before @ and <!--.
	i := 0
	for j := 0; j < len(once); j++ {
		if i < len(in) && in[i] == once[j] {
			i++
			continue
		}
		if once[j] != '\\' {
			t.Fatalf("changed at %d:\n%q\n%q", j, in, once)
		}
	}
	if i != len(in) {
		t.Fatalf("lost text:\n%q\n%q", in, once)
	}
}

func TestNeutraliseAddsOnlyBackslashes(t *testing.T) {
	bits := rapid.SampledFrom([]string{"@", "@a", " ", "\n", "\n\n", "`", "``", "```", "~~~", "<!--", "-->", "\\", "- ", "> ", "x", "é", "\r\n", "\t"})
	rapid.Check(t, func(t *rapid.T) {
		checkNeutralise(t, strings.Join(rapid.SliceOf(bits).Draw(t, "bits"), ""))
	})
}

func FuzzNeutralise(f *testing.F) {
	f.Add("a `b` @c\n```\n@d\n```\n<!-- e -->")
	f.Fuzz(func(t *testing.T, s string) { checkNeutralise(t, s) })
}
