package storefile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"math"
	"strconv"

	"github.com/idea-ide/ideai/internal/store"
)

// A record is one line, in one of these forms:
//
//	{"s":SEQ,"c":CRC,"r":JSON}      a record that is JSON on one line, verbatim
//	{"s":SEQ,"c":CRC,"b":"BASE64"}  any other
//	{"s":SEQ,"n":K,"c":CRC,"r":…}   K more records of the same append follow
//
// CRC is the CRC-32C of everything before `,"c":` followed by everything after
// it, as it stands on the line. The lines of one append count only together.
const (
	frameStart = `{"s":`
	frameMore  = `,"n":`
	frameSum   = `,"c":`
	frameJSON  = `,"r":`
	frameBytes = `,"b":"`
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a line as it was read.
type frame struct {
	seq  store.Seq
	more int // records of the same append that follow
	data []byte
}

// appendFrame adds a line with its newline to buf.
func appendFrame(buf []byte, seq store.Seq, more int, data []byte) []byte {
	head := len(buf)
	buf = append(buf, frameStart...)
	buf = strconv.AppendInt(buf, int64(seq), 10)
	if more > 0 {
		buf = append(buf, frameMore...)
		buf = strconv.AppendInt(buf, int64(more), 10)
	}
	sum := crc32.Checksum(buf[head:], castagnoli)
	var tail []byte
	if json.Valid(data) && bytes.IndexByte(data, '\n') < 0 {
		tail = make([]byte, 0, len(data)+len(frameJSON)+2)
		tail = append(append(append(tail, frameJSON...), data...), '}')
	} else {
		tail = append([]byte(frameBytes), base64.StdEncoding.EncodeToString(data)...)
		tail = append(tail, '"', '}')
	}
	sum = crc32.Update(sum, castagnoli, tail)
	buf = append(buf, frameSum...)
	buf = strconv.AppendUint(buf, uint64(sum), 10)
	buf = append(buf, tail...)
	return append(buf, '\n')
}

// parseFrame reads a line without its newline. data is part of line unless it
// was base64.
func parseFrame(line []byte) (frame, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(frameStart))
	if !ok {
		return frame{}, false
	}
	var f frame
	seq, rest, ok := number(rest, math.MaxInt64)
	if !ok || seq == 0 {
		return frame{}, false
	}
	f.seq = store.Seq(seq)
	if after, ok := bytes.CutPrefix(rest, []byte(frameMore)); ok {
		var more uint64
		if more, rest, ok = number(after, math.MaxInt32); !ok {
			return frame{}, false
		}
		f.more = int(more)
	}
	head := line[:len(line)-len(rest)]
	rest, ok = bytes.CutPrefix(rest, []byte(frameSum))
	if !ok {
		return frame{}, false
	}
	sum, tail, ok := number(rest, math.MaxUint32)
	if !ok || crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, tail) != uint32(sum) {
		return frame{}, false
	}
	f.data, ok = payload(tail)
	return f, ok
}

func payload(tail []byte) ([]byte, bool) {
	if data, ok := bytes.CutPrefix(tail, []byte(frameJSON)); ok {
		return bytes.CutSuffix(data, []byte("}"))
	}
	text, ok := bytes.CutPrefix(tail, []byte(frameBytes))
	if !ok {
		return nil, false
	}
	if text, ok = bytes.CutSuffix(text, []byte(`"}`)); !ok {
		return nil, false
	}
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	return data, err == nil
}

// number reads the decimal digits at the start of b.
func number(b []byte, limit uint64) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		if n > (limit-uint64(b[i]-'0'))/10 {
			return 0, b, false
		}
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	return n, b[i:], i > 0
}

// piece is a part of a line: a frame, or bytes that are none.
type piece struct {
	frame
	good  bool
	start int // offset of the piece in its line
	raw   []byte
}

const maxGlued = 64

// pieces reads a line that may be several glued together, cut off or mixed with
// other bytes. Whatever has a right sum is found; the rest is one bad piece
// before, between or after.
func pieces(line []byte) []piece {
	if f, ok := parseFrame(line); ok {
		return []piece{{frame: f, good: true, raw: line}}
	}
	starts := frameStarts(line)
	var out []piece
	bad := 0
	for i := 0; i < len(starts); i++ {
		for j := i + 1; j <= len(starts); j++ {
			end := len(line)
			if j < len(starts) {
				end = starts[j]
			}
			f, ok := parseFrame(line[starts[i]:end])
			if !ok {
				continue
			}
			if starts[i] > bad {
				out = append(out, piece{start: bad, raw: line[bad:starts[i]]})
			}
			out = append(out, piece{frame: f, good: true, start: starts[i], raw: line[starts[i]:end]})
			bad, i = end, j-1
			break
		}
	}
	if bad < len(line) {
		out = append(out, piece{start: bad, raw: line[bad:]})
	}
	return out
}

// frameStarts returns where frames may begin in a line, at most maxGlued.
func frameStarts(line []byte) []int {
	var starts []int
	for at := 0; len(starts) < maxGlued; {
		i := bytes.Index(line[at:], []byte(frameStart))
		if i < 0 {
			break
		}
		starts = append(starts, at+i)
		at += i + 1
	}
	return starts
}
