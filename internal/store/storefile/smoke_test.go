package storefile

import (
	"context"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

func TestSmoke(t *testing.T) {
	ctx := t.Context()
	s, err := Open(t.TempDir(), ".ideai", Options{Service: "memory"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.Put(ctx, "memory/a.md", []byte("a"), store.Absent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Put(ctx, "memory/a.md", []byte("b"), v); err != nil {
		t.Fatal(err)
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := 0
	for ev, err := range s.Watch(wctx, "memory") {
		t.Log(ev, err)
		if err != nil {
			break
		}
		if ev.Synced {
			if _, err := s.Put(ctx, "memory/b/c.md", []byte("c"), store.Any); err != nil {
				t.Fatal(err)
			}
			if err := s.Delete(ctx, "memory/a.md", store.Any); err != nil {
				t.Fatal(err)
			}
		}
		if n++; n == 4 {
			cancel()
		}
	}
	for d, err := range s.List(ctx, "") {
		t.Log(d.Key, string(d.Data), err)
	}
	for i := range 3 {
		q, err := s.Append(ctx, "conversations/x/log", [][]byte{[]byte(`{"a":1}`), []byte("x\ny")}, store.Seq(2*i))
		if err != nil || int(q) != 2*i+2 {
			t.Fatal(q, err)
		}
	}
	for r, err := range s.Read(ctx, "conversations/x/log", 0, store.Backward) {
		t.Log(r.Seq, string(r.Data), err)
	}
}
