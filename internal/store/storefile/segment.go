package storefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idea-ide/ideai/internal/store"
)

// segment is one file of a stream.
type segment struct {
	num     int       // 1 for NAME.jsonl, k for NAME.00000k.jsonl
	file    string    // path from the tree
	first   store.Seq // 0 while it has no record
	last    store.Seq // 0 while it has no record
	size    int64     // up to where it is read
	torn    int64     // bytes behind size, an append that was never finished
	foreign bool
	marks   []mark // of a foreign one
	info    fs.FileInfo
}

const numberDigits = 6

// segmentFile returns the file name of a stream's segment.
func segmentFile(base string, num int) string {
	if num == 1 {
		return base + segmentExt
	}
	return fmt.Sprintf("%s.%0*d%s", base, numberDigits, num, segmentExt)
}

// segmentNumber is the inverse of segmentFile, 0 for other names.
func segmentNumber(base, file string) int {
	rest, ok := strings.CutPrefix(file, base)
	if !ok {
		return 0
	}
	rest, ok = strings.CutSuffix(rest, segmentExt)
	if !ok {
		return 0
	}
	if rest == "" {
		return 1
	}
	if !numbered(rest) {
		return 0
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil || n < 2 {
		return 0
	}
	return n
}

// numbered reports whether a name ends like a segment's does.
func numbered(name string) bool {
	if len(name) < numberDigits+1 || name[len(name)-numberDigits-1] != '.' {
		return false
	}
	return strings.Trim(name[len(name)-numberDigits:], "0123456789") == ""
}

// checkStream is checkKey for the names of streams.
func (s *Store) checkStream(name string) error {
	if err := s.checkKey(name); err != nil {
		return err
	}
	if base := path.Base(name); numbered(base) || len(base) > store.MaxSegment-len(segmentExt)-numberDigits-1 {
		return fmt.Errorf("%w: stream %q: its name is too long or ends in a number of six digits", store.ErrBadKey, name)
	}
	return nil
}

// loadSegments looks at the files of a stream.
func (s *Store) loadSegments(name string) ([]segment, error) {
	dir, base := path.Split(path.Join(s.sub, name))
	dir, err := s.real(path.Clean("./" + dir))
	if err != nil {
		return nil, err
	}
	f, err := s.root.Open(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	var segs []segment
	for _, n := range names {
		if num := segmentNumber(base, n); num > 0 {
			segs = append(segs, segment{num: num, file: path.Join(dir, n)})
		}
	}
	slices.SortFunc(segs, func(a, b segment) int { return a.num - b.num })
	before := store.Seq(0)
	for i := range segs {
		if err := s.inspect(&segs[i], before, i == len(segs)-1); err != nil {
			return nil, err
		}
		before = max(before, segs[i].last)
	}
	return segs, nil
}

// openSegment opens a segment's file; errSpecial for what is none.
func (s *Store) openSegment(file string, flag int) (*os.File, fs.FileInfo, error) {
	resolved, err := s.real(file)
	if err != nil {
		return nil, nil, err
	}
	f, err := s.root.OpenFile(resolved, flag|nonblock, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// inspect fills in what a segment's file tells. before is the last number of
// the segments before it; newest says that appends may have been cut short.
func (s *Store) inspect(seg *segment, before store.Seq, newest bool) error {
	f, info, err := s.openSegment(seg.file, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	seg.info, seg.size = info, info.Size()
	if seg.foreign, err = isForeign(f, seg.size); err != nil {
		return err
	}
	if seg.foreign {
		seg.first = before + 1
		seg.marks, seg.last, err = indexForeign(f, seg.size, seg.first)
		return err
	}
	end, last, err := validEnd(f, seg.size)
	if err != nil {
		return err
	}
	first, ok, err := firstGood(f, 0, seg.size)
	if err != nil {
		return err
	}
	if ok && last > 0 {
		seg.first, seg.last = first.Seq, last
	}
	if newest {
		seg.size, seg.torn = end, seg.size-end
	}
	return nil
}

// read emits records of one segment. A segment that was trimmed is empty.
func (s *Store) readSegment(seg segment, from store.Seq, order store.Order, out emit) (more bool, err error) {
	f, _, err := s.openSegment(seg.file, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	switch {
	case seg.foreign && order == store.Forward:
		return foreignForward(f, seg.size, seg.marks, from, out)
	case seg.foreign:
		return foreignBackward(f, seg.size, seg.marks, from, out)
	case order == store.Forward:
		return forward(f, seg.size, from, out)
	}
	return backward(f, seg.size, from, seg.last, out)
}
