package tokens_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/tokens"
)

func TestCount(t *testing.T) {
	c := tokens.NewCounter()
	for text, want := range map[string]int{
		"":                     0,
		"hello world":          2,
		"Les règles du projet": 4,
		"\n":                   1,
	} {
		for range 2 {
			if got := c.Count(text); got != want {
				t.Errorf("Count(%q) = %d, want %d", text, got, want)
			}
		}
	}
}

func TestLongTextsAreCountedInPieces(t *testing.T) {
	c := tokens.NewCounter()
	line := "The stub answers on port 8080, and nothing else does.\n"
	one := c.Count(line)
	if got := c.Count(strings.Repeat(line, 5000)); got != 5000*one {
		t.Errorf("5,000 lines are %d tokens, want 5,000 × %d", got, one)
	}
	if got := c.Count(strings.Repeat("é", 200_000)); got < 10_000 || got > 400_000 {
		t.Errorf("one long line is %d tokens", got)
	}
	c.Count(strings.Repeat("\xff\x80", 40_000))
}

func TestManyTextsFromManyGoroutines(t *testing.T) {
	c := tokens.NewCounter()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				if got := c.Count(strings.Repeat("a b ", i%50) + string(rune('a'+g))); got <= 0 {
					t.Errorf("Count = %d", got)
				}
			}
		})
	}
	wg.Wait()
}

func TestEstimateIsAnUpperBoundForProse(t *testing.T) {
	c := tokens.NewCounter()
	words := rapid.SampledFrom(strings.Fields(`the a règles projet don't idea_memory_recall src/cart/total.go 8080 2026-11-30 naïve
		— « » ... ### - ** ` + "`x`" + ` internationalization é 日本語 😀 snake_case camelCase HTTPServer {} [] () 3.14159 -- || <data> anticonstitutionnellement`))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(words).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n", "", "  "}).Draw(t, "between"))
		if n, most := c.Count(text), tokens.Estimate(text); n > most {
			t.Fatalf("%q has %d tokens, estimated %d", text, n, most)
		}
	})
}

// A counter must cost nothing before its first use; a child process shows it,
// since the vocabulary stays loaded for the life of this one.
func TestVocabularyIsLoadedByTheFirstCount(t *testing.T) {
	if os.Getenv("TOKENS_CHILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestVocabularyIsLoadedByTheFirstCount$", "-test.v")
		cmd.Env = append(os.Environ(), "TOKENS_CHILD=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	before := heap()
	c := tokens.NewCounter()
	idle := heap()
	c.Count("hello")
	loaded := heap()
	t.Logf("idle %d KiB, loaded %d KiB", (idle-before)>>10, (loaded-idle)>>10)
	if idle-before > 1<<20 {
		t.Errorf("an unused counter holds %d bytes", idle-before)
	}
	if loaded-idle < 5<<20 {
		t.Errorf("loading took only %d bytes: the test measures nothing", loaded-idle)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkCountRemembered(b *testing.B) {
	c, text := tokens.NewCounter(), strings.Repeat("one two three four ", 200)
	c.Count(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Count(text)
	}
}

func BenchmarkCountNew(b *testing.B) {
	text := strings.Repeat("one two three four ", 200)
	tokens.NewCounter().Count(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.NewCounter().Count(text)
	}
}

func BenchmarkEstimate(b *testing.B) {
	text := strings.Repeat("one two three four ", 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.Estimate(text)
	}
}
