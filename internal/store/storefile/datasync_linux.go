package storefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes a file's bytes and its length durable.
func syncData(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		for result = unix.EINTR; result == unix.EINTR; {
			result = unix.Fdatasync(int(fd))
		}
	})
	if err == nil {
		err = result
	}
	if err != nil {
		return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	return nil
}
