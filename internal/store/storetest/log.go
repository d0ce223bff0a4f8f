package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

var logTests = []test{
	{"empty stream", func(t *testing.T, h Harness) {
		s := open(t, h)
		wantRecords(t, s, "s")
		first, last, err := s.Bounds(within(t), "s")
		if err != nil || first != 0 || last != 0 {
			t.Fatalf("bounds %d to %d, %v", first, last, err)
		}
		if err := s.Trim(within(t), "s", 10); err != nil {
			t.Fatal(err)
		}
	}},
	{"append and read", func(t *testing.T, h Harness) {
		s := open(t, h)
		one := add(t, s, "c/1/log", store.AnySeq, `{"turn":1}`)
		two := add(t, s, "c/1/log", store.AnySeq, `{"turn":2}`, `{"turn":3}`)
		if one < 1 || two <= one {
			t.Fatalf("numbers %d, %d", one, two)
		}
		wantRecords(t, s, "c/1/log", `{"turn":1}`, `{"turn":2}`, `{"turn":3}`)
		first, last, err := s.Bounds(within(t), "c/1/log")
		if err != nil || first != one || last != two {
			t.Fatalf("bounds %d to %d, %v, want %d to %d", first, last, err, one, two)
		}
	}},
	{"any bytes", func(t *testing.T, h Harness) {
		s := open(t, h)
		want := []string{
			"", " ", "\n", "a\nb", "\x00\x00", "\xff", `{"a":1}`, " {\"a\" : 1}\t", "{\n}", "null", `{"s":1,"c":2,"r":{}}`,
			"}", `"`, "u\u2028\u2029", `{"a":"\u2028 \n"}`, "\r", strings.Repeat("é", 100_000),
		}
		add(t, s, "s", 0, want...)
		wantRecords(t, s, "s", want...)
		for i, r := range want {
			add(t, s, fmt.Sprintf("one/%d", i), 0, r)
			wantRecords(t, s, fmt.Sprintf("one/%d", i), r)
		}
	}},
	{"after the right number", func(t *testing.T, h Harness) {
		s := open(t, h)
		last := store.Seq(0)
		for i := range 5 {
			last = add(t, s, "s", last, fmt.Sprint(i), "more")
		}
		if data, _ := records(t, s, "s", 0, store.Forward); len(data) != 10 {
			t.Fatalf("records %q", data)
		}
	}},
	{"after a wrong number", func(t *testing.T, h Harness) {
		s := open(t, h)
		one := add(t, s, "s", 0, "one")
		two := add(t, s, "s", one, "two")
		for _, after := range []store.Seq{0, one, two + 1, two + 100} {
			_, err := s.Append(within(t), "s", [][]byte{[]byte("x"), []byte("y")}, after)
			wantErr(t, fmt.Sprintf("Append after %d", after), err, store.ErrConflict)
		}
		_, err := s.Append(within(t), "other", [][]byte{[]byte("x")}, 7)
		wantErr(t, "Append to nothing", err, store.ErrConflict)
		wantRecords(t, s, "s", "one", "two")
		wantRecords(t, s, "other")
	}},
	{"nothing appended", func(t *testing.T, h Harness) {
		s := open(t, h)
		if seq := add(t, s, "s", 0); seq != 0 {
			t.Fatalf("number %d", seq)
		}
		one := add(t, s, "s", 0, "one")
		if seq := add(t, s, "s", store.AnySeq); seq != one {
			t.Fatalf("number %d, want %d", seq, one)
		}
		wantRecords(t, s, "s", "one")
	}},
	{"both ways from every number", func(t *testing.T, h Harness) {
		s := open(t, h)
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprintf("record %d", i))
			add(t, s, "s", store.AnySeq, all[i])
		}
		_, seqs := records(t, s, "s", 0, store.Forward)
		for i, seq := range seqs {
			after, _ := records(t, s, "s", seq, store.Forward)
			before, _ := records(t, s, "s", seq, store.Backward)
			slices.Reverse(before)
			if !slices.Equal(after, all[i:]) || !slices.Equal(before, all[:i+1]) {
				t.Fatalf("from %d: forward %q, backward %q", seq, after, before)
			}
		}
		last := seqs[len(seqs)-1]
		if beyond, _ := records(t, s, "s", last+1, store.Forward); len(beyond) != 0 {
			t.Fatalf("beyond the end: %q", beyond)
		}
		if back, _ := records(t, s, "s", last+10, store.Backward); len(back) != 40 {
			t.Fatalf("%d records back from beyond the end", len(back))
		}
		if back, _ := records(t, s, "s", 0, store.Backward); len(back) != 40 {
			t.Fatalf("%d records back from the end", len(back))
		}
	}},
	{"pages", func(t *testing.T, h Harness) {
		s := open(t, h)
		var batch []string
		for i := range 1000 {
			batch = append(batch, fmt.Sprintf(`{"turn":%d,"text":%q}`, i, strings.Repeat("x", i%300)))
		}
		add(t, s, "s", 0, batch...)
		var got []string
		for from := store.Seq(0); ; {
			page, seqs := firstOf(t, s, "s", from, store.Forward, 64)
			if len(page) == 0 {
				break
			}
			got, from = append(got, page...), seqs[len(seqs)-1]+1
		}
		if !slices.Equal(got, batch) {
			t.Fatalf("%d records in pages, want %d", len(got), len(batch))
		}
		got = nil
		for from := store.Seq(0); ; {
			page, seqs := firstOf(t, s, "s", from, store.Backward, 64)
			got = append(got, page...)
			if len(page) == 0 || seqs[len(seqs)-1] == 1 {
				break
			}
			from = seqs[len(seqs)-1] - 1
		}
		slices.Reverse(got)
		if !slices.Equal(got, batch) {
			t.Fatalf("%d records in pages backward, want %d", len(got), len(batch))
		}
	}},
	{"streams are apart", func(t *testing.T, h Harness) {
		s := open(t, h)
		add(t, s, "a", 0, "in a")
		add(t, s, "a/b", 0, "in a/b")
		add(t, s, "ab", 0, "in ab")
		wantRecords(t, s, "a", "in a")
		wantRecords(t, s, "a/b", "in a/b")
		wantRecords(t, s, "ab", "in ab")
	}},
	{"the caller may use its buffer again", func(t *testing.T, h Harness) {
		s := open(t, h)
		buf := []byte("hello")
		if _, err := s.Append(within(t), "s", [][]byte{buf}, 0); err != nil {
			t.Fatal(err)
		}
		copy(buf, "XXXXX")
		wantRecords(t, s, "s", "hello")
	}},
	{"trim", func(t *testing.T, h Harness) {
		s := open(t, h)
		var seqs []store.Seq
		for i := range 200 {
			seqs = append(seqs, add(t, s, "s", store.AnySeq, fmt.Sprintf("%d %s", i, strings.Repeat("x", 100))))
		}
		if err := s.Trim(within(t), "s", seqs[150]); err != nil {
			t.Fatal(err)
		}
		data, got := records(t, s, "s", seqs[150], store.Forward)
		if len(data) != 50 || got[0] != seqs[150] {
			t.Fatalf("%d records from %v on", len(data), got)
		}
		first, last, err := s.Bounds(within(t), "s")
		if err != nil || first < 1 || first > seqs[150] || last != seqs[199] {
			t.Fatalf("bounds %d to %d, %v", first, last, err)
		}
		all, _ := records(t, s, "s", 0, store.Forward)
		if len(all) < 50 {
			t.Fatalf("%d records left", len(all))
		}
		if seq := add(t, s, "s", seqs[199], "next"); seq <= seqs[199] {
			t.Fatalf("number %d after %d", seq, seqs[199])
		}
	}},
	{"trim keeps what it is given", func(t *testing.T, h Harness) {
		s := open(t, h)
		var batch []string
		for i := range 150 {
			batch = append(batch, fmt.Sprintf("%d %s", i, strings.Repeat("x", 100)))
			add(t, s, "s", store.AnySeq, batch[i])
		}
		_, seqs := records(t, s, "s", 0, store.Forward)
		for i, before := range seqs {
			if err := s.Trim(within(t), "s", before); err != nil {
				t.Fatal(err)
			}
			if data, _ := firstOf(t, s, "s", before, store.Forward, 1); len(data) != 1 || data[0] != batch[i] {
				t.Fatalf("after Trim(%d) it reads %q", before, data)
			}
		}
	}},
	{"appending while reading", func(t *testing.T, h Harness) {
		s := open(t, h)
		add(t, s, "s", 0, "1", "2", "3")
		n := 0
		for _, err := range s.Read(within(t), "s", 0, store.Forward) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			add(t, s, "s", store.AnySeq, "more")
		}
		if n < 3 {
			t.Fatalf("%d records", n)
		}
	}},
}

// firstOf reads at most n records.
func firstOf(t *testing.T, s store.Log, stream string, from store.Seq, order store.Order, n int) (data []string, seqs []store.Seq) {
	t.Helper()
	for r, err := range s.Read(within(t), stream, from, order) {
		if err != nil {
			t.Fatal(err)
		}
		data, seqs = append(data, string(r.Data)), append(seqs, r.Seq)
		if len(data) == n {
			break
		}
	}
	return data, seqs
}

var tailTests = []test{
	{"what is there, then what comes", func(t *testing.T, h Harness) {
		s := open(t, h)
		one := add(t, s, "s", 0, "one", "two")
		var got []string
		for r, err := range s.Tail(within(t), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, string(r.Data)); len(got) == 2 {
				add(t, s, "s", one, "three")
			}
			if len(got) == 3 {
				break
			}
		}
		if want := []string{"one", "two", "three"}; !slices.Equal(got, want) {
			t.Fatalf("tail %q, want %q", got, want)
		}
	}},
	{"after a number", func(t *testing.T, h Harness) {
		s := open(t, h)
		last := add(t, s, "s", 0, "old", "older")
		started := make(chan struct{})
		got := make(chan string, 1)
		go func() {
			defer close(got)
			close(started)
			for r, err := range s.Tail(t.Context(), "s", last) {
				if err == nil {
					got <- string(r.Data)
				}
				return
			}
		}()
		<-started
		add(t, s, "s", last, "new")
		if r := <-got; r != "new" {
			t.Fatalf("tail yields %q", r)
		}
	}},
	{"of a stream that is not there yet", func(t *testing.T, h Harness) {
		s := open(t, h)
		got := make(chan string, 1)
		go func() {
			defer close(got)
			for r, err := range s.Tail(t.Context(), "s", 0) {
				if err == nil {
					got <- string(r.Data)
				}
				return
			}
		}()
		add(t, s, "s", 0, "first")
		if r := <-got; r != "first" {
			t.Fatalf("tail yields %q", r)
		}
	}},
	{"misses nothing while others append", func(t *testing.T, h Harness) {
		s := open(t, h)
		go together(4, func(i int) error {
			for round := range 10 {
				if _, err := s.Append(t.Context(), "s", [][]byte{fmt.Appendf(nil, "%d/%d", i, round)}, store.AnySeq); err != nil {
					return err
				}
			}
			return nil
		})
		seen, last := map[string]bool{}, store.Seq(0)
		for r, err := range s.Tail(within(t), "s", 0) {
			if err != nil || r.Seq <= last {
				t.Fatalf("record %d after %d, %v", r.Seq, last, err)
			}
			last, seen[string(r.Data)] = r.Seq, true
			if len(seen) == 40 {
				break
			}
		}
	}},
	{"ends with its context", func(t *testing.T, h Harness) {
		s := open(t, h)
		add(t, s, "s", 0, "one")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range s.Tail(ctx, "s", 0) {
			last = err
			cancel()
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("ended with %v", last)
		}
	}},
}
