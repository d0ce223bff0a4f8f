package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longPiece is the size in bytes above which a paragraph is cut at its
// sentences.
const longPiece = 400

// piece is a part of a body that an excerpt takes or leaves.
type piece struct {
	start, end int // in the body, without surrounding space
	heading    bool
	above      []int // the headings it stands under, as pieces
	units      map[int]float64
}

// split cuts a body into headings, paragraphs, list items and code blocks;
// long paragraphs into sentences.
func split(body string) []piece {
	s := splitter{body: body}
	at := 0
	for line := range strings.Lines(body) {
		s.line(at, line)
		at += len(line)
	}
	s.flush(len(body))
	return s.pieces
}

type splitter struct {
	body   string
	pieces []piece
	start  int // of the paragraph being read
	fence  string
	levels []level // headings in force
}

type level struct{ depth, piece int }

func (s *splitter) line(at int, line string) {
	text := strings.TrimSpace(line)
	if s.fence != "" {
		if strings.HasPrefix(text, s.fence) {
			s.fence = ""
		}
		return
	}
	switch {
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		s.flush(at)
		s.fence = text[:3]
	case text == "":
		s.flush(at)
		s.start = at + len(line)
	case heading(line):
		s.flush(at)
		s.heading(at, line)
	case listItem(text):
		s.flush(at)
	}
}

// flush ends the paragraph being read before at.
func (s *splitter) flush(at int) {
	start, end := trim(s.body, s.start, at)
	s.start = at
	if start == end {
		return
	}
	if end-start <= longPiece || strings.HasPrefix(s.body[start:], "```") || strings.HasPrefix(s.body[start:], "~~~") {
		s.add(start, end)
		return
	}
	from := start
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(s.body[i:end])
		i += size
		if (r == '.' || r == '!' || r == '?' || r == ';' || r == '\n') && i < end && i-from > longPiece/4 {
			if next, _ := utf8.DecodeRuneInString(s.body[i:end]); r == '\n' || unicode.IsSpace(next) {
				a, b := trim(s.body, from, i)
				s.add(a, b)
				from = i
			}
		}
	}
	if a, b := trim(s.body, from, end); a < b {
		s.add(a, b)
	}
}

func (s *splitter) add(start, end int) {
	p := piece{start: start, end: end}
	for _, l := range s.levels {
		p.above = append(p.above, l.piece)
	}
	s.pieces = append(s.pieces, p)
}

func (s *splitter) heading(at int, line string) {
	depth := len(line) - len(strings.TrimLeft(line, "#"))
	for len(s.levels) > 0 && s.levels[len(s.levels)-1].depth >= depth {
		s.levels = s.levels[:len(s.levels)-1]
	}
	start, end := trim(s.body, at, at+len(line))
	s.add(start, end)
	s.pieces[len(s.pieces)-1].heading = true
	s.levels = append(s.levels, level{depth: depth, piece: len(s.pieces) - 1})
	s.start = at + len(line)
}

// trim narrows body[start:end] to what has no space around it.
func trim(body string, start, end int) (int, int) {
	text := body[start:end]
	start += len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	return start, start + len(strings.TrimSpace(text))
}

// listItem reports whether a line begins an item of a list.
func listItem(text string) bool {
	if strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "+ ") {
		return true
	}
	digits := strings.TrimLeft(text, "0123456789")
	return len(digits) < len(text) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}
