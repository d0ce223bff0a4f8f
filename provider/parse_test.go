package provider

import (
	"os"
	"strings"
	"testing"
)

// small is the least profile that loads.
const small = `id: x
name: X
binary: x
install: get x
tool_name: "{tool}"
version: {args: [--version], pattern: '(\d+)'}
verified_version: "1"
carriers:
  - name: file
    strategy: convention_file
    workspace: project
    kinds: [fresh]
    template:
      files: [{path: "{side}/X.md", text: "{context}"}]
`

func TestTheLeastProfileLoads(t *testing.T) {
	p, err := Parse("x.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if p.Carriers[0].VerifiedVersion != "1" {
		t.Errorf("version %q is not the profile's", p.Carriers[0].VerifiedVersion)
	}
}

func TestBrokenProfilesAreRefused(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "binary: x", "binray: x", "x.yaml: [3:1] unknown field \"binray\""},
		{"unknown nested key", "    workspace: project", "    workspaces: project", "[11:5] unknown field \"workspaces\""},
		{"unknown key in a file", "text: \"{context}\"", "txt: \"{context}\"", "unknown field \"txt\""},
		{"no yaml", "id: x", "id: [", "x.yaml: ["},
		{"wrong type", "kinds: [fresh]", "kinds: fresh", "[12:12]"},
		{"no id", "id: x", "id: ''", "id is missing"},
		{"bad pattern", `(\d+)`, `(`, "version.pattern"},
		{"pattern without group", `(\d+)`, `\d+`, "needs a group"},
		{"unknown strategy", "convention_file", "telepathy", `strategy "telepathy"`},
		{"unknown workspace", "workspace: project", "workspace: moon", `workspace "moon"`},
		{"unknown kind", "[fresh]", "[stale]", `kind "stale"`},
		{"no kinds", "[fresh]", "[]", "kinds is empty"},
		{"unknown placeholder", "{context}", "{contxt}", "unknown placeholder {contxt}"},
		{"single brace", "text: \"{context}\"", "text: \"{context} }\"", "a single brace"},
		{"no context", "{context}", "hello", "has no {context}"},
		{"a file elsewhere", "{side}/X.md", "{project}/X.md", "the path of a file is {side}/"},
		{"a file upwards", "{side}/X.md", "{side}/../X.md", "the path of a file is {side}/"},
		{"a token in an argument", "template:", "template:\n      args: [\"--token={token}\"]", "{token} must not stand in an argument"},
		{"a token in toml", "template:", "template:\n      args: [{toml: a, value: {b: [\"{token}\"]}}]", "{token} must not stand in an argument"},
		{"an argument of two forms", "template:", "template:\n      args: [{toml: a, json: {}}]", "an argument is a text"},
		{"an unknown form", "template:", "template:\n      args: [{xml: a}]", "unknown field \"xml\""},
		{"a null in a value", "template:", "template:\n      args: [{json: {a: null}}]", "has no place in a template"},
		{"context in the hand-over", "carriers:", "mcp: {args: [\"{context}\"]}\ncarriers:", "{context} belongs to carriers only"},
		{"unknown neutraliser", "kinds: [fresh]", "kinds: [fresh]\n    neutralise: [emoji]", `neutralise "emoji"`},
		{"a conflict without a reason", "carriers:", "conflicts: [{flags: [-x]}]\ncarriers:", "a conflict needs why"},
		{"a conflict with an unknown carrier", "carriers:", "conflicts: [{flags: [-x], why: y, carriers: [z]}]\ncarriers:", `there is no carrier "z"`},
		{"a tag that does not fit", "kinds: [fresh]", "kinds: !000000 0", "x.yaml: [12:12] a tag"},
		{"an alias", "kinds: [fresh]", "kinds: *k", "x.yaml: [12:12] an alias"},
		{"a list without an item", "template:", "template:\n      env: {A: {separator: \",\"}}", "a variable is a text"},
		{"a separator of two characters", "template:", "template:\n      env: {A: {item: x, separator: \", \"}}", "a variable is a text"},
		{"a list in the hand-over", "carriers:", "mcp: {env: {A: {item: x, separator: \",\"}}}\ncarriers:", "belongs to carriers only"},
		{"unknown dialog", "carriers:", "dialogs: [{kind: chat}]\ncarriers:", `dialog "chat"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(small, c.old, c.new, 1)
			if src == small {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse("x.yaml", []byte(src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %q in it", err, c.want)
			}
		})
	}
	if _, err := Parse("x.yaml", nil); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"} {
		src, err := os.ReadFile("profiles/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("x.yaml", src)
		if err != nil {
			return
		}
		// Whatever loads can be rendered, and keeps its files in place.
		for i := range p.Carriers {
			piece, err := p.Inject(&p.Carriers[i], p.Carriers[i].Kinds[0], Values{Side: "/side", Context: "c"}, 0)
			for _, file := range piece.Files {
				if err == nil && !strings.HasPrefix(file.Path, "/side/") {
					t.Errorf("a file outside: %q", file.Path)
				}
			}
		}
		p.HandOver(Values{})
	})
}
