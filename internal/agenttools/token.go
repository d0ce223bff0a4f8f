package agenttools

import (
	"context"
	"sync"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// How often TokenSource looks at the clock and how soon it tries again.
const (
	tokenTick  = time.Minute
	tokenRetry = 5 * time.Second
	renewSpan  = 10 * time.Second // bounds one renewal
)

// TokenSource holds an agent's token and renews it. It is safe for concurrent
// use.
type TokenSource struct {
	mu    sync.Mutex
	token string
}

// NewTokenSource starts from the token the launch was given.
func NewTokenSource(token string) *TokenSource { return &TokenSource{token: token} }

// Token returns the newest token. Its signature fits rpc.ClientConfig.
func (s *TokenSource) Token(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token, nil
}

// Run renews the token now and then each time half of its life is over, until
// ctx ends or the server says that the launch may have no more: then it
// returns why. A server that cannot be reached is tried again.
//
// It goes by the wall clock in short steps, because a timer stands still while
// a laptop sleeps and tokens do not.
func (s *TokenSource) Run(ctx context.Context, launcher launcherv1.LauncherServiceClient) error {
	var renewAt time.Time
	for {
		if !time.Now().Round(0).Before(renewAt) {
			next, err := s.renew(ctx, launcher)
			switch {
			case err == nil:
				renewAt = next
			case over(err):
				return err
			default:
				renewAt = time.Now().Round(0).Add(tokenRetry)
			}
		}
		timer := time.NewTimer(min(tokenTick, max(time.Until(renewAt), time.Millisecond)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// renew replaces the token and returns when half of the new one's life is over.
func (s *TokenSource) renew(ctx context.Context, launcher launcherv1.LauncherServiceClient) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, renewSpan)
	defer cancel()
	r, err := launcher.RenewToken(ctx, &launcherv1.RenewTokenRequest{})
	if err != nil {
		return time.Time{}, err
	}
	s.mu.Lock()
	s.token = r.GetToken()
	s.mu.Unlock()
	now := time.Now().Round(0)
	half := max(r.GetExpireTime().AsTime().Sub(now)/2, time.Second)
	return now.Add(half), nil
}

// over reports whether no later renewal can succeed.
func over(err error) bool {
	switch fault.ReasonOf(err) {
	case fault.ReasonUnauthenticated, fault.CallerNotAllowed, fault.OutOfScope, fault.LaunchNotFound:
		return true
	}
	return false
}
