package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Template is what a door or a hand-over needs, with placeholders such as
// {side} in its texts; {{ and }} stand for braces.
type Template struct {
	Files    []FileTemplate         `yaml:"files"`
	Args     []ArgTemplate          `yaml:"args"`
	Env      map[string]EnvTemplate `yaml:"env"`
	EnvUnset []string               `yaml:"env_unset"`
	Stdin    text                   `yaml:"stdin"`
}

// FileTemplate is a file to write inside the side directory, as text or JSON.
type FileTemplate struct {
	Path text `yaml:"path"`
	Text text `yaml:"text"`
	JSON tree `yaml:"json"`
}

// ArgTemplate is one element of an argv: a text, a JSON document, or a TOML
// assignment key=value whose value is written in line.
type ArgTemplate struct {
	Text  text
	JSON  tree
	TOML  string // the key
	Value tree
}

// UnmarshalYAML reads a string, {json: …} or {toml: key, value: …}.
func (a *ArgTemplate) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if unmarshal(&s) == nil {
		return a.Text.set(s)
	}
	var m struct {
		JSON  tree   `yaml:"json"`
		TOML  string `yaml:"toml"`
		Value tree   `yaml:"value"`
	}
	if err := unmarshal(&m); err != nil {
		return err
	}
	if m.JSON.set == (m.TOML != "") || m.Value.set != (m.TOML != "") {
		return errors.New("an argument is a text, {json: …} or {toml: key, value: …}")
	}
	a.JSON, a.TOML, a.Value = m.JSON, m.TOML, m.Value
	return nil
}

// EnvTemplate is the value of a variable: a text, a JSON document, or one item
// of a list that may hold the person's own items too.
type EnvTemplate struct {
	Text      text
	JSON      tree
	Separator string // of a list
}

// UnmarshalYAML reads a string, {json: …} or {item: text, separator: character}.
func (e *EnvTemplate) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if unmarshal(&s) == nil {
		return e.Text.set(s)
	}
	var m struct {
		JSON      tree   `yaml:"json"`
		Item      text   `yaml:"item"`
		Separator string `yaml:"separator"`
	}
	if err := unmarshal(&m); err != nil {
		return err
	}
	if m.JSON.set == (len(m.Separator) == 1) || m.Item.empty() != m.JSON.set {
		return errors.New("a variable is a text, {json: …} or {item: text, separator: character}")
	}
	e.JSON, e.Text, e.Separator = m.JSON, m.Item, m.Separator
	return nil
}

// Values fill a template. They are put in as they are, in one pass: a value
// that looks like a placeholder stays what it is.
type Values struct {
	Side     string   // absolute path of the launch's own directory
	Project  string   // absolute path of the project, as the host sees it
	Context  string   // the effective context
	Ideai    string   // absolute path of ideai
	Address  string   // of the gateway, as the host reaches it
	Token    string   // the agent's token
	Language string   // of texts: en or fr
	Tools    []string // bare names of our MCP tools

	// Of a proof only.
	Home, Endpoint, Prompt, Session string
}

// names of the placeholders.
const (
	nameContext = "context"
	nameToken   = "token"
)

var placeholders = []string{"side", "project", nameContext, "ideai", "address", nameToken, "language", "tools",
	"home", "endpoint", "prompt", "session"}

// text is a template of one string.
type text struct{ parts []part }

type part struct {
	literal string
	name    string // of a placeholder, "" for a literal
}

// UnmarshalYAML reads a string.
func (t *text) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	return t.set(s)
}

func (t *text) set(s string) error {
	var literal strings.Builder
	for len(s) > 0 {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			literal.WriteString(s)
			break
		}
		literal.WriteString(s[:i])
		if i+1 < len(s) && s[i+1] == s[i] {
			literal.WriteByte(s[i])
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s, '}')
		if end < i || s[i] == '}' {
			return fmt.Errorf("a single brace in %q; write it twice", s)
		}
		name := s[i+1 : end]
		if !slices.Contains(placeholders, name) {
			return fmt.Errorf("unknown placeholder {%s}; there are: %s", name, strings.Join(placeholders, ", "))
		}
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{literal: literal.String()})
			literal.Reset()
		}
		t.parts = append(t.parts, part{name: name})
		s = s[end+1:]
	}
	if literal.Len() > 0 {
		t.parts = append(t.parts, part{literal: literal.String()})
	}
	return nil
}

func (t *text) empty() bool { return len(t.parts) == 0 }

func (t *text) holds(name string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.name == name })
}

// tree is a template of a JSON or TOML value: its strings are texts.
type tree struct {
	set   bool
	value any // *text, bool, int64, uint64, float64, []tree or []member
}

type member struct {
	key   string
	value tree
}

// UnmarshalYAML reads any YAML value; the order of keys is kept.
func (t *tree) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	return t.build(v)
}

func (t *tree) build(v any) error {
	t.set = true
	switch v := v.(type) {
	case string:
		leaf := new(text)
		t.value = leaf
		return leaf.set(v)
	case []any:
		items := make([]tree, len(v))
		for i, e := range v {
			if err := items[i].build(e); err != nil {
				return err
			}
		}
		t.value = items
	case yaml.MapSlice:
		members := make([]member, len(v))
		for i, e := range v {
			members[i].key = fmt.Sprint(e.Key)
			if err := members[i].value.build(e.Value); err != nil {
				return err
			}
		}
		t.value = members
	case bool, int64, uint64, float64:
		t.value = v
	default:
		return fmt.Errorf("a value of type %T has no place in a template", v)
	}
	return nil
}

func (t *tree) holds(name string) bool {
	switch v := t.value.(type) {
	case *text:
		return v.holds(name)
	case []tree:
		return slices.ContainsFunc(v, func(e tree) bool { return e.holds(name) })
	case []member:
		return slices.ContainsFunc(v, func(m member) bool { return m.value.holds(name) })
	}
	return false
}

func (a *ArgTemplate) holds(name string) bool {
	return a.Text.holds(name) || a.JSON.holds(name) || a.Value.holds(name)
}

func (e *EnvTemplate) holds(name string) bool { return e.Text.holds(name) || e.JSON.holds(name) }

func (f *FileTemplate) holds(name string) bool { return f.Text.holds(name) || f.JSON.holds(name) }

// gives reports whether the template gives the CLI anything.
func (t *Template) gives() bool { return len(t.Files)+len(t.Args)+len(t.Env) > 0 || !t.Stdin.empty() }

// hasList reports whether a variable of the template is a list.
func (t *Template) hasList() bool {
	for _, e := range t.Env {
		if e.Separator != "" {
			return true
		}
	}
	return false
}

// holdsContext reports whether the context goes through this template.
func (t *Template) holdsContext() bool { return t.holds(nameContext) }

func (t *Template) holds(name string) bool {
	for _, e := range t.Env {
		if e.holds(name) {
			return true
		}
	}
	return t.Stdin.holds(name) ||
		slices.ContainsFunc(t.Files, func(f FileTemplate) bool { return f.Path.holds(name) || f.holds(name) }) ||
		slices.ContainsFunc(t.Args, func(a ArgTemplate) bool { return a.holds(name) })
}

// isBelow reports whether a path is a placeholder, a slash and a plain name.
func isBelow(path *text, placeholder string) bool {
	return len(path.parts) == 2 && path.parts[0].name == placeholder &&
		strings.HasPrefix(path.parts[1].literal, "/") && !strings.Contains(path.parts[1].literal, "..")
}

// check holds every template to three rules: files are written in the side
// directory only, no token is ever shown in an argv, and nothing waits for the
// values of a proof.
func (t *Template) check() error {
	for _, name := range proofPlaceholders {
		if t.holds(name) {
			return fmt.Errorf("{%s} belongs to prove only", name)
		}
	}
	for _, f := range t.Files {
		if !isBelow(&f.Path, "side") {
			return errors.New("the path of a file is {side}/ and a plain name")
		}
		if f.Text.empty() == !f.JSON.set {
			return errors.New("a file has either text or json")
		}
	}
	for _, a := range t.Args {
		if a.holds(nameToken) {
			return errors.New("{token} must not stand in an argument: other users of the machine can read it")
		}
	}
	return nil
}
