package storefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/idea-ide/ideai/internal/store"
)

var errSpecial = errors.New("neither a file nor a folder")

// content is a file as it was read. info is set whenever the file was opened.
type content struct {
	data    []byte
	version store.Version
	info    fs.FileInfo
}

func versionOf(data []byte) store.Version {
	sum := sha256.Sum256(data)
	return store.Version(hex.EncodeToString(sum[:16]))
}

// readFile reads a whole document. It never waits for a pipe's writer.
func readFile(root *os.Root, name string) (content, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return content{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return content{}, err
	case info.IsDir():
		return content{info: info}, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return content{info: info}, errSpecial
	case info.Size() > store.MaxDoc:
		return content{info: info}, tooLarge(name, info.Size())
	}
	data, err := readSize(f, info.Size())
	if err != nil {
		return content{info: info}, err
	}
	return content{data: data, version: versionOf(data), info: info}, nil
}

// readSize reads a file of a known size; one that shrinks meanwhile is shorter.
func readSize(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

func tooLarge(name string, size int64) error {
	return fmt.Errorf("%s: %w: %d bytes, at most %d", name, store.ErrTooLarge, size, store.MaxDoc)
}

// lookup reads the document of a key, through links that stay in the tree.
// ErrNotFound also where there is a folder.
func (s *Store) lookup(key string) (content, error) {
	resolved, err := s.real(path.Join(s.sub, key))
	var c content
	if err == nil {
		c, err = readFile(s.root, resolved)
	}
	if missing(err) {
		return c, fmt.Errorf("%s: %w", key, store.ErrNotFound)
	}
	return c, err
}

// missing reports whether an error means that there is no document.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR)
}

// load returns the document of a key. One that is there and cannot be read has
// Err set. info is nil where the file could not be opened.
func (s *Store) load(key string) (doc store.Doc, info fs.FileInfo, err error) {
	c, err := s.lookup(key)
	if errors.Is(err, store.ErrNotFound) {
		return store.Doc{}, nil, err
	}
	doc = store.Doc{Key: key, Data: c.data, Version: c.version}
	if c.info != nil {
		doc.ModTime = c.info.ModTime()
	}
	if err != nil {
		doc.Data, doc.Version, doc.Err = nil, "", s.explain(err, path.Join(s.sub, key), reading)
	}
	return doc, c.info, nil
}

// Get implements store.Docs. A document that cannot be read is an error here.
func (s *Store) Get(ctx context.Context, key string) (store.Doc, error) {
	if err := s.enter(ctx, s.checkKey(key)); err != nil {
		return store.Doc{}, err
	}
	defer s.leave()
	name := path.Join(s.sub, key)
	if s.plain(path.Dir(name)) {
		doc, err := s.read(s.root, name, key)
		if err == nil || errors.Is(err, store.ErrNotFound) {
			return doc, err
		}
	}
	doc, _, err := s.load(key)
	if err != nil {
		return store.Doc{}, err
	}
	if doc.Err != nil {
		return store.Doc{}, doc.Err
	}
	return doc, nil
}
