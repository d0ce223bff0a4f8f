package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word that is indexed, in bytes; what is longer is
// data, not language.
const maxWord = 64

// token is one indexable form found in a text.
type token struct {
	// text is lower case without accents.
	text string
	// whole marks a compound whose parts are tokens of their own, at the same
	// and the following positions.
	whole bool
	// pos counts the words before it.
	pos int
	// parts is the number of words of a whole.
	parts int
}

// tokenizer cuts a text into tokens. The zero value is ready; one goroutine
// uses it at a time.
type tokenizer struct {
	emit  func(token)
	pos   int
	buf   []byte
	parts []string
}

// run cuts text and returns how many words it had.
func (t *tokenizer) run(text string, emit func(token)) int {
	t.emit, t.pos = emit, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isWordRune(r) {
			i += size
			continue
		}
		end := i + size
		for end < len(text) {
			r, size = utf8.DecodeRuneInString(text[end:])
			if !isWordRune(r) && !joins(text, end, r, size) {
				break
			}
			end += size
		}
		if end == i+1 { // C++ and C#
			for end < len(text) && (text[end] == '+' || text[end] == '#') && end < i+3 {
				end++
			}
		}
		t.chunk(text[i:end])
		i = end
	}
	return t.pos
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// joins reports whether r, at text[at:], ties the word before it to one after.
func joins(text string, at int, r rune, size int) bool {
	switch r {
	case '_', '-', '.', '/', '\\', '\'', '’', '\u2010', '\u2011':
		next, _ := utf8.DecodeRuneInString(text[at+size:])
		return isWordRune(next)
	}
	return false
}

// chunk emits what one run of letters and joiners holds.
func (t *tokenizer) chunk(s string) {
	if plainWord(s) {
		t.word(s)
		return
	}
	s = dropApostrophes(s)
	segments := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	start := t.pos
	for _, segment := range segments {
		t.segment(segment)
	}
	if len(segments) > 2 || len(segments) == 2 && strings.Contains(s, ".") {
		t.whole(strings.Join(segments, "/"), start)
	}
}

// plainWord reports whether s is letters only, none but the first in upper case.
func plainWord(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if (c < 'a' || c > 'z') && (i > 0 || c < 'A' || c > 'Z') {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && i > 0 {
			return false
		}
		i += size
	}
	return true
}

// segment emits a word, a dotted name or a compound, with its parts.
func (t *tokenizer) segment(s string) {
	if version(s) {
		t.word(s)
		return
	}
	start := t.pos
	names := strings.Split(s, ".")
	for _, name := range names {
		t.compound(name)
	}
	if len(names) > 1 {
		t.whole(s, start)
	}
}

// compound emits the parts of a camelCase, snake_case or kebab-case name.
func (t *tokenizer) compound(s string) {
	t.parts = t.parts[:0]
	for _, piece := range strings.FieldsFunc(s, func(r rune) bool {
		return r == '_' || r == '-' || r == '\'' || r == '’' || r == '\u2010' || r == '\u2011'
	}) {
		t.parts = splitCase(t.parts, piece)
	}
	start := t.pos
	for _, part := range t.parts {
		t.word(part)
	}
	if len(t.parts) > 1 {
		t.whole(s, start)
	} else if len(t.parts) == 1 {
		t.digits(t.parts[0], start)
	}
}

// digits emits the letters and the digits of a word such as "arm64".
func (t *tokenizer) digits(s string, start int) {
	cut := strings.IndexFunc(s, unicode.IsDigit)
	if cut < 0 {
		return
	}
	head, tail := s[:cut], s[cut:]
	if cut == 0 {
		if cut = strings.IndexFunc(s, unicode.IsLetter); cut < 0 {
			return
		}
		head, tail = s[:cut], s[cut:]
	}
	for _, piece := range []string{head, tail} {
		if len(piece) > 2 {
			t.emitForm(piece, token{whole: true, pos: start, parts: 1})
		}
	}
}

// word emits a word and moves on.
func (t *tokenizer) word(s string) {
	pos := t.pos
	if utf8.RuneCountInString(s) < 2 && !ideographic(s) {
		return
	}
	t.pos++
	if ideographic(s) {
		t.bigrams(s, pos)
		return
	}
	t.emitForm(s, token{pos: pos, parts: 1})
}

func (t *tokenizer) whole(s string, start int) {
	if n := t.pos - start; n > 1 {
		t.emitForm(s, token{whole: true, pos: start, parts: n})
	}
}

func (t *tokenizer) emitForm(s string, tok token) {
	if len(s) > 2*maxWord {
		return
	}
	tok.text = t.fold(s, tok.whole)
	if tok.text != "" && len(tok.text) <= maxWord {
		t.emit(tok)
	}
}

// bigrams emits the pairs of a run of a script that has no spaces.
func (t *tokenizer) bigrams(s string, pos int) {
	runes := []rune(s)
	for i := range runes {
		if i+1 < len(runes) {
			t.emitForm(string(runes[i:i+2]), token{pos: pos, parts: 1})
		} else if len(runes) == 1 {
			t.emitForm(s, token{pos: pos, parts: 1})
		}
	}
}

func ideographic(s string) bool {
	for _, r := range s {
		return r > 0x2E7F && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}
	return false
}

// version reports whether s is digits and dots, possibly after a "v".
func version(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "v"), "V")
	dots := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '.' {
			dots++
		} else if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return dots > 0
}

// splitCase appends the parts of a camelCase name: "HTTPServer" gives HTTP and
// Server.
func splitCase(parts []string, s string) []string {
	start := 0
	var before rune
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(next) && i+utf8.RuneLen(r) < len(s) && !plural(s[i:]) {
				parts = append(parts, s[start:i])
				start = i
			}
		}
		before = r
	}
	return append(parts, s[start:])
}

// plural reports whether s is the end of a plural such as "URLs".
func plural(s string) bool { return len(s) == 2 && s[1] == 's' }

var elisions = map[string]bool{
	"l": true, "d": true, "j": true, "n": true, "s": true, "c": true, "m": true, "t": true, "qu": true,
	"jusqu": true, "lorsqu": true, "puisqu": true, "quoiqu": true, "presqu": true,
}

// dropApostrophes removes French elisions and English contractions.
func dropApostrophes(s string) string {
	for {
		at := strings.IndexAny(s, "'’")
		if at < 0 {
			return s
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		head, tail := s[:at], s[at+size:]
		switch {
		case elisions[strings.ToLower(head)] && len(tail) > 1:
			s = tail
		case strings.EqualFold(tail, "s") || strings.EqualFold(tail, "t") && strings.HasSuffix(strings.ToLower(head), "n"):
			return head
		default:
			return s
		}
	}
}
