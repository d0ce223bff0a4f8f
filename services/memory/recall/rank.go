package recall

import "math"

// What a note must reach to be returned.
const (
	minCovered  = 0.3  // of the question's weight
	minScore    = 0.12 // of what a note could reach
	minRelative = 0.3  // of the best note's score
)

// floor keeps the notes that meet enough of the question.
func (x *Index) floor(found []candidate) []candidate {
	best := 0.0
	for _, c := range found {
		if c.covered >= minCovered {
			best = max(best, c.score)
		}
	}
	least := max(minScore, best*minRelative)
	kept := found[:0]
	for _, c := range found {
		if c.score >= least && c.covered >= minCovered {
			kept = append(kept, c)
		}
	}
	return kept
}

// leaning is the most that hints add to a score.
const leaning = 0.1

// lean raises the notes that have words of the hints.
func (x *Index) lean(s *scratch, found []candidate, hints []unit) {
	if len(hints) == 0 || len(found) == 0 {
		return
	}
	extra := make(map[uint32]float64)
	for _, c := range x.score(s, hints) {
		extra[c.slot] = c.score
	}
	for i := range found {
		found[i].score += leaning * extra[found[i].slot] * (1 - found[i].score)
	}
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
	at := make(map[uint32]int, len(found))
	for i, c := range found {
		at[c.slot] = i
	}
	sources := found[:min(len(found), linkSources)]
	gain := map[uint32]float64{}
	from := map[uint32]string{}
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
				gain[target], from[target] = part, source.note.ID
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

// Diversity: notes as alike as this say the same.
const (
	alike      = 0.8
	alikeCost  = 0.5
	diverseTop = 40
)

// diverse returns at most limit notes, those that repeat a better one later.
func (x *Index) diverse(found []candidate, limit int) []candidate {
	if len(found) > limit {
		found = found[:limit]
	}
	return found
}
