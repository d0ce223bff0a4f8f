//go:build unix

package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/project"
)

// A pipe opens only when somebody writes to it: one in a repository must hold
// up neither its own project nor the others.
func TestPipesInARepositoryHoldNothingUp(t *testing.T) {
	reg := project.OpenRegistry(t.TempDir())
	good := t.TempDir()
	mustMkdir(t, filepath.Join(good, ".ideai"))
	if _, err := reg.Register(good, "good"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git", ".git/HEAD", ".git/config", ".ideai/project.yaml"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			mustMkdir(t, filepath.Join(root, ".ideai"))
			id := "bad" + strings.ToLower(filepath.Base(name))
			if _, err := reg.Register(root, id); err != nil {
				t.Fatal(err)
			}
			mustMkdir(t, filepath.Dir(filepath.Join(root, name)))
			if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, _ = reg.Resolve(root) // may fail, must return
			if _, _, err := reg.Resolve(good); err != nil {
				t.Errorf("the other project: %v", err)
			}
			if _, err := reg.List(); err != nil {
				t.Errorf("list: %v", err)
			}
		})
	}
}

func mustMkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
