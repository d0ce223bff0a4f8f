package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storemem"
)

var modelTests = []test{
	{"does what a map does", func(t *testing.T, h Harness) {
		rapid.Check(t, func(r *rapid.T) {
			s := h.Open(t)
			m := &model{t: t, real: s, mem: storemem.New(), stale: map[string]version{}, reopen: h.Reopen}
			defer m.close()
			if h.Limits.Reopen != "" {
				m.reopen = nil
			}
			r.Repeat(map[string]func(*rapid.T){
				"put": m.put, "delete": m.delete, "append": m.append, "reopen": m.again, "": m.check,
			})
		})
	}},
}

// version is one state of a document in both stores.
type version struct{ real, mem store.Version }

// model is a store and a storemem.Store that does the same.
type model struct {
	t         *testing.T
	real      Store
	mem       *storemem.Store
	reopen    func(*testing.T, Store) Store
	stale     map[string]version // of each key, as it was at some time
	different int
}

func (m *model) close() {
	if err := m.real.Close(); err != nil {
		m.t.Errorf("close: %v", err)
	}
}

func (m *model) key(r *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b/a", "b/b", "b/c/d", "é f"}).Draw(r, "key")
}

// expect draws what a write expects, in the words of each store.
func (m *model) expect(r *rapid.T, key string) version {
	switch rapid.SampledFrom([]string{"any", "absent", "current", "stale"}).Draw(r, "expect") {
	case "any":
		return version{store.Any, store.Any}
	case "absent":
		return version{store.Absent, store.Absent}
	case "stale":
		if v, ok := m.stale[key]; ok {
			return v
		}
	}
	return m.current(key)
}

func (m *model) current(key string) version {
	doc, err := m.mem.Get(m.t.Context(), key)
	if err != nil {
		return version{"0", "0"}
	}
	same, err := m.real.Get(m.t.Context(), key)
	if err != nil {
		m.t.Fatalf("Get(%q): %v", key, err)
	}
	return version{same.Version, doc.Version}
}

func (m *model) put(r *rapid.T) {
	key := m.key(r)
	expect := m.expect(r, key)
	m.different++ // so that a stale version never comes true again
	data := fmt.Appendf(nil, "%d %s", m.different, rapid.StringN(0, 20, -1).Draw(r, "data"))
	old := m.current(key)
	_, realErr := m.real.Put(m.t.Context(), key, data, expect.real)
	_, memErr := m.mem.Put(m.t.Context(), key, data, expect.mem)
	m.same(r, "Put "+key, realErr, memErr)
	if memErr == nil {
		m.stale[key] = old
	}
}

func (m *model) delete(r *rapid.T) {
	key := m.key(r)
	expect := m.expect(r, key)
	old := m.current(key)
	realErr := m.real.Delete(m.t.Context(), key, expect.real)
	memErr := m.mem.Delete(m.t.Context(), key, expect.mem)
	m.same(r, "Delete "+key, realErr, memErr)
	if memErr == nil {
		m.stale[key] = old
	}
}

func (m *model) append(r *rapid.T) {
	stream := rapid.SampledFrom([]string{"log", "b/log"}).Draw(r, "stream")
	records := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 30), 0, 4).Draw(r, "records")
	for i := range records {
		m.different++
		records[i] = fmt.Appendf(records[i], "%d", m.different)
	}
	_, last, err := m.mem.Bounds(m.t.Context(), stream)
	if err != nil {
		r.Fatal(err)
	}
	after := rapid.SampledFrom([]store.Seq{store.AnySeq, last, last + 1}).Draw(r, "after")
	realSeq, realErr := m.real.Append(m.t.Context(), stream, records, after)
	memSeq, memErr := m.mem.Append(m.t.Context(), stream, records, after)
	m.same(r, "Append "+stream, realErr, memErr)
	if realSeq != memSeq {
		r.Fatalf("Append returned %d, want %d", realSeq, memSeq)
	}
}

func (m *model) again(r *rapid.T) {
	if m.reopen == nil {
		r.Skip("data does not outlive the store")
	}
	m.real = m.reopen(m.t, m.real)
}

func (m *model) same(r *rapid.T, what string, realErr, memErr error) {
	for _, class := range []error{store.ErrConflict, store.ErrNotFound, nil} {
		if class == nil && memErr == nil && realErr == nil || class != nil && errors.Is(memErr, class) && errors.Is(realErr, class) {
			return
		}
	}
	r.Fatalf("%s: %v, want %v", what, realErr, memErr)
}

func (m *model) check(r *rapid.T) {
	if diff := cmp.Diff(contents(m.t, m.mem, ""), contents(m.t, m.real, "")); diff != "" {
		r.Fatalf("documents (-want +got):\n%s", diff)
	}
	for _, stream := range []string{"log", "b/log"} {
		for _, order := range []store.Order{store.Forward, store.Backward} {
			want, _ := records(m.t, m.mem, stream, 0, order)
			got, _ := records(m.t, m.real, stream, 0, order)
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("records (-want +got):\n%s", diff)
			}
		}
	}
}
