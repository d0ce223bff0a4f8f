package launchersvc

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

const (
	// holdTime is how long a launch keeps its instance without a host.
	holdTime = time.Minute
	// keptRecords is how many launches of a project are remembered.
	keptRecords = 30
)

// desk is the launches of one project. Its fields below mu are guarded by it;
// a record is replaced by a changed copy, never changed, so that it may be
// handed out.
type desk struct {
	project string

	loading sync.Mutex
	loaded  bool // guarded by loading

	mu       sync.Mutex
	launches map[string]*launch

	bell bell // rings when a launch comes, goes or is told something else
}

// launch is one launch of a desk.
type launch struct {
	record  *launcherv1.Launch
	request string                 // digest of the request that prepared it
	plan    *launcherv1.LaunchPlan // nil after a restart and once it ended
	ready   chan struct{}          // closed when the preparation ended
	hosts   int                    // attached
	until   time.Time              // it holds its instance until then
	stored  bool                   // there is, or may be, a stored record

	told       *told    // nil when it is not kept in memory
	toldStored bool     // the store has it too
	proposed   *refresh // that a host was told of and may report
}

func (l *launch) id() string { return l.record.GetLaunchId() }

func (l *launch) preparing() bool {
	select {
	case <-l.ready:
		return false
	default:
		return true
	}
}

// holds reports whether the launch holds its instance.
func (l *launch) holds(now time.Time) bool {
	if l.record.GetState() == launcherv1.LaunchState_LAUNCH_STATE_EXITED {
		return false
	}
	return l.preparing() || l.hosts > 0 || now.Before(l.until)
}

// shown is the record as of now: a launch that holds nothing is lost.
func (l *launch) shown(now time.Time) *launcherv1.Launch {
	lost := launcherv1.LaunchState_LAUNCH_STATE_LOST
	switch s := l.record.GetState(); {
	case s == lost && l.holds(now):
		return withState(l.record, stateOf(l.record))
	case s == lost || s == launcherv1.LaunchState_LAUNCH_STATE_EXITED || l.holds(now):
		return l.record
	}
	return withState(l.record, lost)
}

// stateOf is the state of a launch that is neither lost nor over.
func stateOf(r *launcherv1.Launch) launcherv1.LaunchState {
	if r.GetStarted() != nil {
		return launcherv1.LaunchState_LAUNCH_STATE_RUNNING
	}
	return launcherv1.LaunchState_LAUNCH_STATE_PREPARED
}

func withState(r *launcherv1.Launch, state launcherv1.LaunchState) *launcherv1.Launch {
	c := proto.CloneOf(r)
	c.State = state
	return c
}

// begin finds the launch of an id, or starts one. Without ready the caller has
// to prepare it, and to end that by finish or abandon; else the launch is
// prepared for the same request, once ready is closed. An id that was used for
// another request, or whose launch is over, is refused.
func (d *desk) begin(id, request string) (l *launch, ready <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l = d.launches[id]
	if l == nil {
		l = &launch{record: &launcherv1.Launch{LaunchId: id}, request: request, ready: make(chan struct{})}
		d.launches[id] = l
		return l, nil, nil
	}
	switch {
	case l.request != request:
		return nil, nil, fault.New(fault.IDReused, fault.Meta{"id": id},
			"the launch id %s was used for another request; use a new id", id)
	case l.preparing() || l.plan != nil:
		return l, l.ready, nil
	case l.record.GetState() == launcherv1.LaunchState_LAUNCH_STATE_EXITED:
		return nil, nil, fault.New(fault.IDReused, fault.Meta{"id": id},
			"the launch %s is over; use a new id for another one", id)
	}
	l.ready = make(chan struct{}) // known from before a restart: its plan is made again
	return l, nil, nil
}

// allocate gives a launch its identity: the instance asked for, or the next
// free one of the agent. A launch known from before a restart keeps its own
// when that is free.
func (d *desk) allocate(l *launch, identity *launcherv1.Identity, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := l.record.GetIdentity(); before != nil {
		if holder := d.holder(l, before, now); holder != nil {
			return instanceTaken(before.GetInstanceId(), holder.id())
		}
		identity.InstanceId = before.GetInstanceId()
		identity.ConversationId = before.GetConversationId()
		identity.Generation = before.GetGeneration()
	} else if identity.GetInstanceId() != "" {
		if holder := d.holder(l, identity, now); holder != nil {
			return instanceTaken(identity.GetInstanceId(), holder.id())
		}
	} else {
		for n := 1; ; n++ {
			identity.InstanceId = instanceID(identity.GetAgentId(), n)
			if d.holder(l, identity, now) == nil {
				break
			}
		}
	}
	r := proto.CloneOf(l.record)
	r.Identity = identity
	l.record = r
	return nil
}

func instanceTaken(instance, holder string) error {
	return fault.New(fault.IDReused, fault.Meta{"id": instance},
		"the instance %s is taken by the launch %s; end that one, or leave the instance out to get the next free one", instance, holder)
}

// holder returns another launch that holds an instance.
func (d *desk) holder(not *launch, want *launcherv1.Identity, now time.Time) *launch {
	for _, l := range d.launches {
		got := l.record.GetIdentity()
		if l != not && got.GetInstanceId() == want.GetInstanceId() &&
			got.GetPersonId() == want.GetPersonId() && l.holds(now) {
			return l
		}
	}
	return nil
}

// instanceID names the n-th instance of an agent, within the length of an id.
func instanceID(agent string, n int) string {
	if n == 1 {
		return agent
	}
	suffix := "-" + strconv.Itoa(n)
	return strings.TrimRight(agent[:min(len(agent), 63-len(suffix))], "._-") + suffix
}

// finish ends a preparation that succeeded. A launch whose CLI runs already
// stays what it was told when it was started.
func (d *desk) finish(l *launch, made made, record *launcherv1.Launch, now time.Time) {
	defer d.bell.ring()
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := l.record; before.GetStarted() != nil {
		record = withState(before, stateOf(before))
	} else {
		if before.GetCreateTime() != nil {
			record.CreateTime = before.GetCreateTime()
		}
		l.told, l.toldStored = made.told, false
	}
	l.plan, l.record, l.until = made.plan, record, now.Add(holdTime)
	close(l.ready)
}

// abandon ends a preparation that failed. The id is free again, unless the
// launch is known from before.
func (d *desk) abandon(l *launch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.record.GetCreateTime() == nil {
		delete(d.launches, l.id())
	}
	close(l.ready)
}

// planOf returns the plan of a launch, nil when its preparation failed.
func (d *desk) planOf(l *launch) *launcherv1.LaunchPlan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return l.plan
}

// change replaces the record of a launch by what fn makes of a copy of it.
func (d *desk) change(id string, now time.Time, fn func(l *launch, r *launcherv1.Launch) error) error {
	defer d.bell.ring()
	d.mu.Lock()
	defer d.mu.Unlock()
	l, err := d.find(id)
	if err != nil {
		return err
	}
	r := proto.CloneOf(l.shown(now))
	if err := fn(l, r); err != nil {
		return err
	}
	l.record = r
	return nil
}

// find returns a launch whose preparation ended. The caller holds mu.
func (d *desk) find(id string) (*launch, error) {
	l := d.launches[id]
	if l == nil || l.record.GetCreateTime() == nil {
		return nil, launchNotFound(id)
	}
	return l, nil
}

func launchNotFound(id string) error {
	return fault.New(fault.LaunchNotFound, fault.Meta{"launch": id},
		"no launch %s is known; the last %d of a project are", id, keptRecords)
}

// list returns the records as of now, the newest first.
func (d *desk) list(now time.Time, onlyLive bool) []*launcherv1.Launch {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*launcherv1.Launch
	for _, l := range d.launches {
		if l.record.GetCreateTime() != nil && (l.hosts > 0 || !onlyLive) {
			out = append(out, l.shown(now))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out
}

func newestFirst(a, b *launcherv1.Launch) int {
	return cmp.Or(
		b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime()),
		cmp.Compare(a.GetLaunchId(), b.GetLaunchId()))
}

// sweep marks as lost what is, and forgets the oldest launches beyond those
// kept. It returns the ids whose stored records have to follow.
func (d *desk) sweep(now time.Time) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var touched []string
	var over []*launcherv1.Launch
	known := 0
	for id, l := range d.launches {
		if l.record.GetCreateTime() == nil || l.preparing() {
			continue
		}
		known++
		if r := l.shown(now); r != l.record {
			l.record = r
			touched = append(touched, id)
		}
		if !l.holds(now) {
			l.plan, l.proposed = nil, nil
			if l.toldStored {
				l.told = nil
			}
			over = append(over, l.record)
		}
	}
	if len(touched) > 0 {
		defer d.bell.ring()
	}
	slices.SortFunc(over, newestFirst)
	for ; known > keptRecords && len(over) > 0; known-- {
		oldest := over[len(over)-1]
		over = over[:len(over)-1]
		if d.launches[oldest.GetLaunchId()].stored {
			touched = append(touched, oldest.GetLaunchId())
		}
		delete(d.launches, oldest.GetLaunchId())
	}
	return touched
}

// desk returns the desk of a project, loading its records at the first use.
// One project's slow disk keeps no other waiting.
func (s *Service) desk(ctx context.Context, projectID string) (*desk, error) {
	s.mu.Lock()
	d := s.desks[projectID]
	if d == nil {
		d = &desk{project: projectID, launches: map[string]*launch{}}
		s.desks[projectID] = d
	}
	s.mu.Unlock()
	d.loading.Lock()
	defer d.loading.Unlock()
	if !d.loaded {
		if err := s.load(ctx, d); err != nil {
			return nil, err
		}
		d.loaded = true
	}
	return d, nil
}

// forget drops the desk of a project; its records stay where they are.
func (s *Service) forget(projectID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.desks, projectID)
}
