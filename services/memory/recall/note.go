package recall

// Note is what the index needs to know of a note.
type Note struct {
	// ID names the note; it is searched as its name.
	ID string
	// Description is the one line that says what the note answers.
	Description string
	// Type is the kind of knowledge, such as "project" or "feedback".
	Type string
	// Body is the Markdown below the front matter.
	Body string
}

// Query is a question to the index.
type Query struct {
	// Text is the question or task in plain words, in any language. Its first
	// 16 KiB count.
	Text string
	// Hints are words that lean the order without asking: they never bring a
	// note in, unless Text is empty, when they are the question.
	Hints []string
	// Limit is the most hits to return; 0 or less means 5.
	Limit int
	// Explained is how many of the hits come with reasons, which take a while
	// to find; 0 means all, less than 0 none.
	Explained int
}

// Hit is a note that answers a query.
type Hit struct {
	// ID names the note.
	ID string
	// Score says how well the note answers, above 0 and at most 1. Scores are
	// comparable within one answer only.
	Score float64
	// Why has the strongest reasons first, at most eight, and is empty only for
	// hits that the query did not want explained.
	Why []Reason
}

// Reason is one reason why a note was found.
type Reason struct {
	// Kind is the kind of reason.
	Kind ReasonKind
	// Term is the word of the query, or the note that links here.
	Term string
	// Matched is the word that the note has; empty for a link.
	Matched string
	// Field is where: FieldName, FieldDescription, FieldHeading, FieldBody or
	// FieldType; empty for a link.
	Field string
}

// ReasonKind names the kinds of reasons.
type ReasonKind int

// The kinds of reasons.
const (
	// Term: the note has a word of the query, or one of the same stem.
	Term ReasonKind = iota + 1
	// Glossary: the note has it in the other language, or a word near it.
	Glossary
	// Link: a note that matches links to it.
	Link
	// Hint: the note has a word of the hints.
	Hint
)

// Names of the fields, as reasons give them.
const (
	FieldName        = "name"
	FieldDescription = "description"
	FieldHeading     = "heading"
	FieldBody        = "body"
	FieldType        = "type"
)

// field numbers a field inside the index.
type field int

const (
	inName field = iota
	inDescription
	inHeading
	inBody
	inType
	fieldCount
)

var fieldNames = [fieldCount]string{FieldName, FieldDescription, FieldHeading, FieldBody, FieldType}
