package storefile

import (
	"context"
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/idea-ide/ideai/internal/store"
)

var _ store.Log = (*Store)(nil)

// MaxRecord is the largest record, in bytes. Append refuses larger ones with
// store.ErrTooLarge.
const MaxRecord = 16 << 20

// Append implements store.Log. Once its turn has come it does not end early
// with ctx.
func (s *Store) Append(ctx context.Context, name string, records [][]byte, after store.Seq) (store.Seq, error) {
	check := s.checkStream(name)
	for _, r := range records {
		if check == nil && len(r) > MaxRecord {
			check = fmt.Errorf("%s: %w: a record of %d bytes, at most %d", name, store.ErrTooLarge, len(r), MaxRecord)
		}
	}
	if err := s.enter(ctx, check); err != nil {
		return 0, err
	}
	defer s.leave()
	file := path.Join(s.sub, name+segmentExt)
	if err := s.writable(file); err != nil {
		return 0, err
	}
	last, err := s.stream(name).append(records, after)
	if err != nil {
		return 0, s.explain(err, file, writing)
	}
	return last, nil
}

// view returns a stream as it is now.
func (s *Store) view(ctx context.Context, name string) (view, error) {
	if err := s.enter(ctx, s.checkStream(name)); err != nil {
		return view{}, err
	}
	defer s.leave()
	v, err := s.stream(name).view()
	return v, s.explain(err, path.Join(s.sub, name+segmentExt), reading)
}

// Read implements store.Log. It yields the records there are when it begins.
func (s *Store) Read(ctx context.Context, name string, from store.Seq, order store.Order) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		v, err := s.view(ctx, name)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		s.emit(ctx, name, v, from, order, yield)
	}
}

// emit yields the records of a view and reports whether the consumer wants more.
func (s *Store) emit(ctx context.Context, name string, v view, from store.Seq, order store.Order, yield func(store.Record, error) bool) bool {
	segs := v.segs
	if order == store.Backward {
		slices.Reverse(segs)
	}
	for _, seg := range segs {
		if order == store.Forward && seg.last > 0 && seg.last < from || order == store.Backward && from > 0 && seg.first > from {
			continue
		}
		var ended error
		more, err := s.readSegment(seg, from, order, func(r store.Record) bool {
			if ended = ctx.Err(); ended != nil {
				return false
			}
			return yield(r, nil)
		})
		if err == nil {
			err = ended
		}
		if err != nil {
			yield(store.Record{}, s.explain(err, path.Join(s.sub, name+segmentExt), reading))
			return false
		}
		if !more {
			return false
		}
	}
	return true
}

// Tail implements store.Log. It sees what this store appends.
func (s *Store) Tail(ctx context.Context, name string, after store.Seq) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for {
			v, err := s.view(ctx, name)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			more := v.last <= after || s.emit(ctx, name, v, after+1, store.Forward, func(r store.Record, err error) bool {
				after = max(after, r.Seq)
				return yield(r, err)
			})
			if !more {
				return
			}
			select {
			case <-ctx.Done():
			case <-v.wake:
			}
		}
	}
}

// Bounds implements store.Log.
func (s *Store) Bounds(ctx context.Context, name string) (first, last store.Seq, err error) {
	v, err := s.view(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	for _, seg := range v.segs {
		if seg.first > 0 {
			return seg.first, v.last, nil
		}
	}
	return 0, v.last, nil
}

// Trim implements store.Log: it removes the files that hold nothing newer. The
// newest file always stays.
func (s *Store) Trim(ctx context.Context, name string, before store.Seq) error {
	if err := s.enter(ctx, s.checkStream(name)); err != nil {
		return err
	}
	defer s.leave()
	file := path.Join(s.sub, name+segmentExt)
	if err := s.writable(file); err != nil {
		return err
	}
	return s.explain(s.stream(name).trim(before), file, writing)
}

func (st *stream) trim(before store.Seq) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.load(); err != nil {
		return err
	}
	trimmed := false
	for len(st.segs) > 1 && st.segs[0].last < before {
		if err := st.s.step("log.trim"); err != nil {
			return err
		}
		if err := st.s.root.Remove(st.segs[0].file); err != nil && !missing(err) {
			return err
		}
		st.segs = slices.Clone(st.segs[1:])
		trimmed = true
	}
	if !trimmed {
		return nil
	}
	return st.s.syncFolder(path.Dir(st.segs[0].file))
}
