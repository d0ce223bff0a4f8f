// Package safetext keeps what a person sees and what a model reads the same:
// it finds invisible characters, shows them, and fences text that comes from
// notes, agents or tools so that it cannot pose as instructions.
package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	zeroWidthJoiner   = '\u200D'
	textVariation     = '\uFE0E'
	emojiVariation    = '\uFE0F'
	combiningKeycap   = '\u20E3'
	lineSeparator     = '\u2028'
	paragraphSplit    = '\u2029'
	firstSkinTone     = '\U0001F3FB'
	lastSkinTone      = '\U0001F3FF'
	mongolianVowelSep = '\u180E'
)

// emojiOutsideSo are the characters that may begin an emoji although Unicode
// does not class them as other symbols.
const emojiOutsideSo = "‼⁉ℹ↔◽◾〰\u2640\u2642"

// Hidden returns the byte offset and value of the first character that nobody
// sees or that reorders what is seen: control characters other than tab and
// line ends, bidirectional controls, zero-width and other ignorable
// characters, the Unicode line separators, and invalid UTF-8 (reported as
// utf8.RuneError). No-break spaces are fine; the zero-width joiner and the
// variation selectors are fine inside an emoji and nowhere else.
func Hidden(s string) (offset int, r rune, found bool) {
	for p, c := range scan(s) {
		if c.hidden {
			return p, c.r, true
		}
	}
	return 0, 0, false
}

// Escape returns s with each hidden character shown as \u{202E}, and each byte
// of invalid UTF-8 as \x{FF}. What is visible stays as it is.
func Escape(s string) string {
	if _, _, found := Hidden(s); !found {
		return s
	}
	var b strings.Builder
	for p, c := range scan(s) {
		switch {
		case !c.hidden:
			b.WriteString(s[p : p+c.size])
		case c.r == utf8.RuneError && c.size == 1:
			fmt.Fprintf(&b, `\x{%02X}`, s[p])
		default:
			fmt.Fprintf(&b, `\u{%04X}`, c.r)
		}
	}
	return b.String()
}

type char struct {
	r      rune
	size   int
	hidden bool
}

// scan yields each character with its offset.
func scan(s string) func(yield func(int, char) bool) {
	return func(yield func(int, char) bool) {
		inEmoji := false // the character before belongs to an emoji
		for p := 0; p < len(s); {
			c := char{}
			c.r, c.size = utf8.DecodeRuneInString(s[p:])
			if c.r < utf8.RuneSelf {
				c.hidden = c.r < ' ' && c.r != '\t' && c.r != '\n' && c.r != '\r' || c.r == 0x7F
				inEmoji = false
			} else {
				c.hidden, inEmoji = judge(s[:p], c, s[p+c.size:], inEmoji)
			}
			if !yield(p, c) {
				return
			}
			p += c.size
		}
	}
}

// judge says whether the non-ASCII character c is hidden, and whether an emoji
// may go on after it.
func judge(before string, c char, after string, inEmoji bool) (hidden, emoji bool) {
	switch c.r {
	case utf8.RuneError:
		return c.size == 1, false
	case zeroWidthJoiner:
		next, _ := utf8.DecodeRuneInString(after)
		ok := inEmoji && beginsEmoji(next)
		return !ok, ok
	case emojiVariation, textVariation:
		ok := inEmoji && !endsWithSelector(before) || keycap(before, after)
		return !ok, ok
	}
	return invisible(c.r), beginsEmoji(c.r) || inEmoji && skinTone(c.r)
}

func beginsEmoji(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.Is(unicode.So, r) || strings.ContainsRune(emojiOutsideSo, r))
}

func skinTone(r rune) bool { return r >= firstSkinTone && r <= lastSkinTone }

func endsWithSelector(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r == emojiVariation || r == textVariation || r == zeroWidthJoiner
}

// keycap reports whether a variation selector between the two is that of a
// keycap such as 1️⃣.
func keycap(before, after string) bool {
	if before == "" || !strings.HasPrefix(after, string(combiningKeycap)) {
		return false
	}
	c := before[len(before)-1]
	return c >= '0' && c <= '9' || c == '#' || c == '*'
}

func invisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Cf, r):
		// Signs such as U+0600 precede Arabic numbers and are drawn.
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	case r == lineSeparator, r == paragraphSplit, r == mongolianVowelSep:
		return true
	case unicode.Is(unicode.Co, r):
		return false // icon fonts draw them
	}
	return unicode.Is(unicode.Cc, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
