package page_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/page"
)

func self(s string) string { return s }

func TestSize(t *testing.T) {
	for _, c := range []struct {
		in   int32
		want int
	}{{0, 50}, {-1, 50}, {1, 1}, {50, 50}, {1000, 1000}, {1001, 1000}, {1 << 30, 1000}} {
		if got := page.Size(c.in); got != c.want {
			t.Errorf("Size(%d) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestSliceEmpty(t *testing.T) {
	items, next, err := page.Slice(nil, self, 10, "")
	if len(items) != 0 || next != "" || err != nil {
		t.Fatalf("got %v, %q, %v", items, next, err)
	}
}

// The last page says so even when it is exactly full.
func TestSliceExactEnd(t *testing.T) {
	items, next, err := page.Slice([]string{"a", "b"}, self, 2, "")
	if len(items) != 2 || next != "" || err != nil {
		t.Fatalf("got %v, %q, %v", items, next, err)
	}
}

func TestPagesCoverEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfDistinct(rapid.String(), self).Draw(t, "items")
		slices.Sort(items)
		size := rapid.Int32Range(1, 7).Draw(t, "size")
		args := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "args")
		var got []string
		for token := ""; ; {
			part, next, err := page.Slice(items, self, size, token, args...)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, part...)
			if next == "" {
				break
			}
			if len(part) != int(size) {
				t.Fatalf("a page before the last has %d items, want %d", len(part), size)
			}
			token = next
		}
		if !slices.Equal(got, items) {
			t.Fatalf("got %q, want %q", got, items)
		}
	})
}

// Items that stay are seen exactly once while others come and go.
func TestPagesUnderChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stay := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-m][0-9]{3}`), 1, 20, self).Draw(t, "stay")
		var got []string
		for token := ""; ; {
			extra := rapid.SliceOfDistinct(rapid.StringMatching(`[a-m][a-z]{3}`), self).Draw(t, "extra")
			items := slices.Concat(stay, extra)
			slices.Sort(items)
			part, next, err := page.Slice(items, self, 3, token)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, part...)
			if next == "" {
				break
			}
			token = next
		}
		for _, want := range stay {
			n := 0
			for _, g := range got {
				if g == want {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("%q was listed %d times", want, n)
			}
		}
	})
}

func TestTokenRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.String().Draw(t, "key")
		args := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "args")
		token := page.Encode(key, args...)
		if strings.ContainsAny(token, "+/=") {
			t.Fatalf("%q is not base64url", token)
		}
		got, err := page.Decode(token, args...)
		if err != nil || got != key {
			t.Fatalf("got %q, %v, want %q", got, err, key)
		}
		other := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "other")
		if !slices.Equal(args, other) {
			if _, err := page.Decode(token, other...); fault.ReasonOf(err) != fault.PageTokenInvalid {
				t.Fatalf("a token for %q holds for %q: %v", args, other, err)
			}
		}
	})
}

func TestArgumentBoundariesMatter(t *testing.T) {
	if _, err := page.Decode(page.Encode("k", "ab", "c"), "a", "bc"); fault.ReasonOf(err) != fault.PageTokenInvalid {
		t.Fatal(err)
	}
}

func TestDamagedTokens(t *testing.T) {
	token := page.Encode("note-7", "atelier")
	for i := range token {
		for _, r := range []byte("A_9") {
			if token[i] == r {
				continue
			}
			bad := token[:i] + string(r) + token[i+1:]
			if _, err := page.Decode(bad, "atelier"); fault.ReasonOf(err) != fault.PageTokenInvalid {
				t.Fatalf("%q passes: %v", bad, err)
			}
		}
		if _, err := page.Decode(token[:i], "atelier"); fault.ReasonOf(err) != fault.PageTokenInvalid {
			t.Fatalf("%q passes: %v", token[:i], err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("", "")
	f.Add(page.Encode("a"), "")
	f.Add(page.Encode("", "x"), "x")
	f.Add("!!!!", "x")
	f.Add(page.Encode("a", "x")+"\n", "x")
	f.Fuzz(func(t *testing.T, token, arg string) {
		key, err := page.Decode(token, arg)
		if err != nil {
			if fault.ReasonOf(err) != fault.PageTokenInvalid {
				t.Fatal(err)
			}
			return
		}
		if again := page.Encode(key, arg); again != token {
			t.Fatalf("%q and %q both mean %q", token, again, key)
		}
	})
}
