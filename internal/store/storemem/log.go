package storemem

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/idea-ide/ideai/internal/store"
)

type stream struct {
	records []store.Record
	last    store.Seq     // survives Trim
	wake    chan struct{} // closed at the next change
}

func (st *stream) changed() {
	close(st.wake)
	st.wake = make(chan struct{})
}

// at returns the index of the first record numbered seq or more.
func (st *stream) at(seq store.Seq) int {
	return sort.Search(len(st.records), func(i int) bool { return st.records[i].Seq >= seq })
}

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }

// stream returns a stream, made when absent. The store is locked.
func (s *Store) stream(name string) *stream {
	st, ok := s.streams[name]
	if !ok {
		st = &stream{wake: make(chan struct{})}
		s.streams[name] = st
	}
	return st
}

// Append implements store.Log.
func (s *Store) Append(ctx context.Context, name string, records [][]byte, after store.Seq) (store.Seq, error) {
	if err := s.enter(ctx, store.CheckKey(name)); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	st := s.stream(name)
	if after != store.AnySeq && after != st.last {
		return 0, fmt.Errorf("%s: %w: it ends at %d, not %d", name, store.ErrConflict, st.last, after)
	}
	for _, data := range records {
		st.last++
		st.records = append(st.records, store.Record{Seq: st.last, Data: append([]byte{}, data...)})
	}
	if len(records) > 0 {
		st.changed()
	}
	return st.last, nil
}

// Read implements store.Log.
func (s *Store) Read(ctx context.Context, name string, from store.Seq, order store.Order) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		records, err := s.snapshot(ctx, name, from, order)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				yield(store.Record{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *Store) snapshot(ctx context.Context, name string, from store.Seq, order store.Order) ([]store.Record, error) {
	if err := s.enter(ctx, store.CheckKey(name)); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	st := s.stream(name)
	if order == store.Forward {
		return slices.Clone(st.records[st.at(from):]), nil
	}
	end := len(st.records)
	if from > 0 {
		end = st.at(from + 1)
	}
	records := slices.Clone(st.records[:end])
	slices.Reverse(records)
	return records, nil
}

// Tail implements store.Log.
func (s *Store) Tail(ctx context.Context, name string, after store.Seq) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for {
			records, wake, err := s.newer(ctx, name, after)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
				after = r.Seq
			}
			if len(records) > 0 {
				continue
			}
			select {
			case <-ctx.Done():
			case <-wake:
			}
		}
	}
}

func (s *Store) newer(ctx context.Context, name string, after store.Seq) ([]store.Record, <-chan struct{}, error) {
	if err := s.enter(ctx, store.CheckKey(name)); err != nil {
		return nil, nil, err
	}
	defer s.mu.Unlock()
	st := s.stream(name)
	return slices.Clone(st.records[st.at(after+1):]), st.wake, nil
}

// Bounds implements store.Log.
func (s *Store) Bounds(ctx context.Context, name string) (first, last store.Seq, err error) {
	if err := s.enter(ctx, store.CheckKey(name)); err != nil {
		return 0, 0, err
	}
	defer s.mu.Unlock()
	st := s.stream(name)
	if len(st.records) == 0 {
		return 0, st.last, nil
	}
	return st.records[0].Seq, st.last, nil
}

// Trim implements store.Log.
func (s *Store) Trim(ctx context.Context, name string, before store.Seq) error {
	if err := s.enter(ctx, store.CheckKey(name)); err != nil {
		return err
	}
	defer s.mu.Unlock()
	st := s.stream(name)
	st.records = slices.Clone(st.records[st.at(before):])
	return nil
}
