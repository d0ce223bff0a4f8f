package storefault_test

import (
	"errors"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storefault"
	"github.com/idea-ide/ideai/internal/store/storemem"
)

func TestKinds(t *testing.T) {
	for kind, done := range map[storefault.Kind]bool{storefault.Before: false, storefault.After: true} {
		s := storefault.Wrap(storemem.New(), storefault.Once("Put", kind))
		_, err := s.Put(t.Context(), "a", []byte("x"), store.Absent)
		if !errors.Is(err, storefault.ErrInjected) || fault.ReasonOf(err) != fault.StoreUnavailable {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), "a"); (err == nil) != done {
			t.Errorf("kind %d: Get says %v", kind, err)
		}
		if _, err := s.Put(t.Context(), "a", []byte("y"), store.Any); err != nil {
			t.Errorf("the second call: %v", err)
		}
	}
}

// An error of the store itself is not replaced by an injected one.
func TestRealErrorsPass(t *testing.T) {
	s := storefault.Wrap(storemem.New(), storefault.Once("Get", storefault.After))
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
}

func TestAnIterationIsCut(t *testing.T) {
	mem := storemem.New()
	for _, key := range []string{"a", "b", "c", "d"} {
		if _, err := mem.Put(t.Context(), key, nil, store.Absent); err != nil {
			t.Fatal(err)
		}
	}
	for kind, want := range map[storefault.Kind]int{storefault.Before: 0, storefault.After: 2} {
		s := storefault.Wrap(mem, storefault.Once("List", kind))
		n := 0
		var last error
		for _, err := range s.List(t.Context(), "") {
			if last = err; err == nil {
				n++
			}
		}
		if n != want || !errors.Is(last, storefault.ErrInjected) {
			t.Errorf("kind %d: %d documents, then %v", kind, n, last)
		}
	}
}

func TestRandomIsRepeatable(t *testing.T) {
	a, b := storefault.Random(7, 4), storefault.Random(7, 4)
	seen := map[storefault.Kind]int{}
	for range 400 {
		kind := a("Put")
		if kind != b("Put") {
			t.Fatal("equal seeds, different plans")
		}
		seen[kind]++
	}
	for _, kind := range []storefault.Kind{storefault.None, storefault.Before, storefault.After} {
		if seen[kind] < 50 {
			t.Errorf("kind %d came %d times in 400", kind, seen[kind])
		}
	}
}
