package storefile

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/idea-ide/ideai/internal/store"
)

// A foreign segment is a file of JSON lines that we did not write. Each line is
// a record, numbered by its place. It is never written to.

// mark says where the line of a record begins.
type mark struct {
	seq store.Seq
	at  int64
}

const headBytes = 1 << 20

// isForeign looks at the beginning of a file: ours has a frame, or what may
// have been one; a foreign one has JSON and no frame.
func isForeign(r io.ReaderAt, size int64) (bool, error) {
	foreign, ours := false, false
	for at, end := int64(0), min(size, headBytes); at < end && !ours; {
		lines, next, err := readLines(r, at, size)
		if err != nil {
			return false, err
		}
		eachLine(lines, func(line []byte, _ int) bool {
			ours = ours || len(frameStarts(line)) > 0
			foreign = foreign || json.Valid(line)
			return !ours
		})
		at = next
	}
	return foreign && !ours, nil
}

// indexForeign counts the lines of a foreign file and marks one about every
// chunkBytes. first is the number of its first record.
func indexForeign(r io.ReaderAt, size int64, first store.Seq) (marks []mark, last store.Seq, err error) {
	seq := first
	for at := int64(0); at < size; {
		lines, next, err := readLines(r, at, size)
		if err != nil {
			return nil, 0, err
		}
		marks = append(marks, mark{seq, at})
		eachLine(lines, func([]byte, int) bool { seq++; return true })
		at = next
	}
	return marks, seq - 1, nil
}

// block returns the records between two marks.
func block(r io.ReaderAt, marks []mark, i int, size int64) ([]store.Record, error) {
	end := size
	if i+1 < len(marks) {
		end = marks[i+1].at
	}
	lines, _, err := readLines(r, marks[i].at, end)
	if err != nil {
		return nil, err
	}
	var out []store.Record
	seq := marks[i].seq
	eachLine(lines, func(line []byte, _ int) bool {
		out = append(out, store.Record{Seq: seq, Data: line, Damaged: !json.Valid(line)})
		seq++
		return true
	})
	return out, nil
}

func foreignForward(r io.ReaderAt, size int64, marks []mark, from store.Seq, out emit) (more bool, err error) {
	for i := range marks {
		if i+1 < len(marks) && marks[i+1].seq <= from {
			continue
		}
		records, err := block(r, marks, i, size)
		if err != nil {
			return false, err
		}
		for _, rec := range records {
			if rec.Seq >= from && !out(rec) {
				return false, nil
			}
		}
	}
	return true, nil
}

func foreignBackward(r io.ReaderAt, size int64, marks []mark, from store.Seq, out emit) (more bool, err error) {
	for i := range slices.Backward(marks) {
		if from > 0 && marks[i].seq > from {
			continue
		}
		records, err := block(r, marks, i, size)
		if err != nil {
			return false, err
		}
		for _, rec := range slices.Backward(records) {
			if (from <= 0 || rec.Seq <= from) && !out(rec) {
				return false, nil
			}
		}
	}
	return true, nil
}
