package memorysvc

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a note, in bytes.
const (
	MaxFile        = 384 << 10 // a note's whole file
	MaxDescription = 1024
	MaxType        = 64
	MaxID          = 120
	PartBytes      = 8 << 10 // one part of ReadNote
)

// Place is where notes live: a worktree of a project, the main checkout when
// Worktree is empty.
type Place struct {
	Project, Worktree string
}

// Note is one note as its file says. It is immutable once returned.
type Note struct {
	ID          string
	Description string // one line; taken from the body, or the id, when the file has none
	Type        string // project, user, feedback, reference or what the file says
	Body        string // Markdown, LF line ends; empty when the file is not text
	Etag        string
	Updated     time.Time // zero where the store does not know
	Size        int       // of the file, in bytes
	Problems    []Problem
	Source      *string // the file as it is; nil in lists and for what is no text
}

// Excluded reports whether a problem keeps the note from being used.
func (n *Note) Excluded() bool { return n.blocker() != nil }

// blocker returns the first problem that excludes the note, nil when none does.
func (n *Note) blocker() *Problem {
	for i := range n.Problems {
		if n.Problems[i].Excluded {
			return &n.Problems[i]
		}
	}
	return nil
}

// Problem is one thing wrong with a note's file.
type Problem struct {
	Kind     ProblemKind
	Line     int    // of the file, from 1; 0 is the whole file
	Message  string // one sentence for people, with what to do
	Excluded bool   // the note is not used until it is mended
}

// ProblemKind names what can be wrong with a note's file.
type ProblemKind uint8

// The kinds, in the order of the proto enum.
const (
	ProblemFrontMatter ProblemKind = iota + 1
	ProblemConflict
	ProblemBinary
	ProblemTooLarge
	ProblemHiddenText
	ProblemNameMismatch
	ProblemDuplicateID
	ProblemDoubledFrontMatter
	ProblemOutsideProject
	ProblemUnreadable
	ProblemNoDescription
)

// CanonicalID returns the id of a file's stem or of a name a person typed:
// letter case and the two ways to write an accent make no difference.
func CanonicalID(stem string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(stem)))
}

// idRule is what ValidID asks, for people.
const idRule = "cannot name a note: 1 to 120 bytes, no '/' or '\\', no control characters, no leading '.'"

// ValidID reports whether id can name a note: 1 to 120 bytes of UTF-8, no path
// separator, no control or format character, no leading dot.
func ValidID(id string) bool {
	if id == "" || len(id) > MaxID || id[0] == '.' || !utf8.ValidString(id) {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return r == '/' || r == '\\' || unicode.Is(unicode.C, r)
	})
}

// summary takes a description from a body: its first line of text, without
// Markdown's marks, clipped.
func summary(body string) string {
	const most = 160
	for line := range strings.Lines(body) {
		line = oneLine(strings.Trim(line, "#>*_-= \t\r\n"))
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > most {
			line = string([]rune(line)[:most-1]) + "…"
		}
		return line
	}
	return ""
}
