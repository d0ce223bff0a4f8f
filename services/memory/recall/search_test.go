package recall_test

import (
	"testing"

	"github.com/idea-ide/ideai/services/memory/recall"
)

func TestSearchFindsByWordStemAndTranslation(t *testing.T) {
	x := recall.NewIndex()
	x.Put(recall.Note{ID: "relances", Description: "Quand une tentative échoue", Body: "Attente exponentielle, puis abandon."})
	x.Put(recall.Note{ID: "palette", Description: "Colours of the interface", Body: "Blue for links."})
	for _, text := range []string{"tentatives", "retry", "échouer"} {
		hits := x.Search(recall.Query{Text: text})
		if len(hits) == 0 || hits[0].ID != "relances" || len(hits[0].Why) == 0 {
			t.Errorf("Search(%q) = %v, want relances with a reason", text, hits)
		}
	}
}
