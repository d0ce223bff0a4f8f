package memorysvc

import (
	"context"
	"iter"
	"sync"
)

// watchBound is how many notes may wait for one watcher.
const watchBound = 1024

// Event is one step of a watch: a note of the snapshot, or created or changed;
// the id of one deleted; or the end of the snapshot.
type Event struct {
	Note    *Note
	Deleted string
	Synced  bool
}

// watcher collects what one watch has still to tell. Versions of a note that
// the watch did not get to are skipped, a delete never is.
type watcher struct {
	wake chan struct{} // holds one token while there is something to take

	mu      sync.Mutex
	waiting map[string]change
	order   []string // ids of waiting
	lagged  bool
}

type change struct {
	deleted bool
	note    *Note // after the delete, if any
}

func (w *watcher) changed(n *Note) {
	w.add(n.ID, func(c change) change { return change{c.deleted, n} })
}

func (w *watcher) deleted(id string) {
	w.add(id, func(change) change { return change{deleted: true} })
}

func (w *watcher) add(id string, next func(change) change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, waits := w.waiting[id]
	if !waits {
		if len(w.order) >= watchBound {
			w.lagged = true
		} else {
			w.order = append(w.order, id)
		}
	}
	if !w.lagged {
		w.waiting[id] = next(before)
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, in the order of each note's first change.
func (w *watcher) take() (events []Event, lagged bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.order {
		c := w.waiting[id]
		if c.deleted {
			events = append(events, Event{Deleted: id})
		}
		if c.note != nil {
			events = append(events, Event{Note: c.note})
		}
	}
	w.order = nil
	clear(w.waiting)
	return events, w.lagged
}

// subscribe starts a watcher, and returns the notes as they are then.
func (s *shelf) subscribe() (*watcher, []*Note) {
	w := &watcher{wake: make(chan struct{}, 1), waiting: map[string]change{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := make([]*Note, len(s.ids))
	for i, id := range s.ids {
		notes[i] = s.notes[id]
	}
	s.watchers[w] = struct{}{}
	return w, notes
}

func (s *shelf) unsubscribe(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
}

// WatchNotes yields the notes by id, then Synced, then changes until ctx ends,
// the service stops or the watcher falls behind (WATCH_LAGGED). The last
// element is always an error; no writer ever waits for a watcher.
func (s *Service) WatchNotes(ctx context.Context, at Place) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		sh, err := s.shelf(ctx, at)
		if err != nil {
			yield(Event{}, err)
			return
		}
		w, notes := sh.subscribe()
		defer sh.unsubscribe(w)
		for _, n := range notes {
			if err := ctx.Err(); err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(Event{Note: n}, nil) {
				return
			}
		}
		if !yield(Event{Synced: true}, nil) {
			return
		}
		for {
			select {
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			case <-sh.closed:
				yield(Event{}, draining())
				return
			case <-w.wake:
			}
			events, behind := w.take()
			if behind {
				yield(Event{}, lagged())
				return
			}
			for _, ev := range events {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}
