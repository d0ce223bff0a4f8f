package storefile

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/store"
)

// List implements store.Docs.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Doc, error] {
	return s.each(ctx, prefix, func() ([]string, error) { return s.list(ctx, prefix) })
}

// ListNamed is List for the documents of one name in the folders right below a
// prefix: prefix/*/name. What else is in the folders is not looked at.
func (s *Store) ListNamed(ctx context.Context, prefix, name string) iter.Seq2[store.Doc, error] {
	return s.each(ctx, prefix, func() ([]string, error) { return s.named(ctx, prefix, name) })
}

// named returns the keys of the documents that may be there, sorted.
func (s *Store) named(ctx context.Context, prefix, name string) ([]string, error) {
	if err := s.enter(ctx, s.checkKey(path.Join(prefix, name))); err != nil {
		return nil, err
	}
	defer s.leave()
	resolved, err := s.real(path.Join(s.sub, prefix))
	var entries []fs.DirEntry
	if err == nil {
		entries, err = fs.ReadDir(s.root.FS(), resolved)
	}
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain(err, path.Join(s.sub, prefix), reading)
	}
	var keys []string
	for _, e := range entries {
		key := path.Join(prefix, e.Name(), name)
		if (e.IsDir() || e.Type()&fs.ModeSymlink != 0) && s.checkKey(key) == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// each yields the documents of keys below a prefix; those that are not there
// any more are passed over.
func (s *Store) each(ctx context.Context, prefix string, find func() ([]string, error)) iter.Seq2[store.Doc, error] {
	return func(yield func(store.Doc, error) bool) {
		keys, err := find()
		if err != nil {
			yield(store.Doc{}, err)
			return
		}
		r := reader{s: s, prefix: prefix}
		defer r.close()
		for _, key := range keys {
			doc, err := r.show(ctx, key)
			if misnamed, ok := s.misnamedDoc(key); ok && errors.Is(err, store.ErrNotFound) {
				doc, err = misnamed, nil
			}
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// reader reads many documents below a prefix through its open folder.
type reader struct {
	s      *Store
	prefix string
	opened bool
	root   *os.Root // nil when the folder cannot be opened
}

// show is load as one call of its own.
func (r *reader) show(ctx context.Context, key string) (store.Doc, error) {
	if err := r.s.enter(ctx, nil); err != nil {
		return store.Doc{}, err
	}
	defer r.s.leave()
	if !r.opened {
		r.opened = true
		if dir, err := r.s.real(path.Join(r.s.sub, r.prefix)); err == nil {
			r.root, _ = r.s.root.OpenRoot(dir)
		}
	}
	if dir := path.Dir(key); r.root != nil && (dir == r.prefix || r.s.plain(path.Join(r.s.sub, dir))) {
		below := strings.TrimPrefix(key[len(r.prefix):], "/")
		if doc, err := r.s.read(r.root, below, key); err == nil || errors.Is(err, store.ErrNotFound) {
			return doc, err
		}
	}
	doc, _, err := r.s.load(key)
	return doc, err
}

func (r *reader) close() {
	if r.root != nil {
		_ = r.root.Close()
	}
}
