// Package changes is the part of Docs.Watch that drivers share: a feed of
// changed keys with one bounded queue a watcher, and the loop that turns them
// into events.
//
// A queue holds keys, each at most once, never documents: the watcher reads the
// document when it gets there. So versions collapse, a writer never waits, and
// memory stays bounded however slow a watcher is.
package changes

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/idea-ide/ideai/internal/store"
)

// DefaultBuffer is how many changed keys a watcher may be behind.
const DefaultBuffer = 4096

// Feed tells watchers which keys changed. The zero value is ready. All methods
// may be called from several goroutines.
type Feed struct {
	mu   sync.Mutex
	subs map[*sub]struct{}
	err  error // set once closed
}

// Mark tells every watcher of key that it changed. It never blocks.
func (f *Feed) Mark(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		if store.Below(key, s.prefix) {
			s.mark(key)
		}
	}
}

// Close ends every watch, present and future, with err.
func (f *Feed) Close(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return
	}
	f.err = err
	for s := range f.subs {
		s.end(err)
	}
}

// Source is what a driver gives a watch.
type Source struct {
	Feed   *Feed
	Buffer int // changed keys a watcher may be behind; 0 means DefaultBuffer
	// Keys returns the keys below the prefix, sorted. It is called after the
	// watcher receives marks.
	Keys func(ctx context.Context) ([]string, error)
	// Read returns a document as it is to be shown: ErrNotFound when there is
	// none, ErrUnsettled when the driver will mark the key again.
	Read func(ctx context.Context, key string) (store.Doc, error)
}

// ErrUnsettled is what Source.Read returns for a document that is being
// written: it is passed over and marked again later.
var ErrUnsettled = errors.New("document not settled")

// Watch runs a watch as Docs.Watch promises it.
func Watch(ctx context.Context, prefix string, src Source) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		s := src.Feed.subscribe(prefix, src.Buffer)
		defer src.Feed.drop(s)
		w := watcher{ctx: ctx, src: src, shown: map[string]string{}, yield: yield}
		if err := w.run(s); err != nil {
			yield(store.Event{}, err)
		}
	}
}

var errStopped = errors.New("the consumer stopped")

type watcher struct {
	ctx   context.Context
	src   Source
	shown map[string]string // fingerprint of what the consumer saw last
	yield func(store.Event, error) bool
}

// run returns the error to end the watch with, nil when the consumer stopped.
func (w *watcher) run(s *sub) error {
	keys, err := w.src.Keys(w.ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.show(key); err != nil {
			return ended(err)
		}
	}
	if !w.yield(store.Event{Synced: true}, nil) {
		return nil
	}
	for {
		key, err := s.next(w.ctx)
		if err != nil {
			return err
		}
		if err := w.show(key); err != nil {
			return ended(err)
		}
	}
}

func ended(err error) error {
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// show yields what changed about one key since it was shown last.
func (w *watcher) show(key string) error {
	doc, err := w.src.Read(w.ctx, key)
	before, seen := w.shown[key]
	event := store.Event{Doc: doc}
	switch {
	case errors.Is(err, ErrUnsettled):
		return nil
	case errors.Is(err, store.ErrNotFound):
		if !seen {
			return nil
		}
		delete(w.shown, key)
		event = store.Event{Doc: store.Doc{Key: key}, Deleted: true}
	case err != nil:
		return err
	default:
		now := Fingerprint(doc)
		if seen && now == before {
			return nil
		}
		w.shown[key] = now
	}
	if !w.yield(event, nil) {
		return errStopped
	}
	return nil
}

// Fingerprint is equal for documents that a watcher need not tell apart.
func Fingerprint(doc store.Doc) string {
	if doc.Err != nil {
		return "error " + doc.Err.Error()
	}
	return string(doc.Version)
}
