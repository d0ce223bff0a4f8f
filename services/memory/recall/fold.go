package recall

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns s in lower case without accents, and without hyphens and
// underscores when it is a whole compound, so that every way of writing it is
// one form. Invalid bytes are dropped.
func (t *tokenizer) fold(s string, whole bool) string {
	changed, ascii := false, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
		changed = changed || c >= 'A' && c <= 'Z' || whole && (c == '-' || c == '_' || c == '\'')
	}
	if ascii && !changed {
		return s
	}
	t.buf = t.buf[:0]
	if ascii {
		for i := 0; i < len(s); i++ {
			t.lower(rune(s[i]), whole)
		}
		return string(t.buf)
	}
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r) || r == utf8.RuneError:
		case r == 'œ' || r == 'Œ':
			t.buf = append(t.buf, "oe"...)
		case r == 'æ' || r == 'Æ':
			t.buf = append(t.buf, "ae"...)
		case r == 'ß':
			t.buf = append(t.buf, "ss"...)
		default:
			t.lower(r, whole)
		}
	}
	return string(t.buf)
}

func (t *tokenizer) lower(r rune, whole bool) {
	switch {
	case whole && (r == '-' || r == '_' || r == '\'' || r == '’' || r == '\u2010' || r == '\u2011'):
	case r >= 'A' && r <= 'Z':
		t.buf = append(t.buf, byte(r)+'a'-'A')
	default:
		t.buf = utf8.AppendRune(t.buf, unicode.ToLower(r))
	}
}
