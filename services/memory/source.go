package memorysvc

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/store"
)

// with returns a copy of a note that has its file.
func (n *Note) with(file []byte) *Note {
	if !utf8.Valid(file) || len(file) > MaxFile {
		return n
	}
	c, text := *n, string(file)
	c.Source = &text
	return &c
}

// checkSource refuses a whole file that could not be used as a note.
func (d Draft) checkSource() error {
	text := strings.TrimPrefix(*d.Source, byteOrderMark)
	switch {
	case len(*d.Source) > MaxFile:
		return tooLarge(d.ID, len(*d.Source))
	case strings.TrimSpace(text) == "":
		return badField("note.source", "say something: the note is empty; delete it if that is meant")
	}
	if err := checkVisible(d.ID, "source", text); err != nil {
		return err
	}
	if p := parseNote(store.Doc{Key: keyFor(d.ID), Data: []byte(*d.Source)}).blocker(); p != nil {
		return damaged(d.ID, p.Line, fmt.Sprintf("line %d: %s", p.Line, p.Message))
	}
	return nil
}

// composeSource returns the file that a person wrote as a whole. What the next
// save is said to mend is mended: values without their quotes, doubled front
// matter, and a name that was wrong before.
func composeSource(current []byte, d Draft) ([]byte, error) {
	doc, _, err := frontmatter.Mend([]byte(*d.Source))
	if err != nil {
		line, msg := placeOf(err)
		return nil, damaged(d.ID, line, msg)
	}
	doc, _ = flatten(doc)
	if name, ok := doc.String("name"); ok && CanonicalID(name) != d.ID {
		if before, _, err := frontmatter.Mend(current); err != nil || !says(before, name) {
			return nil, nameMismatch(name, d.ID)
		}
		if err := set(doc, d.ID, d.ID, "name"); err != nil {
			return nil, err
		}
	}
	return doc.Bytes(), nil
}

func says(doc *frontmatter.Doc, name string) bool {
	old, ok := doc.String("name")
	return ok && old == name
}

// givingWay returns a file without the keys that a given one writes otherwise,
// so that the given ones are taken. Name, description and type have rules of
// their own.
func givingWay(doc, given *frontmatter.Doc) *frontmatter.Doc {
	next, err := frontmatter.Parse(doc.Bytes())
	if err != nil {
		return doc
	}
	old := map[string]string{}
	for key, block := range blocks(doc) {
		old[key] = toLF(block)
	}
	for key, block := range blocks(given) {
		switch key {
		case "name", "description", "type":
			continue
		case "metadata":
			for line := range strings.Lines(block) {
				if m := subKey.FindStringSubmatch(line); m != nil && m[1] != "type" {
					_ = next.Remove("metadata", m[1])
				}
			}
			continue
		}
		if before, ok := old[key]; ok && before != toLF(block) {
			_ = next.Remove(key) // one that cannot be removed stays as it is
		}
	}
	return next
}
