package memorysvc_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// told is a watch read step by step.
type told struct {
	t    *testing.T
	next func() (memorysvc.Event, error, bool)
}

func (f *fixture) watch(ctx context.Context, t *testing.T) *told {
	next, stop := iter.Pull2(f.WatchNotes(ctx, here))
	t.Cleanup(stop)
	return &told{t, next}
}

func (w *told) event() string {
	w.t.Helper()
	ev, err, ok := w.next()
	switch {
	case !ok:
		return "end"
	case err != nil:
		return "error " + string(fault.ReasonOf(err))
	case ev.Synced:
		return "synced"
	case ev.Deleted != "":
		return "deleted " + ev.Deleted
	}
	return ev.Note.ID + " " + ev.Note.Description
}

func (w *told) expect(want ...string) {
	w.t.Helper()
	for _, want := range want {
		if got := w.event(); got != want {
			w.t.Fatalf("event = %q, want %q", got, want)
		}
	}
}

func TestWatchSnapshotThenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, map[string]string{"b.md": file("b", "two", "project", ""), "a.md": file("a", "one", "project", "")})
		w := f.watch(t.Context(), t)
		w.expect("a one", "b two", "synced")
		f.save(memorysvc.Draft{ID: "c", Description: "three"})
		w.expect("c three")
		f.write("a.md", file("a", "uno", "project", ""))
		w.expect("a uno")
		if err := f.DeleteNote(t.Context(), here, "b", "", false); err != nil {
			t.Fatal(err)
		}
		w.expect("deleted b")
		f.write("a.md", "<<<<<<< HEAD\n")
		w.expect("a <<<<<<< HEAD")
	})
}

func TestWatchSkipsVersionsAndNoDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		w := f.watch(t.Context(), t)
		w.expect("synced")
		n := f.save(memorysvc.Draft{ID: "a", Description: "one"})
		n = f.save(memorysvc.Draft{ID: "a", Description: "two", Etag: n.Etag})
		if err := f.DeleteNote(t.Context(), here, "a", n.Etag, false); err != nil {
			t.Fatal(err)
		}
		f.save(memorysvc.Draft{ID: "a", Description: "three"})
		f.save(memorysvc.Draft{ID: "b", Description: "other"})
		w.expect("deleted a", "a three", "b other")
	})
}

func TestWatchThatFallsBehindIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		w := f.watch(t.Context(), t)
		w.expect("synced")
		for i := range 1100 {
			f.save(memorysvc.Draft{ID: fmt.Sprintf("n%d", i), Description: "d"})
		}
		w.expect("error WATCH_LAGGED", "end")
	})
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, map[string]string{"a.md": file("a", "one", "project", "")})
		ctx, cancel := context.WithCancel(t.Context())
		w := f.watch(ctx, t)
		w.expect("a one", "synced")
		cancel()
		if _, err, _ := w.next(); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
		w.expect("end")
	})
}

func TestStopEndsWatchesAndRefusesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		s, err := memorysvc.New(memorysvc.Config{}, memorysvc.Deps{Stores: opener{f.docs}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		next, end := iter.Pull2(s.WatchNotes(t.Context(), here))
		defer end()
		if ev, err, _ := next(); err != nil || !ev.Synced {
			t.Fatalf("%+v, %v", ev, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err, _ := next(); fault.ReasonOf(err) != fault.Draining {
			t.Errorf("watch ended with %v", err)
		}
		if _, err := s.GetNote(t.Context(), here, "a"); fault.ReasonOf(err) != fault.Draining {
			t.Errorf("get: %v", err)
		}
	})
}

// failing is a store whose first watches end with an error, after as many
// events as given.
type failing struct {
	store.Docs
	after []int
}

func (f *failing) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		left := -1
		if len(f.after) > 0 {
			left, f.after = f.after[0], f.after[1:]
		}
		for ev, err := range f.Docs.Watch(ctx, prefix) {
			if left == 0 {
				yield(store.Event{}, store.ErrLagged)
				return
			}
			left--
			if !yield(ev, err) {
				return
			}
		}
	}
}

// TestShelfOutlivesAWatchThatEnds deletes a note while the store is not
// watched: the next snapshot tells.
func TestShelfOutlivesAWatchThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, map[string]string{"a.md": file("a", "one", "project", ""), "b.md": file("b", "two", "project", "")})
		s := start(t, opener{&failing{Docs: f.docs, after: []int{3, 1}}})
		list, err := s.ListNotes(t.Context(), here, false, 0, "")
		if err != nil || list.Total != 2 {
			t.Fatalf("list = %+v, %v", list, err)
		}
		if err := f.docs.Delete(t.Context(), "memory/b.md", store.Any); err != nil {
			t.Fatal(err)
		}
		f.write("c.md", file("c", "three", "project", ""))
		w := &told{t: t}
		next, stop := iter.Pull2(s.WatchNotes(t.Context(), here))
		defer stop()
		w.next = next
		w.expect("a one", "b two", "synced")
		seen := map[string]bool{}
		for !seen["deleted b"] || !seen["c three"] {
			seen[w.event()] = true
		}
	})
}

func TestLoadingThatFailsIsTriedAgain(t *testing.T) {
	f := open(t, map[string]string{"a.md": file("a", "one", "project", "")})
	s := start(t, opener{&failing{Docs: f.docs, after: []int{0}}})
	if _, err := s.GetNote(t.Context(), here, "a"); fault.ReasonOf(err) != fault.WatchLagged {
		t.Errorf("first: %v", err)
	}
	if n, err := s.GetNote(t.Context(), here, "a"); err != nil || n.Description != "one" {
		t.Errorf("again: %+v, %v", n, err)
	}
}

// counting is a store that tells how many watches of it are open.
type counting struct {
	store.Docs
	open atomic.Int32
}

func (c *counting) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		c.open.Add(1)
		defer c.open.Add(-1)
		c.Docs.Watch(ctx, prefix)(yield)
	}
}

func TestNotesNobodyUsesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, map[string]string{"good.md": good})
		docs := &counting{Docs: f.docs}
		s := start(t, opener{docs})
		ask := func() {
			a, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Query: "lathe"})
			if err != nil || len(a.Notes) != 1 || docs.open.Load() != 1 {
				t.Fatalf("recalled %v, %v with %d watches", ids(a.Notes), err, docs.open.Load())
			}
		}
		ask()
		<-time.After(29 * time.Minute)
		ask()
		<-time.After(29 * time.Minute)
		ask()
		<-time.After(36 * time.Minute)
		if n := docs.open.Load(); n != 0 {
			t.Errorf("%d watches are open after half an hour", n)
		}
		ask()
		ctx, cancel := context.WithCancel(t.Context())
		next, end := iter.Pull2(s.WatchNotes(ctx, here))
		defer end()
		if _, err, _ := next(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		if n := docs.open.Load(); n != 1 {
			t.Errorf("%d watches of notes that somebody watches", n)
		}
		cancel()
	})
}

// moving is an opener whose project is somewhere else now.
type moving struct {
	opener
	now   store.Docs
	fails error
}

func (m *moving) Versioned(context.Context, string, string) (store.Docs, error) {
	return m.now, m.fails
}

// TestWorktreeMadeAnew: the folder of a worktree is replaced by another one.
func TestWorktreeMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := open(t, map[string]string{"a.md": file("a", "before", "project", "")}), open(t, map[string]string{"b.md": file("b", "after", "project", "")})
		stores := &moving{now: before.docs}
		s := start(t, stores)
		if got := problems(t, s); got["a"] == nil {
			t.Errorf("notes = %v", got)
		}
		stores.now = after.docs
		<-time.After(2 * time.Second)
		if got := problems(t, s); got["b"] == nil || got["a"] != nil {
			t.Errorf("notes = %v, want those of the new worktree", got)
		}
		gone := fault.New(fault.WorktreeNotFound, fault.Meta{"project": "p", "worktree": "w"}, "gone")
		stores.now, stores.fails = nil, gone
		<-time.After(2 * time.Second)
		if _, err := s.GetNote(t.Context(), here, "b"); !errors.Is(err, gone) {
			t.Errorf("err = %v", err)
		}
	})
}

func TestWorktreesShareNothing(t *testing.T) {
	f := open(t, nil)
	f.save(memorysvc.Draft{ID: "a", Description: "main"})
	side := memorysvc.Place{Project: here.Project, Worktree: "side"}
	if _, err := f.SaveNote(t.Context(), side, memorysvc.Draft{ID: "a", Description: "side"}); err != nil {
		t.Fatal(err)
	}
	n, err := f.GetNote(t.Context(), side, "a")
	if diff := cmp.Diff("side", n.Description); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got := f.get("a"); got.Description != "main" {
		t.Errorf("description = %q", got.Description)
	}
}
