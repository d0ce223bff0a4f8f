package storefile

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
)

// TornTail is the end of a stream's file that an append left when the process
// or the machine stopped in the middle. It was never acknowledged. Its bytes
// are kept in a file beside, and the stream goes on before them.
type TornTail struct {
	Stream string
	File   string // the stream's file, from the tree
	Kept   string // the file the bytes were added to, from the tree
	Bytes  int64
}

// Torn returns the torn tails that were cut since the store was opened.
func (s *Store) Torn() []TornTail {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	return slices.Clone(s.torn)
}

// cut moves the torn tail of a segment into a file beside it.
func (s *Store) cut(name string, f *os.File, seg *segment) error {
	kept := seg.file + ".torn"
	if err := s.keepTail(kept, io.NewSectionReader(f, seg.size, seg.torn)); err != nil {
		return err
	}
	if err := s.step("log.cut"); err != nil {
		return err
	}
	if err := f.Truncate(seg.size); err != nil {
		return err
	}
	tail := TornTail{Stream: name, File: seg.file, Kept: kept, Bytes: seg.torn}
	seg.torn = 0
	s.opts.Logger.Warn("the end of a log was never finished; it was cut off and kept beside",
		"stream", name, "bytes", tail.Bytes, "kept", path.Join(s.tree, kept))
	s.streamsMu.Lock()
	s.torn = append(s.torn, tail)
	s.streamsMu.Unlock()
	if seg.size > 0 && newline(f, seg.size-1, seg.size) == 0 {
		return s.complete(f, seg)
	}
	return syncData(f)
}

func (s *Store) keepTail(kept string, tail io.Reader) error {
	if err := s.step("log.keep"); err != nil {
		return err
	}
	side, err := s.root.OpenFile(kept, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(side, tail)
	if err == nil {
		err = side.Sync()
	}
	if err = errors.Join(err, side.Close()); err != nil {
		return err
	}
	return s.syncFolder(path.Dir(kept))
}

// complete ends the last line of a segment that has no newline.
func (s *Store) complete(f *os.File, seg *segment) error {
	if _, err := f.WriteAt([]byte("\n"), seg.size); err != nil {
		return err
	}
	seg.size++
	return syncData(f)
}
