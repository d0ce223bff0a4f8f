// Package tokens counts how much of a model's window a text takes. It uses
// OpenAI's o200k vocabulary: exact for models that share it, an estimate for
// vendors that do not publish theirs.
package tokens

import (
	"crypto/sha256"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// maxCached is how many counts a counter remembers at most, about 2 MB.
const maxCached = 32 << 10

// maxPiece bounds what the vocabulary is asked for at once, in bytes: longer
// lines are counted piece by piece, so that one huge line costs linear time.
const maxPiece = 16 << 10

// Counter counts tokens and remembers the counts line by line: what is composed
// of lines it has seen costs next to nothing. It may be used by several
// goroutines at once. The vocabulary is shared by all counters, loaded by the
// first count that is not remembered (about 50 ms and 7 MB of heap) and kept.
type Counter struct {
	mu          sync.Mutex
	young, aged map[digest]int
}

// digest stands for the content of a line.
type digest [16]byte

// NewCounter returns a counter that has loaded nothing.
func NewCounter() *Counter { return &Counter{young: map[digest]int{}} }

// Count returns the number of tokens of text.
func (c *Counter) Count(text string) int {
	n := 0
	for len(text) > 0 {
		line := text[:lineEnd(text)]
		n += c.line(line)
		text = text[len(line):]
	}
	return n
}

// lineEnd returns where the first line of a text ends, at a place where no
// token of the vocabulary begins before and ends after: behind the line's
// breaks, unless white space or a slash follows, which tokens may join to them.
func lineEnd(text string) int {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 {
			return len(text)
		}
		from += i + 1
		if from == len(text) || text[from] > '/' && text[from] < utf8.RuneSelf || text[from] > ' ' && text[from] < '/' {
			return from
		}
		if r, _ := utf8.DecodeRuneInString(text[from:]); r >= utf8.RuneSelf && !unicode.IsSpace(r) {
			return from
		}
	}
}

func (c *Counter) line(line string) int {
	sum := sha256.Sum256([]byte(line))
	key := digest(sum[:len(digest{})])
	if n, ok := c.cached(key); ok {
		return n
	}
	n := count(line)
	c.remember(key, n)
	return n
}

func (c *Counter) cached(key digest) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.young[key]
	if ok {
		return n, true
	}
	if n, ok = c.aged[key]; ok {
		c.put(key, n)
	}
	return n, ok
}

func (c *Counter) remember(key digest, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, n)
}

// put keeps two generations: what was asked for since the last turnover, and
// what was before. What nobody asks for is gone after two.
func (c *Counter) put(key digest, n int) {
	if len(c.young) >= maxCached/2 {
		c.young, c.aged = map[digest]int{}, c.young
	}
	c.young[key] = n
}

var vocabulary = sync.OnceValue(codec.NewO200kBase)

func count(text string) int {
	bpe, n := vocabulary(), 0
	for len(text) > 0 {
		piece := text
		if len(piece) > maxPiece {
			piece = text[:cutAt(text)]
		}
		k, err := bpe.Count(piece)
		if err != nil {
			k = Estimate(piece)
		}
		n, text = n+k, text[len(piece):]
	}
	return n
}

// cutAt returns where the first piece of a long line ends, between characters.
func cutAt(line string) int {
	i := maxPiece
	for i > maxPiece-4 && line[i]&0xC0 == 0x80 {
		i--
	}
	return i
}

// Estimate returns an upper estimate of the number of tokens of text, without
// the vocabulary: prose takes about two thirds of it. No text takes more
// tokens than it has bytes.
func Estimate(text string) int {
	n, run := 0, 0 // run: letters of the word so far
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z':
			if run++; run%3 == 1 {
				n++
			}
			continue
		case c >= 'A' && c <= 'Z', c >= 0x80, c >= '0' && c <= '9':
			n++
		case c == ' ' && run > 0: // goes with the word that follows
		default:
			n++
		}
		run = 0
	}
	return n
}
