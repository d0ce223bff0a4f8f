package store

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of keys, in bytes.
const (
	MaxSegment = 200
	MaxKey     = 900
)

// CheckKey returns nil for a valid key and an ErrBadKey that names the fault
// for others. A valid key is UTF-8 in non-empty segments joined by "/", none of
// them "." or "..", without backslash and control characters, within
// MaxSegment and MaxKey. Drivers may reserve names for themselves; they refuse
// those with ErrBadKey too.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: it is empty", ErrBadKey)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrBadKey, len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w %q: not UTF-8", ErrBadKey, key)
	}
	if i := strings.IndexFunc(key, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }); i >= 0 {
		return fmt.Errorf("%w %q: backslash or control character at byte %d", ErrBadKey, key, i)
	}
	for segment := range strings.SplitSeq(key, "/") {
		switch {
		case segment == "", segment == ".", segment == "..":
			return fmt.Errorf("%w %q: segment %q", ErrBadKey, key, segment)
		case len(segment) > MaxSegment:
			return fmt.Errorf("%w %q: a segment of %d bytes, at most %d", ErrBadKey, key, len(segment), MaxSegment)
		}
	}
	return nil
}

// CheckPrefix is CheckKey for what List and Watch take: "" is valid as well.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return CheckKey(prefix)
}

// Below reports whether key is prefix or lies below it, by whole segments.
func Below(key, prefix string) bool {
	return prefix == "" || key == prefix ||
		len(key) > len(prefix) && key[len(prefix)] == '/' && key[:len(prefix)] == prefix
}

// EncodeKey writes a valid key in the alphabet [A-Za-z0-9_=.-] for drivers
// whose own keys allow no more: segments are joined by ".", every other byte
// outside the alphabet becomes "=XX". A prefix of whole segments stays one, and
// no token is empty. The result is at most three times as long.
func EncodeKey(key string) string {
	var b strings.Builder
	b.Grow(len(key) + 8)
	for i := range len(key) {
		switch c := key[i]; {
		case c == '/':
			b.WriteByte('.')
		case plain(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// DecodeKey is the inverse of EncodeKey. It returns ErrBadKey for whatever
// EncodeKey does not write for a valid key.
func DecodeKey(encoded string) (string, error) {
	b := make([]byte, 0, len(encoded))
	for i := 0; i < len(encoded); i++ {
		switch c := encoded[i]; {
		case c == '.':
			b = append(b, '/')
		case c == '=' && i+2 < len(encoded):
			hi, lo := unhex(encoded[i+1]), unhex(encoded[i+2])
			if hi < 0 || lo < 0 {
				return "", fmt.Errorf("%w: encoding %q", ErrBadKey, encoded)
			}
			b = append(b, byte(hi<<4|lo))
			i += 2
		default:
			b = append(b, c)
		}
	}
	key := string(b)
	if err := CheckKey(key); err != nil {
		return "", err
	}
	if EncodeKey(key) != encoded {
		return "", fmt.Errorf("%w: encoding %q", ErrBadKey, encoded)
	}
	return key, nil
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
