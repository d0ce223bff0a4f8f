package storefile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// misnamed holds the files whose names cannot be keys. They are listed, with an
// error, under a key that stands in for theirs and by which nothing else can be
// done to them: a person must see that a file is there and not used.
type misnamed struct {
	mu    sync.Mutex
	files map[string]string // stand-in → path from the tree
}

// shownName bounds how much of a name its stand-in and its error repeat.
const shownName = 80

// add takes in a file found at a path from the tree, and returns its stand-in
// below prefix; "" when there is none.
func (m *misnamed) add(prefix, dir, name string) string {
	key := path.Join(prefix, standIn(name))
	if store.CheckKey(key) != nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[string]string{}
	}
	m.files[key] = path.Join(dir, name)
	return key
}

// misnamedDoc returns the document of a stand-in, and whether a key is one
// whose file is there.
func (s *Store) misnamedDoc(key string) (store.Doc, bool) {
	s.misnamed.mu.Lock()
	defer s.misnamed.mu.Unlock()
	file, ok := s.misnamed.files[key]
	if !ok {
		return store.Doc{}, false
	}
	if _, err := s.root.Lstat(file); missing(err) {
		delete(s.misnamed.files, key)
		return store.Doc{}, false
	}
	return store.Doc{Key: key, Err: badName(filepath.Join(s.tree, filepath.FromSlash(path.Dir(file))), path.Base(file))}, true
}

// standIn makes a valid name, with the ending of the file's, that no other file
// is likely to have.
func standIn(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '\\' || r == unicode.ReplacementChar || unicode.IsControl(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	ext := path.Ext(clean)
	if len(ext) > 16 {
		ext = ""
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return shortened(strings.TrimSuffix(clean, ext)) + "-" + hex.EncodeToString(sum.Sum(nil)) + ext
}

func shortened(s string) string {
	if len(s) <= shownName {
		return s
	}
	return strings.ToValidUTF8(s[:shownName], "")
}

// badName says what is wrong with the name of a file in a folder.
func badName(folder, name string) error {
	err := store.CheckKey(name)
	why := "holds a control character, a backslash or bytes that are not UTF-8"
	if len(name) > store.MaxSegment {
		why = fmt.Sprintf("has %d bytes and may have %d", len(name), store.MaxSegment)
	}
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": folder},
		"the name %s of a file in %s %s; rename the file", strconv.Quote(shortened(name)), folder, why).
		Wrap(errors.Join(store.ErrBadKey, err))
}
