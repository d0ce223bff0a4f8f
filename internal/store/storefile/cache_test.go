package storefile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/store"
)

// TestChangesShowInSpiteOfTheCache changes a file in the ways that leave most
// of it as it was, while the cache takes every file for old.
func TestChangesShowInSpiteOfTheCache(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is cached on this system")
	}
	long := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(path string) error{
		"written in place": func(path string) error { return os.WriteFile(path, []byte("two"), 0o600) },
		"written in place, time set back": func(path string) error {
			if err := os.WriteFile(path, []byte("two"), 0o600); err != nil {
				return err
			}
			return os.Chtimes(path, long, long)
		},
		"another file put in place, of the same time": func(path string) error {
			if err := os.WriteFile(path+"-new.md", []byte("two"), 0o600); err != nil {
				return err
			}
			if err := os.Chtimes(path+"-new.md", long, long); err != nil {
				return err
			}
			return os.Rename(path+"-new.md", path)
		},
		"a link put in place": func(path string) error {
			if err := os.WriteFile(path+"-new.md", []byte("two"), 0o600); err != nil {
				return err
			}
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink(filepath.Base(path)+"-new.md", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			path := write(t, tree, "memory/a.md", "one")
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
			s := openTest(t, tree, Options{})
			defer s.Close()
			s.cache.ahead = 2 * cleanAge
			read := func() store.Doc {
				t.Helper()
				doc, err := s.Get(t.Context(), "memory/a.md")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(doc, listed(t, s, "memory")["memory/a.md"]); diff != "" {
					t.Errorf("Get and List differ:\n%s", diff)
				}
				return doc
			}
			first := read()
			if again := read(); &again.Data[0] != &first.Data[0] {
				t.Fatal("the file was read twice: the test shows nothing")
			}
			before, _ := os.Lstat(path)
			for { // until the change gets times of its own
				if err := change(path); err != nil {
					t.Fatal(err)
				}
				if after, err := os.Lstat(path); err == nil && stampOf(after) != stampOf(before) {
					break
				}
			}
			if got := read(); string(got.Data) != "two" || got.Version == first.Version {
				t.Errorf("read %q, version %s; want the change", got.Data, got.Version)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Get(t.Context(), "memory/a.md"); err == nil {
				t.Error("a deleted document is there")
			}
		})
	}
}

// A file that was changed just now may change again without a sign.
func TestYoungFilesAreNotCached(t *testing.T) {
	s := openTest(t, t.TempDir(), Options{})
	defer s.Close()
	path := write(t, s.tree, "memory/a.md", "one")
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := time.Unix(0, max(stampOf(info).mtime, stampOf(info).ctime))
	for age, want := range map[time.Duration]bool{-time.Hour: false, 0: false, cleanAge - 1: false, cleanAge: runtime.GOOS == "linux"} {
		var c cache
		c.keep(store.Doc{Key: "memory/a.md"}, info, changed.Add(age))
		if _, got := c.get("memory/a.md", info); got != want {
			t.Errorf("changed %v before it was read: cached %v, want %v", age, got, want)
		}
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	s := openTest(t, t.TempDir(), Options{})
	defer s.Close()
	info, err := os.Lstat(write(t, s.tree, "memory/a.md", "one"))
	if err != nil {
		t.Fatal(err)
	}
	var c cache
	late := time.Now().Add(time.Hour)
	c.keep(store.Doc{Key: "large", Data: make([]byte, maxCachedDoc+1)}, info, late)
	if len(c.docs) != 0 {
		t.Error("a large document is cached")
	}
	for i := range 200 {
		c.keep(store.Doc{Key: fmt.Sprint(i % 90), Data: bytes.Repeat([]byte("x"), 300*i)}, info, late)
		sum := 0
		for _, d := range c.docs {
			sum += len(d.doc.Data)
		}
		if sum != c.bytes || sum > maxCached {
			t.Fatalf("%d bytes in the cache, %d counted, %d allowed", sum, c.bytes, maxCached)
		}
	}
}

// TestListNamed compares with what List gives of the same names.
func TestListNamed(t *testing.T) {
	tree := t.TempDir()
	for _, name := range []string{"a/SKILL.md", "b-c/SKILL.md", "b/SKILL.md", "b/deep/SKILL.md", "b/other.md", "empty/other.md", "SKILL.md", "file"} {
		write(t, tree, "skills/"+name, name)
	}
	write(t, tree, "else/SKILL.md", "linked")
	write(t, tree, "skills/large/SKILL.md", strings.Repeat("x", store.MaxDoc+1))
	link(t, "../else", tree, "skills/linked")
	link(t, "nowhere", tree, "skills/dangling")
	s := openTest(t, tree, Options{})
	defer s.Close()
	var want, got []store.Doc
	for doc, err := range s.List(t.Context(), "skills") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(doc.Key, "/") == 2 && strings.HasSuffix(doc.Key, "/SKILL.md") {
			want = append(want, doc)
		}
	}
	for doc, err := range s.ListNamed(t.Context(), "skills", "SKILL.md") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, doc)
	}
	if len(want) != 5 {
		t.Fatalf("List has %d of them, want 5", len(want))
	}
	text := cmp.Transformer("error", func(err error) string { return fmt.Sprint(err) })
	if diff := cmp.Diff(want, got, text); diff != "" {
		t.Errorf("-List +ListNamed:\n%s", diff)
	}
	for range s.ListNamed(t.Context(), "absent", "SKILL.md") {
		t.Error("an absent folder has documents")
	}
	for _, err := range s.ListNamed(t.Context(), "skills", "..") {
		if err == nil {
			t.Error("a bad name was taken")
		}
	}
}
