package storefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

var bg = context.Background()

// failAt makes the n-th step fail and counts the steps.
func failAt(s *Store, n int, err error) (steps *int) {
	steps = new(int)
	s.hook = func(string) error {
		defer func() { *steps++ }()
		if *steps == n {
			return err
		}
		return nil
	}
	return steps
}

// A disk that is full, at any step of a change: the fault says so, the document
// is old or new, whole, and nothing is left behind.
func TestFullAtEveryStepOfPut(t *testing.T) {
	for name, errno := range map[string]error{"full": syscall.ENOSPC, "quota": syscall.EDQUOT, "io": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			for step := range 100 {
				tree := t.TempDir()
				s := openTest(t, tree, testOptions())
				v, err := s.Put(bg, "memory/old.md", []byte("old"), store.Absent)
				if err != nil {
					t.Fatal(err)
				}
				steps := failAt(s, step, errno)
				_, putErr := s.Put(bg, "memory/old.md", []byte("new"), v)
				_, newErr := s.Put(bg, "agents/new/deep.md", []byte("new"), store.Absent)
				s.hook = nil
				docs := listed(t, s, "")
				checkHalf(t, docs["memory/old.md"], putErr, "old", "new")
				checkHalf(t, docs["agents/new/deep.md"], newErr, "", "new")
				for _, err := range []error{putErr, newErr} {
					if err != nil && name != "io" {
						wantReason(t, err, fault.StoreFull)
					} else if err != nil {
						wantReason(t, err, fault.StoreUnavailable)
					}
				}
				if len(docs) > 2 {
					t.Errorf("step %d: documents %v", step, docs)
				}
				assertNoTemps(t, tree)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if *steps <= step {
					return
				}
			}
		})
	}
}

// checkHalf checks that a document is old or new, and new when it was said so.
func checkHalf(t *testing.T, doc store.Doc, err error, old, now string) {
	t.Helper()
	got := string(doc.Data)
	if doc.Err != nil || got != now && got != old || err == nil && got != now {
		t.Errorf("%q holds %q, %v; the change said %v", doc.Key, got, doc.Err, err)
	}
}

func TestFullAtEveryStepOfAppend(t *testing.T) {
	for step := range 100 {
		tree := t.TempDir()
		s := openTest(t, tree, testOptions())
		if _, err := s.Append(bg, "c/log", [][]byte{[]byte("1")}, 0); err != nil {
			t.Fatal(err)
		}
		steps := failAt(s, step, syscall.ENOSPC)
		_, oldErr := s.Append(bg, "c/log", [][]byte{[]byte("2"), []byte("3")}, 1)
		_, newErr := s.Append(bg, "other/log", [][]byte{[]byte("1")}, 0)
		s.hook = nil
		for stream, err := range map[string]error{"c/log": oldErr, "other/log": newErr} {
			if err != nil {
				wantReason(t, err, fault.StoreFull)
			}
			want := map[string]store.Seq{"c/log": 3, "other/log": 1}[stream]
			if err != nil {
				want = map[string]store.Seq{"c/log": 1, "other/log": 0}[stream]
			}
			if _, last, boundsErr := s.Bounds(bg, stream); boundsErr != nil || last != want {
				t.Errorf("step %d: %s ends at %d, %v, want %d after %v", step, stream, last, boundsErr, want, err)
			}
			if _, err := s.Append(bg, stream, [][]byte{[]byte("next")}, want); err != nil {
				t.Errorf("step %d: %s does not go on: %v", step, stream, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if *steps <= step {
			return
		}
	}
}

// A disk that becomes read-only while the store is open.
func TestReadOnlyLater(t *testing.T) {
	s := openTest(t, t.TempDir(), testOptions())
	defer s.Close()
	failAt(s, 0, syscall.EROFS)
	_, err := s.Put(bg, "memory/a.md", []byte("x"), store.Any)
	wantReason(t, err, fault.StoreReadOnly)
}

func TestLock(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, Options{Service: "memory", Project: "atelier"})
	_, err := Open(tree, Folder, Options{Service: "memory", Project: "atelier"})
	f := wantReason(t, err, fault.StoreLocked)
	if f.Meta["project"] != "atelier" || f.Meta["service"] != "memory" || !strings.Contains(f.Meta["holder"], "process ") {
		t.Errorf("meta %v", f.Meta)
	}
	// By another way to the same folder, too.
	other := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(tree, other); err != nil {
		t.Fatal(err)
	}
	_, err = Open(other, Folder, Options{Service: "memory"})
	wantReason(t, err, fault.StoreLocked)
	// Other services and other folders are not concerned.
	for _, o := range []struct {
		tree, service string
	}{{tree, "context"}, {t.TempDir(), "memory"}} {
		if err := openTest(t, o.tree, Options{Service: o.service}).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openTest(t, tree, Options{Service: "memory"}).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(tree, Folder, Options{Service: "../x"}); !errors.Is(err, store.ErrBadKey) {
		t.Errorf("service name: %v", err)
	}
	_, err = Open(filepath.Join(tree, "nowhere"), Folder, Options{})
	wantReason(t, err, fault.StoreUnavailable)
}
