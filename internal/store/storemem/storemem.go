// Package storemem keeps documents and streams in memory: for tests, and the
// model that storetest compares other drivers with. It loses everything when
// the process ends, which is the only promise of the contract it breaks.
package storemem

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/changes"
)

// Store is a store.Docs and a store.Log. Versions are revisions: equal bytes
// written twice have two versions.
type Store struct {
	buffer int
	feed   changes.Feed

	mu       sync.Mutex
	closed   bool
	revision int64
	docs     map[string]store.Doc
	streams  map[string]*stream
}

var (
	_ store.Docs = (*Store)(nil)
	_ store.Log  = (*Store)(nil)
)

// New returns an empty store.
func New() *Store { return NewBuffer(changes.DefaultBuffer) }

// NewBuffer returns an empty store whose watchers may be n changed documents
// behind.
func NewBuffer(n int) *Store {
	return &Store{buffer: n, docs: map[string]store.Doc{}, streams: map[string]*stream{}}
}

// Close ends watches and tails; every later call returns store.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.feed.Close(store.ErrClosed)
	for _, st := range s.streams {
		st.changed()
	}
	return nil
}

// enter locks the store for one call.
func (s *Store) enter(ctx context.Context, check error) error {
	if check != nil {
		return check
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	return nil
}

// Get implements store.Docs.
func (s *Store) Get(ctx context.Context, key string) (store.Doc, error) {
	if err := s.enter(ctx, store.CheckKey(key)); err != nil {
		return store.Doc{}, err
	}
	defer s.mu.Unlock()
	doc, ok := s.docs[key]
	if !ok {
		return store.Doc{}, fmt.Errorf("%s: %w", key, store.ErrNotFound)
	}
	return doc, nil
}

// List implements store.Docs.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Doc, error] {
	return func(yield func(store.Doc, error) bool) {
		keys, err := s.keys(ctx, prefix)
		if err != nil {
			yield(store.Doc{}, err)
			return
		}
		for _, key := range keys {
			doc, err := s.Get(ctx, key)
			if isNotFound(err) {
				continue
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

func (s *Store) keys(ctx context.Context, prefix string) ([]string, error) {
	if err := s.enter(ctx, store.CheckPrefix(prefix)); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var keys []string
	for key := range s.docs {
		if store.Below(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Put implements store.Docs.
func (s *Store) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	check := store.CheckKey(key)
	if check == nil && len(data) > store.MaxDoc {
		check = fmt.Errorf("%s: %w: %d bytes, at most %d", key, store.ErrTooLarge, len(data), store.MaxDoc)
	}
	if err := s.enter(ctx, check); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	old, exists := s.docs[key]
	if err := compare(key, old.Version, exists, expect); err != nil {
		return "", err
	}
	s.revision++
	version := store.Version("r" + strconv.FormatInt(s.revision, 10))
	s.docs[key] = store.Doc{Key: key, Data: append([]byte{}, data...), Version: version, ModTime: time.Now()}
	s.feed.Mark(key)
	return version, nil
}

// Delete implements store.Docs.
func (s *Store) Delete(ctx context.Context, key string, expect store.Version) error {
	if err := s.enter(ctx, store.CheckKey(key)); err != nil {
		return err
	}
	defer s.mu.Unlock()
	old, exists := s.docs[key]
	if !exists {
		return fmt.Errorf("%s: %w", key, store.ErrNotFound)
	}
	if err := compare(key, old.Version, exists, expect); err != nil {
		return err
	}
	delete(s.docs, key)
	s.feed.Mark(key)
	return nil
}

func compare(key string, version store.Version, exists bool, expect store.Version) error {
	switch {
	case expect == store.Any, expect == store.Absent && !exists, exists && expect == version:
		return nil
	}
	return fmt.Errorf("%s: %w", key, store.ErrConflict)
}

// Watch implements store.Docs.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return changes.Watch(ctx, prefix, changes.Source{
		Feed:   &s.feed,
		Buffer: s.buffer,
		Keys:   func(ctx context.Context) ([]string, error) { return s.keys(ctx, prefix) },
		Read:   s.Get,
	})
}
