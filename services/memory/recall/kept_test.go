package recall

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestKept(t *testing.T) {
	k := kept[int]{most: 3}
	made := 0
	of := func(text string) int { return k.of(text, func() int { made++; return made }) }
	if a, b := of("a"), of("a"); a != 1 || b != 1 {
		t.Errorf("made %d, then %d", a, b)
	}
	k.forget()
	if again := of("a"); again != 2 {
		t.Errorf("forgotten, and still %d", again)
	}
	for i := range 10 {
		of(strconv.Itoa(i))
		if len(k.items) > 3 {
			t.Fatalf("%d are kept, want at most 3", len(k.items))
		}
	}
	long := strings.Repeat("x", maxKeptText+1)
	if first, second := of(long), of(long); first == second {
		t.Error("the result for a long text is kept")
	}
}

// TestPlainWordsAreCutLikeAnyOther compares the short way with the long one.
func TestPlainWordsAreCutLikeAnyOther(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("abzAZéÉœßǅλΛж日本ก\u0301")), 1, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		s := letters.Draw(t, "word")
		if !plainWord(s) {
			t.Skip("not a plain word")
		}
		cut := func(by func(*tokenizer, string)) (out []token) {
			by(&tokenizer{emit: func(tok token) { out = append(out, tok) }}, s)
			return out
		}
		if diff := cmp.Diff(cut((*tokenizer).segment), cut((*tokenizer).chunk), cmp.AllowUnexported(token{})); diff != "" {
			t.Errorf("%q (-long +short):\n%s", s, diff)
		}
	})
}
