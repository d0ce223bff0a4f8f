package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestIdleAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		busyUntil := start.Add(95 * time.Minute) // an attached launch
		idle := idleAfter(ctx, 30*time.Minute, func(now time.Time) time.Time {
			if now.Before(busyUntil) {
				return now
			}
			return start // its last call was long ago
		})
		<-idle
		// Looked at after 30, 60 and 90 minutes while busy; free of use at 120.
		if got := time.Since(start); got != 120*time.Minute {
			t.Errorf("ended after %v", got)
		}
	})
}

func TestIdleAfterFollowsUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		last := start.Add(10 * time.Minute)
		<-idleAfter(t.Context(), 30*time.Minute, func(time.Time) time.Time { return last })
		if got := time.Since(start); got != 40*time.Minute {
			t.Errorf("ended after %v, want 30 minutes after the last use", got)
		}
	})
}

// A cleaner of temporary folders takes the socket: the server must not hold the
// projects' files where nobody can reach it.
func TestAServerWhoseSocketIsGoneEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gone := goneAfter(ctx, "unix://"+path)
		<-time.After(10 * socketLook)
		select {
		case <-gone:
			t.Fatal("gone while the socket is there")
		default:
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		<-gone
		if took := time.Since(start); took > socketLook {
			t.Errorf("noticed after %v", took)
		}
	})
}

func TestNoIdleTimeoutNeverEnds(t *testing.T) {
	select {
	case <-idleAfter(t.Context(), 0, nil):
		t.Error("ended")
	default:
	}
}

func TestMemoryIsGivenBackOnceAfterEachUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var last atomic.Pointer[time.Time]
		last.Store(&start)
		var freed atomic.Int32
		go giveBack(ctx, func(time.Time) time.Time { return *last.Load() }, func() { freed.Add(1) })
		pass := func(d time.Duration, want int32) {
			t.Helper()
			<-time.After(d) // by the bubble's clock
			synctest.Wait()
			if got := freed.Load(); got != want {
				t.Errorf("after %v it was given back %d times, want %d", time.Since(start), got, want)
			}
		}
		pass(10*time.Minute, 1)
		now := time.Now()
		last.Store(&now)
		pass(quietTime/2, 1)
		pass(10*time.Minute, 2)
	})
}

func TestAFailingServiceEndsTheProcess(t *testing.T) {
	s, err := New(Config{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the index is on fire")
	s.services[0].run = func(context.Context) error { return broken }
	err = s.Run(t.Context())
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), s.services[0].name) {
		t.Errorf("the server ended with %v", err)
	}
}

func TestStateDirectoryMustBeAbsolute(t *testing.T) {
	if _, err := New(Config{StateDir: "state"}); err == nil {
		t.Error("a relative state directory is taken")
	}
}
