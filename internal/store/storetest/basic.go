package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

var basicTests = []test{
	{"put then get", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "memory/a.md", "hello", store.Absent)
		doc := get(t, s, "memory/a.md")
		if string(doc.Data) != "hello" || doc.Version != v {
			t.Fatalf("got %q at %q, want %q at %q", doc.Data, doc.Version, "hello", v)
		}
	}},
	{"get of nothing", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "memory/a.md", "x", store.Absent)
		for _, key := range []string{"b", "memory", "memory/b.md", "memory/a.md/c"} {
			wantMissing(t, s, key)
		}
	}},
	{"empty document", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "empty", "", store.Absent)
		wantData(t, s, "empty", "")
		wantContents(t, s, "", map[string]string{"empty": ""})
	}},
	{"all bytes", func(t *testing.T, h Harness) {
		s := open(t, h)
		var b strings.Builder
		for i := range 256 {
			b.WriteByte(byte(i))
		}
		data := b.String() + "\r\nno newline at the end \u2028 é"
		put(t, s, "bytes", data, store.Absent)
		wantData(t, s, "bytes", data)
	}},
	{"a replacement has another version", func(t *testing.T, h Harness) {
		s := open(t, h)
		v1 := put(t, s, "a", "one", store.Absent)
		v2 := put(t, s, "a", "two", v1)
		if v1 == v2 {
			t.Fatalf("both versions are %q", v1)
		}
		wantData(t, s, "a", "two")
	}},
	{"a version stays while nothing is written", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "a", "one", store.Absent)
		put(t, s, "b", "other", store.Absent)
		if got := get(t, s, "a").Version; got != v {
			t.Fatalf("version %q became %q", v, got)
		}
	}},
	{"delete", func(t *testing.T, h Harness) {
		s := open(t, h)
		v := put(t, s, "d/a", "one", store.Absent)
		remove(t, s, "d/a", v)
		wantMissing(t, s, "d/a")
		wantContents(t, s, "", map[string]string{})
		put(t, s, "d/a", "again", store.Absent)
		wantData(t, s, "d/a", "again")
	}},
	{"delete of nothing", func(t *testing.T, h Harness) {
		s := open(t, h)
		for _, expect := range []store.Version{store.Any, "v"} {
			wantErr(t, "Delete", s.Delete(within(t), "a/b", expect), store.ErrNotFound)
		}
	}},
	{"a freed name can become a folder", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "document", store.Absent)
		remove(t, s, "a", store.Any)
		put(t, s, "a/b", "below", store.Absent)
		remove(t, s, "a/b", store.Any)
		put(t, s, "a", "document again", store.Absent)
		wantContents(t, s, "", map[string]string{"a": "document again"})
	}},
	{"a document and one below it", func(t *testing.T, h Harness) {
		skipFor(t, h.Limits.Nested)
		s := open(t, h)
		put(t, s, "a", "above", store.Absent)
		put(t, s, "a/b", "below", store.Absent)
		wantContents(t, s, "a", map[string]string{"a": "above", "a/b": "below"})
	}},
	{"the caller may use its buffer again", func(t *testing.T, h Harness) {
		s := open(t, h)
		buf := []byte("hello")
		if _, err := s.Put(within(t), "a", buf, store.Absent); err != nil {
			t.Fatal(err)
		}
		copy(buf, "XXXXX")
		wantData(t, s, "a", "hello")
	}},
	{"a context that ended", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "x", store.Absent)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, getErr := s.Get(ctx, "a")
		_, putErr := s.Put(ctx, "a", []byte("y"), store.Any)
		_, appendErr := s.Append(ctx, "s", [][]byte{[]byte("y")}, store.AnySeq)
		for what, err := range map[string]error{
			"Get": getErr, "Put": putErr, "Append": appendErr,
			"Delete": s.Delete(ctx, "a", store.Any),
			"List":   failure(s.List(ctx, "")),
			"Read":   failure(s.Read(ctx, "s", 0, store.Forward)),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		}
		wantData(t, s, "a", "x")
	}},
}

var sizeTests = []test{
	{"the largest document", func(t *testing.T, h Harness) {
		s := open(t, h)
		data := strings.Repeat("x", store.MaxDoc)
		put(t, s, "large", data, store.Absent)
		wantData(t, s, "large", data)
		wantContents(t, s, "", map[string]string{"large": data})
	}},
	{"one byte more", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "small", store.Absent)
		data := make([]byte, store.MaxDoc+1)
		for _, key := range []string{"a", "new"} {
			_, err := s.Put(within(t), key, data, store.Any)
			wantErr(t, "Put", err, store.ErrTooLarge)
		}
		wantContents(t, s, "", map[string]string{"a": "small"})
	}},
}
