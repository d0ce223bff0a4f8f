package storefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/idea-ide/ideai/internal/store"
)

// Delete implements store.Docs. Folders that become empty are removed too.
func (s *Store) Delete(ctx context.Context, key string, expect store.Version) error {
	if err := s.enter(ctx, s.checkKey(key)); err != nil {
		return err
	}
	defer s.leave()
	name := path.Join(s.sub, key)
	unlock := s.keys.lock(key)
	defer unlock()
	if err := s.remove(name, key, expect); err != nil {
		return s.explain(err, name, writing)
	}
	s.prune(path.Dir(name))
	s.feed.Mark(key)
	return nil
}

// remove takes the document aside, looks at it and removes it, or puts it back.
// A link is removed, not what it leads to.
func (s *Store) remove(name, key string, expect store.Version) error {
	c, err := s.lookup(key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return err
	case expect != store.Any && err != nil && !errors.Is(err, store.ErrTooLarge):
		return err
	case expect != store.Any && c.version != expect:
		return conflict(key)
	}
	if err := s.writable(name); err != nil {
		return err
	}
	p, err := s.linkPlace(name)
	if err != nil {
		return err
	}
	defer p.close()
	aside := s.swapName(p.base, c.version, "")
	s.temps.add(aside)
	defer s.temps.drop(aside)
	if err := s.step("aside"); err != nil {
		return err
	}
	info, err := p.root.Lstat(p.base)
	if err == nil && !info.IsDir() {
		err = p.root.Rename(p.base, aside)
	}
	if missing(err) {
		return fmt.Errorf("%s: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return err
	}
	if expect != store.Any && info.Mode().IsRegular() {
		if err := s.verifyDeleted(p, aside, expect); err != nil {
			return err
		}
	}
	if err := s.step("remove"); err != nil {
		return err
	}
	if err := p.root.Remove(aside); err != nil {
		return err
	}
	return s.syncPlace(p)
}

func (s *Store) verifyDeleted(p *place, aside string, expect store.Version) error {
	if err := s.step("verify"); err != nil {
		return err
	}
	c, err := readFile(p.root, aside)
	if err == nil && c.version == expect {
		return nil
	}
	err = moveNew(p, aside, p.base)
	if errors.Is(err, fs.ErrExist) {
		err = s.keep(p, aside, c.version)
	}
	return errors.Join(conflict(p.path), err, s.syncPlace(p))
}

// linkPlace is place for the name itself: a last segment that is a link is not
// followed.
func (s *Store) linkPlace(name string) (*place, error) {
	dir, base := path.Split(name)
	p, err := s.place(path.Join(dir, "x"), false)
	if err != nil {
		return nil, err
	}
	p.path, p.base = path.Join(path.Dir(p.path), base), base
	return p, nil
}

// prune removes empty folders between a folder and the store's own.
func (s *Store) prune(dir string) {
	s.dirs.Lock()
	defer s.dirs.Unlock()
	for ; len(dir) > len(s.sub) && store.Below(dir, s.sub); dir = path.Dir(dir) {
		info, err := s.root.Lstat(dir)
		if err != nil || !info.IsDir() || s.root.Remove(dir) != nil {
			return
		}
		_ = s.syncFolder(path.Dir(dir))
	}
}
