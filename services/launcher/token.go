package launchersvc

import (
	"context"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
)

// tokenTTL is how long an agent's token holds before it must be renewed.
const tokenTTL = 12 * time.Hour

// issue signs a token for who acts in a launch.
func (s *Service) issue(id *launcherv1.Identity, launchID string) (token string, expires time.Time, err error) {
	expires = s.deps.Clock().Add(tokenTTL)
	token, err = s.deps.Issuer.Issue(auth.Claims{
		Surfaces:     []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT},
		Person:       id.GetPersonId(),
		Project:      id.GetProjectId(),
		Worktree:     id.GetWorktreeId(),
		Agent:        id.GetAgentId(),
		Instance:     id.GetInstanceId(),
		Conversation: id.GetConversationId(),
		Launch:       launchID,
		Generation:   id.GetGeneration(),
	}, tokenTTL)
	return token, expires, err
}

// RenewToken gives the calling agent a fresh token, as long as its launch holds
// its instance: a token outlives its launch by twelve hours at most.
func (s *Service) RenewToken(ctx context.Context) (token string, expires time.Time, err error) {
	if err := s.enter(); err != nil {
		return "", time.Time{}, err
	}
	c, _ := auth.FromContext(ctx)
	d, err := s.deskOf(ctx, c.Project)
	if err != nil {
		return "", time.Time{}, err
	}
	identity, err := d.living(c, s.deps.Clock())
	if err != nil {
		return "", time.Time{}, err
	}
	return s.issue(identity, c.Launch)
}

// living returns the identity of the launch that a token names, if the launch
// is alive and the token is its own.
func (d *desk) living(c auth.Claims, now time.Time) (*launcherv1.Identity, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, err := d.find(c.Launch)
	if err != nil {
		return nil, err
	}
	id := l.record.GetIdentity()
	if !l.holds(now) {
		return nil, launchOver(c.Launch)
	}
	if id.GetPersonId() != c.Person || id.GetWorktreeId() != c.Worktree || id.GetAgentId() != c.Agent ||
		id.GetInstanceId() != c.Instance || id.GetConversationId() != c.Conversation || id.GetGeneration() != c.Generation {
		return nil, fault.New(fault.OutOfScope, fault.Meta{"claim": "launch"},
			"the token is not of the launch %s as it is now; start the agent again", c.Launch)
	}
	return id, nil
}
