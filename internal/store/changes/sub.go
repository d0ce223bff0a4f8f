package changes

import (
	"context"
	"sync"

	"github.com/idea-ide/ideai/internal/store"
)

// sub is the queue of one watcher.
type sub struct {
	prefix string
	limit  int
	wake   chan struct{} // holds a token while there is something to see

	mu     sync.Mutex
	queue  []string
	queued map[string]struct{}
	err    error
}

func (f *Feed) subscribe(prefix string, limit int) *sub {
	if limit <= 0 {
		limit = DefaultBuffer
	}
	s := &sub{prefix: prefix, limit: limit, wake: make(chan struct{}, 1), queued: map[string]struct{}{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		s.end(f.err)
		return s
	}
	if f.subs == nil {
		f.subs = map[*sub]struct{}{}
	}
	f.subs[s] = struct{}{}
	return s
}

func (f *Feed) drop(s *sub) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, s)
}

func (s *sub) mark(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.queued[key]; ok || s.err != nil {
		return
	}
	if len(s.queue) == s.limit {
		s.err, s.queue, s.queued = store.ErrLagged, nil, nil
	} else {
		s.queue = append(s.queue, key)
		s.queued[key] = struct{}{}
	}
	s.signal()
}

func (s *sub) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.signal()
}

func (s *sub) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// next waits for a changed key. Keys that were queued before an end still come.
func (s *sub) next(ctx context.Context) (string, error) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			key := s.queue[0]
			s.queue = s.queue[1:]
			delete(s.queued, key)
			s.mu.Unlock()
			return key, ctx.Err()
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-s.wake:
		}
	}
}
