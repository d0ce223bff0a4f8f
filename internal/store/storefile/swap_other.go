//go:build !linux

package storefile

import (
	"errors"
	"os"
	"runtime"
)

var errNoExchange = errors.New("names cannot be exchanged here")

func exchange(*place, string, string) error { return errNoExchange }

// moveNew renames a file to a name that nothing has, fs.ErrExist otherwise.
func moveNew(p *place, from, to string) error { return linkNew(p, from, to) }

// syncDir syncs a folder. Windows has no such thing.
func syncDir(dir *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return dir.Sync()
}
