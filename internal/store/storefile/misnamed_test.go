package storefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// A file whose name cannot be a key is there for people: it is listed and
// watched with what is wrong, and nothing else is done to it.
func TestFilesWithUnusableNamesAreListedWithTheirError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have no such names")
	}
	names := []string{"two\nlines.md", "bell\a.md", "back\\slash.md", "latin-\xe9.md", strings.Repeat("é", 110) + ".md"}
	for way, opts := range ways {
		t.Run(way, func(t *testing.T) {
			tree := t.TempDir()
			folder := filepath.Join(tree, Folder, "memory")
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			write := func(name string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range append(names, "good.md") {
				write(name)
			}
			s := openTest(t, tree, opts)
			defer s.Close()
			docs := listed(t, s, "memory")
			if len(docs) != len(names)+1 || docs["memory/good.md"].Err != nil {
				t.Fatalf("%d documents: %v", len(docs), docs)
			}
			for key, doc := range docs {
				if key == "memory/good.md" {
					continue
				}
				if store.CheckKey(key) != nil || filepath.Ext(key) != ".md" || !errors.Is(doc.Err, store.ErrBadKey) || !strings.Contains(doc.Err.Error(), "rename the file") {
					t.Errorf("%q: %v", key, doc.Err)
				}
				wantReason(t, doc.Err, fault.StoreUnavailable)
				if _, err := s.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("get %q: %v", key, err)
				}
			}

			w := watchTest(t, s, "memory")
			write("later\n.md")
			e := w.take()
			if e.Deleted || !errors.Is(e.Doc.Err, store.ErrBadKey) || !strings.HasPrefix(e.Doc.Key, "memory/later-") {
				t.Fatalf("event %+v", e)
			}
			if err := os.Rename(filepath.Join(folder, "later\n.md"), filepath.Join(folder, "later.txt")); err != nil {
				t.Fatal(err)
			}
			for {
				next := w.take()
				if next.Deleted && next.Doc.Key == e.Doc.Key {
					break
				}
				if next.Doc.Key != "memory/later.txt" {
					t.Fatalf("event %+v", next)
				}
			}
		})
	}
}
