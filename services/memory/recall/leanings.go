package recall

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxLeanings is how many answers to hints are kept.
const maxLeanings = 64

// leanings keeps the answers to hints alone while no note changes: an agent has
// the same hints at every launch. The index's lock is held for reading while an
// answer is kept, and for writing while all are forgotten.
type leanings struct {
	mu      sync.Mutex
	answers map[string][]Hit
}

func leaningKey(q Query, limit int) string {
	return strconv.Itoa(limit) + " " + strconv.Itoa(q.Explained) + "\x00" + strings.Join(q.Hints, "\x00")
}

func (l *leanings) get(key string) (hits []Hit, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hits, ok = l.answers[key]
	return slices.Clone(hits), ok
}

func (l *leanings) keep(key string, hits []Hit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers == nil || len(l.answers) >= maxLeanings {
		l.answers = map[string][]Hit{}
	}
	l.answers[key] = slices.Clone(hits)
}

func (l *leanings) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = nil
}
