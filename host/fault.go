package host

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/idea-ide/ideai/internal/fault"
)

// diskFault says what a failed write means for the person.
func diskFault(path string, err error) error {
	meta := fault.Meta{"path": path}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota):
		return fault.New(fault.StoreFull, meta, "no space is left to write %s; free some and start again", path).Wrap(err)
	case errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission):
		return fault.New(fault.StoreReadOnly, meta,
			"%s cannot be written; give yourself write permission there, or set another run root", path).Wrap(err)
	}
	return fmt.Errorf("write %s: %w", path, err)
}
