package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

// hostile are keys that every driver refuses.
var hostile = []string{
	"", "/", "a/", "/a", "a//b", ".", "..", "../a", "a/../b", "a/..", "./a", "a/.", "/etc/passwd",
	`a\b`, `..\a`, "a\x00b", "a\nb", "a\x7fb", "a\u0085b", "\xff", "a/\xc3\x28",
	strings.Repeat("x", store.MaxSegment+1),
	strings.Repeat("ab/", store.MaxKey/3) + "abc",
}

// awkward are keys that every driver takes.
var awkward = []string{
	"with space.md", " lead", "trail ", "a:b", "a*b", "a>b", "a?b", "$x", "%2e%2e", "=2E", "été.md", "日本", "👩‍💻.md",
	".hidden", "...", "a..b", "..a", "a.", "-rf", "~", "CON", "a'b", `a"b`, "a|b", "log", "absent", "any",
	strings.Repeat("x", store.MaxSegment),
	strings.Repeat(strings.Repeat("y", 99)+"/", 8) + strings.Repeat("z", 100),
}

var keyTests = []test{
	{"hostile keys are refused", func(t *testing.T, h Harness) {
		s := open(t, h)
		for _, key := range hostile {
			_, getErr := s.Get(within(t), key)
			_, putErr := s.Put(within(t), key, []byte("x"), store.Any)
			_, appendErr := s.Append(within(t), key, [][]byte{[]byte("x")}, store.AnySeq)
			_, _, boundsErr := s.Bounds(within(t), key)
			errs := map[string]error{
				"Get": getErr, "Put": putErr, "Append": appendErr, "Bounds": boundsErr,
				"Delete": s.Delete(within(t), key, store.Any),
				"Trim":   s.Trim(within(t), key, 1),
				"Read":   failure(s.Read(within(t), key, 0, store.Forward)),
				"Tail":   failure(s.Tail(within(t), key, 0)),
			}
			if key != "" {
				errs["List"] = failure(s.List(within(t), key))
				errs["Watch"] = failure(s.Watch(within(t), key))
			}
			for what, err := range errs {
				if !errors.Is(err, store.ErrBadKey) {
					t.Errorf("%s(%q): %v", what, key, err)
				}
			}
		}
		wantContents(t, s, "", map[string]string{})
	}},
	{"awkward keys are kept", func(t *testing.T, h Harness) {
		s := open(t, h)
		want := map[string]string{}
		for _, key := range awkward {
			put(t, s, key, key, store.Absent)
			want[key] = key
		}
		wantContents(t, s, "", want)
		w := follow(t, s, "")
		w.synced(t)
		w.until(t, want)
		for _, key := range awkward {
			wantData(t, s, key, key)
			wantContents(t, s, key, map[string]string{key: key})
			remove(t, s, key, store.Any)
		}
		wantContents(t, s, "", map[string]string{})
		w.until(t, map[string]string{})
	}},
	{"awkward keys are streams too", func(t *testing.T, h Harness) {
		s := open(t, h)
		for _, key := range awkward {
			if len(key) >= store.MaxSegment {
				continue
			}
			add(t, s, key, 0, key)
			wantRecords(t, s, key, key)
		}
	}},
	{"a document and a stream of one name", func(t *testing.T, h Harness) {
		s := open(t, h)
		put(t, s, "c/log", "document", store.Absent)
		add(t, s, "c/log", 0, "record")
		wantData(t, s, "c/log", "document")
		wantRecords(t, s, "c/log", "record")
	}},
	{"streams are no documents", func(t *testing.T, h Harness) {
		s := open(t, h)
		add(t, s, "c/1/log", 0, "record")
		put(t, s, "c/1/handoff.md", "doc", store.Absent)
		wantContents(t, s, "c", map[string]string{"c/1/handoff.md": "doc"})
		wantMissing(t, s, "c/1/log")
		remove(t, s, "c/1/handoff.md", store.Any)
		wantRecords(t, s, "c/1/log", "record")
	}},
}
