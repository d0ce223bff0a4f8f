package storefile

import (
	"strings"
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// mount makes a small file system in memory, which needs permission.
func mount(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	tree := mount(t, "256k")
	s := openTest(t, tree, testOptions())
	defer s.Close()
	v, err := s.Put(bg, "memory/a.md", []byte("old"), store.Absent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(bg, "c/log", [][]byte{[]byte("1")}, 0); err != nil {
		t.Fatal(err)
	}
	large := []byte(strings.Repeat("x", 400<<10))
	_, err = s.Put(bg, "memory/a.md", large, v)
	wantReason(t, err, fault.StoreFull)
	_, err = s.Put(bg, "memory/b.md", large, store.Absent)
	wantReason(t, err, fault.StoreFull)
	_, err = s.Append(bg, "c/log", [][]byte{large}, 1)
	wantReason(t, err, fault.StoreFull)
	docs := listed(t, s, "")
	if len(docs) != 1 || string(docs["memory/a.md"].Data) != "old" {
		t.Errorf("documents %v", docs)
	}
	assertNoTemps(t, tree)
	if _, err := s.Append(bg, "c/log", [][]byte{[]byte("2")}, 1); err != nil {
		t.Errorf("the log does not go on: %v", err)
	}
	if _, err := s.Put(bg, "memory/a.md", []byte("new"), v); err != nil {
		t.Errorf("a small document is not saved: %v", err)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	tree := mount(t, "1m")
	write(t, tree, "memory/a.md", "readable")
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", tree, "tmpfs", syscall.MS_REMOUNT|flags, "size=1m"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	s := openTest(t, tree, testOptions())
	defer s.Close()
	second := openTest(t, tree, testOptions())
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Get(bg, "memory/a.md"); err != nil || string(doc.Data) != "readable" || !s.ReadOnly() {
		t.Fatalf("%q, %v, read-only %v", doc.Data, err, s.ReadOnly())
	}
	_, putErr := s.Put(bg, "memory/a.md", []byte("x"), store.Any)
	_, appendErr := s.Append(bg, "c/log", [][]byte{[]byte("x")}, 0)
	for what, err := range map[string]error{"Put": putErr, "Append": appendErr, "Delete": s.Delete(bg, "memory/a.md", store.Any)} {
		if f, ok := fault.As(err); !ok || f.Reason != fault.StoreReadOnly || !strings.HasPrefix(f.Meta["path"], tree) {
			t.Errorf("%s: %v", what, err)
		}
	}
	remount(0)
	if _, err := s.Put(bg, "memory/a.md", []byte("written"), store.Any); err != nil || s.ReadOnly() {
		t.Errorf("after the disk became writable: %v", err)
	}
	_, err := Open(tree, Folder, testOptions())
	wantReason(t, err, fault.StoreLocked)
}
