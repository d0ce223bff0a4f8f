package launchersvc

import (
	"context"
	"os"

	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

// ServerInfo tells who this server is. It answers also while draining.
func (s *Service) ServerInfo() *launcherv1.GetServerInfoResponse {
	s.touch()
	info := &launcherv1.GetServerInfoResponse{
		BuildId:      s.deps.Build.ID,
		Version:      s.deps.Build.Version,
		Pid:          int64(os.Getpid()),
		StartTime:    timestamppb.New(s.start),
		Features:     s.deps.Features,
		LiveLaunches: s.attached.Load(),
	}
	if !s.deps.Build.Time.IsZero() {
		info.BuildTime = timestamppb.New(s.deps.Build.Time)
	}
	select {
	case <-s.draining:
		info.Draining = true
	default:
	}
	return info
}

// Drain refuses further calls, ends the streams of attached launches and closes
// Drained. It is idempotent. Whoever runs the server then stops it.
func (s *Service) Drain(ctx context.Context, why string) {
	s.drain.Do(func() {
		s.deps.Logger.InfoContext(ctx, "draining", "why", why, "live_launches", s.attached.Load())
		close(s.draining)
	})
}

// Drained is closed once the service drains.
func (s *Service) Drained() <-chan struct{} { return s.draining }
