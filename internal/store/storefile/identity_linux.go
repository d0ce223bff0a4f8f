package storefile

import (
	"io/fs"
	"syscall"
)

// identity returns a file's inode and when its inode was last changed.
func identity(info fs.FileInfo) (inode uint64, ctime int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return st.Ino, st.Ctim.Nano()
}
