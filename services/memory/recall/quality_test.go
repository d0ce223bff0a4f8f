package recall_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/idea-ide/ideai/services/memory/recall"
)

func TestQuality(t *testing.T) {
	for _, file := range []string{"clinique.txt", "harbour.txt"} {
		c := readCorpus(t, file)
		x := c.index()
		got := c.measure(x)
		for _, kind := range slices.Sorted(maps.Keys(got)) {
			m := got[kind]
			t.Logf("%s %s: n=%d hit1=%.1f hit5=%.1f mrr=%.3f", file, kind, m.asked, m.hit1, m.hit5, m.mrr)
			for _, q := range m.misses {
				t.Logf("  missed %q, want %v", q.text, q.answers)
				for _, h := range x.Search(recall.Query{Text: q.text, Limit: 5}) {
					t.Logf("      %.3f %s %v", h.Score, h.ID, h.Why)
				}
			}
		}
	}
}
