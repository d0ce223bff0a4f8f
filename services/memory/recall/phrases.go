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
	names := map[string]int{}
	for _, m := range found {
		weight, rarest := 0.0, 0.0
		for _, i := range m.span {
			w := &b.words[i]
			weight = max(weight, w.weight)
			if w.df > 0 && w.weight > 0 {
				rarest = max(rarest, w.idf)
			}
		}
		if weight == 0 && !b.phrase(m.ref).spoken {
			continue
		}
		if weight < 1 && (len(m.span) > 1 || weight == 0) {
			name := b.name(m.span)
			at, ok := names[name]
			if !ok {
				at = len(asked)
				names[name] = at
				asked = append(asked, unit{term: name, weight: phraseWeight})
			}
			asked[at].alts = append(asked[at].alts, b.standIns(m.ref, 0, m.scale)...)
			continue
		}
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
	for at := range asked {
		asked[at].idf = rarityWithout(b.x, asked[at].alts)
	}
	return slices.DeleteFunc(asked, func(u unit) bool { return len(u.alts) == 0 })
}

func (b *unitBuilder) name(span []int) string {
	var parts []string
	for _, i := range span {
		parts = append(parts, b.words[i].text)
	}
	return strings.Join(parts, " ")
}

// standIns returns the alternatives that a phrase's group offers and the notes
// have. limit, when above 0, is the most rarity they may have.
func (b *unitBuilder) standIns(ref glossRef, limit, scale float64) []alternative {
	var out []alternative
	group := b.x.glossary.groups[ref.group]
	own := group.phrases[ref.phrase]
	for j, p := range group.phrases {
		weight := weightBetween(own, p)
		if j == ref.phrase || weight == 0 || p.spoken {
			continue
		}
		a := alternative{kind: Glossary, weight: weight * scale}
		if len(p.words) == 1 {
			a.forms = b.x.vocab.stems[p.words[0]]
			if len(a.forms) == 0 {
				continue
			}
			a.idf = b.x.idf(b.x.frequency(a.forms))
		} else {
			if !b.conjunction(&a, p) {
				continue
			}
		}
		if limit > 0 {
			a.idf = min(a.idf, limit)
		}
		out = append(out, a)
	}
	return out
}

// conjunction makes a meet all words of p within one field.
func (b *unitBuilder) conjunction(a *alternative, p glossPhrase) bool {
	for _, key := range p.words {
		class := b.x.vocab.stems[key]
		if len(class) == 0 {
			return false
		}
		a.all = append(a.all, class)
	}
	a.idf = b.rarest(a.all)
	return true
}
