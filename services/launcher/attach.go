package launchersvc

import (
	"context"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

// AttachLaunch keeps a launch alive until ctx ends, or until the service
// drains, which is DRAINING. It calls attached once it does. A lost launch
// comes back when its instance is still free.
func (s *Service) AttachLaunch(ctx context.Context, projectID, launchID string, attached func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	d, err := s.deskOf(ctx, projectID)
	if err != nil {
		return err
	}
	if err := d.attach(launchID, s.deps.Clock()); err != nil {
		return err
	}
	s.attached.Add(1)
	defer func() {
		d.detach(launchID, s.deps.Clock())
		s.attached.Add(-1)
		s.touch()
	}()
	s.records.mark(d, launchID)
	if err := attached(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.draining:
		return draining()
	}
}

func (d *desk) attach(id string, now time.Time) error {
	return d.change(id, now, func(l *launch, r *launcherv1.Launch) error {
		if r.GetState() == launcherv1.LaunchState_LAUNCH_STATE_EXITED {
			return launchOver(id)
		}
		if holder := d.holder(l, r.GetIdentity(), now); holder != nil {
			return instanceTaken(r.GetIdentity().GetInstanceId(), holder.id())
		}
		l.hosts++
		r.State = stateOf(r)
		return nil
	})
}

func (d *desk) detach(id string, now time.Time) {
	defer d.bell.ring()
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.launches[id]; l != nil {
		l.hosts--
		l.until = now.Add(holdTime)
	}
}

// deskOf returns the desk of a project that can be worked in.
func (s *Service) deskOf(ctx context.Context, projectID string) (*desk, error) {
	p, err := s.usable(projectID)
	if err != nil {
		return nil, err
	}
	return s.desk(ctx, p.ID)
}
