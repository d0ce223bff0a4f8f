//go:build unix

package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpenFolderIsTheNearestThatOthersMayWriteTo(t *testing.T) {
	outer := filepath.Join(t.TempDir(), "outer")
	project := filepath.Join(outer, "project")
	run := filepath.Join(project, ".ideai", "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		mode os.FileMode
		want string
	}{
		{outer, 0o770, outer}, {project, 0o702, project}, {run, 0o720, run}, {run, 0o755, project},
	} {
		if err := os.Chmod(c.dir, c.mode); err != nil {
			t.Fatal(err)
		}
		if got := OpenFolder(project); got != c.want {
			t.Errorf("after chmod %o %s: %q, want %q", c.mode, c.dir, got, c.want)
		}
	}
}
