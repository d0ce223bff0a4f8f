package storefile

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/idea-ide/ideai/internal/store"
)

// racy is how fresh a file's times must be for a second change to go unseen by
// them: the coarsest clock of the file systems people work on.
const racy = 50 * time.Millisecond

// hub notices what others change in the folders that are being watched. One
// goroutine runs while there are watchers.
type hub struct {
	s *Store

	mu       sync.Mutex
	watchers map[string]int     // by prefix
	scanned  map[string]bool    // prefixes looked through since they are watched
	known    map[string]known   // files as they were last found settled
	pending  map[string]suspect // files that changed and must settle
	folders  map[string]string  // watched folder on disk → key prefix
	notify   *fsnotify.Watcher  // nil when the system has none to give
	stop     context.CancelFunc // ends the goroutine
	soon     bool               // look through everything after Settle
	wake     chan struct{}      // holds a token when pending or soon changed
	running  sync.WaitGroup
	closed   bool

	scanning sync.Mutex // one scan at a time, so that none hides a change from another
}

type known struct {
	stamp
	racy bool // look again at the next scan
}

type suspect struct {
	stamp
	exists bool
	since  time.Time // when it was first seen like this
	due    time.Time
}

// join counts a watcher in and starts the goroutine for the first.
func (h *hub) join(s *Store, prefix string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers, h.scanned, h.s = map[string]int{}, map[string]bool{}, s
	}
	h.watchers[prefix]++
	if h.stop != nil || h.closed {
		return
	}
	h.known, h.pending, h.folders = map[string]known{}, map[string]suspect{}, map[string]string{}
	wake := make(chan struct{}, 1)
	h.wake = wake
	notify, err := listen(s.opts.deaf)
	if err != nil {
		s.opts.Logger.Warn("no notifications of file changes; folders are looked through instead",
			"every", s.opts.Rescan, "error", err)
		notify = nil
	}
	h.notify = notify
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.running.Go(func() { h.run(ctx, notify, wake) })
}

func listen(deaf bool) (*fsnotify.Watcher, error) {
	if deaf {
		return nil, errors.ErrUnsupported
	}
	return fsnotify.NewWatcher()
}

// part counts a watcher out and stops the goroutine after the last.
func (h *hub) part(prefix string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[prefix]--; h.watchers[prefix] == 0 {
		delete(h.watchers, prefix)
		delete(h.scanned, prefix)
	}
	if len(h.watchers) == 0 {
		h.end()
	}
}

// end stops the goroutine. h.mu is held.
func (h *hub) end() {
	if h.stop == nil {
		return
	}
	h.stop()
	h.stop = nil
	if h.notify != nil {
		_ = h.notify.Close()
		h.notify = nil
	}
	h.known, h.pending, h.folders = nil, nil, nil
}

// close stops the goroutine for good and waits for it.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.end()
	h.mu.Unlock()
	h.running.Wait()
}

func (h *hub) active() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stop != nil
}

// prefixes returns the outermost prefixes watched.
func (h *hub) prefixes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for p := range h.watchers {
		covered := false
		for q := range h.watchers {
			covered = covered || p != q && store.Below(p, q)
		}
		if !covered {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// adopt takes a file as settled because we wrote it or found it old.
func (h *hub) adopt(key string, st stamp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		return
	}
	delete(h.pending, key)
	h.known[key] = known{stamp: st, racy: st.age(time.Now()) < racy}
}

// settledAs reports whether a file found like this may be shown. One that is
// too fresh must settle first.
func (h *hub) settledAs(key string, st stamp) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || h.known[key].stamp == st {
		return true
	}
	now := time.Now()
	if _, suspected := h.pending[key]; !suspected && st.age(now) > st.patience(h.s.opts.Settle) {
		h.known[key] = known{stamp: st}
		return true
	}
	h.suspect(key, st, true, now)
	return false
}

// suspect lets a file settle. h.mu is held.
func (h *hub) suspect(key string, st stamp, exists bool, now time.Time) {
	p, ok := h.pending[key]
	if ok && p.stamp == st && p.exists == exists {
		return
	}
	settle := h.s.opts.Settle
	h.pending[key] = suspect{stamp: st, exists: exists, since: now, due: now.Add(settle)}
	h.signal()
}

func (h *hub) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// check looks at suspects again and returns those that are still to settle. The
// others are marked in the feed.
func (h *hub) check(keys []string) (still []string) {
	for _, key := range keys {
		st, exists := h.s.stampKey(key)
		if h.checked(key, st, exists) {
			h.s.feed.Mark(key)
		} else {
			still = append(still, key)
		}
	}
	return still
}

// checked reports whether a suspect, found like this now, has settled.
func (h *hub) checked(key string, st stamp, exists bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pending == nil {
		return true
	}
	now := time.Now()
	p, ok := h.pending[key]
	switch {
	case !ok:
		return true
	case p.stamp != st || p.exists != exists:
		h.suspect(key, st, exists, now)
		return false
	}
	patience := h.s.opts.Settle
	if before, seen := h.known[key]; exists && (!seen || before.size > 0) {
		patience = st.patience(patience)
	}
	if left := patience - now.Sub(p.since); left > 0 {
		p.due = now.Add(min(left, h.s.opts.Settle))
		h.pending[key] = p
		return false
	}
	delete(h.pending, key)
	if exists {
		h.known[key] = known{stamp: st, racy: st.age(now) < racy}
	} else {
		delete(h.known, key)
	}
	return true
}
