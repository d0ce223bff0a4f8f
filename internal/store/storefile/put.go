package storefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"github.com/idea-ide/ideai/internal/store"
)

// errMoved means that the document appeared or vanished under a Put of
// whatever is there, which starts again.
var errMoved = errors.New("document appeared or vanished")

const putTries = 20

// Put implements store.Docs. When the disk cannot be written or is full the
// document is as it was.
func (s *Store) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	check := s.checkKey(key)
	if check == nil && len(data) > store.MaxDoc {
		check = tooLarge(key, int64(len(data)))
	}
	if err := s.enter(ctx, check); err != nil {
		return "", err
	}
	defer s.leave()
	name := path.Join(s.sub, key)
	if err := s.writable(name); err != nil {
		return "", err
	}
	unlock := s.keys.lock(key)
	defer unlock()
	version, err := s.put(name, data, expect)
	for range putTries {
		if !errors.Is(err, errMoved) {
			break
		}
		version, err = s.put(name, data, expect)
	}
	if err != nil {
		return "", s.explain(err, name, writing)
	}
	s.tell(key, version)
	return version, nil
}

func conflict(name string) error { return fmt.Errorf("%s: %w", name, store.ErrConflict) }

// put makes one attempt.
func (s *Store) put(name string, data []byte, expect store.Version) (store.Version, error) {
	s.dirs.RLock()
	defer s.dirs.RUnlock()
	p, err := s.place(name, expect == store.Any || expect == store.Absent)
	if missing(err) && expect != store.Any && expect != store.Absent {
		return "", conflict(name)
	}
	if err != nil {
		return "", err
	}
	defer p.close()
	now, err := readFile(p.root, p.base)
	exists := now.info != nil
	switch {
	case errors.Is(err, syscall.EISDIR), errors.Is(err, errSpecial):
		return "", s.blocked(name, err)
	case err != nil && exists && !errors.Is(err, store.ErrTooLarge), err != nil && !exists && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case exists && expect != store.Any && expect != now.version, !exists && expect != store.Any && expect != store.Absent:
		return "", conflict(name)
	case exists && now.version != "" && bytes.Equal(now.data, data):
		return now.version, s.settleSame(p)
	}
	staged, err := s.stage(p, data, now.info)
	if err != nil {
		return "", err
	}
	version := versionOf(data)
	if exists {
		return version, s.replace(p, staged, now.version, version, expect)
	}
	return version, s.create(p, staged, expect)
}

// settleSame makes bytes that are already there durable.
func (s *Store) settleSame(p *place) error {
	f, err := p.root.Open(p.base)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := s.step("sync"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return s.syncPlace(p)
}

// create gives a staged file its name if nothing has it.
func (s *Store) create(p *place, staged string, expect store.Version) error {
	defer s.discard(p, staged)
	if err := s.step("link"); err != nil {
		return err
	}
	err := moveNew(p, staged, p.base)
	switch {
	case errors.Is(err, fs.ErrExist) && expect == store.Any:
		return errMoved
	case errors.Is(err, fs.ErrExist):
		return conflict(p.path)
	case err != nil:
		return err
	}
	return s.syncPlace(p)
}

// replace puts a staged file in the place of the document whose version is old.
func (s *Store) replace(p *place, staged string, old, written, expect store.Version) error {
	swap, err := s.toSwap(p, staged, old, written)
	if err != nil {
		s.discard(p, staged)
		s.temps.drop(swap)
		return err
	}
	if err := s.step("exchange"); err != nil {
		s.discard(p, swap)
		return err
	}
	err = exchange(p, swap, p.base)
	switch {
	case errors.Is(err, errNoExchange):
		return s.overwrite(p, swap, old, expect)
	case errors.Is(err, fs.ErrNotExist):
		s.discard(p, swap)
		if expect == store.Any {
			return errMoved
		}
		return conflict(p.path)
	case err != nil:
		s.discard(p, swap)
		return err
	}
	return s.verify(p, swap, old, written, expect)
}

// verify looks at what an exchange displaced: the expected document is removed,
// anything else goes back to its place, or beside it when the caller wanted to
// replace whatever was there.
func (s *Store) verify(p *place, swap string, old, written, expect store.Version) error {
	defer s.temps.drop(swap)
	if err := s.step("verify"); err != nil {
		return err
	}
	displaced, err := readFile(p.root, swap)
	if err == nil && displaced.version == old {
		if err := s.step("remove"); err != nil {
			return err
		}
		if err := p.root.Remove(swap); err != nil {
			return err
		}
		return s.syncPlace(p)
	}
	if expect == store.Any {
		return errors.Join(s.keep(p, swap, displaced.version), s.syncPlace(p))
	}
	if err := s.putBack(p, swap, written); err != nil {
		return err
	}
	return errors.Join(conflict(p.path), s.syncPlace(p))
}

// putBack undoes an exchange. What someone saved since is kept beside.
func (s *Store) putBack(p *place, swap string, written store.Version) error {
	if err := s.step("putback"); err != nil {
		return err
	}
	err := exchange(p, swap, p.base)
	if errors.Is(err, fs.ErrNotExist) {
		err = moveNew(p, swap, p.base)
		if err == nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	again, err := readFile(p.root, swap)
	if err == nil && again.version == written {
		return p.root.Remove(swap)
	}
	return s.keep(p, swap, again.version)
}

// overwrite replaces the document where names cannot be exchanged, after a last
// look at it.
func (s *Store) overwrite(p *place, swap string, old, expect store.Version) error {
	defer s.discard(p, swap)
	if expect != store.Any {
		now, err := readFile(p.root, p.base)
		if missing(err) || err == nil && now.version != old {
			return conflict(p.path)
		}
		if err != nil {
			return err
		}
	}
	if err := p.root.Rename(swap, p.base); err != nil {
		return err
	}
	return s.syncPlace(p)
}

func (s *Store) syncPlace(p *place) error {
	if err := s.step("syncdir"); err != nil {
		return err
	}
	return syncDir(p.dir)
}
