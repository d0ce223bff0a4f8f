//go:build unix

package host

import (
	"os"
	"path/filepath"
)

// OpenFolder returns the nearest folder that others than its owner may write
// to: a project's run root, those above, up to the file system's root; "" for
// none. Some CLIs take no settings from below one.
func OpenFolder(project string) string {
	for dir := filepath.Join(project, ".ideai", "run"); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o022 != 0 {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
