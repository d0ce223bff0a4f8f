package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// again opens the data of a store again in both ways.
func again(t *testing.T, h Harness, run func(t *testing.T, reopen func(*testing.T, Store) Store)) {
	t.Run("closed", func(t *testing.T) { run(t, h.Reopen) })
	t.Run("crashed", func(t *testing.T) { run(t, h.Crash) })
}

var reopenTests = []test{
	{"documents are there", func(t *testing.T, h Harness) {
		again(t, h, func(t *testing.T, reopen func(*testing.T, Store) Store) {
			s := h.Open(t)
			v := put(t, s, "memory/a.md", "one", store.Absent)
			put(t, s, "b", "two", store.Absent)
			remove(t, s, "b", store.Any)
			s = closing(t, reopen(t, s))
			wantContents(t, s, "", map[string]string{"memory/a.md": "one"})
			put(t, s, "memory/a.md", "next", v)
		})
	}},
	{"records are there and numbers go on", func(t *testing.T, h Harness) {
		again(t, h, func(t *testing.T, reopen func(*testing.T, Store) Store) {
			s := h.Open(t)
			last := store.Seq(0)
			var want []string
			for i := range 30 {
				r := fmt.Sprintf(`{"i":%d,"x":%q}`, i, strings.Repeat("x", 100))
				last = add(t, s, "c/log", last, r)
				want = append(want, r)
			}
			s = closing(t, reopen(t, s))
			wantRecords(t, s, "c/log", want...)
			add(t, s, "c/log", last, "next")
			wantRecords(t, s, "c/log", append(want, "next")...)
		})
	}},
	{"trimmed records do not come back", func(t *testing.T, h Harness) {
		again(t, h, func(t *testing.T, reopen func(*testing.T, Store) Store) {
			s := h.Open(t)
			last := store.Seq(0)
			for range 100 {
				last = add(t, s, "s", last, strings.Repeat("x", 200))
			}
			if err := s.Trim(within(t), "s", last); err != nil {
				t.Fatal(err)
			}
			before, _ := records(t, s, "s", 0, store.Forward)
			s = closing(t, reopen(t, s))
			if after, _ := records(t, s, "s", 0, store.Forward); len(after) > len(before) {
				t.Fatalf("%d records became %d", len(before), len(after))
			}
			if next := add(t, s, "s", last, "next"); next <= last {
				t.Fatalf("number %d after %d", next, last)
			}
		})
	}},
	{"a watch is a new snapshot", func(t *testing.T, h Harness) {
		again(t, h, func(t *testing.T, reopen func(*testing.T, Store) Store) {
			s := h.Open(t)
			put(t, s, "a", "one", store.Absent)
			s = closing(t, reopen(t, s))
			w := follow(t, s, "")
			w.synced(t)
			w.until(t, map[string]string{"a": "one"})
			put(t, s, "a", "two", store.Any)
			w.until(t, map[string]string{"a": "two"})
			w.stop()
		})
	}},
	{"a second opener is refused and told who has it", func(t *testing.T, h Harness) {
		skipFor(t, h.Limits.Second)
		s := open(t, h)
		put(t, s, "a", "x", store.Absent)
		err := h.Second(t, s)
		f, ok := fault.As(err)
		if !ok || f.Reason != fault.StoreLocked || f.Meta["holder"] == "" {
			t.Fatalf("error %v", err)
		}
		put(t, s, "a", "y", store.Any)
	}},
}
