package memorysvc

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
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
	var confirming sync.WaitGroup
	defer confirming.Wait()
	defer s.stop()
	confirming.Go(func() { s.confirm(ctx) })
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
	if isMine && mine.version == version {
		delete(s.written, key)
	}
	s.mu.Unlock()
	switch {
	case isMine && mine.version == version:
	case isMine:
		s.reread(ctx, key, mine.version)
	case ev.Deleted:
		s.remove(key)
	default:
		s.put(ev.Doc)
	}
}

// reread takes in a file as the store has it now. When that is not what was
// written here last, that write is history. The caller holds the stripe.
func (s *shelf) reread(ctx context.Context, key string, mine store.Version) {
	if now, err := s.readAgain(ctx, key); err == nil && now != mine {
		s.forgetWrite(key)
	}
}

func (s *shelf) readAgain(ctx context.Context, key string) (store.Version, error) {
	doc, err := s.docs.Get(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		s.remove(key)
		return gone, nil
	case err != nil:
		return "", err // a later event tells
	}
	s.put(doc)
	return doc.Version, nil
}

// confirm asks the store about own writes that the watch does not tell of: a
// note that others delete right after its save may never have been shown.
func (s *shelf) confirm(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wroteSome:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settle):
		}
		s.mu.RLock()
		pending := maps.Clone(s.written)
		s.mu.RUnlock()
		for key, w := range pending {
			if time.Since(w.at) >= settle {
				s.confirmOne(ctx, key, w)
			} else {
				s.wake()
			}
		}
	}
}

func (s *shelf) confirmOne(ctx context.Context, key string, w write) {
	stem, _ := stemOf(key)
	id, _ := idOf(stem)
	defer s.lock(id)()
	s.mu.RLock()
	same := s.written[key] == w
	s.mu.RUnlock()
	if !same {
		return
	}
	if _, err := s.readAgain(ctx, key); err == nil {
		s.forgetWrite(key)
	} else {
		s.wake()
	}
}

func (s *shelf) forgetWrite(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.written, key)
}

// wake has confirm look again.
func (s *shelf) wake() {
	select {
	case s.wroteSome <- struct{}{}:
	default:
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
			s.reread(ctx, key, mine.version)
		} else {
			s.remove(key)
		}
		unlock()
	}
}
