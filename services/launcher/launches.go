package launchersvc

import (
	"context"
	"fmt"
	"math"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/page"
)

// ReportLaunch records that a launch's process started or ended, or that its
// files were refreshed. Reports may be repeated; an end stands whatever comes
// after it.
func (s *Service) ReportLaunch(ctx context.Context, req *launcherv1.ReportLaunchRequest) error {
	if err := s.enter(); err != nil {
		return err
	}
	d, err := s.deskOf(ctx, req.GetProjectId())
	if err != nil {
		return err
	}
	if r := req.GetRefreshed(); r != nil {
		if err := s.refreshed(ctx, d, req.GetLaunchId(), r.GetContextDigest()); err != nil {
			return err
		}
		s.records.mark(d, req.GetLaunchId())
		return nil
	}
	now := s.deps.Clock()
	err = d.change(req.GetLaunchId(), now, func(l *launch, r *launcherv1.Launch) error {
		switch {
		case req.GetStarted() != nil:
			r.Started = req.GetStarted()
		case r.GetExited() == nil:
			r.Exited = req.GetExited()
			r.State = launcherv1.LaunchState_LAUNCH_STATE_EXITED
			l.plan = nil
		}
		if r.GetState() == launcherv1.LaunchState_LAUNCH_STATE_PREPARED {
			r.State = stateOf(r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.records.mark(d, req.GetLaunchId())
	return nil
}

// GetLaunch returns one launch record.
func (s *Service) GetLaunch(ctx context.Context, projectID, launchID string) (*launcherv1.Launch, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	d, err := s.deskOf(ctx, projectID)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l, err := d.find(launchID)
	if err != nil {
		return nil, err
	}
	return l.shown(s.deps.Clock()), nil
}

// ListLaunches returns a page of launch records, the newest first.
func (s *Service) ListLaunches(ctx context.Context, req *launcherv1.ListLaunchesRequest) ([]*launcherv1.Launch, string, error) {
	if err := s.enter(); err != nil {
		return nil, "", err
	}
	d, err := s.deskOf(ctx, req.GetProjectId())
	if err != nil {
		return nil, "", err
	}
	all := d.list(s.deps.Clock(), req.GetOnlyLive())
	return page.Slice(all, ageKey, req.GetPageSize(), req.GetPageToken(), d.project, fmt.Sprint(req.GetOnlyLive()))
}

// ageKey sorts the newest launch first.
func ageKey(l *launcherv1.Launch) string {
	return fmt.Sprintf("%019d/%s", math.MaxInt64-l.GetCreateTime().AsTime().UnixNano(), l.GetLaunchId())
}

func launchOver(id string) error {
	return fault.New(fault.LaunchNotFound, fault.Meta{"launch": id}, "the launch %s is over; prepare a new one", id)
}
