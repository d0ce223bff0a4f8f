package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storefault"
	"github.com/idea-ide/ideai/internal/store/storemem"
)

func write(text string) func([]byte, bool) ([]byte, error) {
	return func([]byte, bool) ([]byte, error) { return []byte(text), nil }
}

// The write happened, but an error came back: Update must say success, and must
// not write again.
func TestUpdateAfterUnknownOutcome(t *testing.T) {
	for _, kind := range []storefault.Kind{storefault.Before, storefault.After} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := storefault.Wrap(storemem.New(), storefault.Once("Put", kind))
				doc, err := store.Update(t.Context(), s, "a", write("new"))
				if err != nil {
					t.Fatal(err)
				}
				now, err := s.Get(t.Context(), "a")
				if err != nil || now.Version != doc.Version || string(now.Data) != "new" {
					t.Fatalf("%q at %q, %v, want version %q", now.Data, now.Version, err, doc.Version)
				}
			})
		})
	}
}

// failing refuses every Put with one error.
type failing struct {
	store.Docs
	err   error
	tries int
}

func (f *failing) Put(context.Context, string, []byte, store.Version) (store.Version, error) {
	f.tries++
	return "", f.err
}

func TestUpdateGivesUp(t *testing.T) {
	full := fault.New(fault.StoreFull, fault.Meta{"path": "x"}, "full")
	locked := fault.New(fault.StoreReadOnly, fault.Meta{"path": "x"}, "read-only")
	for _, tt := range []struct {
		err   error
		tries int
	}{
		{store.ErrTooLarge, 1}, {store.ErrClosed, 1}, {locked, 1}, {full, 3}, {errors.New("who knows"), 3}, {store.ErrConflict, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			docs := &failing{Docs: storemem.New(), err: tt.err}
			_, err := store.Update(t.Context(), docs, "a", write("new"))
			if !errors.Is(err, tt.err) || docs.tries != tt.tries {
				t.Errorf("%v after %d tries, want %v after %d", err, docs.tries, tt.err, tt.tries)
			}
		})
	}
}

// Someone else changes the document after a write whose outcome is unknown:
// nobody can tell whether ours happened, so the error is passed on.
func TestUpdateAfterUnknownOutcomeAndAnotherWriter(t *testing.T) {
	mem := storemem.New()
	unknown := errors.New("connection lost")
	docs := &overtaken{Docs: mem, err: unknown}
	_, err := store.Update(t.Context(), docs, "a", write("mine"))
	if !errors.Is(err, unknown) {
		t.Fatal(err)
	}
}

type overtaken struct {
	store.Docs
	err error
}

func (o *overtaken) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	if _, err := o.Docs.Put(ctx, key, data, expect); err != nil {
		return "", err
	}
	if _, err := o.Docs.Put(ctx, key, []byte("theirs"), store.Any); err != nil {
		return "", err
	}
	return "", o.err
}

func TestUpdateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	docs := &failing{Docs: storemem.New(), err: store.ErrConflict}
	_, err := store.Update(ctx, docs, "a", func([]byte, bool) ([]byte, error) {
		if docs.tries == 4 {
			cancel()
		}
		return []byte("x"), nil
	})
	if !errors.Is(err, context.Canceled) || docs.tries > 6 {
		t.Fatalf("%v after %d tries", err, docs.tries)
	}
}
