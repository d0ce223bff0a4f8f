package merge3

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, base, mine, theirs, want string
		conflict                       bool
	}{
		{name: "nobody changed", base: "a\n", mine: "a\n", theirs: "a\n", want: "a\n"},
		{name: "only mine", base: "a\nb\n", mine: "a\nB\n", theirs: "a\nb\n", want: "a\nB\n"},
		{name: "only theirs", base: "a\nb\n", mine: "a\nb\n", theirs: "A\nb\n", want: "A\nb\n"},
		{name: "different lines", base: "a\nb\nc\n", mine: "A\nb\nc\n", theirs: "a\nb\nC\n", want: "A\nb\nC\n"},
		{name: "equal changes", base: "a\n", mine: "b\n", theirs: "b\n", want: "b\n"},
		{name: "equal and other changes", base: "a\nb\nc\nd\n", mine: "A\nb\nc\nD\n", theirs: "A\nb\nc\nd\n", want: "A\nb\nc\nD\n"},
		{name: "same line", base: "a\n", mine: "b\n", theirs: "c\n", conflict: true},
		{name: "insertions at one place", base: "a\nb\n", mine: "a\nx\nb\n", theirs: "a\ny\nb\n", conflict: true},
		{name: "delete against change", base: "a\nb\nc\n", mine: "a\nc\n", theirs: "a\nB\nc\n", conflict: true},
		{name: "insert at the end, change at the start", base: "a\nb\nc", mine: "a\nb\nc\nd", theirs: "A\nb\nc", conflict: false, want: "A\nb\nc\nd"},
		{name: "from nothing", base: "", mine: "a\n", theirs: "b\n", conflict: true},
	} {
		got, ok := Merge(c.base, c.mine, c.theirs)
		if ok == c.conflict || got != c.want {
			t.Errorf("%s: got %q, %v", c.name, got, ok)
		}
	}
}

func TestManyDistinctLines(t *testing.T) {
	var b strings.Builder
	for i := range 70000 { // more than there are runes below the surrogates
		fmt.Fprintf(&b, "line %d\n", i)
	}
	base := b.String()
	mine := strings.Replace(base, "line 10\n", "mine\n", 1)
	theirs := strings.Replace(base, "line 69990\n", "theirs\n", 1)
	got, ok := Merge(base, mine, theirs)
	want := strings.Replace(mine, "line 69990\n", "theirs\n", 1)
	if !ok || got != want {
		t.Errorf("merged: %v, equal: %v", ok, got == want)
	}
}

func text(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n"}), 0, 12).Draw(t, name), "")
}

// A merge is symmetric, keeps a lone edit as it is, and never loses a line
// that both sides have where base has it.
func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, mine, theirs := text(t, "base"), text(t, "mine"), text(t, "theirs")
		got, ok := Merge(base, mine, theirs)
		back, okBack := Merge(base, theirs, mine)
		if ok != okBack || got != back {
			t.Fatalf("not symmetric: %q %v, %q %v", got, ok, back, okBack)
		}
		if got, ok := Merge(base, mine, base); !ok || got != mine {
			t.Fatalf("a lone edit became %q, %v", got, ok)
		}
	})
}

// Edits of separate regions always merge to both edits.
func TestSeparateRegionsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head, tail := text(t, "head"), text(t, "tail")
		head2, tail2 := text(t, "head2"), text(t, "tail2")
		wall := "====\n====\n"
		got, ok := Merge(head+wall+tail, head2+wall+tail, head+wall+tail2)
		if !ok || got != head2+wall+tail2 {
			t.Fatalf("got %q, %v", got, ok)
		}
	})
}
