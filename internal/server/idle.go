package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// traffic counts what the gateway forwards; the launcher counts its own calls.
type traffic struct {
	open atomic.Int64 // forwarded calls that run
	last atomic.Int64 // unix nanoseconds of the last begin or end
}

// counted makes a handler count.
func (t *traffic) counted(next grpc.StreamHandler) grpc.StreamHandler {
	return func(srv any, ss grpc.ServerStream) error {
		t.open.Add(1)
		t.last.Store(time.Now().UnixNano())
		defer func() {
			t.last.Store(time.Now().UnixNano())
			t.open.Add(-1)
		}()
		return next(srv, ss)
	}
}

// lastUse is when something was last asked of the server: now, while a launch
// is attached or a forwarded call runs.
func (s *Server) lastUse(now time.Time) time.Time {
	launcher := s.launcher.Activity()
	if launcher.Attached > 0 || s.traffic.open.Load() > 0 {
		return now
	}
	if t := time.Unix(0, s.traffic.last.Load()); t.After(launcher.Last) {
		return t
	}
	return launcher.Last
}

// idleAfter returns a channel that is closed when nothing was used for limit;
// 0 = never. It looks when the time could be up, until ctx ends. What was in
// use when looked at counts up to then, however long ago it began.
func idleAfter(ctx context.Context, limit time.Duration, lastUse func(now time.Time) time.Time) <-chan struct{} {
	idle := make(chan struct{})
	if limit <= 0 {
		return idle
	}
	go func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		used := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			now := time.Now()
			if last := lastUse(now); last.After(used) {
				used = last
			}
			left := limit - now.Sub(used)
			if left <= 0 {
				close(idle)
				return
			}
			timer.Reset(left)
		}
	}()
	return idle
}

// quietTime is how long nothing is used before memory goes back to the system.
const quietTime = 15 * time.Second

// giveBack calls free once after each time of use, when all was quiet for
// quietTime: what the last call needed is not held by an idle server.
func giveBack(ctx context.Context, lastUse func(now time.Time) time.Time, free func()) {
	ticker := time.NewTicker(quietTime)
	defer ticker.Stop()
	var freed time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if last := lastUse(now); last != freed && now.Sub(last) >= quietTime {
				freed = last
				free()
			}
		}
	}
}

// socketLook is how often a server looks whether its socket is still there.
const socketLook = 3 * time.Second

// goneAfter returns a channel that is closed when the socket of an address is
// no longer the one there: something cleaned its folder, nobody can reach the
// server any more, and its files must be free for the next one.
func goneAfter(ctx context.Context, address string) <-chan struct{} {
	gone := make(chan struct{})
	path, ok := strings.CutPrefix(address, "unix://")
	if !ok {
		return gone
	}
	own, err := os.Lstat(path)
	if err != nil {
		return gone
	}
	go func() {
		tick := time.NewTicker(socketLook)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(own, now) {
				close(gone)
				return
			}
		}
	}()
	return gone
}
