package storefile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// steps records what one change does on the disk.
func steps(t *testing.T, s *Store, change func() error) []string {
	t.Helper()
	var out []string
	s.hook = func(step string) error {
		out = append(out, step)
		return nil
	}
	defer func() { s.hook = nil }()
	if err := change(); err != nil {
		t.Fatal(err)
	}
	return out
}

// The order is what makes a change safe from a power cut: bytes are synced
// before they get their name, and the folder afterwards.
func TestOrderOfSteps(t *testing.T) {
	s := openTest(t, t.TempDir(), Options{Service: "test"})
	defer s.Close()
	put := func(data string) func() error {
		return func() error {
			_, err := s.Put(bg, "memory/a.md", []byte(data), store.Any)
			return err
		}
	}
	add := func() error {
		_, err := s.Append(bg, "memory/log", [][]byte{[]byte("x")}, store.AnySeq)
		return err
	}
	for _, tt := range []struct {
		name   string
		change func() error
		want   []string
	}{
		{"new", put("1"), []string{"mkdir", "mkdir", "syncdir", "create", "write", "sync", "link", "syncdir"}},
		{"replace", put("2"), []string{"create", "write", "sync", "swapname", "exchange", "verify", "remove", "syncdir"}},
		{"same", put("2"), []string{"sync", "syncdir"}},
		{"first append", add, []string{"segment", "syncdir", "log.write", "log.write2", "log.sync"}},
		{"append", add, []string{"log.write", "log.write2", "log.sync"}},
		{"delete", func() error { return s.Delete(bg, "memory/a.md", store.Any) }, []string{"aside", "remove", "syncdir"}},
	} {
		if got := steps(t, s, tt.change); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Somebody cleans the folder of a running server. Its lock is taken again before
// the next change, so that a second server still cannot write.
func TestLockAfterTheFolderWasCleaned(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, testOptions())
	defer s.Close()
	if err := os.RemoveAll(filepath.Join(tree, Folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(bg, "memory/a.md", []byte("x"), store.Absent); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tree, ignoreFile)); err != nil {
		t.Errorf("the ignore file is not made again: %v", err)
	}
	_, err := Open(tree, Folder, testOptions())
	wantReason(t, err, fault.StoreLocked)
	// The other server was quicker.
	if err := os.RemoveAll(filepath.Join(tree, Folder)); err != nil {
		t.Fatal(err)
	}
	other := openTest(t, tree, testOptions())
	defer other.Close()
	_, err = s.Put(bg, "memory/a.md", []byte("y"), store.Any)
	wantReason(t, err, fault.StoreLocked)
	_, err = s.Append(bg, "c/log", [][]byte{[]byte("y")}, store.AnySeq)
	wantReason(t, err, fault.StoreLocked)
	if _, err := other.Put(bg, "memory/a.md", []byte("z"), store.Absent); err != nil {
		t.Fatal(err)
	}
}

// Many conversations do not use up the files a process may have open.
func TestManyStreams(t *testing.T) {
	s := openTest(t, t.TempDir(), Options{Service: "test"})
	defer s.Close()
	open := func() int {
		n := 0
		for _, st := range s.streams {
			if st.out != nil {
				n++
			}
		}
		return n
	}
	for round := range 2 {
		for i := range 2 * maxOpen {
			if _, err := s.Append(bg, fmt.Sprintf("c/%d/log", i), [][]byte{[]byte("{}")}, store.Seq(round)); err != nil {
				t.Fatal(err)
			}
			if n := open(); n > maxOpen {
				t.Fatalf("%d files are open", n)
			}
		}
	}
}
