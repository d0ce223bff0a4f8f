package server

import (
	"context"
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

// watchIdle returns a channel that is closed when the server has been idle for
// IdleTimeout. It looks when the time could be up, until ctx ends.
func (s *Server) watchIdle(ctx context.Context) <-chan struct{} {
	idle := make(chan struct{})
	limit := s.config.IdleTimeout
	if limit <= 0 {
		return idle
	}
	go func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		busy := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			now := time.Now()
			// A launch that was attached when looked at last counts up to then,
			// however long ago it called.
			if last := s.lastUse(now); last.After(busy) {
				busy = last
			}
			left := limit - now.Sub(busy)
			if left <= 0 {
				close(idle)
				return
			}
			timer.Reset(left)
		}
	}()
	return idle
}
