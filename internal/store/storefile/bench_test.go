package storefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

// The benchmarks compare with the least that durability costs on the same disk:
// BenchmarkBareAppend writes and syncs one record, BenchmarkBareReplace does the
// steps of a safe replacement. Run them together and look at the ratios.

var note = []byte(strings.Repeat("A line of a note as people write them.\n", 30))

var oneTurn = fmt.Appendf(nil, `{"turn":1,"text":%q}`, strings.Repeat("x", 500))

func BenchmarkBareReplace(b *testing.B) {
	dir := b.TempDir()
	d, err := os.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for b.Loop() {
		f, err := os.Create(filepath.Join(dir, "new"))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = f.Write(note)
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "doc")); err != nil {
			b.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	s := openTest(b, b.TempDir(), Options{Service: "test"})
	defer s.Close()
	n := 0
	for b.Loop() {
		n++
		if _, err := s.Put(b.Context(), "memory/note.md", fmt.Appendf(note, "%d", n), store.Any); err != nil {
			b.Fatal(err)
		}
	}
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

func BenchmarkBareAppend(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := f.Write(oneTurn); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := openTest(b, b.TempDir(), Options{Service: "test"})
			defer s.Close()
			b.ResetTimer()
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := w; i < b.N; i += writers {
						if _, err := s.Append(b.Context(), "c/log", [][]byte{oneTurn}, store.AnySeq); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
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
