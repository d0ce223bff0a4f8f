package tokens

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Counting line by line must cost no precision: the sum is what the vocabulary
// says of the whole.
func TestLinesCountAsTheWhole(t *testing.T) {
	part := rapid.SampledFrom([]string{"\n", "\r\n", " ", "\t", "/", "//", "a", "the", "règle", "12345", "###", "- ", "**", "😀", "\u00a0", "\u2028",
		"`x`", "don't", "src/a.go", "<data from=\"n\">", ".", ")", "é", "日本", "\v", "\x85", "\xff"})
	c := NewCounter()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
		if got, want := c.Count(text), count(text); got != want {
			t.Fatalf("%q counts %d by lines, %d as a whole", text, got, want)
		}
	})
}

func TestKnownLinesAreNotCountedAgain(t *testing.T) {
	c := NewCounter()
	c.Count("# Rules\nNever guess.\n")
	c.Count("Never guess.\n# Rules\n")
	if len(c.young) != 2 {
		t.Errorf("%d counts are remembered, want those of 2 lines", len(c.young))
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
