package recall_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idea-ide/ideai/services/memory/recall"
)

const many = 10_000

var (
	manyNotes = sync.OnceValue(func() []recall.Note { return large(many) })
	manyIndex = sync.OnceValue(func() *recall.Index {
		x := recall.NewIndex()
		x.PutAll(manyNotes())
		return x
	})
)

// BenchmarkBuild indexes 10,000 notes of 200 words from nothing, and reports
// what the index holds beside the notes' own text.
func BenchmarkBuild(b *testing.B) {
	notes := manyNotes()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var x *recall.Index
	for b.Loop() {
		x = recall.NewIndex()
		x.PutAll(notes)
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
	runtime.KeepAlive(x)
}

// BenchmarkSearch asks 10,000 notes the paraphrases and French questions of
// the generated corpus and reports the median and the 99th percentile.
func BenchmarkSearch(b *testing.B) {
	x := manyIndex()
	queries := generated().queries
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		x.Search(recall.Query{Text: queries[i%len(queries)].text})
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkSearchLong asks with the longest text that counts, 16 KiB.
func BenchmarkSearchLong(b *testing.B) {
	x := manyIndex()
	var text strings.Builder
	for _, q := range generated().queries {
		text.WriteString(q.text + ". ")
	}
	for b.Loop() {
		x.Search(recall.Query{Text: text.String()})
	}
}

// BenchmarkPut replaces one of 10,000 notes.
func BenchmarkPut(b *testing.B) {
	x := recall.NewIndex()
	x.PutAll(manyNotes())
	for i := 0; b.Loop(); i++ {
		n := manyNotes()[i%many]
		n.Body = fmt.Sprintf("Changed %d times.\n\n%s", i, manyNotes()[(i*7+1)%many].Body)
		x.Put(n)
	}
}

// BenchmarkExcerpt takes 120 tokens, at four bytes each, out of a long note.
func BenchmarkExcerpt(b *testing.B) {
	x := manyIndex()
	count := func(s string) int { return (len(s) + 3) / 4 }
	for b.Loop() {
		x.Excerpt("note-00042", recall.Query{Text: "who may edit or delete"}, 120, count)
	}
}

// BenchmarkQuality reports how well the questions of each corpus are answered.
// A search is what takes time in it; the figures do not depend on the machine.
func BenchmarkQuality(b *testing.B) {
	for name, c := range corpora(b) {
		x := c.index()
		for kind := range c.measure(x) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				only := corpus{notes: c.notes}
				for _, q := range c.queries {
					if q.kind == kind {
						only.queries = append(only.queries, q)
					}
				}
				var m *quality
				for b.Loop() {
					m = only.measure(x)[kind]
				}
				b.ReportMetric(m.hit1, "hit1-%")
				b.ReportMetric(m.hit5, "hit5-%")
				b.ReportMetric(m.mrr, "mrr")
			})
		}
	}
}
