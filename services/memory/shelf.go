package memorysvc

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/services/memory/recall"
)

// settle is how long the last usable version of a note is recalled after its
// file was found damaged: an editor may be in the middle of writing it.
const settle = 2 * time.Second

// shelf is the loaded notes of one worktree. Its lock order is stripe, then
// mu; watchers are published to under mu and never block.
type shelf struct {
	docs    store.Docs
	index   *recall.Index
	stripes [64]sync.Mutex // one writer of a file at a time, from read to applied
	seed    maphash.Seed

	ready   chan struct{} // closed when the notes are loaded, or loading failed
	closed  chan struct{} // closed when the shelf follows its store no more
	failed  error         // why loading failed; set before ready is closed
	stop    func()        // ends following the store
	used    atomic.Int64  // when the shelf was last asked for, in Unix nanoseconds
	checked atomic.Int64  // when its place was last looked up, in Unix nanoseconds

	wroteSome chan struct{} // holds one token while there is something to confirm

	mu       sync.RWMutex
	loading  bool                 // the first snapshot is coming in
	files    map[string]*Note     // by key, each file as it is
	keys     map[string][]string  // id to the keys of its files, sorted
	notes    map[string]*Note     // id to the note shown
	usable   map[string]*Note     // id to the note recalled
	ids      []string             // of notes, sorted
	ranked   []*Note              // usable, by weight of type and id
	doubtful map[string]time.Time // usable notes whose file is damaged, since when
	written  map[string]write     // by key, own writes the watch has not told of yet
	recent   *versions
	watchers map[*watcher]struct{}
}

// write is an own write of a file.
type write struct {
	version store.Version
	at      time.Time
}

// gone is the version of a deleted file.
const gone store.Version = ""

func newShelf(docs store.Docs) *shelf {
	return &shelf{
		docs: docs, index: recall.NewIndex(), loading: true, seed: maphash.MakeSeed(),
		ready: make(chan struct{}), closed: make(chan struct{}),
		files: map[string]*Note{}, keys: map[string][]string{},
		notes: map[string]*Note{}, usable: map[string]*Note{},
		doubtful: map[string]time.Time{}, written: map[string]write{},
		wroteSome: make(chan struct{}, 1),
		recent:    newVersions(), watchers: map[*watcher]struct{}{},
	}
}

// idleSince returns how long nobody asked for the shelf; a watched one is in
// use.
func (s *shelf) idleSince(now time.Time) time.Duration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.watchers) > 0 {
		return 0
	}
	return now.Sub(time.Unix(0, s.used.Load()))
}

// lock takes the stripe of an id and returns how to release it.
func (s *shelf) lock(id string) (unlock func()) {
	m := &s.stripes[maphash.String(s.seed, id)%uint64(len(s.stripes))]
	m.Lock()
	return m.Unlock
}

// put takes in a file as it is now. The caller holds the stripe of its id.
func (s *shelf) put(doc store.Doc) *Note {
	n := parseNote(doc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.files[doc.Key]; old == nil {
		keys := append(s.keys[n.ID], doc.Key)
		slices.Sort(keys)
		s.keys[n.ID] = keys
	} else {
		s.recent.add(old)
	}
	s.files[doc.Key] = n
	s.refresh(n.ID)
	return n
}

// remove forgets a file. The caller holds the stripe of its id.
func (s *shelf) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.files[key]
	if old == nil {
		return
	}
	s.recent.add(old)
	delete(s.files, key)
	keys := slices.DeleteFunc(slices.Clone(s.keys[old.ID]), func(k string) bool { return k == key })
	if s.keys[old.ID] = keys; len(keys) == 0 {
		delete(s.keys, old.ID)
	}
	s.refresh(old.ID)
}

// refresh brings the note of an id, the index and the watchers up to its files.
func (s *shelf) refresh(id string) {
	keys, before := s.keys[id], s.notes[id]
	if len(keys) == 0 {
		delete(s.notes, id)
		s.ids = without(s.ids, id, cmp.Compare[string])
		s.setUsable(id, nil)
		for w := range s.watchers {
			w.deleted(id)
		}
		return
	}
	n := s.files[keys[0]]
	if len(keys) > 1 {
		n = duplicate(n, keys)
	}
	s.notes[id] = n
	if before == nil {
		s.ids = with(s.ids, id, cmp.Compare[string])
	}
	switch {
	case !n.Excluded():
		s.setUsable(id, n)
	case s.loading:
		s.setUsable(id, nil)
	case s.usable[id] != nil && s.doubtful[id].IsZero():
		s.doubtful[id] = time.Now()
	}
	for w := range s.watchers {
		w.changed(n)
	}
}

func (s *shelf) setUsable(id string, n *Note) {
	delete(s.doubtful, id)
	if old := s.usable[id]; old != nil {
		s.ranked = without(s.ranked, old, byWeight)
		delete(s.usable, id)
	}
	if n != nil {
		s.usable[id] = n
		s.ranked = with(s.ranked, n, byWeight)
	}
	switch {
	case s.loading: // finishLoading fills the index
	case n == nil:
		s.index.Delete(id)
	default:
		s.index.Put(indexed(n))
	}
}

func indexed(n *Note) recall.Note {
	return recall.Note{ID: n.ID, Description: n.Description, Type: n.Type, Body: n.Body}
}

// finishLoading makes the notes of the first snapshot searchable.
func (s *shelf) finishLoading() {
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := make([]recall.Note, len(s.ranked))
	for i, n := range s.ranked {
		notes[i] = indexed(n)
	}
	s.index.PutAll(notes)
	s.loading = false
	close(s.ready)
}

// expire gives up the last usable version of notes that stayed damaged.
func (s *shelf) expire(now time.Time) {
	s.mu.RLock()
	due := false
	for _, since := range s.doubtful {
		due = due || now.Sub(since) >= settle
	}
	s.mu.RUnlock()
	if !due {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, since := range s.doubtful {
		if now.Sub(since) >= settle {
			s.setUsable(id, nil)
		}
	}
}

// duplicate is the note shown for an id that several files have.
func duplicate(first *Note, keys []string) *Note {
	n := *first
	n.Problems = slices.Clone(n.Problems)
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k[len(folder)+1:]
	}
	n.exclude(ProblemDuplicateID, 0, "%d files are the note %q: %s; keep one, or rename the others", len(keys), n.ID, quotedList(names))
	return &n
}

// typeWeight orders the index of notes: what holds for every task comes first.
func typeWeight(noteType string) int {
	switch noteType {
	case "feedback":
		return 0
	case "user":
		return 1
	case "project":
		return 2
	case "reference":
		return 3
	}
	return 4
}

func byWeight(a, b *Note) int {
	return cmp.Or(cmp.Compare(typeWeight(a.Type), typeWeight(b.Type)), cmp.Compare(a.ID, b.ID))
}

// with returns a sorted slice with one more item.
func with[T any](sorted []T, item T, compare func(a, b T) int) []T {
	at, found := slices.BinarySearchFunc(sorted, item, compare)
	if found {
		return sorted
	}
	return slices.Insert(sorted, at, item)
}

// without returns a sorted slice with one item less.
func without[T any](sorted []T, item T, compare func(a, b T) int) []T {
	at, found := slices.BinarySearchFunc(sorted, item, compare)
	if !found {
		return sorted
	}
	return slices.Delete(sorted, at, at+1)
}
