package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

// together runs f n times at once and returns the errors.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errs
}

var concurrencyTests = []test{
	{"one of many makes the document", func(t *testing.T, h Harness) {
		s := open(t, h)
		errs := together(16, func(i int) error {
			_, err := s.Put(t.Context(), "a", fmt.Appendf(nil, "writer %d", i), store.Absent)
			return err
		})
		oneWinner(t, errs, string(get(t, s, "a").Data))
	}},
	{"one of many replaces the version", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "a", "start", store.Absent)
		errs := together(16, func(i int) error {
			_, err := s.Put(t.Context(), "a", fmt.Appendf(nil, "writer %d", i), v)
			return err
		})
		oneWinner(t, errs, string(get(t, s, "a").Data))
	}},
	{"one of many deletes", func(t *testing.T, h Harness) {
		skipFor(t, h.Limits.Ambiguous)
		s := open(t, h)
		v := put(t, s, "a", "start", store.Absent)
		won := 0
		for _, err := range together(16, func(int) error { return s.Delete(t.Context(), "a", v) }) {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Fatalf("%d deletes succeeded", won)
		}
	}},
	{"updates lose nothing", func(t *testing.T, h Harness) {
		s := open(t, h)
		errs := together(8, func(i int) error {
			for round := range 5 {
				if err := mark(t.Context(), s, "a", fmt.Sprintf("%d-%d", i, round)); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		marks := strings.Fields(string(get(t, s, "a").Data))
		slices.Sort(marks)
		if len(slices.Compact(marks)) != 40 {
			t.Fatalf("%d marks, want 40: %q", len(marks), marks)
		}
	}},
	{"keys do not hinder each other", func(t *testing.T, h Harness) {
		s := open(t, h)
		errs := together(16, func(i int) error {
			key := fmt.Sprintf("d%d/k%d", i%3, i)
			v := store.Absent
			for round := range 5 {
				var err error
				if v, err = s.Put(t.Context(), key, fmt.Append(nil, round), v); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if n := len(contents(t, s, "")); n != 16 {
			t.Fatalf("%d documents", n)
		}
	}},
	{"folders come and go", func(t *testing.T, h Harness) {
		s := open(t, h)
		errs := together(8, func(i int) error {
			for range 10 {
				key := fmt.Sprintf("a/b/%d", i)
				if _, err := s.Put(t.Context(), key, []byte("x"), store.Absent); err != nil {
					return err
				}
				if err := s.Delete(t.Context(), key, store.Any); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantContents(t, s, "", map[string]string{})
	}},
	{"readers see whole documents", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", strings.Repeat("0", 20_000), store.Absent)
		ctx, stop := context.WithCancel(within(t))
		defer stop()
		wrote := make(chan error, 1)
		go func() {
			defer stop()
			for i := range 50 {
				if _, err := s.Put(t.Context(), "a", []byte(strings.Repeat(fmt.Sprint(i%10), 20_000)), store.Any); err != nil {
					wrote <- err
					return
				}
			}
			wrote <- nil
		}()
		for ctx.Err() == nil {
			data := string(get(t, s, "a").Data)
			if strings.Count(data, data[:1]) != 20_000 {
				t.Fatal("a document of two versions")
			}
		}
		if err := <-wrote; err != nil {
			t.Fatal(err)
		}
	}},
	{"appends of many are all there once, each in order", func(t *testing.T, h Harness) {
		s := open(t, h)
		errs := together(16, func(i int) error {
			for round := range 10 {
				if _, err := s.Append(t.Context(), "s", [][]byte{fmt.Appendf(nil, "%d/%d", i, round)}, store.AnySeq); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		data, _ := records(t, s, "s", 0, store.Forward)
		next := map[string]int{}
		for _, r := range data {
			writer, round, _ := strings.Cut(r, "/")
			if round != fmt.Sprint(next[writer]) {
				t.Fatalf("record %q of writer %s, want round %d", r, writer, next[writer])
			}
			next[writer]++
		}
		if len(data) != 160 {
			t.Fatalf("%d records", len(data))
		}
	}},
	{"one of many appends after a number", func(t *testing.T, h Harness) {
		s := open(t, h)
		last := add(t, s, "s", 0, "start")
		errs := together(16, func(i int) error {
			_, err := s.Append(t.Context(), "s", [][]byte{fmt.Appendf(nil, "writer %d", i)}, last)
			return err
		})
		data, _ := records(t, s, "s", 0, store.Forward)
		oneWinner(t, errs, data[1])
		if len(data) != 2 {
			t.Fatalf("records %q", data)
		}
	}},
}

// oneWinner checks that one succeeded, the others conflicted, and that the data
// is the winner's.
func oneWinner(t *testing.T, errs []error, data string) {
	t.Helper()
	won := []int{}
	for i, err := range errs {
		switch {
		case err == nil:
			won = append(won, i)
		case !errors.Is(err, store.ErrConflict):
			t.Errorf("writer %d: %v", i, err)
		}
	}
	if len(won) != 1 || data != fmt.Sprintf("writer %d", won[0]) {
		t.Fatalf("winners %v, data %q", won, data)
	}
}

// mark adds a word to a document once, however often it is tried.
func mark(ctx context.Context, s store.Docs, key, word string) error {
	_, err := store.Update(ctx, s, key, func(data []byte, _ bool) ([]byte, error) {
		if slices.Contains(strings.Fields(string(data)), word) {
			return data, nil
		}
		return fmt.Appendf(nil, "%s %s", data, word), nil
	})
	return err
}
