package storetest

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/store"
)

func put(t *testing.T, s store.Docs, key, data string, expect store.Version) store.Version {
	t.Helper()
	v, err := s.Put(within(t), key, []byte(data), expect)
	if err != nil {
		t.Fatalf("Put(%q): %v", key, err)
	}
	if v == "" || v == store.Any || v == store.Absent {
		t.Fatalf("Put(%q) returned version %q", key, v)
	}
	return v
}

func remove(t *testing.T, s store.Docs, key string, expect store.Version) {
	t.Helper()
	if err := s.Delete(within(t), key, expect); err != nil {
		t.Fatalf("Delete(%q): %v", key, err)
	}
}

func get(t *testing.T, s store.Docs, key string) store.Doc {
	t.Helper()
	doc, err := s.Get(within(t), key)
	if err != nil {
		t.Fatalf("Get(%q): %v", key, err)
	}
	if doc.Key != key || doc.Err != nil {
		t.Fatalf("Get(%q) returned key %q, error %v", key, doc.Key, doc.Err)
	}
	return doc
}

func wantData(t *testing.T, s store.Docs, key, data string) {
	t.Helper()
	if got := string(get(t, s, key).Data); got != data {
		t.Fatalf("%q holds %q, want %q", key, got, data)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}

func wantMissing(t *testing.T, s store.Docs, key string) {
	t.Helper()
	_, err := s.Get(within(t), key)
	wantErr(t, "Get "+key, err, store.ErrNotFound)
}

// contents lists what is below a prefix, and checks the order.
func contents(t *testing.T, s store.Docs, prefix string) map[string]string {
	t.Helper()
	out := map[string]string{}
	last := ""
	for doc, err := range s.List(within(t), prefix) {
		if err != nil {
			t.Fatalf("List(%q): %v", prefix, err)
		}
		if doc.Err != nil {
			t.Fatalf("List(%q): %q cannot be read: %v", prefix, doc.Key, doc.Err)
		}
		if doc.Key <= last {
			t.Fatalf("List(%q): %q comes after %q", prefix, doc.Key, last)
		}
		last = doc.Key
		out[doc.Key] = string(doc.Data)
	}
	return out
}

func wantContents(t *testing.T, s store.Docs, prefix string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, contents(t, s, prefix)); diff != "" {
		t.Fatalf("List(%q) (-want +got):\n%s", prefix, diff)
	}
}

// failure returns the error an iterator ends with, nil when it ends without.
func failure[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

func add(t *testing.T, s store.Log, stream string, after store.Seq, records ...string) store.Seq {
	t.Helper()
	data := make([][]byte, len(records))
	for i, r := range records {
		data[i] = []byte(r)
	}
	seq, err := s.Append(within(t), stream, data, after)
	if err != nil {
		t.Fatalf("Append(%q): %v", stream, err)
	}
	return seq
}

// records reads a stream and checks that its numbers go one way.
func records(t *testing.T, s store.Log, stream string, from store.Seq, order store.Order) (data []string, seqs []store.Seq) {
	t.Helper()
	for r, err := range s.Read(within(t), stream, from, order) {
		if err != nil {
			t.Fatalf("Read(%q): %v", stream, err)
		}
		if r.Damaged {
			t.Fatalf("Read(%q): record %d is damaged: %q", stream, r.Seq, r.Data)
		}
		if n := len(seqs); n > 0 && (order == store.Forward) != (r.Seq > seqs[n-1]) {
			t.Fatalf("Read(%q): record %d comes after %d", stream, r.Seq, seqs[n-1])
		}
		data, seqs = append(data, string(r.Data)), append(seqs, r.Seq)
	}
	return data, seqs
}

func wantRecords(t *testing.T, s store.Log, stream string, want ...string) {
	t.Helper()
	got, _ := records(t, s, stream, 0, store.Forward)
	if !slices.Equal(got, want) {
		t.Fatalf("%q holds %q, want %q", stream, got, want)
	}
}

// watch is a watch whose events are taken one by one.
type watch struct {
	next  func() (store.Event, error, bool)
	stop  func()
	state map[string]string
}

func follow(t *testing.T, s store.Docs, prefix string) *watch {
	t.Helper()
	next, stop := iter.Pull2(s.Watch(within(t), prefix))
	t.Cleanup(stop)
	return &watch{next: next, stop: stop, state: map[string]string{}}
}

// take returns the next event and keeps the state.
func (w *watch) take(t *testing.T) store.Event {
	t.Helper()
	e, err, ok := w.next()
	if err != nil || !ok {
		t.Fatalf("the watch ended: %v", err)
	}
	switch {
	case e.Synced:
	case e.Deleted:
		if _, shown := w.state[e.Doc.Key]; !shown {
			t.Fatalf("a delete of %q, which was not shown", e.Doc.Key)
		}
		delete(w.state, e.Doc.Key)
	default:
		w.state[e.Doc.Key] = string(e.Doc.Data)
	}
	return e
}

// synced takes the snapshot and returns its keys in the order they came.
func (w *watch) synced(t *testing.T) []string {
	t.Helper()
	var keys []string
	for {
		e := w.take(t)
		if e.Synced {
			return keys
		}
		keys = append(keys, e.Doc.Key)
	}
}

// until takes events until the state is as wanted.
func (w *watch) until(t *testing.T, want map[string]string) {
	t.Helper()
	for !maps.Equal(w.state, want) {
		w.take(t)
	}
}

// end takes events until the watch ends, and returns the error.
func (w *watch) end(t *testing.T) error {
	t.Helper()
	for {
		_, err, ok := w.next()
		if !ok {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
