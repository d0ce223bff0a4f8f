package agenttools_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/agenttools"
	"github.com/idea-ide/ideai/internal/fault"
)

// renewer gives a new token an hour long at each call, or the errors first.
type renewer struct {
	launcherv1.LauncherServiceClient
	errs  []error
	calls []time.Duration // since began
	began time.Time
}

func (r *renewer) RenewToken(context.Context, *launcherv1.RenewTokenRequest, ...grpc.CallOption) (*launcherv1.RenewTokenResponse, error) {
	r.calls = append(r.calls, time.Since(r.began))
	if len(r.errs) > 0 {
		err := r.errs[0]
		r.errs = r.errs[1:]
		return nil, err
	}
	return &launcherv1.RenewTokenResponse{
		Token: fmt.Sprintf("token %d", len(r.calls)), ExpireTime: timestamppb.New(time.Now().Add(time.Hour)),
	}, nil
}

func TestATokenIsRenewedAtHalfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &renewer{began: time.Now()}
		s := agenttools.NewTokenSource("first")
		if got, _ := s.Token(t.Context()); got != "first" {
			t.Errorf("token %q", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Minute)
		defer cancel()
		if err := s.Run(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
		want := []time.Duration{0, 30 * time.Minute, 60 * time.Minute, 90 * time.Minute}
		if fmt.Sprint(r.calls) != fmt.Sprint(want) {
			t.Errorf("renewed at %v, want %v", r.calls, want)
		}
		if got, _ := s.Token(t.Context()); got != "token 4" {
			t.Errorf("token %q", got)
		}
	})
}

func TestAServerAwayIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := fault.New(fault.ServiceUnavailable, fault.Meta{"service": "launcher"}, "away")
		r := &renewer{began: time.Now(), errs: []error{away, away}}
		s := agenttools.NewTokenSource("first")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = s.Run(ctx, r)
		if want := []time.Duration{0, 5 * time.Second, 10 * time.Second}; fmt.Sprint(r.calls) != fmt.Sprint(want) {
			t.Errorf("tried at %v, want %v", r.calls, want)
		}
		if got, _ := s.Token(t.Context()); got != "token 3" {
			t.Errorf("token %q", got)
		}
	})
}

func TestALaunchThatIsOverGetsNoMore(t *testing.T) {
	for _, reason := range []fault.Reason{fault.ReasonUnauthenticated, fault.LaunchNotFound} {
		synctest.Test(t, func(t *testing.T) {
			over := fault.New(reason, nil, "over")
			s := agenttools.NewTokenSource("first")
			if err := s.Run(t.Context(), &renewer{errs: []error{over}}); fault.ReasonOf(err) != reason {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
