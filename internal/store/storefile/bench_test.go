package storefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idea-ide/ideai/internal/store"
)

// Two benchmarks compare with the least that durability costs on the same disk,
// in turns, so that a busy machine hinders both alike, and report the ratio:
// BenchmarkPut with a bare replacement, BenchmarkAppend with a bare write and
// sync.

var note = []byte(strings.Repeat("A line of a note as people write them.\n", 30))

var oneTurn = fmt.Appendf(nil, `{"turn":1,"text":%q}`, strings.Repeat("x", 500))

// inTurns times ours against bare and reports how many times as long ours takes.
func inTurns(b *testing.B, bare, ours func(i int)) {
	b.Helper()
	var bareTime, oursTime time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		bare(i)
		middle := time.Now()
		ours(i)
		bareTime += middle.Sub(start)
		oursTime += time.Since(middle)
		i++
	}
	b.ReportMetric(float64(bareTime.Nanoseconds())/float64(i), "bare-ns")
	b.ReportMetric(float64(oursTime.Nanoseconds())/float64(i), "ours-ns")
	b.ReportMetric(float64(oursTime)/float64(bareTime), "x-bare")
}

func must(b *testing.B, errs ...error) {
	b.Helper()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPut(b *testing.B) {
	dir := b.TempDir()
	d, err := os.Open(dir)
	must(b, err)
	defer d.Close()
	bare := func(i int) {
		f, err := os.Create(filepath.Join(dir, "new"))
		must(b, err)
		_, err = f.Write(fmt.Appendf(note, "%d", i))
		must(b, err, f.Sync(), f.Close())
		must(b, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "doc")), d.Sync())
	}
	s := openTest(b, b.TempDir(), Options{Service: "test"})
	defer s.Close()
	inTurns(b, bare, func(i int) {
		_, err := s.Put(b.Context(), "memory/note.md", fmt.Appendf(note, "%d", i), store.Any)
		must(b, err)
	})
}

func BenchmarkGet(b *testing.B) {
	s := openTest(b, b.TempDir(), Options{})
	defer s.Close()
	if _, err := s.Put(b.Context(), "memory/note.md", note, store.Any); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(b.Context(), "memory/note.md"); err != nil {
			b.Fatal(err)
		}
	}
}

func manyNotes(b *testing.B, n int) *Store {
	b.Helper()
	tree := b.TempDir()
	for i := range n {
		write(b, tree, fmt.Sprintf("memory/note-%05d.md", i), fmt.Sprintf("%d %s", i, note))
	}
	s := openTest(b, tree, Options{Buffer: 2 * n})
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func BenchmarkList10k(b *testing.B) {
	s := manyNotes(b, 10_000)
	for b.Loop() {
		if n := len(listed(b, s, "memory")); n != 10_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkWatchSnapshot10k(b *testing.B) {
	s := manyNotes(b, 10_000)
	for b.Loop() {
		for e, err := range s.Watch(b.Context(), "memory") {
			if err != nil {
				b.Fatal(err)
			}
			if e.Synced {
				break
			}
		}
	}
}

// BenchmarkRescan10k is what a watched folder costs every few seconds.
func BenchmarkRescan10k(b *testing.B) {
	s := manyNotes(b, 10_000)
	s.hub.join(s, "memory")
	defer s.hub.part("memory")
	for b.Loop() {
		if _, _, err := s.hub.scan(b.Context(), "memory"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutToWatcher is one save until a watcher has it.
func BenchmarkPutToWatcher(b *testing.B) {
	s := openTest(b, b.TempDir(), Options{Service: "test"})
	defer s.Close()
	seen := make(chan struct{})
	go func() {
		for range s.Watch(b.Context(), "memory") {
			seen <- struct{}{}
		}
		close(seen)
	}()
	<-seen
	n := 0
	for b.Loop() {
		n++
		if _, err := s.Put(b.Context(), "memory/note.md", fmt.Appendf(note, "%d", n), store.Any); err != nil {
			b.Fatal(err)
		}
		<-seen
	}
	s.feed.Close(store.ErrClosed)
	for range seen {
	}
}

func BenchmarkAppend(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	must(b, err)
	defer f.Close()
	s := openTest(b, b.TempDir(), Options{Service: "test"})
	defer s.Close()
	inTurns(b, func(int) {
		_, err := f.Write(oneTurn)
		must(b, err, f.Sync())
	}, func(int) {
		_, err := s.Append(b.Context(), "c/log", [][]byte{oneTurn}, store.AnySeq)
		must(b, err)
	})
}

// BenchmarkAppend64 compares 64 appends by one writer with 64 writers of one
// each, that many times: x-bare is the share of the time they take.
func BenchmarkAppend64(b *testing.B) {
	s := openTest(b, b.TempDir(), Options{Service: "test"})
	defer s.Close()
	one := func(stream string) {
		if _, err := s.Append(b.Context(), stream, [][]byte{oneTurn}, store.AnySeq); err != nil {
			b.Error(err)
		}
	}
	inTurns(b, func(int) {
		for range 64 {
			one("one/log")
		}
	}, func(int) {
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() { one("many/log") })
		}
		wg.Wait()
	})
}

// manyTurns writes a stream of a million records of some 300 bytes.
func manyTurns(b *testing.B) string {
	b.Helper()
	tree := b.TempDir()
	s := openTest(b, tree, Options{})
	defer s.Close()
	text := strings.Repeat("y", 250)
	batch := make([][]byte, 10_000)
	for range 100 {
		for i := range batch {
			batch[i] = fmt.Appendf(nil, `{"turn":%d,"text":%q}`, i, text)
		}
		if _, err := s.Append(b.Context(), "c/log", batch, store.AnySeq); err != nil {
			b.Fatal(err)
		}
	}
	return tree
}

func BenchmarkMillionRecords(b *testing.B) {
	tree := manyTurns(b)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s := openTest(b, tree, Options{})
			if _, last, err := s.Bounds(b.Context(), "c/log"); err != nil || last != 1_000_000 {
				b.Fatal(last, err)
			}
			_ = s.Close()
		}
	})
	s := openTest(b, tree, Options{})
	defer s.Close()
	for name, order := range map[string]store.Order{"forward": store.Forward, "backward": store.Backward} {
		b.Run("page/"+name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				n := 0
				for _, err := range s.Read(b.Context(), "c/log", store.Seq(1+i*7919%1_000_000), order) {
					if err != nil {
						b.Fatal(err)
					}
					if n++; n == 50 {
						break
					}
				}
			}
		})
	}
}
