//go:build unix

package storefile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/store"
)

// The crash tests run this test binary again as a child that kills itself with
// SIGKILL at the n-th step on the disk, for every n, and look at what is left.
const (
	crashTree = "STOREFILE_CRASH_TREE"
	crashStep = "STOREFILE_CRASH_STEP"
	crashWork = "STOREFILE_CRASH_WORK"
)

// works are what a child does. Each says on stdout what was acknowledged.
var works = map[string]func(s *Store, acknowledged func(string)){
	"put": func(s *Store, acknowledged func(string)) {
		v := store.Absent
		for i := range 3 {
			var err error
			if v, err = s.Put(bg, "memory/deep/doc.md", crashDoc(i), v); err != nil {
				panic(err)
			}
			acknowledged(strconv.Itoa(i))
		}
	},
	"delete": func(s *Store, acknowledged func(string)) {
		if _, err := s.Put(bg, "memory/deep/doc.md", crashDoc(0), store.Absent); err != nil {
			panic(err)
		}
		acknowledged("0")
		if err := s.Delete(bg, "memory/deep/doc.md", store.Any); err != nil {
			panic(err)
		}
		acknowledged("gone")
	},
	"append": func(s *Store, acknowledged func(string)) {
		for i := range 6 {
			batch := [][]byte{crashRecord(2 * i), crashRecord(2*i + 1)}
			if _, err := s.Append(bg, "conversations/1/log", batch, store.Seq(2*i)); err != nil {
				panic(err)
			}
			acknowledged(strconv.Itoa(i))
		}
		if err := s.Trim(bg, "conversations/1/log", 9); err != nil {
			panic(err)
		}
		acknowledged("trimmed")
	},
}

func crashDoc(i int) []byte { return []byte(strings.Repeat(fmt.Sprintf("version %d\n", i), 2000)) }

func crashRecord(i int) []byte {
	return fmt.Appendf(nil, `{"turn":%d,"text":%q}`, i, strings.Repeat("x", 400))
}

func crashOptions() Options { return Options{Service: "test", SegmentBytes: 2 << 10} }

// TestCrashChild is the child. It is no test of its own.
func TestCrashChild(t *testing.T) {
	tree := os.Getenv(crashTree)
	if tree == "" {
		t.Skip("only run by the crash tests")
	}
	at, err := strconv.Atoi(os.Getenv(crashStep))
	if err != nil {
		t.Fatal(err)
	}
	s := openTest(t, tree, crashOptions())
	n := 0
	s.hook = func(string) error {
		if n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		n++
		return nil
	}
	works[os.Getenv(crashWork)](s, func(what string) { fmt.Fprintln(os.Stdout, "ack", what) })
	fmt.Fprintln(os.Stdout, "finished")
}

// crash runs a child that dies at a step and returns what was acknowledged, and
// whether it finished because there are fewer steps.
func crash(t *testing.T, work, tree string, step int) (acks []string, finished bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), crashTree+"="+tree, crashStep+"="+strconv.Itoa(step), crashWork+"="+work)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if ack, ok := strings.CutPrefix(line, "ack "); ok {
			acks = append(acks, ack)
		}
		finished = finished || line == "finished"
	}
	var exit *exec.ExitError
	if !finished && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
		t.Fatalf("the child ended with %v:\n%s", err, out)
	}
	return acks, finished
}

func atEveryStep(t *testing.T, work string, check func(t *testing.T, s *Store, acks []string)) {
	t.Helper()
	for step := range 200 {
		tree := t.TempDir()
		acks, finished := crash(t, work, tree, step)
		s := openTest(t, tree, crashOptions())
		check(t, s, acks)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		assertNoTemps(t, tree)
		if t.Failed() {
			t.Fatalf("after %s was killed at step %d", work, step)
		}
		if finished {
			t.Logf("%s: killed at each of %d steps", work, step)
			return
		}
	}
	t.Fatal("the child never finished")
}

func TestKilledInPut(t *testing.T) {
	atEveryStep(t, "put", func(t *testing.T, s *Store, acks []string) {
		docs := listed(t, s, "")
		doc, ok := docs["memory/deep/doc.md"]
		sure, next := len(acks)-1, len(acks) // the last acknowledged, the one under way
		switch {
		case !ok && sure >= 0:
			t.Errorf("the document is gone after %v", acks)
		case ok && string(doc.Data) != string(crashDoc(next)) && (sure < 0 || string(doc.Data) != string(crashDoc(sure))):
			t.Errorf("after %v the document is neither old nor new: %.40q, %v", acks, doc.Data, doc.Err)
		case len(docs) > 1:
			t.Errorf("more than the document: %d", len(docs))
		}
	})
}

func TestKilledInDelete(t *testing.T) {
	atEveryStep(t, "delete", func(t *testing.T, s *Store, acks []string) {
		docs := listed(t, s, "")
		doc, ok := docs["memory/deep/doc.md"]
		switch {
		case ok && string(doc.Data) != string(crashDoc(0)):
			t.Errorf("the document is %.40q, %v", doc.Data, doc.Err)
		case ok && len(acks) == 2:
			t.Error("the document came back")
		case len(docs) > 1 || len(docs) == 1 && !ok:
			t.Errorf("more than the document: %d", len(docs))
		}
	})
}

func TestKilledInAppend(t *testing.T) {
	atEveryStep(t, "append", func(t *testing.T, s *Store, acks []string) {
		var seqs []store.Seq
		for r, err := range s.Read(t.Context(), "conversations/1/log", 0, store.Forward) {
			if err != nil || r.Damaged || string(r.Data) != string(crashRecord(int(r.Seq)-1)) {
				t.Fatalf("record %d: %.40q, damaged %v, %v", r.Seq, r.Data, r.Damaged, err)
			}
			seqs = append(seqs, r.Seq)
		}
		batches := min(len(acks), 6)
		_, last, err := s.Bounds(t.Context(), "conversations/1/log")
		if err != nil || last != store.Seq(2*batches) && last != store.Seq(2*batches+2) {
			t.Fatalf("the log ends at %d after %d appends, %v", last, batches, err)
		}
		for i, seq := range seqs {
			if i > 0 && seq != seqs[i-1]+1 {
				t.Errorf("record %d comes after %d", seq, seqs[i-1])
			}
		}
		if batches < 6 && len(seqs) > 0 && seqs[0] != 1 || len(seqs) > 0 && seqs[0] > 9 {
			t.Errorf("the log begins at %d", seqs[0])
		}
		if _, err := s.Append(t.Context(), "conversations/1/log", [][]byte{crashRecord(int(last))}, last); err != nil {
			t.Errorf("the log does not go on: %v", err)
		}
	})
}
