package contextsvc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/idea-ide/ideai/internal/fault"
)

// Files reads files of a worktree that are not under its .ideai/.
type Files interface {
	// ReadFile returns a file by its path relative to the worktree, with
	// slashes. Errors: one that is fs.ErrNotExist, or a fault: OUTSIDE_PROJECT
	// for a path or link that leads out of the worktree, TOO_LARGE beyond
	// 256 KiB, STORE_UNAVAILABLE for what cannot be read, PROJECT_NOT_FOUND and
	// WORKTREE_NOT_FOUND.
	ReadFile(ctx context.Context, project, worktree, name string) ([]byte, error)
}

// NewFiles returns Files on disk. tree returns the path of a worktree, as
// projects' registries do; every read is confined to it.
func NewFiles(tree func(ctx context.Context, project, worktree string) (string, error)) Files {
	return diskFiles{tree}
}

type diskFiles struct {
	tree func(ctx context.Context, project, worktree string) (string, error)
}

func (d diskFiles) ReadFile(ctx context.Context, project, worktree, name string) ([]byte, error) {
	dir, err := d.tree(ctx, project, worktree)
	if err != nil {
		return nil, err
	}
	if !fs.ValidPath(name) {
		return nil, outside(name, name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		if target, linkErr := root.Readlink(name); linkErr == nil && !errors.Is(err, fs.ErrPermission) {
			return nil, outside(name, target)
		}
		return nil, unreadable(name, err)
	case !info.Mode().IsRegular():
		return nil, damaged(name, 1, "not a file; name a text file of the project")
	case info.Size() > maxText:
		return nil, tooLarge(name, int(info.Size()), maxText)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxText+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return data, nil
}

func outside(name, target string) error {
	return fault.New(fault.OutsideProject, fault.Meta{"name": name, "target": target},
		"%s leads out of the project, to %s; name a file inside it", name, target)
}

func unreadable(name string, err error) error {
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": name},
		"%s cannot be read; check that it is there and that you may read it", name).Wrap(fmt.Errorf("read %s: %w", name, err))
}
