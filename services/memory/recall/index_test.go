package recall_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/services/memory/recall"
)

var vocabularyOfTests = strings.Fields(`retry retries réessayer backoff délai timeout leak fuite mémoire index
	search recherche RecallNotes health-check v1.2 arm64 déploiement deploy release the les notes [[a]] [[b]] [[c]]
	configuration config configurer nuit night owner astreinte`)

// TestAnyHistoryGivesTheSameAnswers puts and deletes notes in any order, asking
// for what hints lean to in between, and compares with an index made of what is
// left.
func TestAnyHistoryGivesTheSameAnswers(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom(vocabularyOfTests), 1, 25)
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(words.Draw(t, "words"), " ") })
	id := rapid.SampledFrom(strings.Fields("a b c d e f g h"))
	rapid.Check(t, func(t *rapid.T) {
		lived := recall.NewIndex()
		left := map[string]recall.Note{}
		leaning := recall.Query{Hints: words.Draw(t, "leaning")}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			lived.Search(leaning)
			name := id.Draw(t, "id")
			if rapid.IntRange(0, 3).Draw(t, "action") == 0 {
				lived.Delete(name)
				delete(left, name)
				continue
			}
			n := recall.Note{ID: name, Description: text.Draw(t, "description"), Body: "# " + text.Draw(t, "heading") + "\n\n" + text.Draw(t, "body")}
			lived.Put(n)
			left[name] = n
		}
		fresh := recall.NewIndex()
		var notes []recall.Note
		for _, n := range left {
			notes = append(notes, n)
		}
		fresh.PutAll(notes)
		if lived.Len() != len(left) || fresh.Len() != len(left) {
			t.Fatalf("%d and %d notes, want %d", lived.Len(), fresh.Len(), len(left))
		}
		queries := []recall.Query{leaning}
		for range 4 {
			queries = append(queries, recall.Query{Text: text.Draw(t, "query"), Hints: words.Draw(t, "hints"), Limit: rapid.IntRange(0, 9).Draw(t, "limit")})
		}
		for _, q := range queries {
			if diff := cmp.Diff(fresh.Search(q), lived.Search(q)); diff != "" {
				t.Fatalf("%+v (-fresh +lived):\n%s", q, diff)
			}
		}
	})
}

func TestPutAllKeepsTheLaterOfTwo(t *testing.T) {
	x := recall.NewIndex()
	notes := large(300)
	notes = append(notes, recall.Note{ID: notes[3].ID, Body: "zanzibar"})
	x.PutAll(notes)
	if x.Len() != 300 {
		t.Errorf("%d notes, want 300", x.Len())
	}
	if got := ask(x, "zanzibar"); len(got) != 1 || got[0] != notes[3].ID {
		t.Errorf("Search = %v, want %s", got, notes[3].ID)
	}
	x.PutAll(nil)
}

// TestSearchWhileWriting looks for torn notes: every version of a note has one
// word in its description and its body, and a search by one must show both.
func TestSearchWhileWriting(t *testing.T) {
	x := recall.NewIndex()
	version := func(i int) recall.Note {
		word := []string{"giraffe", "pelican"}[i%2]
		return recall.Note{ID: fmt.Sprintf("n%d", i%17), Description: "about " + word, Body: "# " + word + "\n\ntext"}
	}
	for i := range 17 {
		x.Put(version(i))
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 2 {
		writers.Go(func() {
			for i := range 400 {
				if x.Put(version(i*3 + w)); i%9 == 0 {
					x.Delete(fmt.Sprintf("n%d", i%17))
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, h := range x.Search(recall.Query{Text: "giraffe", Limit: 20}) {
					if h.Why[0].Matched != "giraffe" || h.Why[0].Field != recall.FieldDescription {
						t.Errorf("torn hit %v", h)
					}
					x.Excerpt(h.ID, recall.Query{Text: "giraffe"}, 10, wordCount)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}
