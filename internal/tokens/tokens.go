// Package tokens counts how much of a model's window a text takes. It uses
// OpenAI's o200k vocabulary: exact for models that share it, an estimate for
// vendors that do not publish theirs.
package tokens

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// maxLines and maxWords are how many counts a counter remembers at most, about
// 3 MB.
const (
	maxLines = 32 << 10
	maxWords = 16 << 10
)

// maxPiece bounds what the vocabulary is asked for at once, in bytes: longer
// lines are counted piece by piece, so that one huge line costs linear time.
const maxPiece = 16 << 10

// Counter counts tokens and remembers the counts of lines and of words: what is
// composed of lines it has seen costs next to nothing, what is composed of
// words it has seen, little. It may be used by several
// goroutines at once. The vocabulary is shared by all counters, loaded by the
// first count that is not remembered (about 50 ms and 7 MB of heap) and kept.
type Counter struct {
	seeds [2]maphash.Seed
	lines recent[digest]
	words recent[string]
}

// digest stands for the content of a line: two hashes that nobody outside the
// process can foresee.
type digest [2]uint64

// NewCounter returns a counter that has loaded nothing.
func NewCounter() *Counter {
	return &Counter{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		lines: recent[digest]{most: maxLines},
		words: recent[string]{most: maxWords},
	}
}

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
	key := digest{maphash.String(c.seeds[0], line), maphash.String(c.seeds[1], line)}
	n, known := c.lines.get(key)
	if known {
		return n
	}
	for len(line) > 0 {
		word := line[:wordEnd(line)]
		n += c.word(word)
		line = line[len(word):]
	}
	c.lines.put(key, n)
	return n
}

// longWord is the size in bytes above which a word is not remembered.
const longWord = 32

func (c *Counter) word(word string) int {
	if len(word) > longWord {
		return count(word)
	}
	n, known := c.words.get(word)
	if !known {
		n = count(word)
		c.words.put(strings.Clone(word), n)
	}
	return n
}

// wordEnd returns where the first word of a text ends, with what is tied to it:
// before a space that something visible follows, where a token always begins.
func wordEnd(text string) int {
	for i := 1; i+1 < len(text); i++ {
		if next := text[i+1]; text[i] == ' ' && next > ' ' && next < 0x7F {
			return i
		}
	}
	return len(text)
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
