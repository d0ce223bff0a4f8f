package memorysvc

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/idea-ide/ideai/internal/store"
)

// Waits between two attempts to watch a store that fails.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// follow keeps the shelf equal to its store until ctx ends or the store
// closes. Each watch begins with a snapshot, so that nothing is missed between
// two of them.
func (s *shelf) follow(ctx context.Context, log *slog.Logger) {
	defer close(s.closed)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longPause) {
		synced, err := s.watchOnce(ctx)
		if s.loading {
			s.failed = err
			close(s.ready)
			return
		}
		if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
			return
		}
		if synced {
			pause = firstPause
		}
		log.WarnContext(ctx, "notes are watched again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// watchOnce takes in one watch of the store, and reports whether its snapshot
// was complete.
func (s *shelf) watchOnce(ctx context.Context) (synced bool, err error) {
	seen := map[string]bool{}
	for ev, err := range s.docs.Watch(ctx, folder) {
		if err != nil {
			return synced, err
		}
		if ev.Synced {
			synced = true
			s.forgetUnseen(ctx, seen)
			seen = nil
			if s.loading {
				s.finishLoading()
			}
			continue
		}
		if stem, ok := stemOf(ev.Doc.Key); ok {
			if seen != nil {
				seen[ev.Doc.Key] = !ev.Deleted
			}
			s.take(ctx, ev, stem)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return synced, err
	}
	return synced, store.ErrClosed
}

// take applies one event. An event may be older than a write made here; the
// store is asked then.
func (s *shelf) take(ctx context.Context, ev store.Event, stem string) {
	id, _ := idOf(stem)
	defer s.lock(id)()
	key, version := ev.Doc.Key, ev.Doc.Version
	if ev.Deleted {
		version = gone
	}
	s.mu.Lock()
	mine, isMine := s.written[key]
	if isMine && mine == version {
		delete(s.written, key)
	}
	s.mu.Unlock()
	switch {
	case isMine && mine == version:
	case isMine:
		s.reread(ctx, key, mine)
	case ev.Deleted:
		s.remove(key)
	default:
		s.put(ev.Doc)
	}
}

// reread takes in a file as the store has it now. mine is the version written
// here last; when the store has another one, that write is history. The caller
// holds the stripe.
func (s *shelf) reread(ctx context.Context, key string, mine store.Version) {
	doc, err := s.docs.Get(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		doc.Version = gone
		s.remove(key)
	case err == nil:
		s.put(doc)
	default:
		doc.Version = mine // unknown; a later event tells
	}
	if doc.Version != mine {
		s.mu.Lock()
		delete(s.written, key)
		s.mu.Unlock()
	}
}

// forgetUnseen removes the files that a complete snapshot did not have.
func (s *shelf) forgetUnseen(ctx context.Context, seen map[string]bool) {
	s.mu.RLock()
	var unseen []string
	for key := range s.files {
		if !seen[key] {
			unseen = append(unseen, key)
		}
	}
	s.mu.RUnlock()
	for _, key := range unseen {
		stem, _ := stemOf(key)
		id, _ := idOf(stem)
		unlock := s.lock(id)
		s.mu.RLock()
		mine, isMine := s.written[key]
		s.mu.RUnlock()
		if isMine {
			s.reread(ctx, key, mine)
		} else {
			s.remove(key)
		}
		unlock()
	}
}
