package memorysvc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idea-ide/ideai/internal/store/storefile"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

const manyNotes = 10_000

var (
	subjects = strings.Fields(`invoice payment booking calendar customer bicycle brake wheel stock supplier order price
		discount receipt refund schedule mechanic workshop report backup login session cache queue search index export import
		migration deployment certificate printer label barcode email reminder signature tax rounding currency language`)
	facts = strings.Fields(`retry timeout limit format convention owner decision trap rule storage encoding version order
		naming test fixture rollout alert threshold permission policy`)
	filler = strings.Fields(`the a of and to in is that it was for on are with as at be this have from or by but some what
		there we can out other were all your when up use how each which do their time if will about then them these`)
)

// writer makes texts whose words are as unevenly frequent as those of people.
type writer struct {
	*rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newWriter(seed uint64) *writer {
	r := rand.New(rand.NewPCG(seed, 2))
	w := &writer{Rand: r, zipf: rand.NewZipf(r, 1.1, 20, 7999), words: slices.Concat(subjects, facts)}
	naming := rand.New(rand.NewPCG(7, 7))
	for len(w.words) < 8000 {
		word := ""
		for range 2 + naming.IntN(3) {
			word += string("bcdfglmnprstv"[naming.IntN(13)]) + string("aeiou"[naming.IntN(5)])
		}
		w.words = append(w.words, word)
	}
	return w
}

func (w *writer) word() string { return w.words[w.zipf.Uint64()] }

func (w *writer) of(list []string) string { return list[w.IntN(len(list))] }

// corpus writes notes of about 200 words.
func corpus(b *testing.B, n int, write func(name, text string)) {
	b.Helper()
	w := newWriter(1)
	for i := range n {
		subject, fact, about := w.of(subjects), w.of(facts), w.word()
		var body strings.Builder
		fmt.Fprintf(&body, "# %s %s\n\n", subject, fact)
		for range 14 {
			for range 7 {
				body.WriteString(w.of(filler) + " " + w.word() + " ")
			}
			fmt.Fprintf(&body, "%s.\n", about)
		}
		id := fmt.Sprintf("%s-%s-%d", subject, fact, i)
		write(id+".md", file(id, fmt.Sprintf("%s of the %s for %s", fact, subject, about), "project", body.String()))
	}
}

func questions() []memorysvc.Question {
	w := newWriter(3)
	var out []memorysvc.Question
	for range 100 {
		out = append(out, memorysvc.Question{
			Query: fmt.Sprintf("what is the %s of the %s when we %s the %s", w.of(facts), w.of(subjects), w.word(), w.word()),
			Hints: []string{w.of(subjects), "workshop"}, IndexTokens: 600,
		})
	}
	return out
}

// BenchmarkRecall10k recalls 100 different questions over 10,000 notes; p50
// and p99 are of one call. A launch also has hints and asks for an index of
// further notes; the hints of an agent are the same each time, those of
// "new hints" are not.
func BenchmarkRecall10k(b *testing.B) {
	f := open(b, nil)
	corpus(b, manyNotes, f.write)
	for name, change := range map[string]func(*memorysvc.Question){
		"question":  func(q *memorysvc.Question) { q.Hints, q.IndexTokens = nil, 0 },
		"launch":    func(*memorysvc.Question) {},
		"no task":   func(q *memorysvc.Question) { q.Query = "" },
		"new hints": func(*memorysvc.Question) {},
	} {
		b.Run(name, func(b *testing.B) {
			asked := questions()
			for i := range asked {
				change(&asked[i])
				f.ask(asked[i])
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				q := asked[i%len(asked)]
				if name == "new hints" {
					q.Hints = append(slices.Clone(q.Hints), fmt.Sprintf("branch-%d", i))
				}
				start := time.Now()
				f.ask(q)
				took = append(took, time.Since(start))
			}
			report(b, took)
		})
	}
}

// BenchmarkSaveToSearchable10k changes one of 10,000 notes in files and finds
// the change, fsync included.
func BenchmarkSaveToSearchable10k(b *testing.B) {
	tree := b.TempDir()
	corpus(b, manyNotes, func(name, text string) { put(b, tree, name, text) })
	s := onFiles(b, tree)
	ctx := b.Context()
	n, err := s.SaveNote(ctx, here, memorysvc.Draft{ID: "probe", Description: "probe", Body: "start"})
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		word := fmt.Sprintf("zyx%dq", i)
		start := time.Now()
		n, err = s.SaveNote(ctx, here, memorysvc.Draft{ID: "probe", Description: word, Body: "about " + word, Etag: n.Etag})
		if err != nil {
			b.Fatal(err)
		}
		a, err := s.RecallNotes(ctx, here, memorysvc.Question{Query: word})
		if err != nil || len(a.Notes) != 1 || a.Notes[0].ID != "probe" {
			b.Fatalf("recalled %v, %v", ids(a.Notes), err)
		}
		took = append(took, time.Since(start))
	}
	report(b, took)
}

// BenchmarkColdOpen10k loads 10,000 files and answers the first question.
func BenchmarkColdOpen10k(b *testing.B) {
	tree := b.TempDir()
	corpus(b, manyNotes, func(name, text string) { put(b, tree, name, text) })
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		stores := storefile.NewOpener("memory", func(context.Context, string, string) (string, error) { return tree, nil })
		s, err := memorysvc.New(memorysvc.Config{}, memorysvc.Deps{Stores: stores})
		if err != nil {
			b.Fatal(err)
		}
		a, err := s.RecallNotes(b.Context(), here, memorysvc.Question{Query: "invoice rounding rule"})
		if err != nil || len(a.Notes) == 0 {
			b.Fatalf("%v, %v", a.Notes, err)
		}
		took = append(took, time.Since(start))
		b.StopTimer()
		ctx, stop := context.WithCancel(b.Context())
		stop()
		_ = s.Run(ctx)
		_ = stores.Close()
		b.StartTimer()
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
