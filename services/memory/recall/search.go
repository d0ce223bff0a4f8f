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

// cell is what a search knows of one note.
type cell struct {
	best    float32 // of the unit at hand
	total   float32 // of all units
	covered float32 // weight of the units met
	met     uint64  // one bit for each unit met
	literal uint64  // the same, for units met by the word itself
}

// scratch is the working memory of one search, reused.
type scratch struct {
	cells   []cell   // by slot
	touched []uint32 // slots with a best
	seen    []uint32 // slots with a total
	found   []candidate
	wanted  []bool // by slot: the notes to score when only some are
	norms   [fieldCount][256]float32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) fit(n int) {
	if len(s.cells) < n {
		n += n / 8
		s.cells, s.wanted = make([]cell, n), make([]bool, n)
	}
}

func (s *scratch) clear() {
	for _, at := range s.seen {
		s.cells[at] = cell{}
	}
	s.seen, s.touched = s.seen[:0], s.touched[:0]
}

// candidate is a note that has something of the query.
type candidate struct {
	slot    uint32
	score   float64 // as returned
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
	text, hints := x.read(q.Text), x.read(hintText(q))
	x.mu.RLock()
	defer x.mu.RUnlock()
	hinted := question{units: x.unitsOf(hintText(q), hints), heaviest: hintUnits}
	if strings.TrimSpace(q.Text) == "" {
		hinted.hinted = true
		return x.leaning(q, limit, hinted)
	}
	return x.answer(question{units: x.unitsOf(q.Text, text), heaviest: textUnits}, hinted, limit, q.Explained)
}

// answer returns the notes that answer a question, in an order that hints may
// change. The caller holds the lock.
func (x *Index) answer(asked, hints question, limit, explained int) []Hit {
	if len(asked.units) == 0 {
		return nil
	}
	s := scratches.Get().(*scratch)
	found := x.score(s, asked)
	x.lean(s, found, hints)
	found = x.follow(narrow(found, 4*max(limit, diversePool)))
	x.order(found)
	found = x.diverse(found, limit)
	scratches.Put(s) // not after a panic, which may leave it in use
	hits := make([]Hit, len(found))
	for i, c := range found {
		hits[i] = Hit{ID: x.slots[c.slot].note.ID, Score: c.score}
		if explained == 0 || i < explained {
			hits[i].Why = x.why(c, asked, hints)
		}
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

// score returns the notes that meet enough of a question, in no order. The
// answer is part of s and lasts until the next call.
func (x *Index) score(s *scratch, q question) []candidate {
	s.fit(len(x.slots))
	defer s.clear()
	x.prepare(s)
	x.meet(s, q, false)
	ideal, floor := q.ideal(), q.floor()
	best := 0.0
	for _, at := range s.seen {
		c := &s.cells[at]
		c.reach(ideal)
		if score := float64(c.total); score > best && floor.holds(c) {
			best = score
		}
	}
	s.found = s.found[:0]
	for _, at := range s.seen {
		c := &s.cells[at]
		if score := float64(c.total); score >= best*minRelative && floor.holds(c) {
			s.found = append(s.found, candidate{slot: at, score: score, met: c.met, literal: c.literal})
		}
	}
	return s.found
}

// meet fills the cells of the notes that meet a unit, of wanted ones only when
// some is set.
func (x *Index) meet(s *scratch, q question, some bool) {
	for i := range q.units {
		u := &q.units[i]
		for j := range u.alts {
			x.alternative(s, i, u, &u.alts[j], some)
		}
		for _, at := range s.touched {
			c := &s.cells[at]
			if c.total == 0 {
				s.seen = append(s.seen, at)
			}
			c.total += c.best
			c.covered += float32(u.weight * u.idf)
			c.met |= 1 << i
			c.best = 0
		}
		s.touched = s.touched[:0]
	}
}

// reach turns what was added up into parts of ideal, the weight that an answer
// can be expected to meet: total into the score, covered into the part of the
// question that is met.
func (c *cell) reach(ideal float32) {
	c.covered = min(1, c.covered/ideal)
	c.total = min(1, c.total/ideal*(0.7+0.3*c.covered))
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
func (x *Index) alternative(s *scratch, i int, u *unit, a *alternative, some bool) {
	weight := float32(u.weight * a.weight * a.idf)
	bit := uint64(0)
	if a.weight >= joinedWeight {
		bit = 1 << i
	}
	raise := func(postings []posting) {
		for _, p := range postings {
			if !some || s.wanted[p.slot] {
				s.raise(p.slot, weight*x.strength(s, p), bit)
			}
		}
	}
	for _, id := range a.forms {
		raise(x.vocab.forms[id].postings)
	}
	if len(a.all) > 0 {
		raise(x.intersect(a.all, func(slot uint32) bool { return !some || s.wanted[slot] }))
	}
}

func (s *scratch) raise(slot uint32, value float32, literal uint64) {
	c := &s.cells[slot]
	c.literal |= literal
	if value > c.best {
		if c.best == 0 {
			s.touched = append(s.touched, slot)
		}
		c.best = value
	}
}

// strength is the BM25F weight of a form in a note, 0 to 1.
func (x *Index) strength(s *scratch, p posting) float32 {
	classes := &x.classes[p.slot]
	tf := float32(0)
	if p.counts.only(inBody) { // as most are
		tf = float32(p.counts.of(inBody)) * s.norms[inBody][classes[inBody]]
		return tf / (saturation + tf)
	}
	for f := range fieldCount {
		if n := p.counts.of(f); n > 0 {
			tf += float32(n) * s.norms[f][classes[f]]
		}
	}
	return tf / (saturation + tf)
}

// intersect returns the wanted notes that have a form of every class within
// one field.
func (x *Index) intersect(classes [][]uint32, wanted func(slot uint32) bool) []posting {
	rarest := 0
	for i := range classes {
		if x.frequency(classes[i]) < x.frequency(classes[rarest]) {
			rarest = i
		}
	}
	var out []posting
	for _, id := range classes[rarest] {
		for _, p := range x.vocab.forms[id].postings {
			if !wanted(p.slot) {
				continue
			}
			together := p.counts
			for i, class := range classes {
				if i != rarest && together != 0 {
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
			if sum == 0 {
				sum = c
				continue
			}
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
