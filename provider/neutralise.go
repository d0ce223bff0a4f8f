package provider

import (
	"regexp"
	"slices"
	"strings"
)

// Neutraliser names something that a CLI does to a convention file and that a
// text must be guarded against.
type Neutraliser string

// The neutralisers.
const (
	// AtImports: the CLI replaces @path by the file's content.
	AtImports Neutraliser = "at_imports"
	// HTMLComments: the CLI strips comments that begin a line.
	HTMLComments Neutraliser = "html_comments"
)

var neutralisers = []Neutraliser{AtImports, HTMLComments}

var (
	atImport    = regexp.MustCompile(`(^|\s)@(\S)`)
	lineComment = regexp.MustCompile(`(?m)^( {0,3})<!--`)
	fenceLine   = regexp.MustCompile("^[ \t>]*(?:(?:[-*+]|\\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})")
)

// Neutralise guards a Markdown text by backslashes that Markdown drops when it
// is shown. Code is left as it is, because no CLI touches it there. Doing it
// twice changes nothing more.
func Neutralise(markdown string, what []Neutraliser) string {
	if len(what) == 0 {
		return markdown
	}
	var out, prose strings.Builder
	out.Grow(len(markdown) + len(markdown)/64)
	flush := func() {
		out.WriteString(guardProse(prose.String(), what))
		prose.Reset()
	}
	fence := ""
	for line := range strings.Lines(markdown) {
		m := fenceOf(line)
		switch {
		case fence != "":
			out.WriteString(line)
			if m != nil && strings.HasPrefix(m[1], fence) && closesFence(line, m[1]) {
				fence = ""
			}
		case m != nil && opensFence(line, m[1]):
			flush()
			out.WriteString(line)
			fence = m[1]
		case strings.TrimSpace(line) == "":
			prose.WriteString(line)
			flush()
		default:
			prose.WriteString(line)
		}
	}
	flush()
	return out.String()
}

// fenceOf returns the match of a line that may open or close a fence, nil for
// others.
func fenceOf(line string) []string {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return nil // before the pattern is tried, which is slow
	}
	return fenceLine.FindStringSubmatch(line)
}

// opensFence: what follows a fence of backticks holds no backtick.
func opensFence(line, fence string) bool {
	_, info, _ := strings.Cut(line, fence)
	return fence[0] == '~' || !strings.Contains(info, "`")
}

// closesFence: nothing follows a closing fence.
func closesFence(line, fence string) bool {
	_, after, _ := strings.Cut(line, fence)
	return strings.TrimSpace(after) == ""
}

// guardProse guards one paragraph outside its code spans.
func guardProse(paragraph string, what []Neutraliser) string {
	if slices.Contains(what, HTMLComments) && strings.Contains(paragraph, "<!--") {
		paragraph = lineComment.ReplaceAllString(paragraph, `${1}\<!--`)
	}
	if !slices.Contains(what, AtImports) || !strings.Contains(paragraph, "@") {
		return paragraph
	}
	var out strings.Builder
	last := 0
	spans := codeSpans(paragraph)
	for _, m := range atImport.FindAllStringSubmatchIndex(paragraph, -1) {
		at := m[4] - 1
		if inSpan(spans, at) {
			continue
		}
		out.WriteString(paragraph[last:at])
		out.WriteByte('\\')
		last = at
	}
	out.WriteString(paragraph[last:])
	return out.String()
}

// codeSpans returns the byte ranges of a paragraph's code spans: from a run of
// backticks to the next run of the same length.
func codeSpans(paragraph string) [][2]int {
	var runs [][2]int
	for i := 0; i < len(paragraph); {
		if paragraph[i] != '`' {
			i++
			continue
		}
		start := i
		for i < len(paragraph) && paragraph[i] == '`' {
			i++
		}
		runs = append(runs, [2]int{start, i})
	}
	var spans [][2]int
	for i := 0; i < len(runs); i++ {
		open := runs[i]
		if open[0] > 0 && paragraph[open[0]-1] == '\\' {
			open[0]++ // the first backtick is escaped
			if open[0] == open[1] {
				continue
			}
		}
		for j := i + 1; j < len(runs); j++ {
			if runs[j][1]-runs[j][0] == open[1]-open[0] {
				spans = append(spans, [2]int{open[0], runs[j][1]})
				i = j
				break
			}
		}
	}
	return spans
}

func inSpan(spans [][2]int, at int) bool {
	return slices.ContainsFunc(spans, func(s [2]int) bool { return s[0] <= at && at < s[1] })
}
