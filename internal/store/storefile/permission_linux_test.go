package storefile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// asNobody makes the calling thread use files as a person without rights, also
// when the tests run as root.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	runtime.LockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Skipf("the rights of a file's owner cannot be given up here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Setfsuid(0); err != nil {
			t.Errorf("setfsuid: %v", err)
		}
		runtime.UnlockOSThread()
	})
}

func forbid(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
}

func openUp(t *testing.T, tree string) {
	t.Helper()
	for dir := tree; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutRights(t *testing.T) {
	tree := t.TempDir()
	openUp(t, tree)
	write(t, tree, "memory/good.md", "good")
	forbid(t, write(t, tree, "memory/secret.md", "secret"))
	write(t, tree, "memory/closed/x.md", "x")
	forbid(t, filepath.Join(tree, Folder, "memory/closed"))
	asNobody(t)
	s := openTest(t, tree, Options{Service: "test"})
	defer s.Close()
	if !s.ReadOnly() {
		t.Error("a folder without write permission was opened for writing")
	}
	docs := listed(t, s, "memory")
	if len(docs) != 2 || string(docs["memory/good.md"].Data) != "good" {
		t.Errorf("documents %v", docs)
	}
	wantReason(t, docs["memory/secret.md"].Err, fault.StoreUnavailable)
	_, err := s.Get(bg, "memory/secret.md")
	wantReason(t, err, fault.StoreUnavailable)
	_, err = s.Put(bg, "memory/new.md", []byte("x"), store.Any)
	wantReason(t, err, fault.StoreReadOnly)
}

func TestAFolderWithoutRights(t *testing.T) {
	tree := t.TempDir()
	openUp(t, tree)
	write(t, tree, "memory/good.md", "good")
	forbid(t, filepath.Join(tree, Folder))
	asNobody(t)
	s, err := Open(tree, Folder, Options{Service: "test"})
	if err == nil {
		defer s.Close()
		for _, listErr := range s.List(bg, "memory") {
			err = listErr
		}
	}
	f, ok := fault.As(err)
	if !ok || f.Reason != fault.StoreUnavailable {
		t.Fatalf("a folder that cannot be read: %v", err)
	}
}

// A project that never had a .ideai is empty, and stays readable.
func TestNoFolderAndNoRightToMakeOne(t *testing.T) {
	tree := t.TempDir()
	openUp(t, tree)
	asNobody(t)
	s := openTest(t, tree, Options{Service: "test"})
	defer s.Close()
	if docs := listed(t, s, ""); len(docs) != 0 || !s.ReadOnly() {
		t.Errorf("documents %v, read-only %v", docs, s.ReadOnly())
	}
	_, err := s.Put(bg, "memory/new.md", []byte("x"), store.Any)
	wantReason(t, err, fault.StoreReadOnly)
}
