package lifecycle_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idea-ide/ideai/internal/lifecycle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// diary notes what happens, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) noting(line string) func() { return func() { d.note(line) } }

// server is a lifecycle.Server with calls that take a while.
type server struct {
	name  string
	diary *diary
	calls time.Duration // how long running calls take to finish
	err   error         // what Serve returns at once
	once  sync.Once
	over  chan struct{}
}

func newServer(d *diary, name string) *server {
	return &server{name: name, diary: d, over: make(chan struct{})}
}

func (s *server) Serve(net.Listener) error {
	if s.err != nil {
		return s.err
	}
	<-s.over
	return nil
}

func (s *server) GracefulStop() {
	s.diary.note(s.name + " graceful")
	select {
	case <-time.After(s.calls):
	case <-s.over:
	}
	s.once.Do(func() { close(s.over) })
}

func (s *server) Stop() {
	s.diary.note(s.name + " cut")
	s.once.Do(func() { close(s.over) })
}

func work(d *diary, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		d.note(name + " ended")
		return nil
	}
}

func plan(d *diary, units ...lifecycle.Unit) lifecycle.Plan {
	return lifecycle.Plan{
		Units:      units,
		Ready:      d.noting("ready"),
		NotServing: d.noting("not serving"),
		EndStreams: d.noting("streams ended"),
		Close: []func() error{
			func() error { d.note("lock freed"); return nil },
			func() error { d.note("store closed"); return nil },
		},
		Flush: func(ctx context.Context) error { d.note("flushed"); return ctx.Err() },
	}
}

func one() []net.Listener { return []net.Listener{nil} }

func TestStopOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		memory, gateway := newServer(&d, "memory server"), newServer(&d, "gateway server")
		gateway.calls = time.Second
		p := plan(&d,
			lifecycle.Unit{Name: "memory", Server: memory, Listeners: one(), Run: work(&d, "memory work")},
			lifecycle.Unit{Name: "gateway", Server: gateway, Listeners: one(), Run: work(&d, "gateway work")})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- lifecycle.Run(ctx, p) }()
		synctest.Wait()
		d.note("asked")
		begin := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v", took)
		}
		want := []string{"ready", "asked", "not serving", "streams ended", "gateway server graceful", "gateway work ended",
			"memory server graceful", "memory work ended", "store closed", "lock freed", "flushed"}
		if !slices.Equal(d.lines, want) {
			t.Fatalf("got  %q\nwant %q", d.lines, want)
		}
	})
}

// The time for calls to finish is one for all servers, not one each.
func TestStopTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		a, b := newServer(&d, "a"), newServer(&d, "b")
		a.calls, b.calls = time.Hour, time.Hour
		p := plan(&d, lifecycle.Unit{Name: "a", Server: a, Listeners: one()}, lifecycle.Unit{Name: "b", Server: b, Listeners: one()})
		p.StopTimeout = 3 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		if err := lifecycle.Run(ctx, p); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		for _, want := range []string{"a cut", "b cut", "flushed"} {
			if !slices.Contains(d.lines, want) {
				t.Errorf("no %q in %q", want, d.lines)
			}
		}
	})
}

func TestUntil(t *testing.T) {
	var d diary
	p := plan(&d, lifecycle.Unit{Name: "memory", Run: work(&d, "work")})
	until := make(chan string, 1)
	until <- "idle"
	p.Until = until
	if err := lifecycle.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(d.lines, "work ended") {
		t.Fatal(d.lines)
	}
}

func TestAUnitFails(t *testing.T) {
	boom := errors.New("boom")
	for name, fail := range map[string]func(d *diary) lifecycle.Unit{
		"work": func(*diary) lifecycle.Unit {
			return lifecycle.Unit{Name: "memory", Run: func(context.Context) error { return boom }}
		},
		"server": func(d *diary) lifecycle.Unit {
			s := newServer(d, "s")
			s.err = boom
			return lifecycle.Unit{Name: "memory", Server: s, Listeners: one()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d diary
			p := plan(&d, lifecycle.Unit{Name: "other", Run: work(&d, "other")}, fail(&d))
			p.Close = append(p.Close, func() error { return errors.New("disk full") })
			err := lifecycle.Run(t.Context(), p)
			if !errors.Is(err, boom) || !strings.Contains(err.Error(), "memory: boom") || !strings.Contains(err.Error(), "disk full") {
				t.Fatal(err)
			}
			for _, want := range []string{"other ended", "store closed", "lock freed", "flushed"} {
				if !slices.Contains(d.lines, want) {
					t.Errorf("no %q in %q", want, d.lines)
				}
			}
		})
	}
}

// Work that is over early ends nothing.
func TestNothingMoreToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		p := plan(&d, lifecycle.Unit{Name: "memory", Run: func(context.Context) error { return nil }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begin := time.Now()
		if err := lifecycle.Run(ctx, p); err != nil || time.Since(begin) != time.Hour {
			t.Fatal(err, time.Since(begin))
		}
	})
}

// Work that does not end is reported and left; the rest still ends.
func TestWorkThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		free := make(chan struct{})
		p := plan(&d, lifecycle.Unit{Name: "memory", Run: func(context.Context) error { <-free; return nil }})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := lifecycle.Run(ctx, p)
		if err == nil || !strings.Contains(err.Error(), "memory: did not end") || !slices.Contains(d.lines, "flushed") {
			t.Fatal(err, d.lines)
		}
		close(free)
	})
}

// stuckServer has a call that outlives even Stop, for which gRPC waits.
type stuckServer struct{ free chan struct{} }

func (s stuckServer) Serve(net.Listener) error { <-s.free; return nil }
func (s stuckServer) GracefulStop()            { <-s.free }
func (s stuckServer) Stop()                    { <-s.free }

func TestACallThatHangsDoesNotKeepTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		stuck := stuckServer{make(chan struct{})}
		p := plan(&d, lifecycle.Unit{Name: "memory", Server: stuck, Listeners: one(), Run: work(&d, "memory work")})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := lifecycle.Run(ctx, p)
		close(stuck.free)
		synctest.Wait()
		if err == nil || !strings.Contains(err.Error(), "memory: a call did not end") || !slices.Contains(d.lines, "flushed") {
			t.Fatal(err, d.lines)
		}
	})
}

func TestEmptyPlan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := lifecycle.Run(ctx, lifecycle.Plan{}); err != nil {
		t.Fatal(err)
	}
}
