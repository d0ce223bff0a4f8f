package recall_test

import (
	"os"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/services/memory/recall"
)

// TestQuality holds what the questions of every corpus reach. The figures are
// the same on every machine; raise them when they grow.
func TestQuality(t *testing.T) {
	least := map[string]map[string][2]float64{ // hit@5 in percent, mean reciprocal rank
		"clinique":  {"keyword": {100, 1}, "french": {92, 0.86}, "english": {100, 0.98}, "none": {100, 1}},
		"harbour":   {"keyword": {100, 1}, "french": {100, 0.95}, "paraphrase": {94, 0.86}, "none": {100, 1}},
		"generated": {"keyword": {100, 1}, "french": {96, 0.85}, "paraphrase": {96, 0.85}},
	}
	for name, c := range corpora(t) {
		got := c.measure(c.index())
		if len(got) != len(least[name]) {
			t.Errorf("%s has %d kinds of questions, want %d", name, len(got), len(least[name]))
		}
		for kind, want := range least[name] {
			m := got[kind]
			t.Logf("%s %s: %d questions, hit@1 %.1f, hit@5 %.1f, MRR %.3f", name, kind, m.asked, m.hit1, m.hit5, m.mrr)
			if m.hit5 < want[0] || m.mrr < want[1] {
				t.Errorf("%s %s: hit@5 %.1f, MRR %.3f, want at least %v; missed %v", name, kind, m.hit5, m.mrr, want, m.misses)
			}
		}
	}
}

// TestOffTopicQuestionsHaveNoAnswer asks every corpus about cooking, sport and
// the weather, and greets it.
func TestOffTopicQuestionsHaveNoAnswer(t *testing.T) {
	data, err := os.ReadFile("testdata/offtopic.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range corpora(t) {
		x := c.index()
		asked, answered := 0, 0
		for text := range strings.Lines(string(data)) {
			if text = strings.TrimSpace(text); strings.HasPrefix(text, "#") {
				continue
			}
			asked++
			if hits := x.Search(recall.Query{Text: text}); len(hits) > 0 {
				answered++
				t.Logf("%s: %q finds %s, %.3f, by %v", name, text, hits[0].ID, hits[0].Score, hits[0].Why)
			}
		}
		if share := float64(answered) / float64(asked); share > 0.04 {
			t.Errorf("%s answers %d of %d questions that have nothing to do with it", name, answered, asked)
		}
	}
}

// TestLongTextsFromElsewhereHaveNoAnswer asks with whole paragraphs, which
// share many common words with any note.
func TestLongTextsFromElsewhereHaveNoAnswer(t *testing.T) {
	for name, c := range corpora(t) {
		x := c.index()
		for _, text := range []string{
			`Preheat the oven to 180 degrees. Mix the flour, the sugar and a pinch of salt in a large bowl, then add
			the soft butter and the eggs one at a time. Pour the batter into a buttered tin and put it in the middle
			of the oven for forty minutes. Let it cool on a rack before you cut it, and keep the rest in a closed box.`,
			`Le voyage commence à Lisbonne, où nous restons trois jours. Le matin nous visitons la tour de Belém,
			l'après-midi les vieux quartiers. Le soir, dîner de poissons grillés sur le port. Le quatrième jour nous
			prenons le train pour Porto. Pense à réserver l'hôtel à l'avance, et à prendre des chaussures confortables.`,
		} {
			if hits := x.Search(recall.Query{Text: text}); len(hits) > 0 {
				t.Errorf("%s: %.40q finds %v", name, text, hits[0])
			}
		}
	}
}
