package recall_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/services/memory/recall"
)

// corpus is a set of notes and the questions they answer.
type corpus struct {
	notes   []recall.Note
	queries []question
}

// question is a query and the notes that answer it; none when there is no
// answer.
type question struct {
	kind, text string
	answers    []string
}

// quality is how well an index answers the questions of one kind.
type quality struct {
	asked           int
	hit1, hit5, mrr float64 // the first two in percent
	misses          []question
}

// readCorpus reads a file of testdata in the format its head describes.
func readCorpus(t testing.TB, file string) corpus {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var c corpus
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		switch {
		case strings.HasPrefix(line, "== "):
			c.notes = append(c.notes, recall.Note{ID: fields[0][3:], Type: fields[1], Description: fields[2]})
		case strings.HasPrefix(line, "? "):
			q := question{kind: fields[0][2:], text: fields[1]}
			for id := range strings.SplitSeq(fields[2], ",") {
				if id = strings.TrimSpace(id); id != "" {
					q.answers = append(q.answers, id)
				}
			}
			c.queries = append(c.queries, q)
		case len(c.notes) > 0:
			c.notes[len(c.notes)-1].Body += line
		}
	}
	return c
}

func (c corpus) index() *recall.Index {
	x := recall.NewIndex()
	x.PutAll(c.notes)
	return x
}

// measure asks every question and returns the quality by kind. A question
// without an answer is hit when nothing comes back.
func (c corpus) measure(x *recall.Index) map[string]*quality {
	out := map[string]*quality{}
	for _, q := range c.queries {
		m := out[q.kind]
		if m == nil {
			m = &quality{}
			out[q.kind] = m
		}
		m.asked++
		hits := x.Search(recall.Query{Text: q.text, Limit: 5})
		rank := slices.IndexFunc(hits, func(h recall.Hit) bool { return slices.Contains(q.answers, h.ID) })
		if len(q.answers) == 0 && len(hits) == 0 {
			rank = 0
		}
		if rank < 0 {
			m.misses = append(m.misses, q)
			continue
		}
		m.hit5++
		m.mrr += 1 / float64(rank+1)
		if rank == 0 {
			m.hit1++
		}
	}
	for _, m := range out {
		n := float64(m.asked)
		m.hit1, m.hit5, m.mrr = 100*m.hit1/n, 100*m.hit5/n, m.mrr/n
	}
	return out
}

// corpora returns every corpus by name.
func corpora(t testing.TB) map[string]corpus {
	return map[string]corpus{
		"clinique":  readCorpus(t, "clinique.txt"),
		"harbour":   readCorpus(t, "harbour.txt"),
		"generated": generated(),
	}
}
