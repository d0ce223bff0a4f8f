// Package tokens counts how much of a model's window a text takes. It uses
// OpenAI's o200k vocabulary: exact for models that share it, an estimate for
// vendors that do not publish theirs.
package tokens

import (
	"crypto/sha256"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Limits of the cache: it remembers as many counts at most.
const maxCached = 4096

// maxPiece bounds what the vocabulary is asked for at once, in bytes: longer
// texts are counted piece by piece, so that one huge line costs linear time.
const maxPiece = 16 << 10

// Counter counts tokens and remembers the counts by content. It may be used by
// several goroutines at once. The vocabulary is shared by all counters, loaded
// by the first count that is not remembered (about 50 ms and 7 MB of heap) and kept.
type Counter struct {
	mu          sync.Mutex
	young, aged map[[sha256.Size]byte]int
}

// NewCounter returns a counter that has loaded nothing.
func NewCounter() *Counter { return &Counter{young: map[[sha256.Size]byte]int{}} }

// Count returns the number of tokens of text.
func (c *Counter) Count(text string) int {
	if text == "" {
		return 0
	}
	key := sha256.Sum256([]byte(text))
	if n, ok := c.cached(key); ok {
		return n
	}
	n := count(text)
	c.remember(key, n)
	return n
}

func (c *Counter) cached(key [sha256.Size]byte) (int, bool) {
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

func (c *Counter) remember(key [sha256.Size]byte, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, n)
}

// put keeps two generations: what was asked for since the last turnover, and
// what was before. What nobody asks for is gone after two.
func (c *Counter) put(key [sha256.Size]byte, n int) {
	if len(c.young) >= maxCached/2 {
		c.young, c.aged = map[[sha256.Size]byte]int{}, c.young
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

// cutAt returns where the first piece of a long text ends: before a line where
// there is one, so that cutting costs no token, else between characters.
func cutAt(text string) int {
	for i := maxPiece; i > maxPiece/2; i-- {
		if text[i-1] == '\n' && text[i] != '\n' && text[i] != '\r' && text[i] != ' ' && text[i] != '\t' {
			return i
		}
	}
	i := maxPiece
	for i > maxPiece-4 && text[i]&0xC0 == 0x80 {
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
