// Package page cuts sorted lists into pages with opaque tokens.
//
// A token says after which key the next page begins and for which request it
// was made; a token that is damaged, or that belongs to another request, is
// PAGE_TOKEN_INVALID. It is not an authorisation: whoever holds it must be
// allowed to list all the same.
package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"sort"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

const (
	// DefaultSize is the page size of a request that asks for none.
	DefaultSize = 50
	// MaxSize caps every page.
	MaxSize = 1000
)

// A token is version, hash of the arguments, last key, checksum.
const (
	version  = 1
	hashLen  = 8
	sumLen   = 4
	minToken = 1 + hashLen + sumLen
)

var encoding = base64.RawURLEncoding.Strict()

// Size returns how many items a page_size means: DefaultSize for none (and for
// a negative one, which validation refuses before), at most MaxSize.
func Size(size int32) int {
	if size <= 0 {
		return DefaultSize
	}
	return min(int(size), MaxSize)
}

// Slice returns the page of items that comes after token, and the token of the
// page after it, empty at the end. items must be sorted ascending by key and
// keys must differ; items inserted or deleted between two calls neither repeat
// nor hide others. args are the request's other arguments that choose the
// items, such as the project: a token holds for the same ones only. The page
// shares its array with items.
func Slice[T any](items []T, key func(T) string, size int32, token string, args ...string) ([]T, string, error) {
	start := 0
	if token != "" {
		after, err := Decode(token, args...)
		if err != nil {
			return nil, "", err
		}
		start = sort.Search(len(items), func(i int) bool { return key(items[i]) > after })
	}
	end := min(start+Size(size), len(items))
	if end == len(items) {
		return items[start:end], "", nil
	}
	return items[start:end], Encode(key(items[end-1]), args...), nil
}

// Encode makes the token of the page that begins after lastKey. It is about
// 4/3 of the key plus 18 bytes long.
func Encode(lastKey string, args ...string) string {
	raw := make([]byte, 0, minToken+len(lastKey))
	raw = append(raw, version)
	raw = append(raw, hash(args)...)
	raw = append(raw, lastKey...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return encoding.EncodeToString(raw)
}

// Decode returns the key a token made with the same args holds, or
// PAGE_TOKEN_INVALID.
func Decode(token string, args ...string) (string, error) {
	raw, err := encoding.DecodeString(token)
	// The decoder skips line breaks; a token has one spelling only.
	if err != nil || len(raw) < minToken || raw[0] != version || strings.ContainsAny(token, "\r\n") {
		return "", invalid("is damaged or from another version")
	}
	body, sum := raw[:len(raw)-sumLen], raw[len(raw)-sumLen:]
	if binary.BigEndian.Uint32(sum) != crc32.ChecksumIEEE(body) {
		return "", invalid("is damaged")
	}
	if string(body[1:1+hashLen]) != string(hash(args)) {
		return "", invalid("belongs to another request")
	}
	return string(body[1+hashLen:]), nil
}

func invalid(why string) error {
	return fault.New(fault.PageTokenInvalid, nil,
		"the page token %s; list again without a page token", why)
}

// hash keeps ["ab", "c"] apart from ["a", "bc"] by writing lengths.
func hash(args []string) []byte {
	h := sha256.New()
	var n [8]byte
	for _, a := range args {
		binary.BigEndian.PutUint64(n[:], uint64(len(a)))
		h.Write(n[:])
		h.Write([]byte(a))
	}
	return h.Sum(nil)[:hashLen]
}
