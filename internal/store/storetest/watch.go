package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

var watchTests = []test{
	{"empty store", func(t *testing.T, h Harness) {
		w := follow(t, open(t, h), "")
		if keys := w.synced(t); len(keys) != 0 {
			t.Fatalf("snapshot %q", keys)
		}
	}},
	{"snapshot in key order, then synced", func(t *testing.T, h Harness) {
		s := open(t, h)
		for _, key := range []string{"b", "a/b", "a-b", "c"} {
			put(t, s, key, "data", store.Absent)
		}
		keys := follow(t, s, "").synced(t)
		if want := []string{"a-b", "a/b", "b", "c"}; !slices.Equal(keys, want) {
			t.Fatalf("snapshot %q, want %q", keys, want)
		}
	}},
	{"made, replaced, deleted", func(t *testing.T, h Harness) {
		s := open(t, h)
		w := follow(t, s, "")
		w.synced(t)
		put(t, s, "a", "one", store.Absent)
		w.until(t, map[string]string{"a": "one"})
		put(t, s, "a", "two", store.Any)
		w.until(t, map[string]string{"a": "two"})
		remove(t, s, "a", store.Any)
		w.until(t, map[string]string{})
		put(t, s, "a", "three", store.Absent)
		w.until(t, map[string]string{"a": "three"})
	}},
	{"the version that Put returned", func(t *testing.T, h Harness) {
		s := open(t, h)
		w := follow(t, s, "")
		w.synced(t)
		v := put(t, s, "a", "one", store.Absent)
		if e := w.take(t); e.Doc.Key != "a" || e.Doc.Version != v || string(e.Doc.Data) != "one" {
			t.Fatalf("event %+v, want a at %q", e, v)
		}
	}},
	{"only below the prefix", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "memory/a", "x", store.Absent)
		put(t, s, "memory.b", "x", store.Absent)
		w := follow(t, s, "memory")
		if keys := w.synced(t); !slices.Equal(keys, []string{"memory/a"}) {
			t.Fatalf("snapshot %q", keys)
		}
		put(t, s, "agents/b", "x", store.Absent)
		put(t, s, "memory/c/d", "x", store.Absent)
		if e := w.take(t); e.Doc.Key != "memory/c/d" {
			t.Fatalf("event of %q", e.Doc.Key)
		}
	}},
	{"a prefix that is one document", func(t *testing.T, h Harness) {
		s := open(t, h)
		w := follow(t, s, "project.yaml")
		w.synced(t)
		put(t, s, "project.yaml", "id: x", store.Absent)
		w.until(t, map[string]string{"project.yaml": "id: x"})
		remove(t, s, "project.yaml", store.Any)
		w.until(t, map[string]string{})
	}},
	{"a delete of what was shown is never skipped", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "kept", "x", store.Absent)
		put(t, s, "gone", "x", store.Absent)
		w := follow(t, s, "")
		w.synced(t)
		remove(t, s, "gone", store.Any)
		for i := range 5 {
			put(t, s, "kept", fmt.Sprint(i), store.Any)
			put(t, s, "brief", "x", store.Absent)
			remove(t, s, "brief", store.Any)
		}
		w.until(t, map[string]string{"kept": "4"})
	}},
	{"deleted during the snapshot", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "x", store.Absent)
		put(t, s, "b", "x", store.Absent)
		w := follow(t, s, "")
		w.take(t)
		remove(t, s, "a", store.Any)
		remove(t, s, "b", store.Any)
		put(t, s, "c", "x", store.Absent)
		w.until(t, map[string]string{"c": "x"})
	}},
	{"converges", func(t *testing.T, h Harness) {
		s := open(t, h)
		w := follow(t, s, "")
		w.synced(t)
		keys := min(h.Buffer, 5)
		done := make(chan error, keys)
		for k := range keys {
			go func() { done <- churn(t.Context(), s, fmt.Sprintf("k%d", k)) }()
		}
		want := map[string]string{}
		for k := range keys {
			want[fmt.Sprintf("k%d", k)] = "last"
		}
		w.until(t, want)
		for range keys {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}},
	{"every watcher gets everything", func(t *testing.T, h Harness) {
		s := open(t, h)
		a, b := follow(t, s, ""), follow(t, s, "d")
		a.synced(t)
		b.synced(t)
		put(t, s, "d/x", "1", store.Absent)
		put(t, s, "e", "2", store.Absent)
		b.until(t, map[string]string{"d/x": "1"})
		a.until(t, map[string]string{"d/x": "1", "e": "2"})
	}},
	{"a slow watcher is ended, and nobody waits for it", func(t *testing.T, h Harness) {
		s := open(t, h)
		slow, quick := follow(t, s, ""), follow(t, s, "")
		slow.synced(t)
		quick.synced(t)
		want := map[string]string{}
		for i := range h.Buffer + 2 {
			key := fmt.Sprintf("k%04d", i)
			put(t, s, key, "x", store.Absent)
			want[key] = "x"
			quick.until(t, want)
		}
		wantErr(t, "slow watch", slow.end(t), store.ErrLagged)
		again := follow(t, s, "")
		again.synced(t)
		again.until(t, want)
	}},
	{"ends with its context", func(t *testing.T, h Harness) {
		s := open(t, h)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for e, err := range s.Watch(ctx, "") {
			if last = err; e.Synced {
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("ended with %v", last)
		}
	}},
	{"used twice", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "x", store.Absent)
		events := s.Watch(within(t), "")
		for range 2 {
			n := 0
			for e, err := range events {
				if err != nil {
					t.Fatal(err)
				}
				if e.Synced {
					break
				}
				n++
			}
			if n != 1 {
				t.Fatalf("%d documents", n)
			}
		}
	}},
}

// churn writes and deletes a document again and again.
func churn(ctx context.Context, s store.Docs, key string) error {
	for i := range 20 {
		if _, err := s.Put(ctx, key, []byte(fmt.Sprint(i)), store.Any); err != nil {
			return err
		}
		if i%3 == 0 {
			if err := s.Delete(ctx, key, store.Any); err != nil {
				return err
			}
		}
	}
	_, err := s.Put(ctx, key, []byte("last"), store.Any)
	return err
}

// cutTests stop a watch after every single item and start again.
var cutTests = []test{
	{"a new watch is a new snapshot", func(t *testing.T, h Harness) {
		s := open(t, h)
		want := map[string]string{}
		for i := range 6 {
			key := fmt.Sprintf("d/%d", i)
			put(t, s, key, "x", store.Absent)
			want[key] = "x"
		}
		for cut := range 7 {
			w := follow(t, s, "d")
			for range cut {
				w.take(t)
			}
			w.stop()
			again := follow(t, s, "d")
			again.synced(t)
			again.until(t, want)
			again.stop()
		}
	}},
	{"nothing is missed between two watches", func(t *testing.T, h Harness) {
		s := open(t, h)
		want := map[string]string{"seed": "x"}
		put(t, s, "seed", "x", store.Absent)
		for i := range 6 {
			w := follow(t, s, "")
			w.take(t)
			w.stop()
			key := fmt.Sprintf("k%d", i)
			put(t, s, key, "x", store.Absent)
			want[key] = "x"
			if i%2 == 1 {
				gone := fmt.Sprintf("k%d", i-1)
				remove(t, s, gone, store.Any)
				delete(want, gone)
			}
		}
		w := follow(t, s, "")
		w.synced(t)
		w.until(t, want)
	}},
	{"one watch goes on when another is cut", func(t *testing.T, h Harness) {
		s := open(t, h)
		stays := follow(t, s, "")
		stays.synced(t)
		want := map[string]string{}
		for i := range 5 {
			cut := follow(t, s, "")
			key := fmt.Sprintf("k%d", i)
			put(t, s, key, "x", store.Absent)
			want[key] = "x"
			cut.take(t)
			cut.stop()
			stays.until(t, want)
		}
	}},
}

var closeTests = []test{
	{"every call fails", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "x", store.Absent)
		list, watch := s.List(within(t), ""), s.Watch(within(t), "")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, getErr := s.Get(within(t), "a")
		_, putErr := s.Put(within(t), "a", []byte("y"), store.Any)
		_, appendErr := s.Append(within(t), "s", [][]byte{[]byte("y")}, store.AnySeq)
		_, _, boundsErr := s.Bounds(within(t), "s")
		for what, err := range map[string]error{
			"Get": getErr, "Put": putErr, "Append": appendErr, "Bounds": boundsErr,
			"Delete": s.Delete(within(t), "a", store.Any),
			"Trim":   s.Trim(within(t), "s", 1),
			"List":   failure(list), "Watch": failure(watch),
			"Read": failure(s.Read(within(t), "s", 0, store.Forward)),
			"Tail": failure(s.Tail(within(t), "s", 0)),
		} {
			if !errors.Is(err, store.ErrClosed) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}},
	{"twice", func(t *testing.T, h Harness) {
		s := open(t, h)
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}},
	{"ends watches", func(t *testing.T, h Harness) {
		s := open(t, h)
		w := follow(t, s, "")
		w.synced(t)
		ended := make(chan error, 1)
		go func() {
			_, err, _ := w.next()
			ended <- err
		}()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "watch", <-ended, store.ErrClosed)
	}},
	{"ends tails", func(t *testing.T, h Harness) {
		s := open(t, h)
		add(t, s, "s", 0, "one")
		started, ended := make(chan struct{}, 1), make(chan error, 1)
		go func() {
			var last error
			for _, err := range s.Tail(t.Context(), "s", 0) {
				if last = err; err == nil {
					started <- struct{}{}
				}
			}
			ended <- last
		}()
		<-started
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "tail", <-ended, store.ErrClosed)
	}},
}
