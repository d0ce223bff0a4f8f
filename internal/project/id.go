package project

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const maxID = 63

// MainWorktree is the id of a project's main checkout.
const MainWorktree = "main"

// ValidID reports whether s may be a project's or worktree's id: 1 to 63 of
// a-z, 0-9, '.', '_' and '-', beginning and ending with a letter or a digit,
// without "..".
func ValidID(s string) bool {
	if s == "" || len(s) > maxID || strings.Contains(s, "..") {
		return false
	}
	for i := range len(s) {
		edge := i == 0 || i == len(s)-1
		if c := s[i]; !alphanumeric(c) && (edge || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// ligatures are letters that Unicode does not decompose into ASCII.
var ligatures = strings.NewReplacer("œ", "oe", "æ", "ae", "ß", "ss", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// Slug turns the name of a folder into a valid id, or "" when it has no letter
// or digit that an id can hold: accents are folded, everything else that is
// not allowed becomes one dash.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(ligatures.Replace(strings.ToLower(name))) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r < 0x80 && (alphanumeric(byte(r)) || r == '_'):
			b.WriteRune(r)
		case r == '.':
			if !strings.HasSuffix(b.String(), ".") {
				b.WriteRune(r)
			}
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return trim(b.String(), maxID)
}

func trim(s string, limit int) string {
	s = strings.Trim(s, "._-")
	if len(s) > limit {
		s = strings.TrimRight(s[:limit], "._-")
	}
	return s
}

// numbered returns base for n = 1, else base with a suffix that counts.
func numbered(base string, n int) string {
	if n == 1 {
		return base
	}
	suffix := "-" + strconv.Itoa(n)
	return trim(base, maxID-len(suffix)) + suffix
}

// marked returns base with a suffix that depends on name alone, so that it
// stays when other names come and go.
func marked(base, name string) string {
	sum := sha256.Sum256([]byte(name))
	suffix := hex.EncodeToString(sum[:3])
	if base = trim(base, maxID-len(suffix)-1); base == "" {
		return suffix
	}
	return base + "-" + suffix
}
