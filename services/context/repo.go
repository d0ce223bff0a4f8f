package contextsvc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// folder is where the documents are, relative to the worktree; reports and
// messages name files with it.
const folder = ".ideai/"

// get reads one document; ok is false when there is none.
func (s *Service) get(ctx context.Context, at Place, key string) (doc store.Doc, ok bool, err error) {
	docs, err := s.deps.Stores.Versioned(ctx, at.Project, at.Worktree)
	if err != nil {
		return store.Doc{}, false, err
	}
	doc, err = docs.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return store.Doc{}, false, nil
	}
	return doc, err == nil, storeFault(err, key)
}

// list yields the documents below a prefix in key order; one that cannot be
// read has its Err set to a fault.
func (s *Service) list(ctx context.Context, at Place, prefix string) iter.Seq2[store.Doc, error] {
	return s.each(ctx, at, prefix, func(docs store.Docs) iter.Seq2[store.Doc, error] { return docs.List(ctx, prefix) })
}

// named is what stores have that need not read all documents below a prefix to
// give those of one name, one segment further down.
type named interface {
	ListNamed(ctx context.Context, prefix, name string) iter.Seq2[store.Doc, error]
}

// listNamed is list for the documents prefix/*/name; others may be among them.
func (s *Service) listNamed(ctx context.Context, at Place, prefix, name string) iter.Seq2[store.Doc, error] {
	return s.each(ctx, at, prefix, func(docs store.Docs) iter.Seq2[store.Doc, error] {
		if n, ok := docs.(named); ok {
			return n.ListNamed(ctx, prefix, name)
		}
		return docs.List(ctx, prefix)
	})
}

func (s *Service) each(ctx context.Context, at Place, prefix string, list func(store.Docs) iter.Seq2[store.Doc, error]) iter.Seq2[store.Doc, error] {
	return func(yield func(store.Doc, error) bool) {
		docs, err := s.deps.Stores.Versioned(ctx, at.Project, at.Worktree)
		if err != nil {
			yield(store.Doc{}, err)
			return
		}
		for doc, err := range list(docs) {
			if doc.Err != nil {
				doc.Err = storeFault(doc.Err, doc.Key)
			}
			if !yield(doc, storeFault(err, prefix)) || err != nil {
				return
			}
		}
	}
}

// save replaces a document that edit makes from the current one, whose etag
// must be the one given: empty to create. A save that changes no byte succeeds
// whatever the etag, so that repeating one is harmless.
func (s *Service) save(ctx context.Context, at Place, key, etag string, edit func(old []byte, exists bool) ([]byte, error)) (store.Doc, error) {
	docs, err := s.deps.Stores.Versioned(ctx, at.Project, at.Worktree)
	if err != nil {
		return store.Doc{}, err
	}
	old, exists, err := s.get(ctx, at, key)
	if err != nil {
		return store.Doc{}, err
	}
	data, err := edit(old.Data, exists)
	if err != nil {
		return store.Doc{}, err
	}
	if exists && string(data) == string(old.Data) {
		return old, nil
	}
	if etag != string(old.Version) {
		return store.Doc{}, stale(key, old.Version)
	}
	expect := old.Version
	if !exists {
		expect = store.Absent
	}
	version, err := docs.Put(ctx, key, data, expect)
	if errors.Is(err, store.ErrConflict) {
		now, _, _ := s.get(ctx, at, key)
		return store.Doc{}, stale(key, now.Version)
	}
	if err != nil {
		return store.Doc{}, storeFault(err, key)
	}
	saved, ok, err := s.get(ctx, at, key)
	if err == nil && ok && saved.Version == version {
		return saved, nil
	}
	return store.Doc{Key: key, Data: data, Version: version}, nil // changed again meanwhile
}

func stale(key string, current store.Version) error {
	if current == "" {
		return fault.New(fault.StaleEtag, fault.Meta{"current_etag": ""},
			"%s%s is not there any more; save it with an empty etag to create it", folder, key)
	}
	return fault.New(fault.StaleEtag, fault.Meta{"current_etag": string(current)},
		"%s%s was changed since you read it; read it again and repeat your change", folder, key)
}

// storeFault turns the errors of the store contract into faults.
func storeFault(err error, key string) error {
	if err == nil {
		return nil
	}
	if _, ok := fault.As(err); ok {
		return err
	}
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return tooLarge(folder+key, store.MaxDoc+1, store.MaxDoc)
	case errors.Is(err, store.ErrBadKey):
		return fault.New(fault.InvalidField, nil, "%q cannot be the name of a file; choose another id", key).Wrap(err)
	case errors.Is(err, store.ErrClosed):
		return fault.New(fault.Draining, nil, "the server is going down; try again in a moment").Wrap(err)
	}
	return err
}

func tooLarge(name string, size, limit int) error {
	return fault.New(fault.TooLarge,
		fault.Meta{"name": name, "bytes": strconv.Itoa(size), "limit": strconv.Itoa(limit)},
		"%s has %d bytes or more, the limit is %d; shorten it", name, size, limit)
}

// damaged is the fault of a file that cannot be used, with what to do.
func damaged(name string, line int, why string) *fault.Error {
	if !strings.Contains(why, ";") {
		why += "; mend this line"
	}
	return fault.New(fault.Damaged, fault.Meta{"name": name, "line": strconv.Itoa(line)},
		"%s, line %d: %s", name, line, why)
}

// cache keeps what was made of a document while its version stays.
type cache struct {
	mu    sync.Mutex
	items map[cacheKey]cached
}

type cacheKey struct {
	at  Place
	key string
}

type cached struct {
	version store.Version
	value   any
}

const maxCached = 4096

// parsed returns what parse makes of a document, from the cache when it did
// before. A document without a version is never kept.
func parsed[T any](c *cache, at Place, doc store.Doc, parse func(store.Doc) T) T {
	key := cacheKey{at, doc.Key}
	c.mu.Lock()
	hit, ok := c.items[key]
	c.mu.Unlock()
	if v, isT := hit.value.(T); ok && isT && hit.version == doc.Version {
		return v
	}
	v := parse(doc)
	if doc.Version == "" {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.items) >= maxCached || c.items == nil {
		c.items = map[cacheKey]cached{}
	}
	c.items[key] = cached{doc.Version, v}
	return v
}

// message returns what an error tells a person, bounded.
func message(err error) string {
	const limit = 1000
	text := err.Error()
	if f, ok := fault.As(err); ok {
		text = f.Msg
	}
	if len(text) > limit {
		return fmt.Sprintf("%.*s…", limit/4, text)
	}
	return text
}
