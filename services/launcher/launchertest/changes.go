package launchertest

import (
	"context"
	"sync"
)

// changes tells those who watch a fake that it was changed.
type changes struct {
	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
}

func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// follow calls send for the end of the snapshot and for every change, until
// ctx ends.
func (c *changes) follow(ctx context.Context, send func() error) error {
	w := make(chan struct{}, 1)
	c.mu.Lock()
	if c.watchers == nil {
		c.watchers = map[chan struct{}]struct{}{}
	}
	c.watchers[w] = struct{}{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, w)
	}()
	for {
		if err := send(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w:
		}
	}
}
