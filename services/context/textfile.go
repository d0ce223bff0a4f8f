package contextsvc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/safetext"
)

// maxText is the largest rules file, persona and skill, in bytes.
const maxText = 256 << 10

// read parses a Markdown file that speaks to agents. It refuses what a person
// would not see in it, conflict markers, and broken front matter. A value that
// only lacks quotes is a problem and no error.
func read(name string, data []byte) (doc *frontmatter.Doc, problem string, err error) {
	if err := usable(name, data); err != nil {
		return nil, "", err
	}
	doc, mended, err := frontmatter.Mend(data)
	if mended > 0 {
		problem = fmt.Sprintf("%s, line %d: the value needs quotes to be YAML; it was read as plain text, and the next save adds them", name, mended)
	}
	return doc, problem, yamlFault(name, err)
}

// usable refuses a text that cannot be given to an agent as it is.
func usable(name string, data []byte) error {
	if len(data) > maxText {
		return tooLarge(name, len(data), maxText)
	}
	if line := frontmatter.Conflict(data); line > 0 {
		return damaged(name, line, "git left a conflict here; choose a side and remove the markers")
	}
	return visible(name, strings.TrimPrefix(string(data), "\uFEFF"))
}

// visible refuses hidden characters, naming the first as line:column.
func visible(name, text string) error {
	at, r, found := safetext.Hidden(text)
	if !found {
		return nil
	}
	line := 1 + strings.Count(text[:at], "\n")
	column := 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text[:at], '\n')+1:at])
	return hidden(name, fmt.Sprintf("%d:%d", line, column), text[at:], r)
}

func hidden(name, position, text string, r rune) error {
	what := fmt.Sprintf("the invisible character U+%04X", r)
	if r == utf8.RuneError {
		what = fmt.Sprintf("byte 0x%02X, which is no UTF-8 text", text[0])
	}
	return fault.New(fault.HiddenText, fault.Meta{"name": name, "position": position},
		"%s has %s at %s; remove it", name, what, position)
}

func yamlFault(name string, err error) error {
	var e *frontmatter.Error
	if errors.As(err, &e) {
		return damaged(name, e.Line, e.Msg)
	}
	return err
}

// fields reads typed values of a file and keeps the first that is not what it
// should be.
type fields struct {
	name string
	doc  *frontmatter.Doc
	err  error
}

func (f *fields) fail(why string, path []string) {
	if f.err == nil {
		f.err = damaged(f.name, f.doc.Line(path...), strings.Join(path, ".")+" "+why)
	}
}

// seen refuses hidden characters that the file spells as escapes.
func (f *fields) seen(value string, path []string) {
	if at, r, found := safetext.Hidden(value); found && f.err == nil {
		f.err = hidden(f.name, strconv.Itoa(f.doc.Line(path...)), value[at:], r)
	}
}

// text returns one line of at most limit bytes, "" when absent.
func (f *fields) text(limit int, path ...string) string {
	s, ok := f.doc.String(path...)
	f.seen(s, path)
	switch {
	case !ok && f.doc.Line(path...) > 0:
		f.fail("must be a text", path)
	case len(s) > limit:
		f.fail(fmt.Sprintf("has %d bytes, the limit is %d", len(s), limit), path)
	}
	return strings.Join(strings.Fields(s), " ")
}

// list returns a list of texts of at most limit bytes each.
func (f *fields) list(items, limit int, path ...string) []string {
	list, ok := f.doc.Strings(path...)
	switch {
	case !ok && f.doc.Line(path...) > 0:
		f.fail("must be a list of texts", path)
	case len(list) > items:
		f.fail(fmt.Sprintf("has %d items, the limit is %d", len(list), items), path)
	}
	for _, item := range list {
		f.seen(item, path)
		if item == "" || len(item) > limit {
			f.fail(fmt.Sprintf("has an item that is empty or longer than %d bytes", limit), path)
		}
	}
	return list
}

// number returns a whole number from 0 to most.
func (f *fields) number(most int, path ...string) int {
	n, ok := f.doc.Int(path...)
	if f.doc.Line(path...) > 0 && (!ok || n < 0 || n > most) {
		f.fail("must be a whole number from 0 to "+strconv.Itoa(most), path)
		return 0
	}
	return n
}

// edit changes keys of a file and keeps the first failure.
type edit struct {
	name string
	doc  *frontmatter.Doc
	err  error
}

// begin returns the file to edit: the current one, or a new one when there is
// none or it cannot be read, which a save repairs.
func begin(name string, old []byte) *edit {
	doc, _, err := frontmatter.Mend(old)
	if err != nil {
		doc = frontmatter.New()
	}
	return &edit{name: name, doc: doc}
}

// text sets a key, or removes it when the value is empty.
func (e *edit) text(value string, path ...string) {
	e.seen(value)
	if value == "" {
		e.keep(e.doc.Remove(path...), path)
		return
	}
	e.keep(e.doc.Set(value, path...), path)
}

func (e *edit) list(values []string, path ...string) {
	for _, v := range values {
		e.seen(v)
	}
	if len(values) == 0 {
		e.keep(e.doc.Remove(path...), path)
		return
	}
	e.keep(e.doc.Set(values, path...), path)
}

func (e *edit) number(value int, path ...string) {
	if value == 0 {
		e.keep(e.doc.Remove(path...), path)
		return
	}
	e.keep(e.doc.Set(value, path...), path)
}

// seen refuses hidden characters, which the file would only show as escapes.
func (e *edit) seen(value string) {
	if e.err == nil {
		e.err = visible(e.name, value)
	}
}

func (e *edit) keep(err error, path []string) {
	if err != nil && e.err == nil {
		e.err = damaged(e.name, max(1, e.doc.Line(path...)),
			strings.Join(path, ".")+" cannot be changed where it stands; change the file by hand").Wrap(err)
	}
}

// bytes returns the edited file, checked as any file that agents are given.
func (e *edit) bytes() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	data := e.doc.Bytes()
	return data, usable(e.name, data)
}
