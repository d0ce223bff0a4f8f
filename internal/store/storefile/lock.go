package storefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// lockFolder is where the locks of all services on a tree are, whatever the
// store's own folder.
const lockFolder = ".ideai/run/locks"

type lock struct {
	flock *flock.Flock
	name  string // path from the tree
}

func (l *lock) release() { _ = l.flock.Unlock() }

// stands reports whether the file that is locked is still the lock file: someone
// may have cleaned the folder, and another process have locked a new one.
func (l *lock) stands(root *os.Root) bool {
	held, err := l.flock.Stat()
	if err != nil {
		return false
	}
	now, err := root.Stat(l.name)
	return err == nil && os.SameFile(held, now)
}

// holder is what the lock file says about who has it. The file stays when the
// lock is given up: only the system's lock counts.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host,omitempty"`
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
}

// takeLock takes the lock of (tree, service). The fault is STORE_READ_ONLY when
// it cannot be made because the disk cannot be written.
func (s *Store) takeLock() (*lock, error) {
	service := s.opts.Service
	if err := store.CheckKey(service); err != nil || path.Base(service) != service {
		return nil, fmt.Errorf("%w: service %q", store.ErrBadKey, service)
	}
	name := path.Join(lockFolder, service+".lock")
	f, err := s.openLock(name)
	if err != nil {
		return nil, s.explain(err, name, writing)
	}
	defer func() { _ = f.Close() }()
	l := flock.New(filepath.Join(s.tree, filepath.FromSlash(name)))
	ok, err := l.TryLock()
	if err != nil {
		return nil, s.explain(err, name, writing)
	}
	if held, err := l.Stat(); ok && (err != nil || !same(f, held)) {
		_ = l.Unlock()
		return nil, refusedLink(name, "another file than the lock")
	}
	if !ok {
		who := readHolder(f).String()
		return nil, fault.New(fault.StoreLocked,
			fault.Meta{"project": s.opts.Project, "service": service, "holder": who},
			"the %s of project %s is in use by %s; use that server, or stop it first", service, s.opts.Project, who)
	}
	writeHolder(f)
	return &lock{flock: l, name: name}, nil
}

// openLock opens the lock file inside the tree, made with its folders and the
// .gitignore when absent.
func (s *Store) openLock(name string) (*os.File, error) {
	resolved, err := s.real(name)
	if err != nil {
		return nil, err
	}
	if err := s.makeFolders(path.Dir(resolved)); err != nil {
		return nil, err
	}
	if err := s.makeIgnore(); err != nil {
		return nil, err
	}
	f, err := s.root.OpenFile(resolved, os.O_RDWR|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errSpecial
	}
	return f, nil
}

func same(f *os.File, other os.FileInfo) bool {
	info, err := f.Stat()
	return err == nil && os.SameFile(info, other)
}

func readHolder(f *os.File) holder {
	var h holder
	data, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return holder{}
	}
	return h
}

// writeHolder is for people; a failure changes nothing.
func writeHolder(f *os.File) {
	host, _ := os.Hostname()
	data, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)})
	if err == nil && f.Truncate(0) == nil {
		_, err = f.WriteAt(append(data, '\n'), 0)
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		_ = f.Truncate(0)
	}
}

// writable refuses a change unless the store has its lock. A store that was
// opened for reading, or whose lock file was removed, tries to take it now.
func (s *Store) writable(name string) error {
	if s.opts.Service == "" {
		return nil
	}
	s.lockMu.Lock()
	defer s.lockMu.Unlock()
	if s.lock != nil && s.lock.stands(s.root) {
		return nil
	}
	if s.lock != nil {
		s.lock.release()
		s.lock = nil
	}
	taken, err := s.takeLock()
	s.lock, s.readOnly = taken, err != nil
	if fault.ReasonOf(err) == fault.StoreReadOnly {
		return readOnly(filepath.Join(s.tree, filepath.FromSlash(name)), err)
	}
	return err
}
