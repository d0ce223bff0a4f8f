package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// place is where a path belongs.
type place struct {
	root   string // real path of the project's main checkout or folder
	here   string // real path of the checkout that holds the path
	common string // git's common folder; "" without git
	bare   bool   // a worktree of a repository that has no main checkout
}

// locate finds the project of a path: by git, else the nearest folder upwards
// that has an .ideai, else the folder itself. Home and / are never projects
// and end the search.
func locate(path string) (place, error) {
	dir, err := realDir(path)
	if err != nil {
		return place{}, err
	}
	if tooWide(dir) {
		return place{}, invalidPath("%s cannot be a project: it holds far more than one source tree; go into the project's own folder", dir)
	}
	r, ok, err := findRepository(dir, tooWide)
	if err != nil {
		return place{}, err
	}
	if !ok {
		root := folderRoot(dir)
		return place{root: root, here: root}, nil
	}
	if root, ok := r.main(); ok && !tooWide(root) {
		return place{root: root, here: r.checkout, common: r.common}, nil
	}
	return place{root: r.checkout, here: r.checkout, common: r.common, bare: true}, nil
}

func folderRoot(dir string) string {
	for d := dir; !tooWide(d); d = filepath.Dir(d) {
		if info, err := os.Stat(filepath.Join(d, ".ideai")); err == nil && info.IsDir() {
			return d
		}
	}
	return dir
}

// tooWide reports whether a folder holds the person's home or is the root.
func tooWide(dir string) bool {
	if dir == filepath.Dir(dir) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return within(home, dir)
}

// within reports whether path is dir or below it. Both are clean.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// realDir returns the real path of the folder that path is, or is in.
func realDir(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", invalidPath("%q is not an absolute path; give the whole path of a folder", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", invalidPath("%s does not exist; check the spelling", path)
	}
	if err != nil {
		return "", unreadable(path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", unreadable(real, err)
	}
	if !info.IsDir() {
		real = filepath.Dir(real)
	}
	return real, nil
}

func invalidPath(format string, args ...any) error {
	e := fault.New(fault.InvalidField, nil, format, args...)
	return e.WithFields(fault.Field{Path: "path", Message: e.Msg})
}
