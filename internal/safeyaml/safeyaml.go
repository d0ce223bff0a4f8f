// Package safeyaml reads YAML that strangers may have written. The library
// beneath panics on tags that do not fit their value, takes quadratic time for
// deep nesting, and copies an alias as often as it is named; here, every such
// text is an error that names its line.
package safeyaml

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxBrackets bounds the brackets and braces of a text.
const maxBrackets = 1000

// Error says where a text cannot be read. Line and Column count from 1.
type Error struct {
	Line, Column int
	Msg          string
}

func (e *Error) Error() string { return fmt.Sprintf("[%d:%d] %s", e.Line, e.Column, e.Msg) }

// Parse returns the syntax tree of a text. The error is an *Error.
func Parse(src []byte, mode parser.Mode) (file *ast.File, err error) {
	defer guard(&err)
	if bytes.Count(src, []byte("["))+bytes.Count(src, []byte("{")) > maxBrackets {
		return nil, &Error{1, 1, fmt.Sprintf("more than %d brackets", maxBrackets)}
	}
	file, err = parser.ParseBytes(src, mode)
	if err != nil {
		return nil, located(err)
	}
	return file, nil
}

// Decode reads the first document of a text into v; an empty text leaves v as
// it is. Tags, anchors, aliases and merge keys are refused: no value that is
// decoded here needs them. The error is an *Error, or what an unmarshaler of v
// says, with its position.
func Decode(src []byte, v any, opts ...yaml.DecodeOption) (err error) {
	defer guard(&err)
	file, err := Parse(src, 0)
	if err != nil {
		return err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil
	}
	body := file.Docs[0].Body
	var p plainness
	if ast.Walk(&p, body); p.err != nil {
		return p.err
	}
	if err := yaml.NodeToValue(body, v, opts...); err != nil {
		return located(err)
	}
	return nil
}

// guard turns a panic of the library into an error.
func guard(err *error) {
	if recover() != nil {
		*err = &Error{1, 1, "not YAML that can be read"}
	}
}

func located(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return &Error{1, 1, err.Error()}
	}
	e := &Error{1, 1, y.GetMessage()}
	if t := y.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = max(1, t.Position.Line), max(1, t.Position.Column)
	}
	return e
}

// plainness keeps the first node that is more than keys, lists and scalars.
type plainness struct{ err error }

func (p *plainness) Visit(n ast.Node) ast.Visitor {
	what := ""
	switch n.(type) {
	case *ast.TagNode:
		what = "a tag (!)"
	case *ast.AnchorNode:
		what = "an anchor (&)"
	case *ast.AliasNode:
		what = "an alias (*)"
	case *ast.MergeKeyNode:
		what = "a merge key (<<)"
	}
	if what == "" || p.err != nil {
		return p
	}
	e := &Error{1, 1, what + " cannot be used here; write the value out, in quotes if it is a text"}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = max(1, t.Position.Line), max(1, t.Position.Column)
	}
	p.err = e
	return nil
}
