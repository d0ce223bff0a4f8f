package storefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

type intent bool

const (
	reading intent = false
	writing intent = true
)

// explain turns what the system said about a path below the tree into an error
// of the contract or a fault.
func (s *Store) explain(err error, name string, why intent) error {
	if err == nil || isContract(err) {
		return err
	}
	if _, ok := fault.As(err); ok {
		return err
	}
	full := filepath.Join(s.tree, filepath.FromSlash(name))
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.New(fault.StoreFull, fault.Meta{"path": full},
			"no space left to save %s; free some space and save again", full).Wrap(err)
	case errors.Is(err, syscall.EROFS), why == writing && errors.Is(err, fs.ErrPermission):
		return readOnly(full, err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return s.blocked(name, err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%w %q: %w", store.ErrBadKey, name, err)
	}
	if _, outside := s.real(name); outside != nil {
		if _, ok := fault.As(outside); ok {
			return outside
		}
	}
	return unavailable(full, err)
}

// blocked says what stands in the way of a path: a file where a folder
// belongs, or something else where a file does.
func (s *Store) blocked(name string, err error) error {
	at, why := name, "is not a file, and a file belongs there"
	for i, c := range name {
		if c != '/' {
			continue
		}
		if info, err := s.root.Stat(name[:i]); err == nil && !info.IsDir() {
			at, why = name[:i], "is a file where a folder belongs"
			break
		}
	}
	full := filepath.Join(s.tree, filepath.FromSlash(at))
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": full},
		"%s %s; move it away, then try again", full, why).Wrap(fmt.Errorf("%w %q: %w", store.ErrBadKey, name, err))
}

func isContract(err error) bool {
	for _, e := range []error{store.ErrNotFound, store.ErrConflict, store.ErrBadKey, store.ErrTooLarge,
		store.ErrLagged, store.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func unavailable(full string, err error) error {
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": full},
		"%s cannot be used; look at its permissions and its disk", full).Wrap(err)
}

func readOnly(full string, err error) error {
	return fault.New(fault.StoreReadOnly, fault.Meta{"path": full},
		"%s cannot be written; make its folder writable, then save again", full).Wrap(err)
}

func refusedLink(name, target string) error {
	return fault.New(fault.OutsideProject, fault.Meta{"name": name, "target": target},
		"%s leads to %s, where no link from there may lead; replace it by a file or folder of its own", name, target)
}

func outside(name, target string) error {
	return fault.New(fault.OutsideProject, fault.Meta{"name": name, "target": target},
		"%s leads to %s, which is outside the project; replace the link by a file or a link inside the project", name, target)
}
