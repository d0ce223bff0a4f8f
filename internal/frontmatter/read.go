package frontmatter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/idea-ide/ideai/internal/safeyaml"
)

// read parses YAML text. An empty text is an empty mapping.
func (d *Doc) read(meta string) (*ast.MappingNode, error) {
	if at := Conflict([]byte(meta)); at > 0 {
		return nil, &Error{Line: d.shift + at, Msg: "git's conflict markers begin here; choose a side"}
	}
	// The parser takes a lone carriage return for the end of a line; no editor
	// does, and line numbers are the file's.
	meta = strings.ReplaceAll(strings.ReplaceAll(meta, "\r\n", "\n"), "\r", " ")
	file, err := safeyaml.Parse([]byte(meta), parser.ParseComments)
	if err != nil {
		return nil, d.located(err)
	}
	var docs []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.DirectiveType {
			docs = append(docs, doc.Body)
		}
	}
	switch {
	case len(docs) == 0:
		return &ast.MappingNode{}, nil
	case len(docs) > 1:
		return nil, &Error{Line: d.shift + lineOf(docs[1]), Msg: "a second YAML document begins here"}
	}
	switch n := docs[0].(type) {
	case *ast.MappingNode:
		return n, nil
	case *ast.MappingValueNode:
		return &ast.MappingNode{Values: []*ast.MappingValueNode{n}}, nil
	case *ast.CommentGroupNode:
		return &ast.MappingNode{}, nil
	}
	return nil, &Error{Line: d.shift + lineOf(docs[0]), Msg: "not key: value pairs"}
}

func (d *Doc) located(err error) error {
	var y *safeyaml.Error
	if errors.As(err, &y) {
		return &Error{Line: d.shift + y.Line, Msg: "not YAML: " + y.Msg}
	}
	return &Error{Line: d.shift + 1, Msg: "not YAML"}
}

// Keys returns the top-level keys in the order of the file.
func (d *Doc) Keys() []string {
	if d.root == nil {
		return nil
	}
	keys := make([]string, 0, len(d.root.Values))
	for _, v := range d.root.Values {
		keys = append(keys, keyOf(v))
	}
	return keys
}

// String returns the scalar at a path of keys as text: numbers, dates and
// booleans as they are written, "" for null. ok is false when there is none or
// it is a list or a mapping.
func (d *Doc) String(path ...string) (value string, ok bool) {
	return scalar(d.node(path))
}

// Strings returns the list of scalars at a path of keys. A single scalar is a
// list of one, null an empty list. ok is false for anything else.
func (d *Doc) Strings(path ...string) (values []string, ok bool) {
	n := d.node(path)
	if _, null := n.(*ast.NullNode); null {
		return nil, true
	}
	seq, isList := n.(*ast.SequenceNode)
	if !isList {
		s, ok := scalar(n)
		if !ok {
			return nil, false
		}
		return []string{s}, true
	}
	values = make([]string, 0, len(seq.Values))
	for _, v := range seq.Values {
		s, ok := scalar(v)
		if !ok {
			return nil, false
		}
		values = append(values, s)
	}
	return values, true
}

// Int returns the whole number at a path of keys.
func (d *Doc) Int(path ...string) (value int, ok bool) {
	s, ok := d.String(path...)
	if !ok {
		return 0, false
	}
	value, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	return value, err == nil
}

// Line returns the line of the file on which the key at a path stands, 0 when
// there is none: a value may be there and be of another type than was asked.
func (d *Doc) Line(path ...string) int {
	pair, _ := d.find(path)
	if pair == nil {
		return 0
	}
	return d.shift + lineOf(pair.Key)
}

func (d *Doc) node(path []string) ast.Node {
	pair, _ := d.find(path)
	if pair == nil {
		return nil
	}
	return plain(pair.Value)
}

// find returns the pair at a path, and the mapping of its last key as far as
// there is one.
func (d *Doc) find(path []string) (*ast.MappingValueNode, *ast.MappingNode) {
	if len(path) == 0 || d.root == nil {
		return nil, nil
	}
	m := d.root
	for {
		pair := lookup(m, path[0])
		if pair == nil || len(path) == 1 {
			return pair, m
		}
		switch v := plain(pair.Value).(type) {
		case *ast.MappingNode:
			m = v
		case *ast.MappingValueNode:
			m = &ast.MappingNode{Values: []*ast.MappingValueNode{v}}
		default:
			return nil, nil
		}
		path = path[1:]
	}
}

func lookup(m *ast.MappingNode, key string) *ast.MappingValueNode {
	for _, v := range m.Values {
		if keyOf(v) == key {
			return v
		}
	}
	return nil
}

func keyOf(v *ast.MappingValueNode) string {
	if s, ok := v.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return v.Key.GetToken().Value
}

// plain looks through tags and anchors; aliases stay unresolved.
func plain(n ast.Node) ast.Node {
	for {
		switch v := n.(type) {
		case *ast.TagNode:
			n = v.Value
		case *ast.AnchorNode:
			n = v.Value
		default:
			return n
		}
	}
}

func scalar(n ast.Node) (string, bool) {
	switch v := plain(n).(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	}
	return "", false
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return max(1, t.Position.Line)
	}
	return 1
}

// summary is every scalar of the mapping by its path, to compare two states.
func summary(m *ast.MappingNode) map[string]string {
	out := map[string]string{}
	var walk func(path string, n ast.Node)
	walk = func(path string, n ast.Node) {
		switch v := plain(n).(type) {
		case *ast.MappingNode:
			for _, pair := range v.Values {
				walk(path+"\x00"+keyOf(pair), pair.Value)
			}
		case *ast.MappingValueNode:
			walk(path+"\x00"+keyOf(v), v.Value)
		case *ast.SequenceNode:
			for i, item := range v.Values {
				walk(fmt.Sprintf("%s\x00[%d]", path, i), item)
			}
		default:
			s, _ := scalar(v)
			out[path] = s
			if a, ok := v.(*ast.AliasNode); ok {
				out[path] = "*" + a.Value.String()
			}
		}
	}
	for _, pair := range m.Values {
		walk("\x00"+keyOf(pair), pair.Value)
	}
	return out
}
