package build

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"
)

func settings(kv ...string) *debug.BuildInfo {
	bi := &debug.BuildInfo{Main: debug.Module{Version: "v0.3.0"}}
	for i := 0; i < len(kv); i += 2 {
		bi.Settings = append(bi.Settings, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
	}
	return bi
}

func TestCleanCheckoutIsNamedByItsRevision(t *testing.T) {
	got := describe(settings("vcs.revision", "abc", "vcs.modified", "false", "vcs.time", "2026-05-01T10:00:00Z"), "/nowhere", t.TempDir())
	want := Info{ID: "vcs-abc", Version: "v0.3.0", Time: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOtherBuildsAreNamedByContent(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	exe := filepath.Join(dir, "ideai")
	built := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	write := func(content string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(exe, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(exe, at, at); err != nil {
			t.Fatal(err)
		}
	}
	dirty := settings("vcs.revision", "abc", "vcs.modified", "true", "vcs.time", "2026-05-01T09:00:00Z")

	write("one", built)
	first := describe(dirty, exe, cache)
	if !first.Time.Equal(built) {
		t.Errorf("time is %v, want the executable's %v", first.Time, built)
	}
	if again := describe(dirty, exe, cache); again.ID != first.ID {
		t.Errorf("second reading gives %s, first gave %s", again.ID, first.ID)
	}
	// Same bytes at another time are the same program.
	write("one", built.Add(time.Hour))
	if moved := describe(dirty, exe, cache); moved.ID != first.ID {
		t.Errorf("the same bytes touched later give %s, want %s", moved.ID, first.ID)
	}
	write("two", built.Add(2*time.Hour))
	if other := describe(dirty, exe, cache); other.ID == first.ID || !other.Replaces(first) {
		t.Errorf("other bytes give %+v beside %+v", other, first)
	}
}

func TestContentIsHashedOnce(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	exe := filepath.Join(dir, "ideai")
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(exe, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(exe, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	first := describe(nil, exe, cache).ID
	write("two") // of equal size and time: only reading it again would tell
	if again := describe(nil, exe, cache).ID; again != first {
		t.Error("a file of equal size and time was hashed again")
	}
	if fresh := describe(nil, exe, t.TempDir()).ID; fresh == first {
		t.Error("without the cache other bytes have the same id")
	}
}

func TestUnwritableCacheOnlyCostsTime(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "ideai")
	if err := os.WriteFile(exe, []byte("one"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := describe(nil, exe, filepath.Join(exe, "not-a-folder"))
	if b := describe(nil, exe, t.TempDir()); a.ID != b.ID {
		t.Errorf("got %s without a cache, %s with one", a.ID, b.ID)
	}
}

func TestReplaces(t *testing.T) {
	old, newer := Info{ID: "a", Time: time.Unix(100, 0)}, Info{ID: "b", Time: time.Unix(200, 0)}
	for _, c := range []struct {
		name           string
		client, server Info
		want           bool
	}{
		{"a later build replaces", newer, old, true},
		{"an older build does not", old, newer, false},
		{"the same build does not", newer, newer, false},
		{"the same program copied later does not", Info{ID: "a", Time: time.Unix(300, 0)}, old, false},
		{"another build of the same second does not", Info{ID: "c", Time: time.Unix(100, 5)}, old, false},
	} {
		if got := c.client.Replaces(c.server); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
