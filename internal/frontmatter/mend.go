package frontmatter

import (
	"regexp"
	"slices"
	"strings"
)

// unquoted finds a key with a value that YAML cannot read as the plain text it
// was meant as. French puts a space before a colon, so that a description such
// as "Choix : SQLite" is the usual case.
var unquoted = regexp.MustCompile("^([ \t]*[A-Za-z_][A-Za-z0-9_-]*:)[ \t]+([^\\s\"'\\[{|>&*!#].*)$")

// Mend parses a Markdown file as Parse does, quoting values that are no YAML
// without quotes when nothing else is wrong with it. line is the first line
// that was mended, 0 when the file was fine; Bytes then differs from src by
// the quotes. The error is an *Error on the file as it is.
func Mend(src []byte) (doc *Doc, line int, err error) {
	doc, err = Parse(src)
	if err == nil {
		return doc, 0, nil
	}
	if text, line := quoteValues(string(src)); line > 0 {
		if doc, err := Parse([]byte(text)); err == nil {
			return doc, line, nil
		}
	}
	return nil, 0, err
}

// quoteValues quotes the values of the front matter that need it, and returns
// the first line changed.
func quoteValues(src string) (text string, first int) {
	lines := slices.Collect(strings.Lines(src))
	for i := 1; i < len(lines) && !fence(lines[i], "---", "..."); i++ {
		m := unquoted.FindStringSubmatch(strings.TrimRight(lines[i], " \t\r\n"))
		if m == nil || !needsQuotes(m[2]) {
			continue
		}
		end := lines[i][len(strings.TrimRight(lines[i], "\r\n")):]
		lines[i] = m[1] + " '" + strings.ReplaceAll(m[2], "'", "''") + "'" + end
		if first == 0 {
			first = i + 1
		}
	}
	return strings.Join(lines, ""), first
}

func needsQuotes(value string) bool {
	return strings.Contains(value, ": ") || strings.HasSuffix(value, ":") || strings.ContainsRune("@`%", rune(value[0]))
}
