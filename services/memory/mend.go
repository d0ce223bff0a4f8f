package memorysvc

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idea-ide/ideai/internal/frontmatter"
)

func isFence(line string) bool {
	line = strings.TrimRight(line, " \t\r\n")
	return line == "---" || line == "..."
}

// flatten returns a file whose body does not begin with front matter again:
// the inner one's body, and what the outer one does not say itself. doubled
// reports whether there was an inner one.
func flatten(doc *frontmatter.Doc) (flat *frontmatter.Doc, doubled bool) {
	for {
		inner := nested(doc.Body())
		if inner == nil {
			return doc, doubled
		}
		next, err := merge(doc, inner)
		if err != nil {
			return doc, doubled
		}
		doc, doubled = next, true
	}
}

// nested returns the file that a body is by itself: one with a note's front
// matter. Text after a ruler is none.
func nested(body string) *frontmatter.Doc {
	if !strings.HasPrefix(body, "---") {
		return nil
	}
	doc, _, err := frontmatter.Mend([]byte(body))
	if err != nil || !doc.HasMeta() || doc.Line("name")+doc.Line("description")+doc.Line("type")+doc.Line("metadata", "type") == 0 {
		return nil
	}
	return doc
}

// merge returns outer with the body of inner and the keys only inner has. The
// description is inner's when outer has none worth keeping.
func merge(outer, inner *frontmatter.Doc) (*frontmatter.Doc, error) {
	doc, err := frontmatter.Parse(outer.Bytes())
	if err != nil {
		return nil, err
	}
	name, _ := doc.String("name")
	if d := descriptionOf(inner); d != "" && placeholder(descriptionOf(doc), name) {
		if err := doc.Set(d, "description"); err != nil {
			return nil, err
		}
	}
	if t := typeOf(inner); t != "" && typeOf(doc) == "" {
		if err := doc.Set(t, "metadata", "type"); err != nil {
			return nil, err
		}
	}
	for key, block := range blocks(inner) {
		if doc.Line(key) == 0 {
			doc = withBlock(doc, block)
		} else if key == "metadata" {
			fillMetadata(doc, inner, block)
		}
	}
	doc.SetBody(inner.Body())
	return doc, nil
}

// placeholder reports whether a description says no more than the name.
func placeholder(description, name string) bool {
	d := strings.ToLower(strings.TrimSpace(description))
	d = strings.TrimSpace(strings.TrimSuffix(d, strings.ToLower(name)))
	switch d {
	case "", "note", "memory", "memory note", "note mémoire", "description", "todo", "…", "...":
		return true
	}
	return false
}

// blocks yields the top-level keys of a file with the lines they stand on, as
// they are written.
func blocks(doc *frontmatter.Doc) func(yield func(key, text string) bool) {
	lines := slices.Collect(strings.Lines(string(doc.Bytes())))
	keys := doc.Keys()
	end := 1
	for end < len(lines) && !isFence(lines[end]) {
		end++
	}
	return func(yield func(string, string) bool) {
		for i, key := range keys {
			from, to := doc.Line(key)-1, end
			if i+1 < len(keys) {
				to = doc.Line(keys[i+1]) - 1
			}
			if from < 1 || to < from || to > end {
				continue
			}
			if !yield(key, strings.Join(lines[from:to], "")) {
				return
			}
		}
	}
}

// withBlock returns doc with the lines of one more key at the end of its front
// matter, or doc itself when they do not fit there.
func withBlock(doc *frontmatter.Doc, block string) *frontmatter.Doc {
	lines := slices.Collect(strings.Lines(string(doc.Bytes())))
	if !doc.HasMeta() || len(lines) == 0 {
		return doc
	}
	end := 1
	for end < len(lines) && !isFence(lines[end]) {
		end++
	}
	if strings.HasSuffix(lines[0], "\r\n") {
		block = strings.ReplaceAll(toLF(block), "\n", "\r\n")
	}
	next, err := frontmatter.Parse([]byte(strings.Join(slices.Insert(lines, end, block), "")))
	if err != nil {
		return doc
	}
	return next
}

var subKey = regexp.MustCompile(`^[ \t]+([A-Za-z_][A-Za-z0-9_-]*):`)

// fillMetadata copies the plain values below metadata that only inner has.
func fillMetadata(doc, inner *frontmatter.Doc, block string) {
	for line := range strings.Lines(block) {
		m := subKey.FindStringSubmatch(line)
		if m == nil || doc.Line("metadata", m[1]) > 0 {
			continue
		}
		if value, ok := inner.String("metadata", m[1]); ok {
			_ = doc.Set(typed(value), "metadata", m[1]) // a key that cannot be edited stays as it is
		}
	}
}

// typed gives a scalar back the type YAML reads it as.
func typed(value string) any {
	if i, err := strconv.Atoi(value); err == nil && strconv.Itoa(i) == value {
		return i
	}
	if value == "true" || value == "false" {
		return value == "true"
	}
	return value
}
