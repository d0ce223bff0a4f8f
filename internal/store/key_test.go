package store_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/store"
)

func TestCheckKey(t *testing.T) {
	for _, key := range []string{
		"a", "a/b", "memory/note.md", "with space", "été", ".hidden", "...", "a..b", "日本/語",
		strings.Repeat("x", store.MaxSegment), strings.Repeat("123456789/", 89) + "1234567890",
	} {
		if err := store.CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", `a\b`, "a\x00", "a\n", "a\x7f", "\u009f", "\xff",
		strings.Repeat("x", store.MaxSegment+1), strings.Repeat("123456789/", 90) + "1",
	} {
		if err := store.CheckKey(key); !errors.Is(err, store.ErrBadKey) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := store.CheckPrefix(""); err != nil {
		t.Error(err)
	}
	if err := store.CheckPrefix("a/"); !errors.Is(err, store.ErrBadKey) {
		t.Error(err)
	}
}

func TestBelow(t *testing.T) {
	for _, tt := range []struct {
		key, prefix string
		want        bool
	}{
		{"a", "", true}, {"a", "a", true}, {"a/b", "a", true}, {"ab", "a", false}, {"a", "a/b", false}, {"b/a", "a", false},
	} {
		if got := store.Below(tt.key, tt.prefix); got != tt.want {
			t.Errorf("Below(%q, %q) = %v", tt.key, tt.prefix, got)
		}
	}
}

func TestEncodeKey(t *testing.T) {
	for key, want := range map[string]string{
		"memory/note.md": "memory.note=2Emd", "a b": "a=20b", "é": "=C3=A9", "=41": "=3D41", "..a": "=2E=2Ea", "A_-9": "A_-9",
	} {
		if got := store.EncodeKey(key); got != want {
			t.Errorf("EncodeKey(%q) = %q, want %q", key, got, want)
		}
	}
	for _, encoded := range []string{"", ".", "a.", ".a", "a..b", "=4", "=", "=4G", "=c3=a9", "=41", "a b", "a/b", "é", "=FF", "=00", "=2E"} {
		if key, err := store.DecodeKey(encoded); !errors.Is(err, store.ErrBadKey) {
			t.Errorf("DecodeKey(%q) = %q, %v", encoded, key, err)
		}
	}
}

var alphabet = regexp.MustCompile(`^[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]+)*$`)

// keyOf draws keys, most of them valid.
func keyOf() *rapid.Generator[string] {
	segment := rapid.OneOf(rapid.StringMatching(`[a-z0-9 ._=-]{1,8}`), rapid.StringN(1, 20, 60))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segment, 1, 5).Draw(t, "segments"), "/")
	})
}

func TestKeyCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := keyOf().Draw(t, "a"), keyOf().Draw(t, "b")
		if store.CheckKey(a) != nil || store.CheckKey(b) != nil {
			t.Skip("not valid")
		}
		encoded := store.EncodeKey(a)
		if !alphabet.MatchString(encoded) || len(encoded) > 3*len(a) {
			t.Fatalf("EncodeKey(%q) = %q", a, encoded)
		}
		if back, err := store.DecodeKey(encoded); err != nil || back != a {
			t.Fatalf("%q became %q by way of %q: %v", a, back, encoded, err)
		}
		if (a == b) != (encoded == store.EncodeKey(b)) {
			t.Fatalf("%q and %q are both %q", a, b, encoded)
		}
		below := store.EncodeKey(b) == encoded || strings.HasPrefix(store.EncodeKey(b), encoded+".")
		if below != store.Below(b, a) {
			t.Fatalf("%q below %q: %v in keys, %v encoded", b, a, store.Below(b, a), below)
		}
	})
}

func FuzzDecodeKey(f *testing.F) {
	for _, s := range []string{"memory.note=2Emd", "a", "=C3=A9", "=41", "..", "=2E=2E", "a.=5C"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		key, err := store.DecodeKey(encoded)
		if err != nil {
			if !errors.Is(err, store.ErrBadKey) {
				t.Fatal(err)
			}
			return
		}
		if err := store.CheckKey(key); err != nil {
			t.Fatal(err)
		}
		if again := store.EncodeKey(key); again != encoded {
			t.Fatalf("%q decodes to %q, which encodes to %q", encoded, key, again)
		}
	})
}

func FuzzCheckKey(f *testing.F) {
	for _, s := range []string{"memory/note.md", "../a", "a//b", "a\x00", "\xff", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if store.CheckKey(key) != nil {
			return
		}
		if back, err := store.DecodeKey(store.EncodeKey(key)); err != nil || back != key {
			t.Fatalf("%q became %q: %v", key, back, err)
		}
	})
}
