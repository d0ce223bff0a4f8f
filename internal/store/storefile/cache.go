package storefile

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/idea-ide/ideai/internal/store"
)

// cleanAge is how long before it was read a file must have been left alone for
// what was read to be kept. A change after that shows in the file's times even
// where the file system's clock counts in steps of two seconds.
const cleanAge = 3 * time.Second

// What the cache holds at most, in bytes.
const (
	maxCachedDoc = 64 << 10
	maxCached    = 1 << 20
)

// cache holds small documents as they were last read, so that reading a file
// that nobody changed costs a look at its times. Where the system does not tell
// when an inode was changed nothing is kept: other times can be set back.
type cache struct {
	mu    sync.Mutex
	docs  map[string]cachedDoc // by key
	bytes int

	ahead time.Duration // for tests: the clock goes before by this
}

type cachedDoc struct {
	stamp stamp
	doc   store.Doc
}

func (c *cache) now() time.Time { return time.Now().Add(c.ahead) }

func (c *cache) get(key string, info fs.FileInfo) (store.Doc, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, ok := c.docs[key]
	if !ok || hit.stamp != stampOf(info) {
		return store.Doc{}, false
	}
	return hit.doc, true
}

// keep takes in a document whose file was found as info at a time before it was
// read.
func (c *cache) keep(doc store.Doc, info fs.FileInfo, found time.Time) {
	st := stampOf(info)
	if st.ctime == 0 || st.age(found) < cleanAge || len(doc.Data) > maxCachedDoc {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(doc.Data) - len(c.docs[doc.Key].doc.Data)
	if c.docs == nil || c.bytes > maxCached {
		c.docs, c.bytes = map[string]cachedDoc{}, len(doc.Data)
	}
	c.docs[doc.Key] = cachedDoc{st, doc}
}

// read returns the document of a key whose file has a name below root, from the
// cache when the file is as it was. The folders of the name must be free of
// links. ErrNotFound is the last word; after any other error, as for a link,
// load has it.
func (s *Store) read(root *os.Root, name, key string) (store.Doc, error) {
	info, err := root.Lstat(name)
	if missing(err) {
		return store.Doc{}, fmt.Errorf("%s: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return store.Doc{}, err
	}
	if !info.Mode().IsRegular() {
		return store.Doc{}, errSpecial
	}
	if doc, ok := s.cache.get(key, info); ok {
		return doc, nil
	}
	found := s.cache.now()
	c, err := readFile(root, name)
	if err != nil {
		return store.Doc{}, err
	}
	doc := store.Doc{Key: key, Data: c.data, Version: c.version, ModTime: c.info.ModTime()}
	if os.SameFile(info, c.info) { // not a link that came in between
		s.cache.keep(doc, c.info, found)
	}
	return doc, nil
}
