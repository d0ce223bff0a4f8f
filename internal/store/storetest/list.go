package storetest

import (
	"fmt"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

var listTests = []test{
	{"nothing", func(t *testing.T, h Harness) {
		s := open(t, h)
		wantContents(t, s, "", map[string]string{})
		wantContents(t, s, "no/such", map[string]string{})
	}},
	{"key order", func(t *testing.T, h Harness) {
		s := open(t, h)
		want := map[string]string{}
		for _, key := range []string{"b", "a/z", "a-b", "a.b", "a0", "B", "é", "a/b/c", "a/b.md", "c/d"} {
			put(t, s, key, "data of "+key, store.Absent)
			want[key] = "data of " + key
		}
		wantContents(t, s, "", want)
	}},
	{"whole segments", func(t *testing.T, h Harness) {
		s := open(t, h)
		for _, key := range []string{"a/1", "a/b/2", "ab/3", "a.b/4", "b/a/5"} {
			put(t, s, key, key, store.Absent)
		}
		wantContents(t, s, "a", map[string]string{"a/1": "a/1", "a/b/2": "a/b/2"})
		wantContents(t, s, "a/b", map[string]string{"a/b/2": "a/b/2"})
	}},
	{"the prefix itself", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a/b", "x", store.Absent)
		put(t, s, "a/bc", "y", store.Absent)
		wantContents(t, s, "a/b", map[string]string{"a/b": "x"})
	}},
	{"versions as Get has them", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "a", "x", store.Absent)
		put(t, s, "b", "y", store.Absent)
		for doc, err := range s.List(within(t), "") {
			if err != nil || doc.Version != get(t, s, doc.Key).Version {
				t.Fatalf("%q at %q, %v", doc.Key, doc.Version, err)
			}
		}
	}},
	{"stopped early", func(t *testing.T, h Harness) {
		s := open(t, h)
		for i := range 10 {
			put(t, s, fmt.Sprint(i), "x", store.Absent)
		}
		n := 0
		for _, err := range s.List(within(t), "") {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Fatalf("%d documents", n)
		}
	}},
	{"used twice", func(t *testing.T, h Harness) {
		s := open(t, h)
		list := s.List(within(t), "")
		for want := range 3 {
			n := 0
			for _, err := range list {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != want {
				t.Fatalf("%d documents, want %d", n, want)
			}
			put(t, s, fmt.Sprint(want), "x", store.Absent)
		}
	}},
	{"writing while listing", func(t *testing.T, h Harness) {
		s := open(t, h)
		for i := range 5 {
			put(t, s, fmt.Sprintf("old/%d", i), "x", store.Absent)
		}
		seen := 0
		for doc, err := range s.List(within(t), "old") {
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, doc.Key, "changed", store.Any)
			put(t, s, "new/"+doc.Key, "x", store.Absent)
			seen++
		}
		if seen != 5 {
			t.Fatalf("%d documents, want 5", seen)
		}
	}},
	{"many", func(t *testing.T, h Harness) {
		s := open(t, h)
		want := map[string]string{}
		for i := range 500 {
			key := fmt.Sprintf("memory/%d/note-%d.md", i%7, i)
			put(t, s, key, key, store.Absent)
			want[key] = key
		}
		wantContents(t, s, "memory", want)
	}},
}
