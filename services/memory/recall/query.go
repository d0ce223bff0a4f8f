package recall

import (
	"math"
	"slices"
)

// Bounds of what a query may cost.
const (
	maxQueryBytes = 16 << 10
	maxUnits      = 40
)

// Weights of the ways in which a word of a query meets a form of the notes.
const (
	exactWeight     = 1.0
	stemWeight      = 0.95
	crossWeight     = 0.6 // the stem of the other language
	joinedWeight    = 0.9
	splitWeight     = 0.7
	familyWeight    = 0.4
	compoundWeight  = 0.5
	phraseWeight    = 0.6  // of a unit made of words without weight of their own
	insidePhrase    = 0.6  // of what stands for a word when a phrase stands for more
	distantWeight   = 0.75 // of a form that only shares a stem with a word of the glossary
	slackScale      = 0.85 // of a phrase with another word in it
	unknownFactor   = 0.7  // of a word that neither the notes nor the glossary know
	elsewhereFactor = 2.5  // of such a word that speaks of something else
)

// typoWeights is what a misspelling counts, by the number of wrong letters.
var typoWeights = [3]float64{0, 0.5, 0.4}

// unit is what one word of the query asks for.
type unit struct {
	term   string
	weight float64 // how much it counts, 0 to 1
	idf    float64 // rarity of the word, or of what stands for it
	alts   []alternative
	// elsewhere marks a word of everyday life that the notes do not have.
	elsewhere bool
}

// alternative is one way to meet a unit: any of forms, or all of the classes
// in all within one field.
type alternative struct {
	kind   ReasonKind
	weight float64 // 0 to 1
	idf    float64 // its own rarity, at most that of the word it stands for
	forms  []uint32
	all    [][]uint32
}

// word is a word of the query in its place.
type word struct {
	text     string
	en, fr   string    // stem keys
	keys     [2]string // those to look up in the glossary
	weight   float64
	literal  []uint32 // the forms that are the word or share a stem with it
	cross    []uint32 // those that share a stem of the language it is not of
	df       int
	idf      float64
	glossary []alternative
	phrased  bool // part of a phrase of several words
}

// clip cuts a text to n bytes at a rune's border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// reading is a text cut into words, before any note is looked at.
type reading struct {
	words    []word
	wholes   []string // compounds, each once
	language language
}

// read cuts a question into words. It needs no lock.
func (g *glossary) read(text string) reading {
	var r reading
	text = builtinWords().talk.ReplaceAllString(clip(text, maxQueryBytes), "$1;$2")
	known := map[string]int{} // word to its first place
	new(tokenizer).run(text, func(tok token) {
		if tok.whole {
			if !slices.Contains(r.wholes, tok.text) {
				r.wholes = append(r.wholes, tok.text)
			}
			return
		}
		w := word{text: tok.text}
		if at, ok := known[tok.text]; ok {
			w.en, w.fr = r.words[at].en, r.words[at].fr
		} else {
			known[tok.text] = len(r.words)
			w.en, w.fr = englishStem(tok.text), frenchStem(tok.text)
		}
		r.words = append(r.words, w)
	})
	r.language = guessLanguage(r.words)
	for i := range r.words {
		w := &r.words[i]
		w.keys = g.keys(w, r.language)
		w.weight = wordWeight(w.text, r.language)
	}
	return r
}

// units turns a question into what is searched. The caller holds the lock.
func (x *Index) units(r reading) []unit {
	words := slices.Clone(r.words)
	for i := range words {
		w := &words[i]
		x.literal(w, r.language)
		w.df = x.frequency(w.literal)
		w.idf = x.idf(w.df)
	}
	b := unitBuilder{x: x, words: words}
	b.expand()
	b.compounds(r.wholes)
	return b.finish()
}

// literal finds the forms that are the word or share a stem with it.
func (x *Index) literal(w *word, lang language) {
	if id, ok := x.vocab.byKey[w.text]; ok {
		w.literal = append(w.literal, id)
	}
	en, fr := x.vocab.stems[w.en], x.vocab.stems[w.fr]
	switch lang {
	case englishLanguage:
		w.literal, w.cross = append(w.literal, en...), fr
	case frenchLanguage:
		w.literal, w.cross = append(w.literal, fr...), en
	default:
		w.literal = append(append(w.literal, en...), fr...)
	}
	slices.Sort(w.literal)
	w.literal = slices.Compact(w.literal)
	w.cross = slices.DeleteFunc(slices.Clone(w.cross), func(id uint32) bool {
		_, found := slices.BinarySearch(w.literal, id)
		return found
	})
}

// frequency returns how many notes have one of forms, at most; forms of one
// note are counted twice rather than looked up.
func (x *Index) frequency(forms []uint32) int {
	n := 0
	for _, id := range forms {
		n += len(x.vocab.forms[id].postings)
	}
	return min(n, len(x.byID))
}

// idf is the rarity of what df notes have. A hundred notes that do not have it
// are always imagined, so that few notes do not make every word common.
func (x *Index) idf(df int) float64 {
	n := float64(len(x.byID) + 100)
	return math.Log(1 + (n-float64(df)+0.5)/(float64(df)+0.5))
}
