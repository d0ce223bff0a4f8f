package memorysvc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/safetext"
	"github.com/idea-ide/ideai/internal/store"
)

const byteOrderMark = "\uFEFF"

// maxMessage bounds what is said of a problem, in bytes.
const maxMessage = 1024

// parseNote reads the file of a note. It always returns a note: what is wrong
// with the file is in its problems.
func parseNote(doc store.Doc) *Note {
	stem, _ := stemOf(doc.Key)
	id, wellNamed := idOf(stem)
	n := &Note{ID: id, Etag: string(doc.Version), Updated: doc.ModTime, Size: len(doc.Data)}
	if !wellNamed {
		n.exclude(ProblemNameMismatch, 0, "the file's name %q cannot name a note; rename the file", safetext.Escape(path.Base(doc.Key)))
	}
	if note, ok := original(doc.Key); ok {
		n.Description = "version of " + safetext.Escape(note)
		n.exclude(ProblemConflict, 0, "this is a version of %s, kept when two wrote it at the same time; take over what is missing there, then delete this file", safetext.Escape(note))
		return n
	}
	switch {
	case doc.Err != nil:
		n.unreadable(doc.Err)
	case len(doc.Data) > MaxFile:
		n.exclude(ProblemTooLarge, 0, "the file has %d bytes and a note at most %d; split it in two", len(doc.Data), MaxFile)
	case !utf8.Valid(doc.Data) || bytes.IndexByte(doc.Data, 0) >= 0:
		n.exclude(ProblemBinary, 0, "the file is not UTF-8 text; save it as UTF-8, or move it out of the notes")
	default:
		n.readText(doc.Data, stem)
	}
	return n
}

func (n *Note) exclude(kind ProblemKind, line int, format string, args ...any) {
	n.Problems = append(n.Problems, Problem{Kind: kind, Line: line, Message: message(format, args), Excluded: true})
}

func (n *Note) warn(kind ProblemKind, line int, format string, args ...any) {
	n.Problems = append(n.Problems, Problem{Kind: kind, Line: line, Message: message(format, args)})
}

func message(format string, args []any) string { return clip(fmt.Sprintf(format, args...), maxMessage) }

// unreadable turns what the store says of a file it cannot give into a problem.
func (n *Note) unreadable(err error) {
	f, isFault := fault.As(err)
	switch {
	case errors.Is(err, store.ErrTooLarge):
		n.exclude(ProblemTooLarge, 0, "the file is larger than %d bytes; split it in two", MaxFile)
	case isFault && f.Reason == fault.OutsideProject:
		n.exclude(ProblemOutsideProject, 0, "the file is a link out of the project, to %s; put the file itself here", f.Meta["target"])
	case isFault:
		n.exclude(ProblemUnreadable, 0, "the file cannot be read: %s", f.Msg)
	default:
		n.exclude(ProblemUnreadable, 0, "the file cannot be read; check its permissions")
	}
}

// readText reads the text of a file, and what a person may have left in it.
func (n *Note) readText(src []byte, stem string) {
	text := strings.TrimPrefix(string(src), byteOrderMark)
	if line := conflictLine(text); line > 0 {
		n.exclude(ProblemConflict, line, "a merge was left unfinished here; resolve it (indent the line if it is meant as text)")
	}
	if at, r, found := safetext.Hidden(text); found {
		n.exclude(ProblemHiddenText, lineAt(text, at), "an invisible or text-reordering character, %U, stands here; delete it", r)
	} else if _, r, found := safetext.Hidden(stem); found {
		n.exclude(ProblemHiddenText, 0, "the file's name holds the invisible character %U; rename the file", r)
	}
	if strings.TrimSpace(text) == "" {
		n.exclude(ProblemFrontMatter, 0, "the file is empty; write the note, or delete the file")
		return
	}
	doc, mended, err := frontmatter.Mend(src)
	if err != nil {
		line, msg := placeOf(err)
		n.exclude(ProblemFrontMatter, line, "the front matter cannot be read: %s; mend this line", msg)
		n.Body = toLF(text)
		return
	}
	if mended > 0 {
		n.warn(ProblemFrontMatter, mended, "the value on this line needs quotes to be YAML; it was read as plain text, and the next save adds them")
	}
	n.readDoc(doc, text)
}

// placeOf takes what is wrong with front matter apart.
func placeOf(err error) (line int, msg string) {
	var at *frontmatter.Error
	if errors.As(err, &at) {
		return at.Line, at.Msg
	}
	return 1, err.Error()
}

func (n *Note) readDoc(doc *frontmatter.Doc, text string) {
	nameLine, bodyLine := doc.Line("name"), 1+strings.Count(text, "\n")-strings.Count(doc.Body(), "\n")
	doc, doubled := flatten(doc)
	if doubled {
		n.warn(ProblemDoubledFrontMatter, bodyLine, "the front matter stands twice; the next save leaves one")
	}
	if name, ok := doc.String("name"); ok && CanonicalID(name) != n.ID {
		n.warn(ProblemNameMismatch, nameLine, "the name %q is not the file's; the next save changes it to %q", clip(safetext.Escape(name), 128), n.ID)
	}
	n.Description, n.Type, n.Body = descriptionOf(doc), typeOf(doc), doc.Body()
	if n.Description == "" {
		n.Description = cmp.Or(summary(n.Body), n.ID)
		n.warn(ProblemNoDescription, 0, "the note has no description; add one line that says what it answers")
	}
}

// descriptionOf returns the description as one line, clipped to its limit.
func descriptionOf(doc *frontmatter.Doc) string {
	s, _ := doc.String("description")
	return clip(oneLine(s), MaxDescription)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func typeOf(doc *frontmatter.Doc) string {
	s, ok := doc.String("metadata", "type")
	if !ok {
		s, _ = doc.String("type")
	}
	return clip(strings.TrimSpace(s), MaxType)
}

// conflictLine returns the first line that git left for an unfinished merge, 0
// without one. A line of ======= alone underlines a heading and is none.
func conflictLine(text string) int {
	line := 0
	for l := range strings.Lines(text) {
		line++
		for _, mark := range []string{"<<<<<<<", ">>>>>>>", "|||||||"} {
			if rest, ok := strings.CutPrefix(l, mark); ok && (strings.TrimRight(rest, "\r\n") == "" || rest[0] == ' ') {
				return line
			}
		}
	}
	return 0
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// clip cuts s to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
