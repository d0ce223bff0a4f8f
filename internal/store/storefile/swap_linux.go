package storefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

var errNoExchange = errors.New("names cannot be exchanged here")

// exchange swaps two names of one folder at once.
func exchange(p *place, a, b string) error {
	err := rename2(p, a, b, unix.RENAME_EXCHANGE)
	if unsupported(err) {
		return errNoExchange
	}
	return err
}

// moveNew renames a file to a name that nothing has, fs.ErrExist otherwise.
func moveNew(p *place, from, to string) error {
	err := rename2(p, from, to, unix.RENAME_NOREPLACE)
	if unsupported(err) {
		return linkNew(p, from, to)
	}
	return err
}

func rename2(p *place, from, to string, flags uint) error {
	raw, err := p.dir.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		result = unix.Renameat2(int(fd), from, int(fd), to, flags)
	})
	if err == nil {
		err = result
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}

func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

func syncDir(dir *os.File) error { return dir.Sync() }
