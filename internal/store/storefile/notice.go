package storefile

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/idea-ide/ideai/internal/store"
)

// run is the hub's goroutine: it hears notifications, lets files settle and
// looks through the folders now and then.
func (h *hub) run(ctx context.Context, notify *fsnotify.Watcher, wake <-chan struct{}) {
	var events <-chan fsnotify.Event
	var failures <-chan error
	if notify != nil {
		events, failures = notify.Events, notify.Errors
	}
	rescan := time.NewTicker(h.s.opts.Rescan)
	defer rescan.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		h.arm(timer)
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			h.event(e)
		case err, ok := <-failures:
			if !ok {
				failures = nil
				continue
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				h.s.opts.Logger.Warn("notifications of file changes", "error", err)
			}
			h.rescan(ctx)
		case <-wake:
		case <-timer.C:
			h.due(ctx)
		case <-rescan.C:
			h.rescan(ctx)
		}
	}
}

// arm sets the timer to when the next suspect is due.
func (h *hub) arm(timer *time.Timer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := time.Hour
	if h.soon {
		next = h.s.opts.Settle
	}
	now := time.Now()
	for _, p := range h.pending {
		next = min(next, max(p.due.Sub(now), 0))
	}
	timer.Reset(next)
}

// due looks at the suspects whose time has come.
func (h *hub) due(ctx context.Context) {
	h.mu.Lock()
	now := time.Now()
	soon := h.soon
	var keys []string
	for key, p := range h.pending {
		if !p.due.After(now) {
			keys = append(keys, key)
		}
	}
	h.mu.Unlock()
	if soon {
		h.rescan(ctx)
	}
	if h.s.enter(ctx, nil) != nil {
		return
	}
	defer h.s.leave()
	h.check(keys)
}

// event takes one notification.
func (h *hub) event(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	base := filepath.Base(e.Name)
	h.mu.Lock()
	prefix, ok := h.folders[filepath.Dir(e.Name)]
	_, folder := h.folders[e.Name]
	h.mu.Unlock()
	if !ok || reserved(base) {
		return
	}
	key := path.Join(prefix, base)
	if store.CheckKey(key) != nil { // a file that is looked for when everything is
		h.mu.Lock()
		h.soon = true
		h.mu.Unlock()
		return
	}
	below, above := false, folder
	for _, p := range h.prefixes() {
		below = below || store.Below(key, p)
		above = above || store.Below(p, key)
	}
	if h.s.enter(context.Background(), nil) != nil {
		return
	}
	defer h.s.leave()
	if below && !folder && !h.touched(key) {
		above = true
	}
	if above {
		h.mu.Lock()
		h.soon = true
		h.mu.Unlock()
	}
}

// touched makes a changed file a suspect; false when it is a folder.
func (h *hub) touched(key string) bool {
	info, err := h.s.root.Stat(path.Join(h.s.sub, key))
	if err == nil && info.IsDir() {
		return false
	}
	st, exists := h.s.stampKey(key)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		return true
	}
	if before, ok := h.known[key]; ok == exists && before.stamp == st {
		return true
	}
	h.suspect(key, st, exists, time.Now())
	return true
}

// rescan looks through all watched folders.
func (h *hub) rescan(ctx context.Context) {
	h.mu.Lock()
	h.soon = false
	h.mu.Unlock()
	for _, prefix := range h.prefixes() {
		if _, _, err := h.scan(ctx, prefix); err != nil && !errors.Is(err, store.ErrClosed) && ctx.Err() == nil {
			h.s.opts.Logger.Warn("watched folder cannot be looked through", "prefix", prefix, "error", err)
		}
	}
}

// scan looks through the folders of a prefix, makes what changed a suspect and
// returns the keys, sorted, and those of them that have to settle.
func (h *hub) scan(ctx context.Context, prefix string) (keys, young []string, err error) {
	if err := h.s.enter(ctx, nil); err != nil {
		return nil, nil, err
	}
	defer h.s.leave()
	h.scanning.Lock()
	defer h.scanning.Unlock()
	h.listen(prefix)
	found := map[string]stamp{}
	w := walker{s: h.s, ctx: ctx, folder: h.listenTo, found: func(key string, dir *os.Root) {
		keys = append(keys, key)
		found[key] = h.s.stampIn(dir, key)
	}}
	if err := w.start(prefix); err != nil {
		return nil, nil, h.s.explain(err, path.Join(h.s.sub, prefix), reading)
	}
	slices.Sort(keys)
	return keys, h.compare(prefix, found), nil
}

// compare takes what a scan found and returns the keys that have to settle.
func (h *hub) compare(prefix string, found map[string]stamp) (young []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		return nil
	}
	now := time.Now()
	scanned := slices.Collect(maps.Keys(h.scanned))
	h.scanned[prefix] = true
	for key, st := range found {
		before, ok := h.known[key]
		switch {
		case ok && before.stamp == st && !before.racy:
		case !ok && st.age(now) > st.patience(h.s.opts.Settle):
			h.known[key] = known{stamp: st}
			if slices.ContainsFunc(scanned, func(p string) bool { return store.Below(key, p) }) {
				h.s.feed.Mark(key) // somebody looked before it was there
			}
		default:
			if ok && before.stamp == st {
				h.known[key] = known{stamp: st}
			}
			h.suspect(key, st, true, now)
			young = append(young, key)
		}
	}
	for key := range h.known {
		if _, ok := found[key]; !ok && store.Below(key, prefix) {
			h.suspect(key, stamp{}, false, now)
		}
	}
	return young
}

// listen asks for notifications from the folders above a prefix.
func (h *hub) listen(prefix string) {
	for {
		dir := path.Dir(prefix)
		if prefix == "" {
			return
		}
		if dir == "." {
			dir = ""
		}
		if resolved, err := h.s.real(path.Join(h.s.sub, dir)); err == nil {
			h.listenTo(resolved, dir)
		}
		prefix = dir
	}
}

// listenTo asks for notifications from one folder.
func (h *hub) listenTo(dir, prefix string) {
	full := filepath.Join(h.s.tree, filepath.FromSlash(dir))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notify == nil {
		return
	}
	if err := h.notify.Add(full); err != nil {
		delete(h.folders, full)
		return
	}
	h.folders[full] = prefix
}
