package memorysvc

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/safetext"
)

// Draft is a note to save. What is empty keeps what the file says; a
// description that nothing says is the first line of the body.
type Draft struct {
	ID          string
	Description string
	Type        string
	Body        string  // front matter at its beginning is unwrapped
	Etag        string  // of the version it was made from; empty to create
	Source      *string // the whole file; the fields above but ID are not looked at then
}

// check refuses what no file should hold.
func (d Draft) check() error {
	switch {
	case d.ID == "":
		return badField("note.note_id", "give the note a name")
	case !ValidID(d.ID):
		return badField("note.note_id", idRule)
	case CanonicalID(d.ID) != d.ID:
		return nameMismatch(d.ID, CanonicalID(d.ID))
	case d.Source != nil:
		return d.checkSource()
	case len(d.Description) > MaxDescription:
		return badField("note.description", fmt.Sprintf("has %d bytes and may have %d; put the rest in the body", len(d.Description), MaxDescription))
	case strings.ContainsAny(d.Description, "\r\n"):
		return badField("note.description", "must be one line; put the rest in the body")
	case len(d.Type) > MaxType || strings.ContainsAny(d.Type, "\r\n"):
		return badField("note.type", fmt.Sprintf("must be one word, such as project, of at most %d bytes", MaxType))
	case strings.TrimSpace(d.Description) == "" && strings.TrimSpace(d.Body) == "":
		return badField("note.body", "say something: the note has neither a description nor a body")
	case len(d.Body) > MaxFile:
		return tooLarge(d.ID, len(d.Body))
	}
	for _, part := range []struct{ field, text string }{
		{"note_id", d.ID}, {"description", d.Description}, {"type", d.Type}, {"body", d.Body},
	} {
		if err := checkVisible(d.ID, part.field, part.text); err != nil {
			return err
		}
	}
	if line := conflictLine(d.Body); line > 0 {
		return badField("note.body", fmt.Sprintf("line %d is left of an unfinished merge; resolve it, or indent the line if it is meant as text", line))
	}
	return nil
}

func checkVisible(id, field, text string) error {
	at, r, found := safetext.Hidden(text)
	if !found {
		return nil
	}
	line := lineAt(text, at)
	column := 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text[:at], '\n')+1:at])
	return fault.New(fault.HiddenText,
		fault.Meta{"name": safetext.Escape(id), "position": fmt.Sprintf("%s:%d:%d", field, line, column)},
		"the %s holds the invisible or text-reordering character %U at line %d, column %d; delete it", field, r, line, column)
}

func tooLarge(id string, size int) *fault.Error {
	return fault.New(fault.TooLarge, fault.Meta{"name": id, "bytes": strconv.Itoa(size), "limit": strconv.Itoa(MaxFile)},
		"note %q would have %d bytes and may have %d; split it in two", id, size, MaxFile)
}

func nameMismatch(name, id string) *fault.Error {
	return fault.New(fault.NameMismatch, fault.Meta{"name": name, "id": id},
		"the name %q and the id %q of a note must be equal; use %q for both, or save it as another note", name, id, id)
}

// compose returns the file of a note after a draft is put into it. current is
// the file as it is, nil when there is none; what the draft does not change
// keeps its bytes.
func compose(current []byte, d Draft) ([]byte, error) {
	if d.Source != nil {
		return composeSource(current, d)
	}
	doc, d, err := basis(current, d)
	if err != nil {
		return nil, err
	}
	if name, _ := doc.String("name"); CanonicalID(name) != d.ID && (!doc.HasMeta() || doc.Line("name") > 0) {
		if err := set(doc, d.ID, d.ID, "name"); err != nil {
			return nil, err
		}
	}
	if d.Description == "" {
		d.Description = cmp.Or(descriptionOf(doc), summary(d.Body), d.ID)
	}
	if d.Description != descriptionOf(doc) {
		if err := set(doc, d.ID, d.Description, "description"); err != nil {
			return nil, err
		}
	}
	if err := setType(doc, d, current == nil); err != nil {
		return nil, err
	}
	if strings.TrimRight(d.Body, "\n") != strings.TrimRight(doc.Body(), "\n") {
		doc.SetBody(d.Body)
	}
	out := doc.Bytes()
	if len(out) > MaxFile {
		return nil, tooLarge(d.ID, len(out))
	}
	return out, nil
}

// basis returns the file to change, and the draft without what its body says
// in front matter of its own: that goes to the note where the draft says
// nothing else.
func basis(current []byte, d Draft) (*frontmatter.Doc, Draft, error) {
	doc := frontmatter.New()
	if current != nil {
		if parsed, _, err := frontmatter.Mend(current); err == nil {
			doc, _ = flatten(parsed)
		}
	}
	d.Body, d.Description, d.Type = toLF(d.Body), oneLine(d.Description), strings.TrimSpace(d.Type)
	given := nested(d.Body)
	if given == nil {
		if err := brokenFrontMatter(d.Body); err != nil {
			return nil, d, badField("note.body", fmt.Sprintf(
				"begins with front matter that cannot be read: %v; mend that line, or remove the front matter", err))
		}
		return doc, d, nil
	}
	given, _ = flatten(given)
	if name, ok := given.String("name"); ok && CanonicalID(name) != d.ID {
		return nil, d, nameMismatch(name, d.ID)
	}
	d.Body = given.Body()
	if placeholder(d.Description, d.ID) {
		d.Description = descriptionOf(given)
	}
	if d.Type == "" {
		d.Type = typeOf(given)
	}
	if !doc.HasMeta() {
		return given, d, nil
	}
	doc, err := merge(givingWay(doc, given), given)
	if err != nil {
		return nil, d, uneditable(d.ID, err)
	}
	return doc, d, nil
}

// brokenFrontMatter returns what is wrong with the front matter at the
// beginning of a body that was clearly meant as such.
func brokenFrontMatter(body string) error {
	rest, ok := strings.CutPrefix(body, "---\n")
	if !ok {
		return nil
	}
	if key, _, ok := strings.Cut(rest, ":"); !ok || key != "name" && key != "description" {
		return nil
	}
	_, _, err := frontmatter.Mend([]byte(body))
	return err
}

func setType(doc *frontmatter.Doc, d Draft, isNew bool) error {
	had := typeOf(doc)
	switch {
	case d.Type == "" && had == "" && isNew:
		d.Type = "project"
	case d.Type == "" || d.Type == had:
		return nil
	}
	if doc.Line("type") > 0 && doc.Line("metadata", "type") == 0 {
		return set(doc, d.ID, d.Type, "type")
	}
	return set(doc, d.ID, d.Type, "metadata", "type")
}

func set(doc *frontmatter.Doc, id, value string, path ...string) error {
	if err := doc.Set(value, path...); err != nil {
		return uneditable(id, err)
	}
	return nil
}

func uneditable(id string, err error) error {
	return damaged(id, 1, "its front matter cannot be edited from here; change the file by hand").Wrap(err)
}
