package recall

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Fields' weights, how much a long field is discounted (0 to 1), and how fast
// repetition stops counting.
var (
	fieldWeight  = [fieldCount]float32{3, 2.2, 1.6, 1, 0.4}
	fieldPenalty = [fieldCount]float32{0.3, 0.3, 0.3, 0.6, 0}
)

const saturation = 1.2

// scratch is the working memory of one search, reused.
type scratch struct {
	best    []float32 // by slot: the unit at hand
	total   []float32 // by slot: all units
	covered []float32 // by slot: weight of the units met
	met     []uint64  // by slot: one bit for each unit met
	literal []uint64  // by slot: the same, for units met by the word itself
	touched []uint32  // slots with a best
	seen    []uint32  // slots with a total
	found   []candidate
	norms   [fieldCount][256]float32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) fit(n int) {
	if len(s.best) < n {
		s.best, s.total, s.covered = make([]float32, n), make([]float32, n), make([]float32, n)
		s.met, s.literal = make([]uint64, n), make([]uint64, n)
	}
}

func (s *scratch) clear() {
	for _, at := range s.seen {
		s.total[at], s.covered[at], s.met[at], s.literal[at] = 0, 0, 0, 0
	}
	s.seen, s.touched = s.seen[:0], s.touched[:0]
}

// candidate is a note that has something of the query.
type candidate struct {
	slot    uint32
	score   float64 // as returned
	covered float64 // part of the query's weight that it meets, 0 to 1
	met     uint64  // one bit for each unit it meets
	literal uint64  // one bit for each unit it meets by the word itself
	from    uint32  // 1 + slot of the note whose link raised it; 0 is none
}

const defaultLimit = 5

// Search returns the notes that answer q, the best first, ties by id. It
// returns none when no note meets enough of the question.
func (x *Index) Search(q Query) []Hit {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	text, leaning := x.glossary.read(q.Text), x.glossary.read(strings.Join(q.Hints, " ; "))
	x.mu.RLock()
	defer x.mu.RUnlock()
	asked := question{units: x.units(text), heaviest: textUnits}
	hints := question{units: x.units(leaning), heaviest: hintUnits}
	if strings.TrimSpace(q.Text) == "" {
		asked, hints = hints, question{}
		asked.hinted = true
	}
	if len(asked.units) == 0 {
		return nil
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	found := asked.floor(x.score(s, asked))
	x.lean(s, found, hints)
	found = x.follow(narrow(found, 4*max(limit, diversePool)))
	x.order(found)
	found = x.diverse(found, limit)
	hits := make([]Hit, len(found))
	for i, c := range found {
		hits[i] = Hit{ID: x.slots[c.slot].note.ID, Score: c.score, Why: x.why(c, asked, hints)}
	}
	return hits
}

// question is what one search asks for.
type question struct {
	units []unit
	// heaviest is how many units an answer is expected to meet at most.
	heaviest int
	// hinted marks a question made of hints.
	hinted bool
}

// A long text is answered by a note that meets this many of its words;
// hints speak of several things, of which a note meets one or two.
const (
	textUnits = 10
	hintUnits = 2
)

// ideal is the weight of the units that an answer can be expected to meet.
func (q question) ideal() float32 {
	weights := make([]float64, len(q.units))
	for i, u := range q.units {
		weights[i] = u.weight * u.idf
	}
	slices.SortFunc(weights, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, w := range weights[:min(len(weights), q.heaviest)] {
		sum += w
	}
	return float32(sum)
}

// score returns every note that meets a unit, in no order. The answer is part
// of s and lasts until the next call.
func (x *Index) score(s *scratch, q question) []candidate {
	if len(q.units) == 0 {
		return nil
	}
	s.fit(len(x.slots))
	defer s.clear()
	x.prepare(s)
	for i := range q.units {
		u := &q.units[i]
		for j := range u.alts {
			x.alternative(s, i, u, &u.alts[j])
		}
		for _, at := range s.touched {
			if s.total[at] == 0 {
				s.seen = append(s.seen, at)
			}
			s.total[at] += s.best[at]
			s.covered[at] += float32(u.weight * u.idf)
			s.met[at] |= 1 << i
			s.best[at] = 0
		}
		s.touched = s.touched[:0]
	}
	ideal := q.ideal()
	s.found = s.found[:0]
	for _, at := range s.seen {
		covered := min(1, s.covered[at]/ideal)
		score := min(1, s.total[at]/ideal*(0.7+0.3*covered))
		s.found = append(s.found, candidate{slot: at, score: float64(score), covered: float64(covered), met: s.met[at], literal: s.literal[at]})
	}
	return s.found
}

// prepare computes the length discount of every field and length.
func (x *Index) prepare(s *scratch) {
	for f := range fieldCount {
		average := max(1, float32(x.sums[f])/float32(max(1, len(x.byID))))
		for n := range s.norms[f] {
			length := float32(lengthOf(n))
			s.norms[f][n] = fieldWeight[f] / (1 - fieldPenalty[f] + fieldPenalty[f]*length/average)
		}
	}
}

// lengthClass puts a length into one of 256 classes; lengthOf gives back one
// length of the class.
func lengthClass(n int) uint8 {
	switch {
	case n < 128:
		return uint8(n)
	case n < 1152:
		return uint8(128 + (n-128)/16)
	}
	return uint8(min(255, 192+(n-1152)/128))
}

func lengthOf(class int) int {
	switch {
	case class < 128:
		return class
	case class < 192:
		return 128 + (class-128)*16 + 8
	}
	return 1152 + (class-192)*128 + 64
}

// alternative raises best where a note meets a, the alternative of unit i.
func (x *Index) alternative(s *scratch, i int, u *unit, a *alternative) {
	weight := float32(u.weight * a.weight * a.idf)
	bit := uint64(0)
	if a.weight >= joinedWeight {
		bit = 1 << i
	}
	for _, id := range a.forms {
		for _, p := range x.vocab.forms[id].postings {
			s.raise(p.slot, weight*x.strength(s, p), bit)
		}
	}
	if len(a.all) > 0 {
		for _, p := range x.intersect(a.all) {
			s.raise(p.slot, weight*x.strength(s, p), bit)
		}
	}
}

func (s *scratch) raise(slot uint32, value float32, literal uint64) {
	s.literal[slot] |= literal
	if before := s.best[slot]; value > before {
		if before == 0 {
			s.touched = append(s.touched, slot)
		}
		s.best[slot] = value
	}
}

// strength is the BM25F weight of a form in a note, 0 to 1.
func (x *Index) strength(s *scratch, p posting) float32 {
	classes := &x.slots[p.slot].classes
	tf := float32(0)
	for f := range fieldCount {
		if n := p.counts.of(f); n > 0 {
			tf += float32(n) * s.norms[f][classes[f]]
		}
	}
	return tf / (saturation + tf)
}

// intersect returns the notes that have a form of every class within one
// field.
func (x *Index) intersect(classes [][]uint32) []posting {
	rarest := 0
	for i := range classes {
		if x.frequency(classes[i]) < x.frequency(classes[rarest]) {
			rarest = i
		}
	}
	var out []posting
	for _, id := range classes[rarest] {
		for _, p := range x.vocab.forms[id].postings {
			together := p.counts
			for i, class := range classes {
				if i != rarest {
					together = together.smaller(x.countsIn(class, p.slot))
				}
			}
			if together != 0 {
				out = append(out, posting{slot: p.slot, counts: together})
			}
		}
	}
	return out
}

// countsIn adds up the forms of a class in a note.
func (x *Index) countsIn(class []uint32, slot uint32) counts {
	var sum counts
	for _, id := range class {
		if i, ok := x.vocab.forms[id].find(slot); ok {
			c := x.vocab.forms[id].postings[i].counts
			for f := range fieldCount {
				room := uint32(1)<<countBits[f] - 1 - sum.of(f)
				sum += counts(min(c.of(f), room)) << countShift[f]
			}
		}
	}
	return sum
}

func (x *Index) order(found []candidate) {
	slices.SortFunc(found, func(a, b candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return strings.Compare(x.slots[a.slot].note.ID, x.slots[b.slot].note.ID)
	})
}
