package storefile

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"time"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/changes"
)

// emptyPatience is how many times Options.Settle an empty file is given: many
// editors empty a file before they write it.
const emptyPatience = 20

// Watch implements store.Docs. Our own changes are seen at once. Changes by
// others are noticed by the system's notifications, and by looking through the
// folders every Options.Rescan where there are none; they are shown when the
// file has stayed the same for Options.Settle.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if err := s.enter(ctx, s.checkPrefix(prefix)); err != nil {
			yield(store.Event{}, err)
			return
		}
		s.hub.join(s, prefix)
		s.leave()
		defer s.hub.part(prefix)
		for event, err := range changes.Watch(ctx, prefix, changes.Source{
			Feed:   &s.feed,
			Buffer: s.opts.Buffer,
			Keys:   func(ctx context.Context) ([]string, error) { return s.baseline(ctx, prefix) },
			Read:   s.watched,
		}) {
			if !yield(event, err) {
				return
			}
		}
	}
}

// baseline returns the keys a watch starts with. From here on the hub notices
// what changes. Files being written are given the time to settle.
func (s *Store) baseline(ctx context.Context, prefix string) ([]string, error) {
	keys, young, err := s.hub.scan(ctx, prefix)
	for range emptyPatience {
		if err != nil || len(young) == 0 {
			break
		}
		timer := time.NewTimer(s.opts.Settle)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
		young = s.hub.check(young)
	}
	return keys, err
}

// watched returns a document as watchers are to see it.
func (s *Store) watched(ctx context.Context, key string) (store.Doc, error) {
	if err := s.enter(ctx, nil); err != nil {
		return store.Doc{}, err
	}
	defer s.leave()
	if doc, ok := s.misnamedDoc(key); ok {
		return doc, nil
	}
	doc, info, err := s.load(key)
	if err == nil && info != nil && !s.hub.settledAs(key, stampOf(info)) {
		return store.Doc{}, changes.ErrUnsettled
	}
	return doc, err
}

// tell lets watchers see our own change at once.
func (s *Store) tell(key string, version store.Version) {
	if s.hub.active() {
		if c, err := s.lookup(key); err == nil && c.version == version {
			s.hub.adopt(key, stampOf(c.info))
		}
	}
	s.feed.Mark(key)
}

// stamp is equal as long as a file was very likely not changed.
type stamp struct {
	size, mtime, ctime int64
	inode              uint64
}

func stampOf(info fs.FileInfo) stamp {
	st := stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
	st.inode, st.ctime = identity(info)
	return st
}

// age is how long ago the file was changed; negative when clocks disagree.
func (st stamp) age(now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - max(st.mtime, st.ctime))
}

// patience is how long this file must stay the same.
func (st stamp) patience(settle time.Duration) time.Duration {
	if st.size == 0 {
		return emptyPatience * settle
	}
	return settle
}

// stampKey returns the stamp of a document's file.
func (s *Store) stampKey(key string) (stamp, bool) {
	var info fs.FileInfo
	resolved, err := s.real(path.Join(s.sub, key))
	if err == nil {
		info, err = s.root.Stat(resolved)
	}
	if err != nil {
		return stamp{}, !errors.Is(err, fs.ErrNotExist)
	}
	return stampOf(info), true
}

// stampIn is stampKey for a plain file in an open folder; nil for others.
func (s *Store) stampIn(dir *os.Root, key string) stamp {
	if dir != nil {
		if info, err := dir.Lstat(path.Base(key)); err == nil && info.Mode().IsRegular() {
			return stampOf(info)
		}
	}
	st, _ := s.stampKey(key)
	return st
}
