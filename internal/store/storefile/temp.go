package storefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/store"
)

// A temporary file has one of two names. While it is written it is
//
//	.ideai-tmp-SERVICE-RANDOM
//
// and worth nothing. Just before it changes places with a document it becomes
//
//	.ideai-swap-SERVICE-OLD-NEW-RANDOM-BASE
//
// with the first eight digits of the version expected and of the new one. If
// the process ends there, whoever holds the lock next can tell: bytes that are
// neither are somebody's save, and are kept.
const (
	stagePrefix = tempPrefix + "tmp-"
	swapPrefix  = tempPrefix + "swap-"
	short       = 8
	clipped     = 150 // bytes of a document's name in those of its temporary and conflict files
)

// temps are the temporary files in use by this process. The zero value is ready.
type temps struct {
	mu    sync.Mutex
	names map[string]struct{}
}

func (t *temps) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = map[string]struct{}{}
	}
	t.names[name] = struct{}{}
}

func (t *temps) drop(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.names, name)
}

func (t *temps) has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.names[name]
	return ok
}

func digits(v store.Version) string {
	if len(v) < short || v == store.Absent {
		return "00000000"
	}
	return string(v[:short])
}

func random() string { return strings.ToLower(rand.Text()[:10]) }

// stage writes data into a new temporary file, synced, and returns its name.
func (s *Store) stage(p *place, data []byte, old fs.FileInfo) (name string, err error) {
	name = stagePrefix + s.opts.Service + "-" + random()
	s.temps.add(name)
	defer func() {
		if err != nil {
			s.discard(p, name)
		}
	}()
	if err := s.step("create"); err != nil {
		return name, err
	}
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, s.fileMode(p.path))
	if err != nil {
		return name, err
	}
	err = s.fill(f, data, old)
	return name, errors.Join(err, f.Close())
}

// fill writes and syncs a new file; one that replaces another looks like it.
func (s *Store) fill(f *os.File, data []byte, old fs.FileInfo) error {
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
		keepOwner(f, old)
	}
	half := len(data) / 2 // so that a test may stop halfway
	if _, err := f.Write(data[:half]); err != nil {
		return err
	}
	if err := s.step("write"); err != nil {
		return err
	}
	if _, err := f.Write(data[half:]); err != nil {
		return err
	}
	if err := s.step("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// toSwap gives a staged file its second name.
func (s *Store) toSwap(p *place, staged string, expected, written store.Version) (string, error) {
	name := s.swapName(p.base, expected, written)
	s.temps.add(name)
	if err := s.step("swapname"); err != nil {
		return name, err
	}
	err := p.root.Rename(staged, name)
	if err == nil {
		s.temps.drop(staged)
	}
	return name, err
}

func (s *Store) swapName(base string, expected, written store.Version) string {
	return strings.Join([]string{swapPrefix + s.opts.Service, digits(expected), digits(written), random(), clip(base, clipped)}, "-")
}

// discard removes a temporary file that is worth nothing.
func (s *Store) discard(p *place, name string) {
	_ = p.root.Remove(name)
	s.temps.drop(name)
}

// clip cuts a name to at most n bytes, between characters.
func clip(name string, n int) string {
	if len(name) <= n {
		return name
	}
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

// keep gives displaced bytes that nobody asked to replace a name of their own
// beside the document.
func (s *Store) keep(p *place, name string, version store.Version) error {
	kept := conflictName(p.base, version)
	if err := s.step("keep"); err != nil {
		return err
	}
	err := moveNew(p, name, kept)
	if errors.Is(err, fs.ErrExist) {
		kept = fmt.Sprintf("%s-%s", kept, random())
		err = moveNew(p, name, kept)
	}
	if err != nil {
		return err
	}
	s.temps.drop(name)
	s.opts.Logger.Warn("a save made by someone else at the same moment was kept beside the document",
		"document", path.Join(s.tree, p.path), "kept", kept)
	return nil
}

func conflictName(base string, version store.Version) string {
	return clip(base, clipped) + ".conflict-" + digits(version)
}

// leftover reports whether a file name is that of a temporary file which a
// process that held this store's lock left behind.
func (s *Store) leftover(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && s.holdsLock() && !s.temps.has(name) &&
		(strings.HasPrefix(name, stagePrefix+s.opts.Service+"-") || strings.HasPrefix(name, swapPrefix+s.opts.Service+"-"))
}

// recover removes a leftover, or keeps it when it is somebody's save.
func (s *Store) recover(dir, name string) {
	p, err := s.place(path.Join(dir, name), false)
	if err != nil {
		return
	}
	defer p.close()
	rest, swap := strings.CutPrefix(name, swapPrefix+s.opts.Service+"-")
	parts := strings.SplitN(rest, "-", 4)
	if !swap || len(parts) < 4 {
		_ = p.root.Remove(name)
		return
	}
	c, err := readFile(p.root, name)
	if d := digits(c.version); err == nil && (d == parts[0] || d == parts[1]) {
		_ = p.root.Remove(name)
		return
	}
	if c.info == nil {
		return
	}
	p.base, p.path = parts[3], path.Join(dir, parts[3])
	if deleted := parts[1] == digits(""); deleted && len(p.base) < clipped && moveNew(p, name, p.base) == nil {
		return // put back, as the delete would have done
	}
	if err := s.keep(p, name, c.version); err != nil {
		s.opts.Logger.Warn("a leftover cannot be kept", "file", path.Join(dir, name), "error", err)
	}
}
