package storefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/changes"
)

// Options are the choices of a store. The zero value is a store without lock.
type Options struct {
	// Service is whose files these are. When set, Open takes the lock of
	// (tree, service), removes what a crash left behind, and makes the folder
	// with its .gitignore. Without it the caller promises to be the only writer.
	Service string
	// Project is how faults name the project; default the tree's base name.
	Project string
	// Rescan is how often a watched folder is looked through although nothing
	// was notified; default 5 s.
	Rescan time.Duration
	// Settle is how long a changed file must stay the same before it is shown
	// to watchers; default 10 ms.
	Settle time.Duration
	// Buffer is how many changed documents a watcher may be behind.
	Buffer int
	// SegmentBytes is when a stream goes on in a new file; default 64 MiB.
	SegmentBytes int64
	// Logger hears of what a person may want to know; default slog.Default.
	Logger *slog.Logger

	deaf bool // for tests: no notifications, as in a bind mount
}

func (o Options) withDefaults(tree string) Options {
	if o.Project == "" {
		o.Project = filepath.Base(tree)
	}
	if o.Rescan <= 0 {
		o.Rescan = 5 * time.Second
	}
	if o.Settle <= 0 {
		o.Settle = 10 * time.Millisecond
	}
	if o.Buffer <= 0 {
		o.Buffer = changes.DefaultBuffer
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Store is a store.Docs and a store.Log in one folder.
type Store struct {
	opts Options
	tree string // real path of the source tree
	sub  string // the store's folder below it, slash-separated
	root *os.Root

	lockMu   sync.Mutex
	lock     *lock // nil without a service or on a read-only disk
	readOnly bool

	open  sync.RWMutex // held for reading during each call
	done  bool
	feed  changes.Feed
	keys  keyLocks
	dirs  sync.RWMutex // held for writing while empty folders are removed
	temps temps
	hub   hub
	cache cache

	misnamed misnamed

	streamsMu sync.Mutex
	streams   map[string]*stream
	writing   []*stream // those with an open file, the oldest first
	torn      []TornTail

	hook func(step string) error // for tests: called before each step on the disk
}

var _ store.Docs = (*Store)(nil)

// Open opens the store in tree/sub. tree must exist and may be a link; sub need
// not exist. Faults: STORE_LOCKED names the holder; OUTSIDE_PROJECT;
// STORE_UNAVAILABLE. On a disk that cannot be written the store opens for
// reading, and every change fails with STORE_READ_ONLY.
func Open(tree, sub string, opts Options) (*Store, error) {
	sub = path.Clean(filepath.ToSlash(sub))
	if !fs.ValidPath(sub) {
		return nil, fmt.Errorf("%w: folder %q", store.ErrBadKey, sub)
	}
	realTree, err := filepath.EvalSymlinks(tree)
	if err == nil {
		realTree, err = filepath.Abs(realTree)
	}
	if err != nil {
		return nil, unavailable(tree, err)
	}
	root, err := os.OpenRoot(realTree)
	if err != nil {
		return nil, unavailable(realTree, err)
	}
	s := &Store{opts: opts.withDefaults(realTree), tree: realTree, sub: sub, root: root}
	if err := s.start(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

// start checks the folder and takes the lock.
func (s *Store) start() error {
	if _, err := s.real(s.sub); err != nil {
		return s.explain(err, s.sub, reading)
	}
	if s.opts.Service == "" {
		return nil
	}
	lock, err := s.takeLock()
	switch {
	case fault.ReasonOf(err) == fault.StoreReadOnly:
		s.readOnly = true
		s.opts.Logger.Warn("store opened for reading only", "tree", s.tree, "service", s.opts.Service)
		return nil
	case err != nil:
		return err
	}
	s.lock = lock
	return nil
}

// ReadOnly reports whether the store was opened for reading only and could not
// be opened for writing since.
func (s *Store) ReadOnly() bool {
	s.lockMu.Lock()
	defer s.lockMu.Unlock()
	return s.readOnly
}

// holdsLock reports whether this store is the only one of its service here.
func (s *Store) holdsLock() bool {
	s.lockMu.Lock()
	defer s.lockMu.Unlock()
	return s.lock != nil
}

// standsAt reports whether a path leads to the tree that was opened, and nothing
// took the place of the store's own folder: a worktree can be removed and made
// again.
func (s *Store) standsAt(tree string) bool {
	opened, err := s.root.Stat(".")
	if err != nil {
		return false
	}
	now, err := os.Stat(tree)
	if err != nil || !os.SameFile(opened, now) {
		return false
	}
	own, err := s.root.Stat(s.sub)
	return errors.Is(err, fs.ErrNotExist) || err == nil && own.IsDir()
}

// Close waits for calls under way, ends watches and tails with
// store.ErrClosed and gives up the lock.
func (s *Store) Close() error {
	s.feed.Close(store.ErrClosed)
	s.hub.close()
	s.open.Lock()
	defer s.open.Unlock()
	if s.done {
		return nil
	}
	s.done = true
	s.endStreams()
	if s.lock != nil {
		s.lock.release()
	}
	return s.root.Close()
}

// enter begins one call; leave ends it.
func (s *Store) enter(ctx context.Context, check error) error {
	if check != nil {
		return check
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.open.RLock()
	if s.done {
		s.open.RUnlock()
		return store.ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.open.RUnlock() }

// step is a seam: a test makes it fail, or ends the process there.
func (s *Store) step(name string) error {
	if s.hook == nil {
		return nil
	}
	return s.hook(name)
}

// checkKey is store.CheckKey without the names that are the store's own.
func (s *Store) checkKey(key string) error {
	if err := store.CheckKey(key); err != nil {
		return err
	}
	own := s.own(path.Join(s.sub, key))
	for name := range strings.SplitSeq(key, "/") {
		own = own || reserved(name)
	}
	if own {
		return fmt.Errorf("%w %q: the store keeps that name for itself", store.ErrBadKey, key)
	}
	return nil
}

func (s *Store) checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return s.checkKey(prefix)
}

// own reports whether a path from the tree is the store's own file or folder.
func (s *Store) own(name string) bool { return name == ignoreFile || store.Below(name, lockFolder) }

// reserved reports whether a file name can never be a document's.
func reserved(name string) bool {
	return strings.HasPrefix(name, tempPrefix) || strings.HasSuffix(name, segmentExt) ||
		strings.Contains(name, segmentExt+".")
}

const (
	tempPrefix = ".ideai-"
	segmentExt = ".jsonl"
)
