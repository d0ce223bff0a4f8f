package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// Piece is a rendered template: a part of a launch plan.
type Piece struct {
	Files    []File
	Args     []Arg
	Env      []EnvVar // to set, after EnvUnset was removed
	EnvUnset []string
	Stdin    []byte // to write before the person's own standard input
}

// File is a file a host writes for a launch, always inside its side directory.
type File struct {
	Path    string // absolute
	Content []byte
	Mode    uint32 // permission bits
}

// Arg is one element of an argv, passed as it is and never through a shell.
type Arg struct {
	Value  string
	Secret bool // must not be shown in logs
}

// EnvVar is one environment variable.
type EnvVar struct {
	Name, Value string
	Secret      bool   // must not be shown in logs
	Separator   string // set when the person's own value and this come before Value
}

// DefaultItemLimit is the largest argv or environment string of Linux in
// bytes; other systems take more.
const DefaultItemLimit = 131071

// fileMode is the mode of every file: a context is the person's own business.
const fileMode = 0o600

// Inject renders a carrier. Values need Side, Project and Context; what the
// CLI would expand or strip in the context is neutralised. itemLimit is the
// host's largest argv or environment string in bytes, 0 for DefaultItemLimit.
// Beyond a limit it fails with INJECTION_TOO_LARGE, which names another
// carrier for the same kind of launch; with INJECTION_UNSUPPORTED when the side
// directory's path holds the carrier's separator.
func (p *Profile) Inject(c *Carrier, kind Kind, v Values, itemLimit int64) (Piece, error) {
	if itemLimit <= 0 {
		itemLimit = DefaultItemLimit
	}
	if c.Separator != "" && strings.Contains(v.Side, c.Separator) {
		return Piece{}, fault.New(fault.InjectionUnsupported,
			fault.Meta{"profile": p.ID, "strategy": c.Name, "kind": string(kind), "workspace": string(c.Workspace)},
			"%s is told of folders in a list separated by %q, and %s holds that character; rename the folder",
			p.Name, c.Separator, v.Side)
	}
	v.Context = Neutralise(v.Context, c.Neutralise)
	piece := p.render(&c.Template, v)
	size, limit := c.largest(&piece, itemLimit)
	if limit > 0 && size > limit {
		return Piece{}, p.tooLarge(c, kind, size, limit)
	}
	return piece, nil
}

// HandOver renders what gives the CLI our MCP server, pre-approves its tools
// and denies the ways around them. Values need Side, Project, Ideai, Address,
// Token, Language and Tools.
func (p *Profile) HandOver(v Values) Piece {
	return Join(p.render(&p.MCP, v), p.render(&p.Permissions, v))
}

// Join puts pieces one after the other. A variable set by any of them is not
// unset.
func Join(pieces ...Piece) Piece {
	var out Piece
	for _, p := range pieces {
		out.Files = append(out.Files, p.Files...)
		out.Args = append(out.Args, p.Args...)
		out.Env = append(out.Env, p.Env...)
		out.EnvUnset = append(out.EnvUnset, p.EnvUnset...)
		out.Stdin = append(out.Stdin, p.Stdin...)
	}
	isSet := func(name string) bool {
		return slices.ContainsFunc(out.Env, func(e EnvVar) bool { return e.Name == name })
	}
	out.EnvUnset = slices.DeleteFunc(out.EnvUnset, isSet)
	return out
}

func (p *Profile) render(t *Template, v Values) Piece {
	r := renderer{values: v, toolName: p.ToolName}
	out := Piece{EnvUnset: slices.Clone(t.EnvUnset)}
	for _, f := range t.Files {
		content := []byte(r.text(&f.Text))
		if f.JSON.set {
			content = append(r.encode(nil, f.JSON, ":"), '\n')
		}
		out.Files = append(out.Files, File{Path: r.text(&f.Path), Content: content, Mode: fileMode})
	}
	for _, a := range t.Args {
		out.Args = append(out.Args, Arg{Value: r.arg(&a)})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		e := t.Env[name]
		value := r.text(&e.Text)
		if e.JSON.set {
			value = string(r.encode(nil, e.JSON, ":"))
		}
		out.Env = append(out.Env, EnvVar{Name: name, Value: value, Secret: e.holds(nameToken), Separator: e.Separator})
	}
	if !t.Stdin.empty() {
		out.Stdin = []byte(r.text(&t.Stdin))
	}
	return out
}

// largest returns the size of what holds the context and the limit it is held
// to: that of the element nearest to, or furthest beyond, its own.
func (c *Carrier) largest(piece *Piece, itemLimit int64) (size, limit int64) {
	consider := func(n int, bound int64) {
		if bound == 0 || (c.LimitBytes > 0 && c.LimitBytes < bound) {
			bound = c.LimitBytes
		}
		if limit == 0 || int64(n)-bound > size-limit {
			size, limit = int64(n), bound
		}
	}
	t := &c.Template
	for i, f := range t.Files {
		if f.holds(nameContext) {
			consider(len(piece.Files[i].Content), 0)
		}
	}
	for i, a := range t.Args {
		if a.holds(nameContext) {
			consider(len(piece.Args[i].Value), itemLimit)
		}
	}
	for _, e := range piece.Env {
		if tmpl := t.Env[e.Name]; tmpl.holds(nameContext) {
			consider(len(e.Name)+1+len(e.Value), itemLimit)
		}
	}
	if t.Stdin.holds(nameContext) {
		consider(len(piece.Stdin), 0)
	}
	return size, limit
}

func (p *Profile) tooLarge(c *Carrier, kind Kind, size, limit int64) error {
	instead := "none"
	for i := range p.Carriers {
		o := &p.Carriers[i]
		if o.Name != c.Name && o.Serves(kind, c.Workspace, c.HeadlessOnly) && (o.LimitBytes == 0 || o.LimitBytes > size) {
			instead = o.Name
			break
		}
	}
	return fault.New(fault.InjectionTooLarge,
		fault.Meta{"profile": p.ID, "carrier": c.Name, "bytes": strconv.FormatInt(size, 10),
			"limit": strconv.FormatInt(limit, 10), "instead": instead},
		"the context takes %d bytes by %s, and %s takes %d; use carrier %s, or shorten the rules or the persona",
		size, c.Name, p.Name, limit, instead)
}

// renderer fills templates with values.
type renderer struct {
	values   Values
	toolName string
}

func (r *renderer) value(name string) string {
	v := &r.values
	switch name {
	case "side":
		return v.Side
	case "project":
		return v.Project
	case nameContext:
		return v.Context
	case "ideai":
		return v.Ideai
	case "address":
		return v.Address
	case nameToken:
		return v.Token
	case "language":
		return v.Language
	case "home":
		return v.Home
	case "endpoint":
		return v.Endpoint
	case "prompt":
		return v.Prompt
	case "session":
		return v.Session
	case "tools":
		names := make([]string, len(v.Tools))
		for i, t := range v.Tools {
			names[i] = strings.ReplaceAll(r.toolName, "{tool}", t)
		}
		return strings.Join(names, ",")
	}
	return "" // parsing knows every name
}

func (r *renderer) text(t *text) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.literal)
		} else {
			b.WriteString(r.value(p.name))
		}
	}
	return b.String()
}

func (r *renderer) arg(a *ArgTemplate) string {
	switch {
	case a.JSON.set:
		return string(r.encode(nil, a.JSON, ":"))
	case a.TOML != "":
		return string(r.encode([]byte(a.TOML+"="), a.Value, "="))
	}
	return r.text(&a.Text)
}

// encode appends a tree as compact JSON, or as an inline TOML value when assign
// is "=". Every string that JSON writes is a TOML string too.
func (r *renderer) encode(out []byte, t tree, assign string) []byte {
	switch v := t.value.(type) {
	case *text:
		return appendString(out, r.text(v))
	case []tree:
		out = append(out, '[')
		for i, e := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = r.encode(out, e, assign)
		}
		return append(out, ']')
	case []member:
		out = append(out, '{')
		for i, m := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.key), assign...)
			out = r.encode(out, m.value, assign)
		}
		return append(out, '}')
	default:
		return fmt.Append(out, v) // a boolean or a number
	}
}

// appendString appends a string as JSON and TOML both read it: DEL is the one
// character that JSON may leave raw and TOML does not take.
func appendString(out []byte, s string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	quoted := strings.TrimSuffix(b.String(), "\n")
	return append(out, strings.ReplaceAll(quoted, "\x7f", `\u007f`)...)
}
