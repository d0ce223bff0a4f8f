package recall

import (
	"cmp"
	"slices"
	"strings"
)

// unitBuilder collects the units of one query.
type unitBuilder struct {
	x     *Index
	words []word
	units []unit
}

// expand makes a unit of every word that has weight, with its alternatives,
// and of the phrases that have weight as a whole.
func (b *unitBuilder) expand() {
	all := make([]int, len(b.words))
	var content []int // words that are not noise
	for i, w := range b.words {
		all[i] = i
		if !noise(w.text) {
			content = append(content, i)
		}
	}
	asked := b.apply(append(b.match(all, true), b.match(content, false)...))
	for at, i := range content {
		w := &b.words[i]
		if w.weight == 0 {
			continue
		}
		u := unit{term: w.text, weight: w.weight, idf: w.idf}
		b.literals(&u, w)
		b.cross(&u, w)
		if at+1 < len(content) {
			b.joined(&u, w, w.text+b.words[content[at+1]].text)
		}
		if at > 0 {
			b.joined(&u, w, b.words[content[at-1]].text+w.text)
		}
		u.alts = append(u.alts, w.glossary...)
		b.family(&u, w)
		if w.df == 0 {
			b.unknown(&u, w)
		}
		b.units = append(b.units, u)
	}
	b.units = append(b.units, asked...)
}

// unknown completes the unit of a word that no note has.
func (b *unitBuilder) unknown(u *unit, w *word) {
	b.split(u, w)
	foreign := elsewhere(w.text)
	if len(u.alts) == 0 && !foreign {
		b.typos(u, w)
	}
	u.idf = rarityWithout(b.x, u.alts)
	if len(u.alts) == 0 && foreign {
		u.idf *= elsewhereFactor
		u.elsewhere = true
	}
}

// rarityWithout is the rarity of a word that no note has: that of its rarest
// alternative, or somewhat less than that of an unknown word.
func rarityWithout(x *Index, alts []alternative) float64 {
	if len(alts) == 0 {
		return unknownFactor * x.idf(0)
	}
	rarest := 0.0
	for _, a := range alts {
		rarest = max(rarest, a.idf)
	}
	return rarest
}

func (b *unitBuilder) literals(u *unit, w *word) {
	rest := make([]uint32, 0, len(w.literal))
	for _, id := range w.literal {
		if b.x.vocab.forms[id].text == w.text {
			u.alts = append(u.alts, alternative{kind: Term, weight: exactWeight, idf: w.idf, forms: []uint32{id}})
		} else {
			rest = append(rest, id)
		}
	}
	if len(rest) > 0 {
		u.alts = append(u.alts, alternative{kind: Term, weight: stemWeight, idf: w.idf, forms: rest})
	}
}

// cross adds forms of one stem in the language that the word is not of.
func (b *unitBuilder) cross(u *unit, w *word) {
	if len(w.cross) > 0 {
		u.alts = append(u.alts, alternative{kind: Term, weight: crossWeight, idf: b.capped(w, b.x.frequency(w.cross)), forms: w.cross})
	}
}

// capped is the rarity of an alternative, never above that of the word.
func (b *unitBuilder) capped(w *word, df int) float64 {
	if w.df > 0 {
		return min(b.x.idf(df), w.idf)
	}
	return b.x.idf(df)
}

// joined adds the form that two neighbours make: "time out" meets "timeout".
func (b *unitBuilder) joined(u *unit, w *word, text string) {
	if id, ok := b.x.vocab.byKey[text]; ok {
		forms := []uint32{id}
		u.alts = append(u.alts, alternative{kind: Term, weight: joinedWeight, idf: b.capped(w, b.x.frequency(forms)), forms: forms})
	}
}

// split adds two forms that make the word: "healthcheck" meets "health check".
func (b *unitBuilder) split(u *unit, w *word) {
	for cut := 3; cut <= len(w.text)-3; cut++ {
		head, ok := b.x.vocab.byKey[w.text[:cut]]
		if !ok {
			continue
		}
		tail, ok := b.x.vocab.byKey[w.text[cut:]]
		if !ok {
			continue
		}
		all := [][]uint32{{head}, {tail}}
		u.alts = append(u.alts, alternative{kind: Term, weight: splitWeight, idf: b.rarest(all), all: all})
	}
}

func (b *unitBuilder) rarest(classes [][]uint32) float64 {
	rarest := 0.0
	for _, forms := range classes {
		rarest = max(rarest, b.x.idf(b.x.frequency(forms)))
	}
	return rarest
}

// family adds forms that begin as the word does: "config", "configuration".
func (b *unitBuilder) family(u *unit, w *word) {
	if len(w.text) < 5 || !stemmable(w.text) {
		return
	}
	var forms []uint32
	for _, id := range b.x.vocab.edges["<"+w.text[:3]] {
		text := b.x.vocab.forms[id].text
		if len(text) >= 5 && text != w.text && related(w.text, text) && !slices.Contains(w.literal, id) {
			forms = append(forms, id)
		}
	}
	if len(forms) > 0 {
		u.alts = append(u.alts, alternative{kind: Term, weight: familyWeight, idf: b.capped(w, b.x.frequency(forms)), forms: forms})
	}
}

// related reports whether one word goes on where the other ends, by at most
// seven letters.
func related(a, b string) bool {
	return len(a)-len(b) <= 7 && len(b)-len(a) <= 7 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// typos adds forms that the word may be a misspelling of: the first letter is
// right and one letter is wrong, or two in a word of eight letters or more.
func (b *unitBuilder) typos(u *unit, w *word) {
	if len(w.text) < 5 || !stemmable(w.text) {
		return
	}
	allowed := 1
	if len(w.text) >= 8 {
		allowed = 2
	}
	var near [3][]uint32
	for _, key := range edgesOf(w.text) {
		for _, id := range b.x.vocab.edges[key] {
			text := b.x.vocab.forms[id].text
			if len(text) < 5 || text[0] != w.text[0] {
				continue
			}
			if d := edits(w.text, text, allowed); d <= allowed {
				near[d] = append(near[d], id)
			}
		}
	}
	for d, forms := range near {
		if len(forms) > 0 {
			slices.Sort(forms)
			forms = slices.Compact(forms)
			u.alts = append(u.alts, alternative{kind: Term, weight: typoWeights[d], idf: b.x.idf(b.x.frequency(forms)), forms: forms})
			return
		}
	}
}

// edits counts the insertions, deletions, changes and exchanges of neighbours
// that turn a into b; more than most is most+1.
func edits(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	var rows [3][maxWord + 1]int
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		above, row, before := &rows[i%3], &rows[(i+1)%3], &rows[(i+2)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}

// compounds adds a unit for every compound of the query that the notes have.
func (b *unitBuilder) compounds(wholes []string) {
	for _, text := range wholes {
		id, ok := b.x.vocab.byKey[text]
		if !ok {
			continue
		}
		forms := []uint32{id}
		idf := b.x.idf(b.x.frequency(forms))
		b.units = append(b.units, unit{term: text, weight: compoundWeight, idf: idf, alts: []alternative{{kind: Term, weight: exactWeight, idf: idf, forms: forms}}})
	}
}

// finish merges repeated words and keeps what counts most, in query order.
func (b *unitBuilder) finish() []unit {
	seen := map[string]bool{}
	units := slices.DeleteFunc(b.units, func(u unit) bool {
		key := englishStem(u.term)
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
	if len(units) > maxUnits {
		heavy := slices.Clone(units)
		slices.SortStableFunc(heavy, func(a, b unit) int { return cmp.Compare(b.weight*b.idf, a.weight*a.idf) })
		least := heavy[maxUnits-1].weight * heavy[maxUnits-1].idf
		units = slices.DeleteFunc(units, func(u unit) bool { return u.weight*u.idf < least })
		units = units[:min(len(units), maxUnits)]
	}
	return units
}
