package recall

import (
	"math"
	"math/bits"
	"slices"
)

// What a note must reach to be returned: parts of the question's weight, of
// what a note could reach, and of the best note's score.
const (
	minCovered  = 0.2
	minScore    = 0.11
	minRelative = 0.3
)

// minScoreLone is what a note must reach that meets one word of a question of
// three or more.
const minScoreLone = 0.145

// The same for a question with words of everyday life that no note has.
const (
	minCoveredElsewhere = 0.4
	minScoreElsewhere   = 0.2
)

// floor is what a note must reach to answer one question.
type floor struct {
	covered, score float64
	several        bool // meeting one word takes more
}

func (q question) floor() floor {
	f := floor{covered: minCovered, score: minScore, several: len(q.units) > 2 && !q.hinted}
	for _, u := range q.units {
		if u.elsewhere {
			f.covered, f.score = minCoveredElsewhere, minScoreElsewhere
		}
	}
	return f
}

func (f floor) holds(c *cell) bool {
	score := float64(c.total)
	if f.several && score < minScoreLone && bits.OnesCount64(c.met) == 1 {
		return false
	}
	return float64(c.covered) >= f.covered && score >= f.score
}

// narrow drops the worst of found until not many more than keep are left, so
// that not all need be put in order.
func narrow(found []candidate, keep int) []candidate {
	if len(found) <= 2*keep {
		return found
	}
	var sizes [256]int
	class := func(c candidate) int { return int(min(1, c.score) * 255) }
	for _, c := range found {
		sizes[class(c)]++
	}
	least, kept := 255, sizes[255]
	for least > 0 && kept < keep {
		least--
		kept += sizes[least]
	}
	return slices.DeleteFunc(found, func(c candidate) bool { return class(c) < least })
}

// leaning is the most that hints add to a score.
const leaning = 0.1

// lean raises the notes that have words of the hints.
func (x *Index) lean(s *scratch, found []candidate, hints question) {
	if len(hints.units) == 0 || len(found) == 0 {
		return
	}
	for _, c := range found {
		s.wanted[c.slot] = true
	}
	x.meet(s, hints, true)
	ideal := hints.ideal()
	for i := range found {
		c, hinted := &found[i], &s.cells[found[i].slot]
		s.wanted[c.slot] = false
		if hinted.total > 0 {
			hinted.reach(ideal)
			c.score += leaning * float64(hinted.total) * (1 - c.score)
		}
	}
	s.clear()
}

// Damping of what a link passes on, and how many notes pass it on.
const (
	linkDamping = 0.25
	linkSources = 10
)

// follow passes a part of the best notes' scores along their links. A note
// that did not match may enter by it, below those that did.
func (x *Index) follow(found []candidate) []candidate {
	x.order(found)
	sources := found[:min(len(found), linkSources)]
	if !slices.ContainsFunc(sources, func(c candidate) bool { return len(x.slots[c.slot].links) > 0 }) {
		return found
	}
	at := make(map[uint32]int, len(found))
	for i, c := range found {
		at[c.slot] = i
	}
	gain := map[uint32]float64{}
	from := map[uint32]uint32{}
	var order []uint32
	for _, c := range sources {
		source := &x.slots[c.slot]
		part := linkDamping * c.score / math.Sqrt(float64(max(1, len(source.links))))
		for _, id := range source.links {
			target, ok := x.byID[id]
			if !ok {
				continue
			}
			if gain[target] < part {
				if gain[target] == 0 {
					order = append(order, target)
				}
				gain[target], from[target] = part, c.slot+1
			}
		}
	}
	for _, target := range order {
		if i, ok := at[target]; ok {
			found[i].score += gain[target] * (1 - found[i].score)
			found[i].from = from[target]
		} else if gain[target] >= minLinked {
			found = append(found, candidate{slot: target, score: gain[target], from: from[target]})
		}
	}
	return found
}

// minLinked is the least score that brings in a note by its link alone.
const minLinked = 0.06

// Diversity: notes this alike say the same, and what that costs the lesser.
const (
	alike       = 0.75 // of their words in common
	repeated    = 0.92 // as good as copies
	alikeCost   = 0.6
	diversePool = 40 // candidates looked at
	diverseTop  = 20 // places filled with diversity in mind
)

// diverse returns at most limit notes. A note that repeats a better one and
// meets nothing more of the question loses a part of its score, and its place
// when it is as good as a copy. found is in order.
func (x *Index) diverse(found []candidate, limit int) []candidate {
	pool := found[:min(len(found), max(limit, diversePool))]
	out := make([]candidate, 0, min(len(pool), limit))
	alikeness := make([]float64, len(pool)) // to the notes chosen so far
	taken := make([]bool, len(pool))
	for len(out) < limit {
		best := -1
		for i := range pool {
			if taken[i] || alikeness[i] >= repeated {
				continue
			}
			if best < 0 || x.before(pool[i], alikeness[i], pool[best], alikeness[best]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		chosen := pool[best]
		chosen.score = demoted(chosen.score, alikeness[best])
		out = append(out, chosen)
		if len(out) > diverseTop {
			continue
		}
		for i := range pool {
			if !taken[i] && pool[i].met&^chosen.met == 0 && pool[i].literal&^chosen.literal == 0 {
				alikeness[i] = max(alikeness[i], x.alikeness(pool[i].slot, chosen.slot))
			}
		}
	}
	return out
}

// before reports whether a comes before b once both are demoted.
func (x *Index) before(a candidate, alikeA float64, b candidate, alikeB float64) bool {
	scoreA, scoreB := demoted(a.score, alikeA), demoted(b.score, alikeB)
	if scoreA != scoreB {
		return scoreA > scoreB
	}
	return x.slots[a.slot].note.ID < x.slots[b.slot].note.ID
}

func demoted(score, alikeness float64) float64 {
	if alikeness < alike {
		return score
	}
	return score * (1 - alikeCost*(alikeness-alike)/(1-alike))
}

// alikeness is the part of two notes' distinct words, ids apart, that both
// have, or 0 when it is below alike.
func (x *Index) alikeness(a, b uint32) float64 {
	first, second := x.slots[a].forms[:x.slots[a].said], x.slots[b].forms[:x.slots[b].said]
	all := len(first) + len(second)
	allowed := int(float64(all) * (1 - alike) / (1 + alike))
	if x.slots[a].sketch.apart(&x.slots[b].sketch) > allowed {
		return 0
	}
	common, apart := 0, 0
	for i, j := 0, 0; i < len(first) || j < len(second); {
		switch {
		case j == len(second) || i < len(first) && first[i] < second[j]:
			i++
			apart++
		case i == len(first) || first[i] > second[j]:
			j++
			apart++
		default:
			i++
			j++
			common++
		}
		if apart > allowed {
			return 0
		}
	}
	return float64(common) / float64(max(1, common+apart))
}

// sketch has one of its bits set for every word of a note.
type sketch [8]uint64

func (s *sketch) add(form uint32) {
	bit := form * 0x9E3779B1 >> 23 // the highest 9 bits of a multiplicative hash
	s[bit/64] |= 1 << (bit % 64)
}

// apart returns the least number of words that one note has and the other has
// not.
func (s *sketch) apart(o *sketch) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s[i] ^ o[i])
	}
	return n
}
