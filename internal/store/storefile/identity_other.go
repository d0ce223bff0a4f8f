//go:build !linux

package storefile

import "io/fs"

func identity(fs.FileInfo) (inode uint64, ctime int64) { return 0, 0 }
