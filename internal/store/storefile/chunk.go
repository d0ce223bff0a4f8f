package storefile

import (
	"bytes"
	"errors"
	"io"

	"github.com/idea-ide/ideai/internal/store"
)

const (
	chunkBytes = 64 << 10
	// maxLine is the longest line that is read; a longer one is a damaged place
	// of which the beginning is shown.
	maxLine  = 32 << 20
	shownBad = 64 << 10
)

// readLines returns the whole lines from an offset on, about chunkBytes of them
// but at least one, and the offset behind them. The last line of the file needs
// no newline. An empty result is the end.
func readLines(r io.ReaderAt, from, end int64) (lines []byte, next int64, err error) {
	for size := int64(chunkBytes); ; size *= 4 {
		size = min(size, maxLine+1, end-from)
		if size <= 0 {
			return nil, from, nil
		}
		buf := make([]byte, size)
		if err := readFull(r, buf, from); err != nil {
			return nil, from, err
		}
		if from+size == end {
			return buf, end, nil
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			return buf[:i+1], from + int64(i) + 1, nil
		}
		if size > maxLine {
			next, err := skipLine(r, from+size, end)
			return buf[:shownBad], next, err
		}
	}
}

// readLinesBefore returns the whole lines that end at an offset, about
// chunkBytes of them but at least one, and the offset of the first.
func readLinesBefore(r io.ReaderAt, end int64) (lines []byte, start int64, err error) {
	for size := int64(chunkBytes); ; size *= 4 {
		size = min(size, maxLine+1, end)
		if size <= 0 {
			return nil, 0, nil
		}
		buf := make([]byte, size)
		from := end - size
		if err := readFull(r, buf, from); err != nil {
			return nil, 0, err
		}
		if from == 0 {
			return buf, 0, nil
		}
		if i := bytes.IndexByte(buf[:len(buf)-1], '\n'); i >= 0 {
			return buf[i+1:], from + int64(i) + 1, nil
		}
		if size > maxLine {
			start, err := lineStart(r, from)
			return buf[len(buf)-shownBad:], start, err
		}
	}
}

// readFull fills buf. A file shorter than expected is an error.
func readFull(r io.ReaderAt, buf []byte, at int64) error {
	n, err := r.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skipLine returns the offset behind the next newline.
func skipLine(r io.ReaderAt, from, end int64) (int64, error) {
	buf := make([]byte, chunkBytes)
	for from < end {
		part := buf[:min(int64(len(buf)), end-from)]
		if err := readFull(r, part, from); err != nil {
			return from, err
		}
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		from += int64(len(part))
	}
	return end, nil
}

// lineStart returns the offset behind the newline before an offset.
func lineStart(r io.ReaderAt, from int64) (int64, error) {
	buf := make([]byte, chunkBytes)
	for from > 0 {
		part := buf[:min(int64(len(buf)), from)]
		if err := readFull(r, part, from-int64(len(part))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from - int64(len(part)) + int64(i) + 1, nil
		}
		from -= int64(len(part))
	}
	return 0, nil
}

// eachLine calls f for every line without its newline, blank ones left out, and
// its offset in lines. It stops when f returns false.
func eachLine(lines []byte, f func(line []byte, offset int) bool) {
	for at := 0; at < len(lines); {
		end := len(lines)
		next := end
		if i := bytes.IndexByte(lines[at:], '\n'); i >= 0 {
			end, next = at+i, at+i+1
		}
		if line := bytes.TrimRight(lines[at:end], "\r"); len(bytes.TrimSpace(line)) > 0 {
			if !f(line, at) {
				return
			}
		}
		at = next
	}
}

// found is a record and where its line is in the segment.
type found struct {
	store.Record
	more int
	at   int64
	end  int64
}

// parseFramed reads lines of our own format. A damaged place has number 0 until
// its neighbours are known.
func parseFramed(lines []byte, offset int64) []found {
	var out []found
	eachLine(lines, func(line []byte, at int) bool {
		for _, p := range pieces(line) {
			start := offset + int64(at) + int64(p.start)
			out = append(out, found{
				Record: store.Record{Seq: p.seq, Data: p.data, Damaged: !p.good},
				more:   p.more,
				at:     start,
				end:    start + int64(len(p.raw)),
			})
			if !p.good {
				out[len(out)-1].Data = p.raw[:min(len(p.raw), shownBad)]
			}
		}
		return true
	})
	return out
}
