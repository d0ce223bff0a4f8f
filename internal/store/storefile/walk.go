package storefile

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/idea-ide/ideai/internal/store"
)

// list returns the keys below a prefix, sorted.
func (s *Store) list(ctx context.Context, prefix string) ([]string, error) {
	if err := s.enter(ctx, s.checkPrefix(prefix)); err != nil {
		return nil, err
	}
	defer s.leave()
	var keys []string
	w := walker{s: s, ctx: ctx, found: func(key string, _ *os.Root) { keys = append(keys, key) }}
	if err := w.start(prefix); err != nil {
		return nil, s.explain(err, path.Join(s.sub, prefix), reading)
	}
	slices.Sort(keys)
	return keys, nil
}

// walker goes through the folders of a store, following links inside the tree.
type walker struct {
	s      *Store
	ctx    context.Context
	found  func(key string, dir *os.Root) // dir is the folder of a plain file, else nil
	folder func(dir, prefix string)       // a folder's path from the tree and its keys' prefix; may be nil
	above  []fs.FileInfo                  // the folders being walked, against loops
}

// start walks what a prefix names: one document, or the folder of that name.
func (w *walker) start(prefix string) error {
	dir := path.Join(w.s.sub, prefix)
	resolved, err := w.s.real(dir)
	if err != nil {
		return err
	}
	info, err := w.s.root.Lstat(resolved)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		if prefix != "" {
			w.found(prefix, nil)
		}
		return nil
	}
	return w.walk(resolved, prefix)
}

// walk goes through one folder. dir is free of links. A folder below that
// cannot be read is passed over and logged.
func (w *walker) walk(dir, prefix string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	root, err := w.s.root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(w.above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
		return nil
	}
	w.above = append(w.above, info)
	defer func() { w.above = w.above[:len(w.above)-1] }()
	if w.folder != nil {
		w.folder(dir, prefix)
	}
	entries, err := f.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.entry(root, dir, prefix, e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(root *os.Root, dir, prefix string, e fs.DirEntry) error {
	name := e.Name()
	if w.s.leftover(name) {
		w.s.recover(dir, name)
		return nil
	}
	key := path.Join(prefix, name)
	if reserved(name) || w.s.own(path.Join(w.s.sub, key)) {
		return nil
	}
	if store.CheckKey(key) != nil {
		if !e.IsDir() {
			if key := w.s.misnamed.add(prefix, dir, name); key != "" {
				w.found(key, nil)
			}
		}
		return nil
	}
	below := path.Join(dir, name)
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		resolved, err := w.s.real(below)
		if err != nil {
			w.found(key, nil) // shown with its error
			return nil
		}
		info, err := w.s.root.Lstat(resolved)
		if err != nil {
			return nil // a link to nothing
		}
		below, mode, root = resolved, info.Mode(), nil
	}
	if !mode.IsDir() {
		w.found(key, root)
		return nil
	}
	err := w.walk(below, key)
	if err == nil || w.ctx.Err() != nil {
		return err
	}
	if !missing(err) {
		w.s.opts.Logger.Warn("folder cannot be read", "folder", below, "error", err)
	}
	return nil
}
