package storefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/store"
)

const logName = "conversations/1/log"

// damaged writes n records, lets change edit the bytes of the file while the
// store is closed, and opens it again.
func damaged(t *testing.T, n int, change func(string) string) *Store {
	t.Helper()
	tree := t.TempDir()
	s := openTest(t, tree, Options{Service: "test"})
	for i := range n {
		if _, err := s.Append(bg, logName, [][]byte{turn(i + 1)}, store.Seq(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tree, Folder, logName+segmentExt)
	data, err := os.ReadFile(file)
	if err != nil && n > 0 {
		t.Fatal(err)
	}
	write(t, tree, logName+segmentExt, change(string(data)))
	s = openTest(t, tree, Options{Service: "test"})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func turn(i int) []byte { return fmt.Appendf(nil, `{"turn":%d}`, i) }

// shape is a stream in short: numbers of good records, and -n for a damaged
// place that bears number n.
func shape(t *testing.T, s *Store, from store.Seq, order store.Order) (out []store.Seq) {
	t.Helper()
	for r, err := range s.Read(t.Context(), logName, from, order) {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Damaged:
			out = append(out, -r.Seq)
		case string(r.Data) != string(turn(int(r.Seq))):
			t.Fatalf("record %d holds %q", r.Seq, r.Data)
		default:
			out = append(out, r.Seq)
		}
	}
	return out
}

// line replaces the n-th line, from 1.
func line(data string, n int, change func(string) string) string {
	lines := strings.SplitAfter(data, "\n")
	lines[n-1] = change(lines[n-1])
	return strings.Join(lines, "")
}

func TestDamage(t *testing.T) {
	foreign := func(string) string { return "not ours\n" }
	for name, tt := range map[string]struct {
		change func(string) string
		want   []store.Seq
		torn   int64
	}{
		"nothing": {func(d string) string { return d }, []store.Seq{1, 2, 3, 4, 5}, 0},
		"torn last line": {func(d string) string { return d[:len(d)-17] }, []store.Seq{1, 2, 3, 4},
			int64(len(appendFrame(nil, 5, 0, turn(5)))) - 17},
		"no newline at the end": {func(d string) string { return d[:len(d)-1] }, []store.Seq{1, 2, 3, 4, 5}, 0},
		"junk at the end":       {func(d string) string { return d + "junk\n" }, []store.Seq{1, 2, 3, 4, 5}, 5},
		"nul bytes at the end":  {func(d string) string { return d + strings.Repeat("\x00", 700) }, []store.Seq{1, 2, 3, 4, 5}, 700},
		"nul bytes in the middle": {
			func(d string) string {
				return line(d, 3, func(l string) string { return strings.Repeat("\x00", 300) + l })
			},
			[]store.Seq{1, 2, -2, 3, 4, 5}, 0},
		"nul bytes instead of a line": {
			func(d string) string {
				return line(d, 3, func(string) string { return strings.Repeat("\x00", 300) + "\n" })
			},
			[]store.Seq{1, 2, -3, 4, 5}, 0},
		"a bad line in the middle": {func(d string) string { return line(d, 3, foreign) }, []store.Seq{1, 2, -3, 4, 5}, 0},
		"a bad line at the start":  {func(d string) string { return line(d, 1, foreign) }, []store.Seq{-1, 2, 3, 4, 5}, 0},
		"one flipped bit":          {func(d string) string { return line(d, 4, flip) }, []store.Seq{1, 2, 3, -4, 5}, 0},
		"a line that is gone":      {func(d string) string { return line(d, 2, func(string) string { return "" }) }, []store.Seq{1, 3, 4, 5}, 0},
		"a prefix glued to a record": {
			func(d string) string {
				return line(d, 3, func(l string) string { return `{"type":"a","x":"trunc` + l })
			},
			[]store.Seq{1, 2, -2, 3, 4, 5}, 0},
		"a cut record glued to the next": {
			func(d string) string { return line(d, 3, func(l string) string { return l[:20] }) },
			[]store.Seq{1, 2, -3, 4, 5}, 0},
		"two records glued": {
			func(d string) string { return line(d, 3, func(l string) string { return strings.TrimSuffix(l, "\n") }) },
			[]store.Seq{1, 2, 3, 4, 5}, 0},
		"a line written twice": {func(d string) string { return line(d, 3, func(l string) string { return l + l }) },
			[]store.Seq{1, 2, 3, -3, 4, 5}, 0},
		"windows line ends": {func(d string) string { return strings.ReplaceAll(d, "\n", "\r\n") }, []store.Seq{1, 2, 3, 4, 5}, 0},
		"blank lines":       {func(d string) string { return strings.ReplaceAll(d, "\n", "\n\n \n") }, []store.Seq{1, 2, 3, 4, 5}, 3},
		"everything":        {func(string) string { return "\x00\x00\x00" }, nil, 3},
		"nothing left":      {func(string) string { return "" }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := damaged(t, 5, tt.change)
			got := shape(t, s, 0, store.Forward)
			if !slices.Equal(got, tt.want) {
				t.Fatalf("forward %v, want %v", got, tt.want)
			}
			back := shape(t, s, 0, store.Backward)
			slices.Reverse(back)
			want := tt.want
			if name == "a line written twice" {
				want = []store.Seq{1, 2, -2, 3, 4, 5} // the one that is met first counts
			}
			if !slices.Equal(back, want) {
				t.Errorf("backward %v, want %v", back, want)
			}
			last := store.Seq(0)
			for _, seq := range tt.want {
				last = max(last, seq)
			}
			next, err := s.Append(bg, logName, [][]byte{turn(int(last) + 1)}, last)
			if err != nil || next != last+1 {
				t.Fatalf("the log goes on with %d, %v", next, err)
			}
			if got := shape(t, s, 0, store.Forward); !slices.Equal(got, append(slices.Clone(tt.want), next)) {
				t.Errorf("afterwards %v", got)
			}
			checkTorn(t, s, tt.torn)
		})
	}
}

func flip(l string) string {
	b := []byte(l)
	b[len(b)-6] ^= 1
	return string(b)
}

func checkTorn(t *testing.T, s *Store, want int64) {
	t.Helper()
	var got int64
	for _, tail := range s.Torn() {
		got += tail.Bytes
		info, err := os.Stat(filepath.Join(s.tree, tail.Kept))
		if err != nil || info.Size() != tail.Bytes || tail.Stream != logName {
			t.Errorf("%+v: %v", tail, err)
		}
	}
	if got != want {
		t.Errorf("%d torn bytes, want %d", got, want)
	}
}

// The records of one append count only together.
func TestHalfABatchIsCut(t *testing.T) {
	s := damaged(t, 2, func(d string) string {
		b := appendFrame([]byte(d), 3, 2, turn(3))
		b = appendFrame(b, 4, 1, turn(4))
		return string(b)
	})
	if got := shape(t, s, 0, store.Forward); !slices.Equal(got, []store.Seq{1, 2}) {
		t.Fatalf("%v", got)
	}
	if _, err := s.Append(bg, logName, [][]byte{turn(3)}, 2); err != nil {
		t.Fatal(err)
	}
	if got := shape(t, s, 0, store.Forward); !slices.Equal(got, []store.Seq{1, 2, 3}) {
		t.Fatalf("%v", got)
	}
}

// A log that we did not write is read, and never written to.
func TestForeignLog(t *testing.T) {
	var old strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&old, `{"turn":%d}`+"\n", i+1)
	}
	tree := t.TempDir()
	file := write(t, tree, logName+segmentExt, old.String())
	s := openTest(t, tree, testOptions())
	defer s.Close()
	first, last, err := s.Bounds(bg, logName)
	if err != nil || first != 1 || last != 2000 {
		t.Fatalf("bounds %d to %d, %v", first, last, err)
	}
	for range 3 {
		if last, err = s.Append(bg, logName, [][]byte{turn(int(last) + 1)}, last); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != old.String() {
		t.Error("the file was changed")
	}
	all := shape(t, s, 0, store.Forward)
	back := shape(t, s, 0, store.Backward)
	slices.Reverse(back)
	if len(all) != 2003 || !slices.Equal(all, back) {
		t.Fatalf("%d records forward, %d backward", len(all), len(back))
	}
	for _, from := range []store.Seq{1, 2, 999, 1999, 2000, 2001, 2003} {
		if got := shape(t, s, from, store.Forward); !slices.Equal(got, all[from-1:]) {
			t.Errorf("from %d: %d records", from, len(got))
		}
		if got := shape(t, s, from, store.Backward); len(got) != int(from) {
			t.Errorf("back from %d: %d records", from, len(got))
		}
	}
}

func TestForeignLogWithBadLines(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, logName+segmentExt, "{\"turn\":1}\n\n{\"turn\":2\n{\"turn\":3}")
	s := openTest(t, tree, testOptions())
	defer s.Close()
	if got := shape(t, s, 0, store.Forward); !slices.Equal(got, []store.Seq{1, -2, 3}) {
		t.Fatalf("%v", got)
	}
}

// Someone else changes or removes the files under an open store.
func TestFilesChangeUnderTheStore(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, testOptions())
	defer s.Close()
	if _, err := s.Append(bg, logName, [][]byte{turn(1), turn(2)}, 0); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tree, Folder, logName+segmentExt)
	if err := os.Truncate(file, int64(len(appendFrame(nil, 1, 1, turn(1))))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(bg, logName, [][]byte{turn(3)}, 2); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("append to a log that was cut: %v", err)
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if got := shape(t, s, 0, store.Forward); len(got) != 0 {
		t.Fatalf("%v", got)
	}
	if _, err := s.Append(bg, logName, [][]byte{turn(1)}, 0); err != nil {
		t.Fatal(err)
	}
	if got := shape(t, s, 0, store.Forward); !slices.Equal(got, []store.Seq{1}) {
		t.Fatalf("%v", got)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
}

// A line that is longer than what is read at once, and one that is too long.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	s := damaged(t, 0, func(string) string {
		var b []byte
		for i := range 6 {
			data := turn(i + 1)
			if i == 2 {
				data = fmt.Appendf(nil, "%q", long)
			}
			if i == 4 {
				b = append(b, strings.Repeat("y", maxLine+maxLine/2)...)
				b = append(b, '\n')
			}
			b = appendFrame(b, store.Seq(i+1), 0, data)
		}
		return string(b)
	})
	for _, order := range []store.Order{store.Forward, store.Backward} {
		var got []store.Seq
		for r, err := range s.Read(t.Context(), logName, 0, order) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Damaged {
				if len(r.Data) > shownBad {
					t.Errorf("%d bytes shown", len(r.Data))
				}
				r.Seq = -r.Seq
			}
			got = append(got, r.Seq)
		}
		if order == store.Backward {
			slices.Reverse(got)
		}
		if want := []store.Seq{1, 2, 3, 4, -4, 5, 6}; !slices.Equal(got, want) {
			t.Errorf("order %d: %v, want %v", order, got, want)
		}
	}
}

// Whatever happens to the bytes, reading ends, both ways agree on the good
// records, and good records are what was written.
func TestAnyDamage(t *testing.T) {
	var whole []byte
	for i := range 8 {
		whole = appendFrame(whole, store.Seq(i+1), 0, turn(i+1))
	}
	rapid.Check(t, func(r *rapid.T) {
		data := slices.Clone(whole)
		for range rapid.IntRange(1, 3).Draw(r, "changes") {
			at := rapid.IntRange(0, len(data)-1).Draw(r, "at")
			end := min(len(data), at+rapid.IntRange(0, 40).Draw(r, "cut"))
			insert := rapid.SliceOfN(rapid.SampledFrom([]byte("\x00\n{\"s:1")), 0, 20).Draw(r, "insert")
			data = slices.Concat(data[:at], insert, data[end:])
		}
		var forwardSeqs, backwardSeqs []store.Seq
		size := int64(len(data))
		collect := func(out *[]store.Seq) emit {
			return func(rec store.Record) bool {
				if !rec.Damaged {
					*out = append(*out, rec.Seq)
					if string(rec.Data) != string(turn(int(rec.Seq))) {
						r.Fatalf("record %d holds %q", rec.Seq, rec.Data)
					}
				}
				return true
			}
		}
		f := strings.NewReader(string(data))
		_, last, err := validEnd(f, size)
		if err != nil {
			r.Fatal(err)
		}
		if _, err := forward(f, size, 0, collect(&forwardSeqs)); err != nil {
			r.Fatal(err)
		}
		if _, err := backward(f, size, 0, last, collect(&backwardSeqs)); err != nil {
			r.Fatal(err)
		}
		slices.Reverse(backwardSeqs)
		if !slices.Equal(forwardSeqs, backwardSeqs) || !slices.IsSorted(forwardSeqs) {
			r.Fatalf("forward %v, backward %v", forwardSeqs, backwardSeqs)
		}
	})
}

func FuzzPieces(f *testing.F) {
	good := string(appendFrame(nil, 7, 2, []byte(`{"a":1}`)))
	for _, s := range []string{good, strings.TrimSpace(good) + good, "x" + good, good[:10] + good, `{"s":1,"c":2,"r":{}}`, `{"s":`, ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		at := 0
		for _, p := range pieces(line) {
			if p.start != at {
				t.Fatalf("a piece at %d, want %d", p.start, at)
			}
			if at += len(p.raw); p.good {
				if again, ok := parseFrame(p.raw); !ok || again.seq != p.seq || again.seq < 1 {
					t.Fatalf("a good piece that is none: %q", p.raw)
				}
			}
		}
		if at != len(line) {
			t.Fatalf("pieces end at %d of %d", at, len(line))
		}
	})
}

func TestFrames(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.Map(rapid.String(), func(s string) []byte { return fmt.Appendf(nil, "{%q:%q}", "text", s) }),
		).Draw(r, "data")
		seq := store.Seq(rapid.Int64Range(1, 1<<62).Draw(r, "seq"))
		more := rapid.IntRange(0, 1000).Draw(r, "more")
		line := appendFrame(nil, seq, more, data)
		f, ok := parseFrame(line[:len(line)-1])
		if !ok || f.seq != seq || f.more != more || string(f.data) != string(data) || strings.Count(string(line), "\n") != 1 {
			r.Fatalf("%q of %d became %q of %d", data, seq, f.data, f.seq)
		}
		at := rapid.IntRange(0, len(line)-2).Draw(r, "flipped")
		line[at] ^= 1
		if f, ok := parseFrame(line[:len(line)-1]); ok {
			r.Fatalf("a flipped bit at %d goes unseen: %+v", at, f)
		}
	})
}
