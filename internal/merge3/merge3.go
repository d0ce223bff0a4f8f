// Package merge3 merges two edits of one text, line by line.
package merge3

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Merge joins the changes that mine and theirs made to base. Changes of
// different lines are joined, equal changes are taken once; ok is false when
// both changed the same lines in different ways, and the text is then empty.
// Two insertions at one place are such a conflict unless they are equal.
func Merge(base, mine, theirs string) (merged string, ok bool) {
	switch {
	case mine == theirs || theirs == base:
		return mine, true
	case mine == base:
		return theirs, true
	}
	b, m, t := lines(base), lines(mine), lines(theirs)
	inMine, inTheirs := matches(b, m), matches(b, t)
	var out strings.Builder
	i, j, k := 0, 0, 0
	for {
		// Copy what all three have in common.
		for i < len(b) && inMine[i] == j && inTheirs[i] == k {
			out.WriteString(b[i])
			i, j, k = i+1, j+1, k+1
		}
		// Find where they meet again; between lies one changed piece.
		e := i
		for e < len(b) && (inMine[e] < 0 || inTheirs[e] < 0) {
			e++
		}
		je, ke := len(m), len(t)
		if e < len(b) {
			je, ke = inMine[e], inTheirs[e]
		}
		was, my, their := join(b[i:e]), join(m[j:je]), join(t[k:ke])
		switch {
		case my == their || their == was:
			out.WriteString(my)
		case my == was:
			out.WriteString(their)
		default:
			return "", false
		}
		i, j, k = e, je, ke
		if i == len(b) {
			return out.String(), true
		}
	}
}

// lines cuts a text after each line feed.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func join(l []string) string { return strings.Join(l, "") }

// matches says for each line of a which line of b it is, -1 for none.
func matches(a, b []string) []int {
	symbols := map[string]rune{}
	ra, rb := encode(a, symbols), encode(b, symbols)
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = time.Second // beyond it the diff is coarser, still right
	out := make([]int, len(a))
	i, j := 0, 0
	for _, d := range dmp.DiffMainRunes(ra, rb, false) {
		n := utf8.RuneCountInString(d.Text)
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			for range n {
				out[i] = j
				i, j = i+1, j+1
			}
		case diffmatchpatch.DiffDelete:
			for range n {
				out[i] = -1
				i++
			}
		case diffmatchpatch.DiffInsert:
			j += n
		}
	}
	return out
}

// encode writes each distinct line as one rune, passing over those that UTF-8
// cannot carry.
func encode(l []string, symbols map[string]rune) []rune {
	out := make([]rune, len(l))
	for i, s := range l {
		r, known := symbols[s]
		if !known {
			r = rune(len(symbols) + 1)
			if r >= 0xD800 {
				r += 0xE000 - 0xD800
			}
			symbols[s] = r
		}
		out[i] = r
	}
	return out
}
