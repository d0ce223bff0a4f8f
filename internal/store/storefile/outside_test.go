package storefile

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idea-ide/ideai/internal/store"
)

// watching takes events one by one.
type watching struct {
	t    *testing.T
	next func() (store.Event, error, bool)
}

func watchTest(t *testing.T, s *Store, prefix string) *watching {
	t.Helper()
	next, stop := iter.Pull2(s.Watch(t.Context(), prefix))
	t.Cleanup(stop)
	w := &watching{t, next}
	for !w.take().Synced {
	}
	return w
}

func (w *watching) take() store.Event {
	w.t.Helper()
	e, err, ok := w.next()
	if err != nil || !ok {
		w.t.Fatalf("the watch ended: %v", err)
	}
	return e
}

func (w *watching) want(key, data string) {
	w.t.Helper()
	if e := w.take(); e.Doc.Key != key || string(e.Doc.Data) != data || e.Deleted || e.Doc.Err != nil {
		w.t.Fatalf("event %+v, want %s to hold %q", e, key, data)
	}
}

func (w *watching) gone(key string) {
	w.t.Helper()
	if e := w.take(); e.Doc.Key != key || !e.Deleted {
		w.t.Fatalf("event %+v, want %s deleted", e, key)
	}
}

// notified and scanned are the two ways by which changes of others are seen.
var ways = map[string]Options{
	"notified": {Service: "test", Rescan: time.Hour},
	"scanned":  {Service: "test", Rescan: 5 * time.Millisecond, deaf: true},
}

func TestChangesByOthersAreSeen(t *testing.T) {
	for name, opts := range ways {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			s := openTest(t, tree, opts)
			defer s.Close()
			w := watchTest(t, s, "memory")
			a := write(t, tree, "memory/a.md", "made with its folder")
			w.want("memory/a.md", "made with its folder")
			write(t, tree, "memory/a.md", "written again in place")
			w.want("memory/a.md", "written again in place")
			write(t, tree, "agents/x.md", "not watched")
			mine := write(t, tree, "memory/.a.md.swp", "an editor's own file")
			w.want("memory/.a.md.swp", "an editor's own file")
			if err := os.Rename(mine, a); err != nil {
				t.Fatal(err)
			}
			first, second := w.take(), w.take()
			if first.Deleted {
				first, second = second, first
			}
			if first.Doc.Key != "memory/a.md" || string(first.Doc.Data) != "an editor's own file" || second.Doc.Key != "memory/.a.md.swp" || !second.Deleted {
				t.Fatalf("events %+v, %+v", first, second)
			}
			write(t, tree, "memory/deep/er/b.md", "in new folders")
			w.want("memory/deep/er/b.md", "in new folders")
			write(t, tree, "memory/deep/er/b.md", "again")
			w.want("memory/deep/er/b.md", "again")
			if err := os.RemoveAll(filepath.Join(tree, Folder, "memory/deep")); err != nil {
				t.Fatal(err)
			}
			w.gone("memory/deep/er/b.md")
			if err := os.Rename(filepath.Join(tree, Folder, "memory"), filepath.Join(tree, "elsewhere")); err != nil {
				t.Fatal(err)
			}
			w.gone("memory/a.md")
			if err := os.Rename(filepath.Join(tree, "elsewhere"), filepath.Join(tree, Folder, "memory")); err != nil {
				t.Fatal(err)
			}
			w.want("memory/a.md", "an editor's own file")
		})
	}
}

// An editor that empties the file and writes it in pieces is shown once, when
// it is done.
func TestHalfWrittenFilesAreNotShown(t *testing.T) {
	for name, opts := range ways {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			opts.Settle = 100 * time.Millisecond
			s := openTest(t, tree, opts)
			defer s.Close()
			full := write(t, tree, "a.md", "old")
			w := watchTest(t, s, "")
			f, err := os.OpenFile(full, os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			// Our own change wakes the watcher in the middle of it.
			if _, err := s.Put(t.Context(), "b.md", []byte("ours"), store.Absent); err != nil {
				t.Fatal(err)
			}
			s.feed.Mark("a.md")
			w.want("b.md", "ours")
			// Others settle meanwhile; an empty file is given more time.
			for _, key := range []string{"c.md", "d.md"} {
				write(t, tree, key, "settled")
				w.want(key, "settled")
			}
			for _, part := range []string{"first, ", "second, ", "third"} {
				if _, err := f.WriteString(part); err != nil {
					t.Fatal(err)
				}
			}
			w.want("a.md", "first, second, third")
		})
	}
}

// A file that is moved here and noticed by the first look of another watcher,
// with a wider view, is still a change for the first one.
func TestAnotherWatchersFirstLookHidesNothing(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, Options{Service: "test", Rescan: time.Hour, deaf: true})
	defer s.Close()
	write(t, tree, "memory/a.md", "first")
	w := watchTest(t, s, "memory")
	old := write(t, tree, "elsewhere/old.md", "moved")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	watchTest(t, s, "elsewhere") // waits until the file is settled
	if err := os.Rename(old, filepath.Join(tree, Folder, "memory/old.md")); err != nil {
		t.Fatal(err)
	}
	watchTest(t, s, "")
	w.want("memory/old.md", "moved")
}

// A file that stays empty is shown empty.
func TestAnEmptyFileIsShownInTheEnd(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, Options{Service: "test", Settle: time.Millisecond})
	defer s.Close()
	full := write(t, tree, "a.md", "old")
	w := watchTest(t, s, "")
	if err := os.Truncate(full, 0); err != nil {
		t.Fatal(err)
	}
	w.want("a.md", "")
}

// A document that becomes unreadable is shown with its error, and again when it
// is readable.
func TestUnreadableAndBack(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, Options{Service: "test"})
	defer s.Close()
	write(t, tree, "a.md", "good")
	w := watchTest(t, s, "")
	link(t, "/etc/hostname", tree, "b.md")
	if e := w.take(); e.Doc.Key != "b.md" || e.Doc.Err == nil {
		t.Fatalf("event %+v", e)
	}
	if err := os.Remove(filepath.Join(tree, Folder, "b.md")); err != nil {
		t.Fatal(err)
	}
	w.gone("b.md")
}

// Our own change is shown without waiting for notifications or settling.
func TestOwnChangesAreShownAtOnce(t *testing.T) {
	s := openTest(t, t.TempDir(), Options{Service: "test", Settle: time.Hour, Rescan: time.Hour, deaf: true})
	defer s.Close()
	w := watchTest(t, s, "memory")
	v := store.Absent
	for _, text := range []string{"one", "two", "three"} {
		var err error
		if v, err = s.Put(t.Context(), "memory/a.md", []byte(text), v); err != nil {
			t.Fatal(err)
		}
		w.want("memory/a.md", text)
	}
	if err := s.Delete(t.Context(), "memory/a.md", v); err != nil {
		t.Fatal(err)
	}
	w.gone("memory/a.md")
}

func TestOpener(t *testing.T) {
	tree, other := t.TempDir(), t.TempDir()
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(tree, alias); err != nil {
		t.Fatal(err)
	}
	o := NewOpener("memory", treesOf(map[string]string{"p": tree, "alias": alias, "p/feature": other}))
	defer o.Close()
	docs, log, err := o.Runtime(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{"p", "alias"} {
		if again, err := o.Versioned(t.Context(), project, ""); err != nil || again != docs || again != log.(store.Docs) {
			t.Errorf("%s: another store of the same tree, %v", project, err)
		}
	}
	feature, err := o.Versioned(t.Context(), "p", "feature")
	if err != nil || feature == docs {
		t.Fatalf("the worktree's store: %v", err)
	}
	// A worktree is removed and made again: the old store's folder is gone.
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	again, err := o.Versioned(t.Context(), "p", "feature")
	if err != nil || again == feature {
		t.Fatalf("the store of a folder that is gone, %v", err)
	}
	if _, err := again.Put(t.Context(), "memory/a.md", []byte("x"), store.Absent); err != nil {
		t.Fatal(err)
	}
	// A link is made to lead elsewhere.
	if err := errors.Join(os.Remove(alias), os.Symlink(other, alias)); err != nil {
		t.Fatal(err)
	}
	if moved, err := o.Versioned(t.Context(), "alias", ""); err != nil || moved != again {
		t.Errorf("a link that leads elsewhere: another store, %v", err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Versioned(t.Context(), "p", ""); err == nil {
		t.Error("a closed opener opens")
	}
}

func treesOf(trees map[string]string) func(context.Context, string, string) (string, error) {
	return func(_ context.Context, project, worktree string) (string, error) {
		if worktree != "" {
			project += "/" + worktree
		}
		return trees[project], nil
	}
}
