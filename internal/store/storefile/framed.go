package storefile

import (
	"io"
	"slices"

	"github.com/idea-ide/ideai/internal/store"
)

// emit takes the records of a segment in the order asked for; false stops.
type emit func(store.Record) bool

// A framed segment has no index: its lines bear increasing numbers, so a place
// is found by halving, and what is found is what is there.

// locate returns the start of a line before the record numbered from, close to
// it. Every record from there on is read in vain at most once.
func locate(r io.ReaderAt, size int64, from store.Seq) (int64, error) {
	lo, hi := int64(0), size
	for hi-lo > chunkBytes {
		mid := lo + (hi-lo)/2
		line, err := skipLine(r, mid, hi)
		if err != nil {
			return 0, err
		}
		rec, ok, err := firstGood(r, line, hi)
		switch {
		case err != nil:
			return 0, err
		case ok && rec.Seq < from:
			lo = line
		default:
			hi = mid
		}
	}
	return lo, nil
}

// firstGood returns the first readable record from an offset on.
func firstGood(r io.ReaderAt, from, end int64) (found, bool, error) {
	for from < end {
		lines, next, err := readLines(r, from, end)
		if err != nil {
			return found{}, false, err
		}
		for _, f := range parseFramed(lines, from) {
			if !f.Damaged {
				return f, true, nil
			}
		}
		from = next
	}
	return found{}, false, nil
}

// forward emits the records numbered from on. A damaged place bears the number
// before the next good record, or at the end that of the last.
func forward(r io.ReaderAt, size int64, from store.Seq, out emit) (more bool, err error) {
	at, err := locate(r, size, from)
	if err != nil {
		return false, err
	}
	var held []found
	last := store.Seq(0)
	for at < size {
		lines, next, err := readLines(r, at, size)
		if err != nil {
			return false, err
		}
		for _, f := range parseFramed(lines, at) {
			if !f.Damaged && f.Seq <= last {
				f.Damaged, f.Seq = true, 0
			}
			held = append(held, f)
			if f.Damaged {
				continue
			}
			last = f.Seq
			if !release(held, f.Seq-1, from, out) {
				return false, nil
			}
			held = held[:0]
		}
		at = next
	}
	return release(held, max(last, from), from, out), nil
}

// release emits held records, the damaged ones numbered seq.
func release(held []found, seq, from store.Seq, out emit) bool {
	for _, f := range held {
		if f.Damaged {
			f.Seq = seq
		}
		if f.Seq >= from && !out(f.Record) {
			return false
		}
	}
	return true
}

// backward emits the records up to number from, the last first; 0 means all.
func backward(r io.ReaderAt, size int64, from, last store.Seq, out emit) (more bool, err error) {
	end, next, err := endOf(r, size, from)
	if err != nil {
		return false, err
	}
	if next == 0 {
		next = last + 1
	}
	for end > 0 {
		lines, start, err := readLinesBefore(r, end)
		if err != nil {
			return false, err
		}
		for _, f := range slices.Backward(parseFramed(lines, start)) {
			if f.Damaged || f.Seq >= next {
				f.Damaged, f.Seq = true, next-1
			} else {
				next = f.Seq
			}
			if !out(f.Record) {
				return false, nil
			}
		}
		end = start
	}
	return true, nil
}

// endOf returns where the first record beyond number from begins, and its
// number; the end and 0 when there is none.
func endOf(r io.ReaderAt, size int64, from store.Seq) (int64, store.Seq, error) {
	if from <= 0 {
		return size, 0, nil
	}
	at, err := locate(r, size, from+1)
	for err == nil && at < size {
		var lines []byte
		var next int64
		if lines, next, err = readLines(r, at, size); err != nil {
			break
		}
		for _, f := range parseFramed(lines, at) {
			if !f.Damaged && f.Seq > from {
				return f.at, f.Seq, nil
			}
		}
		at = next
	}
	return size, 0, err
}

// validEnd returns where the last complete append ends, with its newline if it
// has one, and the number of its last record; zeros when there is none.
func validEnd(r io.ReaderAt, size int64) (end int64, last store.Seq, err error) {
	for before := size; before > 0; {
		lines, start, err := readLinesBefore(r, before)
		if err != nil {
			return 0, 0, err
		}
		for _, f := range slices.Backward(parseFramed(lines, start)) {
			if !f.Damaged && f.more == 0 {
				return f.end + newline(r, f.end, size), f.Seq, nil
			}
		}
		before = start
	}
	return 0, 0, nil
}

// newline returns the length of the line's end at an offset.
func newline(r io.ReaderAt, at, size int64) int64 {
	buf := make([]byte, min(2, size-at))
	if len(buf) == 0 || readFull(r, buf, at) != nil {
		return 0
	}
	switch {
	case buf[0] == '\n':
		return 1
	case string(buf) == "\r\n":
		return 2
	}
	return 0
}
