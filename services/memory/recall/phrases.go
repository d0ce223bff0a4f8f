package recall

import (
	"slices"
	"strings"
)

// phraseMatch is a phrase of the glossary found in the query.
type phraseMatch struct {
	ref   glossRef
	span  []int // the words it covers
	scale float64
}

// match finds the phrases of the glossary in a sequence of words: those that
// are met word for word, or the others, by their words with meaning.
func (b *unitBuilder) match(sequence []int, spoken bool) []phraseMatch {
	table := b.x.glossary.content
	if spoken {
		table = b.x.glossary.full
	}
	var found []phraseMatch
	for at, i := range sequence {
		w := &b.words[i]
		for _, key := range w.keys {
			for _, ref := range table[key] {
				p := b.phrase(ref)
				pattern, slack := p.words, 1
				if spoken {
					pattern, slack = p.full, 0
				}
				if p.asks && len(pattern) == 1 && at > 1 {
					continue // "when" within a sentence does not ask for a date
				}
				if m, ok := b.follow(sequence[at:], pattern, slack); ok {
					m.ref = ref
					found = append(found, m)
				}
			}
		}
	}
	return found
}

func (b *unitBuilder) phrase(ref glossRef) *glossPhrase {
	return &b.x.glossary.groups[ref.group].phrases[ref.phrase]
}

// follow matches a pattern at the beginning of a sequence, in which slack
// other words may stand: "broken billing messages" is "broken messages".
func (b *unitBuilder) follow(sequence []int, pattern []string, slack int) (phraseMatch, bool) {
	m := phraseMatch{scale: 1}
	at := 0
	for _, key := range pattern {
		for {
			if at == len(sequence) {
				return m, false
			}
			w := &b.words[sequence[at]]
			at++
			if w.keys[0] == key || w.keys[1] == key {
				m.span = append(m.span, sequence[at-1])
				break
			}
			if slack == 0 || len(m.span) == 0 {
				return m, false
			}
			slack--
			m.scale *= slackScale
		}
	}
	return m, true
}

// apply gives the words what the matched phrases stand for, the longest
// phrases first. A phrase made of words without weight, such as "how long",
// becomes a unit of its own; those are returned.
func (b *unitBuilder) apply(found []phraseMatch) []unit {
	slices.SortStableFunc(found, func(a, b phraseMatch) int { return len(b.span) - len(a.span) })
	var asked []unit
	places := map[string]int{}
	for _, m := range found {
		weight, rarest := b.heaviest(m.span)
		switch {
		case weight == 0 && !b.phrase(m.ref).spoken:
		case weight == 0 || weight < 1 && len(m.span) > 1:
			name := b.name(m.span)
			at, ok := places[name]
			if !ok {
				at = len(asked)
				places[name] = at
				asked = append(asked, unit{term: name, weight: phraseWeight})
			}
			asked[at].alts = append(asked[at].alts, b.standIns(m.ref, 0, m.scale)...)
		default:
			b.share(m, rarest)
		}
	}
	for at := range asked {
		asked[at].idf = rarityWithout(b.x, asked[at].alts)
	}
	return slices.DeleteFunc(asked, func(u unit) bool { return len(u.alts) == 0 })
}

// heaviest returns the most weight of some words, and the most rarity of those
// that notes have; 0 when notes have none.
func (b *unitBuilder) heaviest(span []int) (weight, rarest float64) {
	for _, i := range span {
		w := &b.words[i]
		weight = max(weight, w.weight)
		if w.df > 0 && w.weight > 0 {
			rarest = max(rarest, w.idf)
		}
	}
	return weight, rarest
}

// share gives every word of a matched phrase what the phrase stands for.
func (b *unitBuilder) share(m phraseMatch, rarest float64) {
	for _, i := range m.span {
		w := &b.words[i]
		scale := m.scale
		if len(m.span) > 1 {
			w.phrased = true
		} else if w.phrased {
			scale *= insidePhrase
		}
		w.glossary = append(w.glossary, b.standIns(m.ref, rarest, scale)...)
	}
}

func (b *unitBuilder) name(span []int) string {
	var parts []string
	for _, i := range span {
		parts = append(parts, b.words[i].text)
	}
	return strings.Join(parts, " ")
}

// standIns returns the alternatives that a phrase's group offers and the notes
// have. None is rarer than all words of the group together, or a rare word
// near the question would count more than its plain translation; nor than
// limit, when that is above 0.
func (b *unitBuilder) standIns(ref glossRef, limit, scale float64) []alternative {
	var out []alternative
	group := b.x.glossary.groups[ref.group]
	own := group.phrases[ref.phrase]
	together := 0
	for j, p := range group.phrases {
		weight := weightBetween(own, p)
		if j == ref.phrase && !p.titled || weight == 0 || p.spoken && !p.titled {
			continue
		}
		a := alternative{kind: Glossary, weight: weight * scale}
		df, ok := b.meet(&a, p)
		if !ok {
			continue
		}
		if !p.related {
			together += df
		}
		a.idf = b.x.idf(df)
		out = append(out, b.distant(&a, p)...)
		out = append(out, a)
	}
	shared := b.x.idf(min(together, len(b.x.byID)))
	for i := range out {
		if out[i].weight < sameWeight*scale && together > 0 {
			out[i].idf = min(out[i].idf, shared)
		}
		if limit > 0 {
			out[i].idf = min(out[i].idf, limit)
		}
	}
	return out
}

// distant takes from a the forms that share no more than a stem with the word
// of p, and returns them as an alternative of less weight: "règlement" is a
// payment, "règle" is not.
func (b *unitBuilder) distant(a *alternative, p glossPhrase) []alternative {
	if len(a.all) > 0 {
		return nil
	}
	word := singular(p.forms[0])
	near := make([]uint32, 0, len(a.forms))
	far := *a
	far.weight *= distantWeight
	far.forms = nil
	for _, id := range a.forms {
		if singular(b.x.vocab.forms[id].text) == word {
			near = append(near, id)
		} else {
			far.forms = append(far.forms, id)
		}
	}
	a.forms = near
	if len(far.forms) == 0 {
		return nil
	}
	return []alternative{far}
}

func singular(word string) string { return strings.TrimRight(word, "sx") }

// meet makes a meet the words of p, all of them within one field, and returns
// how many notes have the rarest, at most.
func (b *unitBuilder) meet(a *alternative, p glossPhrase) (df int, ok bool) {
	df = len(b.x.byID)
	for _, key := range p.words {
		class := b.x.vocab.stems[key]
		if len(class) == 0 {
			return 0, false
		}
		df = min(df, b.x.frequency(class))
		a.all = append(a.all, class)
	}
	if len(a.all) == 1 {
		a.forms, a.all = a.all[0], nil
	}
	return df, true
}
