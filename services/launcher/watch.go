package launchersvc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

const (
	// settleTime is how long nothing must change before contexts are composed
	// anew, and settleLimit how long that may be put off: a pull writes many
	// files and is one event.
	settleTime  = 250 * time.Millisecond
	settleLimit = 2 * time.Second
	// firstRetry and lastRetry are the waits before a service that went away is
	// asked again.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// WatchContext tells how far the contexts of live launches, or of one, are
// behind: each of them, synced, then every change until ctx ends, the service
// drains (DRAINING) or send falls behind (WATCH_LAGGED). It always returns an
// error. No writer ever waits for send.
func (s *Service) WatchContext(ctx context.Context, projectID, launchID string, send func(*launcherv1.WatchContextResponse) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	d, err := s.deskOf(ctx, projectID)
	if err != nil {
		return err
	}
	if launchID != "" {
		if _, err := d.alive(launchID, s.deps.Clock()); err != nil {
			return err
		}
	}
	s.watching.Add(1)
	defer func() {
		s.watching.Add(-1)
		s.touch()
	}()
	ctx, cancel := context.WithCancel(ctx)
	w := &contextWatch{
		service: s, desk: d, only: launchID, ears: make(chan struct{}, 1), out: newOutbox(),
		followed: map[string]bool{}, told: map[string]*launcherv1.LaunchContext{},
	}
	defer w.running.Wait()
	defer cancel()
	defer d.bell.listen(w.ears)()
	w.running.Go(func() { w.run(ctx) })
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.draining:
			return draining()
		case <-w.out.wake:
		}
		events, lagged := w.out.take()
		if lagged {
			return fault.New(fault.WatchLagged, nil, "the watcher fell behind; watch again")
		}
		for _, ev := range events {
			if err := send(ev); err != nil {
				return err
			}
		}
	}
}

// contextWatch is one watch. Only run uses followed and told.
type contextWatch struct {
	service *Service
	desk    *desk
	only    string // one launch; "" = all
	ears    chan struct{}
	out     *outbox
	running sync.WaitGroup

	followed map[string]bool // worktrees
	told     map[string]*launcherv1.LaunchContext
}

func (w *contextWatch) run(ctx context.Context) {
	for first := true; ; first = false {
		live := w.desk.held(w.service.deps.Clock(), w.only)
		w.follow(ctx, live)
		w.compare(ctx, live)
		if ctx.Err() != nil {
			return
		}
		if first {
			w.out.put("", &launcherv1.WatchContextResponse{Event: &launcherv1.WatchContextResponse_Synced{Synced: &launcherv1.ContextsSynced{}}})
		}
		if !settle(ctx, w.ears) {
			return
		}
	}
}

// settle waits for a change and then until nothing changes any more. It is
// false when ctx ended.
func settle(ctx context.Context, ears <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-ears:
	}
	quiet, limit := time.NewTimer(settleTime), time.NewTimer(settleLimit)
	defer quiet.Stop()
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-limit.C:
			return true
		case <-quiet.C:
			return true
		case <-ears:
			quiet.Reset(settleTime)
		}
	}
}

// compare puts out what is different from what was told.
func (w *contextWatch) compare(ctx context.Context, live []*launcherv1.Launch) {
	still := map[string]bool{}
	for _, record := range live {
		id := record.GetLaunchId()
		still[id] = true
		now, ok := w.look(ctx, record)
		if ctx.Err() != nil {
			return
		}
		if ok && !proto.Equal(now, w.told[id]) {
			w.told[id] = now
			w.out.put(id, &launcherv1.WatchContextResponse{Event: &launcherv1.WatchContextResponse_Context{Context: now}})
		}
	}
	for id := range w.told {
		if !still[id] {
			delete(w.told, id)
			w.out.put(id, &launcherv1.WatchContextResponse{Event: &launcherv1.WatchContextResponse_EndedLaunchId{EndedLaunchId: id}})
		}
	}
}

// look tells how far a launch is behind; not ok while that cannot be known.
func (w *contextWatch) look(ctx context.Context, record *launcherv1.Launch) (now *launcherv1.LaunchContext, ok bool) {
	s := w.service
	before, err := s.toldOf(ctx, w.desk, record.GetLaunchId())
	if err != nil || before == nil {
		return nil, false
	}
	r := &refresh{record: record, before: before}
	err = s.recompose(ctx, r)
	switch reason := fault.ReasonOf(err); {
	case err == nil:
		return r.launchContext(), true
	case reason == fault.ServiceUnavailable || reason == fault.Draining || reason == fault.ReasonDeadlineExceeded || ctx.Err() != nil:
		return nil, false // whoever follows that service rings when it is back
	}
	return &launcherv1.LaunchContext{
		LaunchId: record.GetLaunchId(), Identity: record.GetIdentity(), ProfileId: record.GetProfileId(),
		State: launcherv1.ContextState_CONTEXT_STATE_STALE, DigestBefore: before.Digest, Applies: record.GetInjection().GetApplies(), Problem: clip(reasonText(err)),
	}, true
}

// follow begins to listen to the worktrees of new launches, and waits until
// their services told all they had, or for a while.
func (w *contextWatch) follow(ctx context.Context, live []*launcherv1.Launch) {
	var ready sync.WaitGroup
	for _, record := range live {
		worktree := wire(record.GetIdentity().GetWorktreeId())
		if w.followed[worktree] {
			continue
		}
		w.followed[worktree] = true
		for _, open := range []openFunc{w.notes(worktree), w.documents(worktree)} {
			ready.Add(1)
			w.running.Go(func() { w.listen(ctx, open, sync.OnceFunc(ready.Done)) })
		}
	}
	done := make(chan struct{})
	w.running.Go(func() {
		ready.Wait()
		close(done)
	})
	timer := time.NewTimer(w.service.config.MemoryWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// openFunc opens a stream of changes; next returns at each one, and tells
// whether it is the end of the snapshot.
type openFunc func(ctx context.Context) (next func() (synced bool, err error), err error)

func (w *contextWatch) notes(worktree string) openFunc {
	return func(ctx context.Context) (func() (bool, error), error) {
		stream, err := w.service.deps.Memory.WatchNotes(ctx, &memoryv1.WatchNotesRequest{ProjectId: w.desk.project, WorktreeId: worktree})
		return func() (bool, error) {
			ev, err := stream.Recv()
			return ev.GetSynced() != nil, err
		}, err
	}
}

func (w *contextWatch) documents(worktree string) openFunc {
	return func(ctx context.Context) (func() (bool, error), error) {
		stream, err := w.service.deps.Context.WatchDocuments(ctx, &contextv1.WatchDocumentsRequest{ProjectId: w.desk.project, WorktreeId: worktree})
		return func() (bool, error) {
			ev, err := stream.Recv()
			return ev.GetSynced() != nil, err
		}, err
	}
}

// listen wakes run at every change until ctx ends. A stream that ends is opened
// again, and what may have been missed meanwhile counts as a change. ready is
// called once there is nothing to wait for any more.
func (w *contextWatch) listen(ctx context.Context, open openFunc, ready func()) {
	defer ready()
	pause := firstRetry
	for {
		next, err := open(ctx)
		for synced := false; err == nil; {
			var end bool
			if end, err = next(); err != nil {
				break
			}
			if end {
				synced, pause = true, firstRetry
				ready()
			}
			if synced {
				wake(w.ears)
			}
		}
		ready()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, lastRetry)
	}
}
