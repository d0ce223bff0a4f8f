package recall

import (
	"cmp"
	"slices"
	"strings"
)

const maxReasons = 8

// why gives the strongest reasons for a candidate.
func (x *Index) why(c candidate, asked, hints question) []Reason {
	type weighed struct {
		reason Reason
		weight float64
	}
	var all []weighed
	collect := func(q question, hint bool) {
		for i := range q.units {
			r, weight, ok := x.reason(c.slot, &q.units[i])
			if !ok {
				continue
			}
			if hint {
				r.Kind = Hint
			}
			if hint && !q.hinted {
				weight *= leaning
			}
			all = append(all, weighed{r, weight})
		}
	}
	collect(asked, asked.hinted)
	collect(hints, true)
	if c.from != 0 {
		all = append(all, weighed{Reason{Kind: Link, Term: x.slots[c.from-1].note.ID}, linkDamping})
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	out := make([]Reason, 0, min(len(all), maxReasons))
	for _, w := range all[:min(len(all), maxReasons)] {
		out = append(out, w.reason)
	}
	return out
}

// reason finds by what a note meets a unit best.
func (x *Index) reason(slot uint32, u *unit) (Reason, float64, bool) {
	var best Reason
	bestWeight := 0.0
	for i := range u.alts {
		a := &u.alts[i]
		consider := func(text string, c counts) {
			f := strongest(c)
			weight := u.weight * a.weight * a.idf * float64(fieldWeight[f])
			if weight > bestWeight || weight == bestWeight && text < best.Matched {
				best = Reason{Kind: a.kind, Term: u.term, Matched: text, Field: fieldNames[f]}
				bestWeight = weight
			}
		}
		for _, id := range a.forms {
			form := &x.vocab.forms[id]
			if at, ok := form.find(slot); ok {
				consider(form.text, form.postings[at].counts)
			}
		}
		if text, c := x.together(a.all, slot); c != 0 {
			consider(text, c)
		}
	}
	return best, bestWeight, bestWeight > 0
}

// together returns the words by which a note meets all classes, and where.
func (x *Index) together(classes [][]uint32, slot uint32) (string, counts) {
	if len(classes) == 0 {
		return "", 0
	}
	var words []string
	var all counts
	for i, class := range classes {
		c := x.countsIn(class, slot)
		if i == 0 {
			all = c
		}
		if all = all.smaller(c); all == 0 {
			return "", 0
		}
		least := ""
		for _, id := range class {
			form := &x.vocab.forms[id]
			if _, ok := form.find(slot); ok && (least == "" || form.text < least) {
				least = form.text
			}
		}
		words = append(words, least)
	}
	return strings.Join(words, " "), all
}

// strongest returns the weightiest field that c counts in.
func strongest(c counts) field {
	for f := range fieldCount {
		if c.of(f) > 0 {
			return f
		}
	}
	return inBody
}
