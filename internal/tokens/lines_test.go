package tokens

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Counting by lines and words must cost no precision: the sum is what the vocabulary
// says of the whole.
func TestLinesAndWordsCountAsTheWhole(t *testing.T) {
	part := rapid.SampledFrom([]string{"\n", "\r\n", " ", " ", "  ", " a", " 1", " (", "'s", "'LL", "A", "\u0301", "\t", "/", "//", "a", "the", "règle", "12345", "###", "- ", "**", "😀", "\u00a0", "\u2028",
		"`x`", "don't", "src/a.go", "<data from=\"n\">", ".", ")", "é", "日本", "\v", "\x85", "\xff"})
	c := NewCounter()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
		if got, want := c.Count(text), count(text); got != want {
			t.Fatalf("%q counts %d by parts, %d as a whole", text, got, want)
		}
	})
}

func TestKnownLinesAreNotCountedAgain(t *testing.T) {
	c := NewCounter()
	c.Count("# Rules\nNever guess.\n")
	c.Count("Never guess.\n# Rules\n")
	if len(c.lines.young) != 2 {
		t.Errorf("%d counts are remembered, want those of 2 lines", len(c.lines.young))
	}
}

func BenchmarkCountKnownLines(b *testing.B) {
	c := NewCounter()
	line := "The stub answers on port 8080, and nothing else does.\n"
	text := strings.Repeat(line, 100)
	for b.Loop() {
		c.Count(text)
	}
	b.SetBytes(int64(len(text)))
}

// Lines that nobody wrote before, of words that everybody uses.
func BenchmarkCountNewLines(b *testing.B) {
	c := NewCounter()
	text := ""
	for i := 0; b.Loop(); i++ {
		text = fmt.Sprintf("The stub answers number %d on port 8080, and nothing else does (see `pkg.Do`).\n", i)
		c.Count(text)
	}
	b.SetBytes(int64(len(text)))
}
