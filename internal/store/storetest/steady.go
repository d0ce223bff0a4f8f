package storetest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storefault"
)

// UnderFaults returns a harness whose stores fail about once in n calls, half of
// the time after it was done, and whose tests reach them through what a careful
// caller does about it: look, then try again. It shows that the contract tells
// a caller enough to survive.
func UnderFaults(h Harness, n int) Harness {
	seed := uint64(1)
	wrap := func(s Store) Store {
		seed++
		return &steady{Store: storefault.Wrap(s, storefault.Random(seed, n)), inner: s}
	}
	out := h
	out.Open = func(t *testing.T) Store { return wrap(h.Open(t)) }
	if h.Reopen != nil {
		out.Reopen = func(t *testing.T, s Store) Store { return wrap(h.Reopen(t, s.(*steady).inner)) }
	}
	if h.Crash != nil {
		out.Crash = func(t *testing.T, s Store) Store { return wrap(h.Crash(t, s.(*steady).inner)) }
	}
	if h.Second != nil {
		out.Second = func(t *testing.T, s Store) error { return h.Second(t, s.(*steady).inner) }
	}
	out.Limits.Ambiguous = "an injected fault does not say whether it happened"
	return out
}

// steady hides injected faults from its caller.
type steady struct {
	Store
	inner Store
}

func unknown(err error) bool { return errors.Is(err, storefault.ErrInjected) }

// sure repeats what changes nothing until it is answered.
func sure[T any](do func() (T, error)) (T, error) {
	for {
		result, err := do()
		if !unknown(err) {
			return result, err
		}
	}
}

func (s *steady) Get(ctx context.Context, key string) (store.Doc, error) {
	return sure(func() (store.Doc, error) { return s.Store.Get(ctx, key) })
}

// Put looks after a fault: equal bytes are a success, an untouched document is
// tried again, anything else is another writer's.
func (s *steady) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	for {
		v, err := s.Store.Put(ctx, key, data, expect)
		if !unknown(err) {
			return v, err
		}
		doc, err := s.Get(ctx, key)
		switch {
		case err == nil && bytes.Equal(doc.Data, data):
			return doc.Version, nil
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return "", err
		}
	}
}

// Delete looks before and after a fault.
func (s *steady) Delete(ctx context.Context, key string, expect store.Version) error {
	if _, err := s.Get(ctx, key); err != nil {
		return err
	}
	for {
		if err := s.Store.Delete(ctx, key, expect); !unknown(err) {
			return err
		}
		if _, err := s.Get(ctx, key); errors.Is(err, store.ErrNotFound) {
			return nil
		}
	}
}

// Append looks after a fault whether its records are there.
func (s *steady) Append(ctx context.Context, stream string, records [][]byte, after store.Seq) (store.Seq, error) {
	start := after
	if after == store.AnySeq {
		_, last, err := s.Bounds(ctx, stream)
		if err != nil {
			return 0, err
		}
		start = last
	}
	for {
		last, err := s.Store.Append(ctx, stream, records, after)
		if !unknown(err) {
			return last, err
		}
		if seq, found := s.find(ctx, stream, records, start); found {
			return seq, nil
		}
	}
}

// find looks for a run of records after a number.
func (s *steady) find(ctx context.Context, stream string, records [][]byte, after store.Seq) (store.Seq, bool) {
	if len(records) == 0 {
		return 0, false
	}
	matched := 0
	for r, err := range s.Read(ctx, stream, after+1, store.Forward) {
		if err != nil {
			return 0, false
		}
		if !bytes.Equal(r.Data, records[matched]) {
			matched = 0
			continue
		}
		if matched++; matched == len(records) {
			return r.Seq, true
		}
	}
	return 0, false
}

func (s *steady) Bounds(ctx context.Context, stream string) (first, last store.Seq, err error) {
	b, err := sure(func() ([2]store.Seq, error) {
		first, last, err := s.Store.Bounds(ctx, stream)
		return [2]store.Seq{first, last}, err
	})
	return b[0], b[1], err
}

func (s *steady) Trim(ctx context.Context, stream string, before store.Seq) error {
	_, err := sure(func() (struct{}, error) { return struct{}{}, s.Store.Trim(ctx, stream, before) })
	return err
}

// List goes on behind the last document it yielded.
func (s *steady) List(ctx context.Context, prefix string) iter.Seq2[store.Doc, error] {
	return func(yield func(store.Doc, error) bool) {
		last, again := "", true
		for again {
			again = false
			for doc, err := range s.Store.List(ctx, prefix) {
				if again = unknown(err); again {
					break
				}
				if err == nil && doc.Key <= last {
					continue
				}
				last = doc.Key
				if !yield(doc, err) {
					return
				}
			}
		}
	}
}

// Read goes on behind the last record it yielded.
func (s *steady) Read(ctx context.Context, stream string, from store.Seq, order store.Order) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for again := true; again; {
			again = false
			for r, err := range s.Store.Read(ctx, stream, from, order) {
				if again = unknown(err); again {
					break
				}
				if !yield(r, err) {
					return
				}
				from = r.Seq + 1
				if order == store.Backward {
					if from = r.Seq - 1; from == 0 {
						return // 0 would mean the end
					}
				}
			}
		}
	}
}

func (s *steady) Tail(ctx context.Context, stream string, after store.Seq) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for {
			for r, err := range s.Store.Tail(ctx, stream, after) {
				if unknown(err) {
					break
				}
				if !yield(r, err) || err != nil {
					return
				}
				after = r.Seq
			}
		}
	}
}

// Watch starts again after a fault and tells the difference.
func (s *steady) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		w := rewatch{shown: map[string]store.Version{}, yield: yield}
		for again := true; again; {
			again = false
			w.fresh = map[string]bool{}
			for e, err := range s.Store.Watch(ctx, prefix) {
				if again = unknown(err); again {
					break
				}
				if !w.pass(e, err) {
					return
				}
			}
		}
	}
}

// rewatch joins several watches into one.
type rewatch struct {
	shown  map[string]store.Version
	fresh  map[string]bool // what the present snapshot has shown; nil when complete
	synced bool
	yield  func(store.Event, error) bool
}

func (w *rewatch) pass(e store.Event, err error) bool {
	switch {
	case err != nil:
		return w.yield(e, err)
	case e.Synced:
		return w.complete(e)
	case e.Deleted:
		if _, ok := w.shown[e.Doc.Key]; !ok {
			return true
		}
		delete(w.shown, e.Doc.Key)
		return w.yield(e, nil)
	}
	if w.fresh != nil {
		w.fresh[e.Doc.Key] = true
	}
	if v, ok := w.shown[e.Doc.Key]; ok && v == e.Doc.Version {
		return true
	}
	w.shown[e.Doc.Key] = e.Doc.Version
	return w.yield(e, nil)
}

// complete tells what a new snapshot does not have any more.
func (w *rewatch) complete(e store.Event) bool {
	for key := range w.shown {
		if !w.fresh[key] {
			delete(w.shown, key)
			if !w.yield(store.Event{Doc: store.Doc{Key: key}, Deleted: true}, nil) {
				return false
			}
		}
	}
	w.fresh = nil
	if w.synced {
		return true
	}
	w.synced = true
	return w.yield(e, nil)
}
