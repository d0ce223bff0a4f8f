// Package frontmatter reads and edits the YAML head of Markdown files, and
// plain YAML files of the same kind, without losing anything that people wrote:
// a file that is parsed and written again has equal bytes, and an edit touches
// only the lines of its key. Unknown keys, order, comments, quotes, line
// endings, a byte order mark and a missing final newline stay.
package frontmatter

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// MaxMeta is the largest front matter or YAML file, in bytes.
const MaxMeta = 32 << 10

const byteOrderMark = "\uFEFF"

// Error says where a file cannot be read as front matter.
type Error struct {
	Line int // of the file, from 1
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Doc is one file: front matter, if it has any, and a body. It is not safe for
// use by several goroutines at once while one changes it.
type Doc struct {
	mark  string // byte order mark
	open  string // the line that opens the front matter; "" without one
	meta  string // the YAML between, as written
	shut  string // the line that closes it
	gap   string // blank lines before the body
	body  string // as written
	eol   string // line ending of new lines
	bare  bool   // a YAML file: no fences, no body
	shift int    // lines of the file before meta
	root  *ast.MappingNode
}

// Parse reads a Markdown file. Front matter is a first line of --- and the
// YAML mapping up to the next line of --- or ...; a file that does not begin so
// has none. The error is an *Error: front matter that never ends, is not YAML,
// or is not key: value pairs.
func Parse(src []byte) (*Doc, error) {
	d, rest := begin(src)
	line, after := cutLine(rest)
	if !fence(line, "---") {
		d.gap, d.body = cutBlank(rest)
		return d, nil
	}
	d.open, d.shift = line, 1
	for rest = after; ; {
		line, after = cutLine(rest)
		if fence(line, "---", "...") {
			break
		}
		if after == "" {
			return nil, &Error{Line: 1, Msg: "the front matter that begins here is never closed by a line of ---"}
		}
		d.meta, rest = d.meta+line, after
		if len(d.meta) > MaxMeta {
			return nil, &Error{Line: 1, Msg: fmt.Sprintf("the front matter is longer than %d bytes, or never closed", MaxMeta)}
		}
	}
	d.shut = line
	d.gap, d.body = cutBlank(after)
	var err error
	if d.root, err = d.read(d.meta); err != nil {
		return nil, err
	}
	return d, nil
}

// ParseYAML reads a YAML file that is one mapping, or empty. It has no body.
func ParseYAML(src []byte) (*Doc, error) {
	d, rest := begin(src)
	d.bare, d.meta = true, rest
	if len(rest) > MaxMeta {
		return nil, &Error{Line: 1, Msg: fmt.Sprintf("the file is longer than %d bytes", MaxMeta)}
	}
	var err error
	if d.root, err = d.read(d.meta); err != nil {
		return nil, err
	}
	return d, nil
}

// New returns an empty Markdown file with LF line endings. It gets front
// matter with the first Set.
func New() *Doc { return &Doc{eol: "\n"} }

// Conflict returns the line, from 1, at which git left a conflict in a file: a
// line of <<<<<<<, then one of =======, then one of >>>>>>>. 0 means none.
func Conflict(src []byte) int {
	marks := [...]string{"<<<<<<< ", "=======", ">>>>>>> "}
	seen, begin, n := 0, 0, 0
	for line := range bytes.Lines(src) {
		n++
		switch {
		case bytes.HasPrefix(line, []byte(marks[0])):
			seen, begin = 1, n
		case seen > 0 && bytes.HasPrefix(line, []byte(marks[seen])):
			if seen++; seen == len(marks) {
				return begin
			}
		}
	}
	return 0
}

func begin(src []byte) (*Doc, string) {
	d := &Doc{eol: "\n"}
	if crlf := bytes.Count(src, []byte("\r\n")); 2*crlf > bytes.Count(src, []byte("\n")) {
		d.eol = "\r\n"
	}
	rest := string(src)
	if after, ok := strings.CutPrefix(rest, byteOrderMark); ok {
		d.mark, rest = byteOrderMark, after
	}
	return d, rest
}

// HasMeta reports whether the file has front matter, be it empty.
func (d *Doc) HasMeta() bool { return d.open != "" || d.bare }

// Body returns the text after the front matter, with LF line endings and
// without the blank lines that set it apart.
func (d *Doc) Body() string { return strings.ReplaceAll(d.body, "\r\n", "\n") }

// SetBody replaces the text after the front matter. The blank lines before it,
// the file's line endings, and its habit of ending with a newline or without
// one stay; blank lines at the beginning of body are dropped.
func (d *Doc) SetBody(body string) {
	if body == d.Body() {
		return
	}
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	if _, body = cutBlank(body); body == d.Body() {
		return
	}
	if d.body != "" && !strings.HasSuffix(d.body, "\n") {
		body = strings.TrimRight(body, "\n")
	} else if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	d.body = strings.ReplaceAll(body, "\n", d.eol)
}

// Bytes returns the file: equal to what was parsed when nothing was changed.
func (d *Doc) Bytes() []byte {
	open, shut := d.open, d.shut
	if line, _ := cutLine(d.body); open == "" && d.gap == "" && fence(line, "---") {
		open, shut = "---"+d.eol, "---"+d.eol // else the body would be taken for front matter
	}
	if open != "" && d.gap+d.body != "" && !strings.HasSuffix(shut, "\n") {
		shut += d.eol
	}
	return []byte(d.mark + open + d.meta + shut + d.gap + d.body)
}

func cutLine(s string) (line, rest string) {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1], s[i+1:]
	}
	return s, ""
}

func cutBlank(s string) (blank, rest string) {
	rest = s
	for strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n") {
		_, rest = cutLine(rest)
	}
	return s[:len(s)-len(rest)], rest
}

func fence(line string, marks ...string) bool {
	line = strings.TrimRight(line, " \t\r\n")
	for _, m := range marks {
		if line == m {
			return true
		}
	}
	return false
}
