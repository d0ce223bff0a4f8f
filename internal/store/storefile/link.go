package storefile

import (
	"errors"
	"io/fs"
	"syscall"
)

// linkNew is moveNew by a hard link, which also never replaces; and where there
// are no hard links, by a look and a rename.
func linkNew(p *place, from, to string) error {
	err := p.root.Link(from, to)
	switch {
	case err == nil:
		return p.root.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	case !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EPERM):
		return err
	}
	if _, err := p.root.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return p.root.Rename(from, to)
}
