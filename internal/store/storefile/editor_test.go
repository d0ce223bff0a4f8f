package storefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// editor saves a document as editors do, by renaming a new file over it, and
// takes what it displaced, so that no save is lost by the editor itself.
type editor struct {
	p     *place
	tree  string
	saved []string
	seen  map[string]bool // what it displaced
}

func (e *editor) save(t *testing.T, text string) {
	t.Helper()
	mine := filepath.Join(e.tree, Folder, "editor~")
	if err := os.WriteFile(mine, []byte(text), 0o644); err != nil {
		t.Error(err)
		return
	}
	e.saved = append(e.saved, text)
	err := exchange(e.p, "editor~", "doc.md")
	if err != nil {
		t.Error(err)
		return
	}
	displaced, err := os.ReadFile(mine)
	if err != nil {
		t.Error(err)
		return
	}
	e.seen[string(displaced)] = true
}

// An editor saves while Put runs. Every save of either is found: in the
// document, in a conflict copy, or displaced by the other, who had read it.
func TestNoEditorsSaveIsLost(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, testOptions())
	defer s.Close()
	if _, err := s.Put(t.Context(), "doc.md", []byte("start"), store.Absent); err != nil {
		t.Fatal(err)
	}
	p, err := s.place(Folder+"/doc.md", false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if err := exchange(p, "doc.md", "doc.md"); errors.Is(err, errNoExchange) {
		t.Skip("names cannot be exchanged here: the documented fallback may lose a save")
	}
	e := &editor{p: p, tree: tree, seen: map[string]bool{"start": true}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			e.save(t, fmt.Sprintf("editor %d", i))
		}
	}()
	replaced, conflicts, written := map[string]bool{}, 0, []string{}
	for i, running := 0, true; running; i++ {
		select {
		case <-done:
			running = false
		default:
		}
		doc, err := s.Get(t.Context(), "doc.md")
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("service %d", i)
		switch _, err := s.Put(t.Context(), "doc.md", []byte(text), doc.Version); {
		case err == nil:
			written = append(written, text)
			replaced[string(doc.Data)] = true
		case errors.Is(err, store.ErrConflict):
			conflicts++
		default:
			t.Fatal(err)
		}
	}
	kept := map[string]bool{}
	for key, doc := range listed(t, s, "") {
		if key == "doc.md" || strings.HasPrefix(key, "doc.md.conflict-") {
			kept[string(doc.Data)] = true
		}
	}
	t.Logf("%d saves of the service, %d conflicts, %d documents kept", len(written), conflicts, len(kept))
	for _, text := range append(e.saved, written...) {
		if !kept[text] && !e.seen[text] && !replaced[text] {
			t.Errorf("%q is lost", text)
		}
	}
	assertNoTemps(t, tree)
}

// TestASaveBetweenLookAndExchange stops Put at each step and lets the editor
// save there.
func TestASaveBetweenLookAndExchange(t *testing.T) {
	for _, step := range []string{"create", "write", "sync", "swapname", "exchange", "verify", "putback"} {
		for _, expect := range []string{"exact", "any"} {
			t.Run(step+" "+expect, func(t *testing.T) {
				tree := t.TempDir()
				s := openTest(t, tree, testOptions())
				defer s.Close()
				v, err := s.Put(t.Context(), "doc.md", []byte("start"), store.Absent)
				if err != nil {
					t.Fatal(err)
				}
				if expect == "any" {
					v = store.Any
				}
				saved := 0
				s.hook = func(at string) error {
					// to get to putback, the first save comes before the exchange
					if at == step || at == "exchange" && step == "putback" {
						saved++
						return saveOver(tree, fmt.Sprintf("editor %d", saved))
					}
					return nil
				}
				_, err = s.Put(t.Context(), "doc.md", []byte("service"), v)
				s.hook = nil
				if err != nil && !errors.Is(err, store.ErrConflict) {
					t.Fatal(err)
				}
				if saved == 0 {
					t.Skip("this Put does not come by here")
				}
				all := map[string]bool{}
				for _, doc := range listed(t, s, "") {
					all[string(doc.Data)] = true
				}
				for i := range saved {
					if text := fmt.Sprintf("editor %d", i+1); !all[text] {
						t.Errorf("%q is lost; kept are %v, Put said %v", text, all, err)
					}
				}
				assertNoTemps(t, tree)
			})
		}
	}
}

// The same for Delete: a document that changed meanwhile is not deleted.
func TestASaveBetweenLookAndDelete(t *testing.T) {
	for _, steps := range [][]string{{"aside"}, {"aside", "verify"}} {
		t.Run(strings.Join(steps, " "), func(t *testing.T) {
			tree := t.TempDir()
			s := openTest(t, tree, testOptions())
			defer s.Close()
			v, err := s.Put(t.Context(), "doc.md", []byte("start"), store.Absent)
			if err != nil {
				t.Fatal(err)
			}
			s.hook = func(at string) error {
				if slices.Contains(steps, at) {
					return saveOver(tree, "editor at "+at)
				}
				return nil
			}
			err = s.Delete(t.Context(), "doc.md", v)
			s.hook = nil
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("Delete: %v", err)
			}
			docs := listed(t, s, "")
			if last := "editor at " + steps[len(steps)-1]; string(docs["doc.md"].Data) != last {
				t.Errorf("the document holds %q, want %q", docs["doc.md"].Data, last)
			}
			if len(docs) != len(steps) {
				t.Errorf("documents %v", docs)
			}
			assertNoTemps(t, tree)
		})
	}
}

// The process ends right after it displaced an editor's save. Whoever opens the
// store next keeps the save, and throws nothing else about.
func TestASaveDisplacedByACrashIsKept(t *testing.T) {
	for _, change := range []string{"put", "delete"} {
		t.Run(change, func(t *testing.T) {
			tree := t.TempDir()
			s := openTest(t, tree, testOptions())
			v, err := s.Put(t.Context(), "doc.md", []byte("start"), store.Absent)
			if err != nil {
				t.Fatal(err)
			}
			s.hook = func(at string) error {
				switch at {
				case "exchange", "aside":
					return saveOver(tree, "editor")
				case "verify":
					return syscall.EIO
				}
				return nil
			}
			if change == "put" {
				_, err = s.Put(t.Context(), "doc.md", []byte("service"), v)
			} else {
				err = s.Delete(t.Context(), "doc.md", v)
			}
			wantReason(t, err, fault.StoreUnavailable)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := openTest(t, tree, testOptions())
			defer again.Close()
			listed(t, again, "")
			found := false
			docs := listed(t, again, "")
			for _, doc := range docs {
				found = found || string(doc.Data) == "editor"
			}
			if !found || len(docs) > 2 {
				t.Errorf("documents %v", docs)
			}
			assertNoTemps(t, tree)
		})
	}
}

func saveOver(tree, text string) error {
	mine := filepath.Join(tree, "editor~")
	if err := os.WriteFile(mine, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(mine, filepath.Join(tree, Folder, "doc.md"))
}

func assertNoTemps(t testing.TB, tree string) {
	t.Helper()
	err := filepath.WalkDir(tree, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
