package storetest

import (
	"errors"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

// refused checks that a Put conflicts and changes nothing.
func refused(t *testing.T, s store.Docs, key string, expect store.Version) {
	t.Helper()
	before := contents(t, s, "")
	_, err := s.Put(within(t), key, []byte("refused"), expect)
	wantErr(t, "Put", err, store.ErrConflict)
	wantContents(t, s, "", before)
}

var casTests = []test{
	{"absent where there is one", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "first", store.Absent)
		refused(t, s, "a", store.Absent)
	}},
	{"a version where there is none", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "other", "x", store.Absent)
		refused(t, s, "a", v)
		refused(t, s, "deep/er/a", v)
	}},
	{"a stale version", func(t *testing.T, h Harness) {
		s := open(t, h)
		v1 := put(t, s, "a", "one", store.Absent)
		put(t, s, "a", "two", v1)
		refused(t, s, "a", v1)
	}},
	{"the version of a deleted document", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "a", "one", store.Absent)
		remove(t, s, "a", v)
		refused(t, s, "a", v)
	}},
	{"no version at all", func(t *testing.T, h Harness) {
		s := open(t, h)
		refused(t, s, "a", "")
		put(t, s, "a", "one", store.Absent)
		refused(t, s, "a", "")
	}},
	{"any", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "one", store.Any)
		put(t, s, "a", "two", store.Any)
		wantData(t, s, "a", "two")
	}},
	{"a chain of versions", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "a", "0", store.Absent)
		for _, data := range []string{"1", "2", "3", "4"} {
			v = put(t, s, "a", data, v)
		}
		wantData(t, s, "a", "4")
		remove(t, s, "a", v)
	}},
	{"delete of a stale version", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "a", "one", store.Absent)
		put(t, s, "a", "two", v)
		wantErr(t, "Delete", s.Delete(within(t), "a", v), store.ErrConflict)
		wantErr(t, "Delete", s.Delete(within(t), "a", ""), store.ErrConflict)
		wantErr(t, "Delete", s.Delete(within(t), "a", store.Absent), store.ErrConflict)
		wantData(t, s, "a", "two")
	}},
	{"update makes and changes", func(t *testing.T, h Harness) {
		s := open(t, h)
		for i, want := range []string{"x", "xx", "xxx"} {
			doc, err := store.Update(within(t), s, "a", func(data []byte, exists bool) ([]byte, error) {
				if exists != (i > 0) {
					t.Errorf("round %d: exists is %v", i, exists)
				}
				return append(data, 'x'), nil
			})
			if err != nil || string(doc.Data) != want || doc.Version != get(t, s, "a").Version {
				t.Fatalf("round %d: %q at %q, %v", i, doc.Data, doc.Version, err)
			}
		}
	}},
	{"update without a change writes nothing", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "a", "same", store.Absent)
		doc, err := store.Update(within(t), s, "a", func(data []byte, _ bool) ([]byte, error) { return data, nil })
		if err != nil || doc.Version != v || get(t, s, "a").Version != v {
			t.Fatalf("version %q, error %v, want %q", doc.Version, err, v)
		}
	}},
	{"update ends with the error of its function", func(t *testing.T, h Harness) {
		s := open(t, h)
		mine := errors.New("mine")
		_, err := store.Update(within(t), s, "a", func([]byte, bool) ([]byte, error) { return nil, mine })
		wantErr(t, "Update", err, mine)
		wantMissing(t, s, "a")
	}},
}
