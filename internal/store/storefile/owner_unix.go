//go:build unix

package storefile

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock makes opening a pipe return at once.
const nonblock = syscall.O_NONBLOCK

// keepOwner gives a file the owner of the one it replaces when the process may:
// a container that runs as root must not take a person's notes away.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
