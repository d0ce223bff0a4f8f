package recall

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// How many results are kept, and the longest text they are kept for, in bytes.
const (
	maxLeanings = 64
	maxReadings = 16
	maxKeptText = 4 << 10
)

// kept keeps results by the text they were made from; all are forgotten when
// there are too many.
type kept[T any] struct {
	most int

	mu    sync.Mutex
	items map[string]T
}

// of returns the result for a text, made when it is not there.
func (k *kept[T]) of(text string, make func() T) T {
	k.mu.Lock()
	v, ok := k.items[text]
	k.mu.Unlock()
	if ok {
		return v
	}
	v = make()
	if len(text) > maxKeptText {
		return v
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.items == nil || len(k.items) >= k.most {
		k.items = map[string]T{}
	}
	k.items[text] = v
	return v
}

func (k *kept[T]) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.items = nil
}

// memo keeps what is asked for again and again: a query is read for its search
// and for its excerpts, and an agent has the same hints at every launch.
type memo struct {
	readings kept[reading]
	// What depends on the notes is made and kept while the index's lock is held,
	// and forgotten while it is held for writing.
	units    kept[[]unit]
	leanings kept[[]Hit] // to hints alone
}

func newMemo() *memo {
	return &memo{
		readings: kept[reading]{most: maxReadings},
		units:    kept[[]unit]{most: maxReadings},
		leanings: kept[[]Hit]{most: maxLeanings},
	}
}

// changed forgets what depends on the notes.
func (m *memo) changed() {
	m.units.forget()
	m.leanings.forget()
}

// read cuts a text into words. It needs no lock.
func (x *Index) read(text string) reading {
	return x.memo.readings.of(text, func() reading { return x.glossary.read(text) })
}

// unitsOf turns a text, read before, into what is searched. The caller holds the
// lock and changes nothing in them.
func (x *Index) unitsOf(text string, r reading) []unit {
	return x.memo.units.of(text, func() []unit { return x.units(r) })
}

// leaning returns the notes that hints alone lean to. The caller holds the lock.
func (x *Index) leaning(q Query, limit int, asked question) []Hit {
	key := strconv.Itoa(limit) + " " + strconv.Itoa(q.Explained) + " " + hintText(q)
	return slices.Clone(x.memo.leanings.of(key, func() []Hit { return x.answer(asked, question{}, limit, q.Explained) }))
}

// hintText is the text that hints are read as.
func hintText(q Query) string { return strings.Join(q.Hints, " ; ") }
