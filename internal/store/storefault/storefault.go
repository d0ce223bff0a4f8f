// Package storefault makes a store fail on purpose, also in the way that hurts
// most: it was done, but you got an error.
package storefault

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// ErrInjected is the cause of every fault made here.
var ErrInjected = errors.New("injected fault")

// Kind is what a plan does to one call.
type Kind uint8

// The kinds. For List, Watch, Read and Tail, After means in the middle: some
// items were yielded.
const (
	None   Kind = iota
	Before      // nothing was done
	After       // it was done
)

// Plan says what happens to a call, named as the method. It is called by
// several goroutines at once.
type Plan func(op string) Kind

// Random returns a plan that fails about one in n calls, and as many after the
// fact. Equal seeds give equal sequences.
func Random(seed uint64, n int) Plan {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0))
	return func(string) Kind {
		mu.Lock()
		defer mu.Unlock()
		switch r.IntN(n) {
		case 0:
			return Before
		case 1:
			return After
		}
		return None
	}
}

// Once returns a plan that fails the first call of op.
func Once(op string, kind Kind) Plan {
	var once sync.Once
	return func(called string) Kind {
		k := None
		if called == op {
			once.Do(func() { k = kind })
		}
		return k
	}
}

// Inner is what can be wrapped.
type Inner interface {
	store.Docs
	store.Log
	Close() error
}

// Store is a store that fails as planned. Close never does.
type Store struct {
	Inner
	plan Plan
}

var _ Inner = (*Store)(nil)

// Wrap returns a store that fails as planned.
func Wrap(inner Inner, plan Plan) *Store { return &Store{Inner: inner, plan: plan} }

func failed(op string) error {
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": op}, "%s failed; try again", op).Wrap(ErrInjected)
}

// call runs one call under the plan.
func call[T any](s *Store, op string, do func() (T, error)) (T, error) {
	var zero T
	kind := s.plan(op)
	if kind == Before {
		return zero, failed(op)
	}
	result, err := do()
	if kind == After && err == nil {
		return zero, failed(op)
	}
	return result, err
}

// through runs one iteration under the plan. After ends it behind the first or
// second item.
func through[T any](s *Store, op string, items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		kind := s.plan(op)
		if kind == Before {
			yield(zero, failed(op))
			return
		}
		n := 0
		for item, err := range items {
			if !yield(item, err) || err != nil {
				return
			}
			if n++; kind == After && n == 2 {
				yield(zero, failed(op))
				return
			}
		}
	}
}

// Get implements store.Docs.
func (s *Store) Get(ctx context.Context, key string) (store.Doc, error) {
	return call(s, "Get", func() (store.Doc, error) { return s.Inner.Get(ctx, key) })
}

// List implements store.Docs.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Doc, error] {
	return through(s, "List", s.Inner.List(ctx, prefix))
}

// Put implements store.Docs.
func (s *Store) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	return call(s, "Put", func() (store.Version, error) { return s.Inner.Put(ctx, key, data, expect) })
}

// Delete implements store.Docs.
func (s *Store) Delete(ctx context.Context, key string, expect store.Version) error {
	_, err := call(s, "Delete", func() (struct{}, error) { return struct{}{}, s.Inner.Delete(ctx, key, expect) })
	return err
}

// Watch implements store.Docs.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return through(s, "Watch", s.Inner.Watch(ctx, prefix))
}

// Append implements store.Log.
func (s *Store) Append(ctx context.Context, stream string, records [][]byte, after store.Seq) (store.Seq, error) {
	return call(s, "Append", func() (store.Seq, error) { return s.Inner.Append(ctx, stream, records, after) })
}

// Read implements store.Log.
func (s *Store) Read(ctx context.Context, stream string, from store.Seq, order store.Order) iter.Seq2[store.Record, error] {
	return through(s, "Read", s.Inner.Read(ctx, stream, from, order))
}

// Tail implements store.Log.
func (s *Store) Tail(ctx context.Context, stream string, after store.Seq) iter.Seq2[store.Record, error] {
	return through(s, "Tail", s.Inner.Tail(ctx, stream, after))
}

// Bounds implements store.Log.
func (s *Store) Bounds(ctx context.Context, stream string) (first, last store.Seq, err error) {
	b, err := call(s, "Bounds", func() ([2]store.Seq, error) {
		first, last, err := s.Inner.Bounds(ctx, stream)
		return [2]store.Seq{first, last}, err
	})
	return b[0], b[1], err
}

// Trim implements store.Log.
func (s *Store) Trim(ctx context.Context, stream string, before store.Seq) error {
	_, err := call(s, "Trim", func() (struct{}, error) { return struct{}{}, s.Inner.Trim(ctx, stream, before) })
	return err
}
