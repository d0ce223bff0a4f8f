package server_test

import (
	"testing"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/server/servertest"
)

// BenchmarkReady is the time from nothing to a server that takes calls.
func BenchmarkReady(b *testing.B) {
	for b.Loop() {
		begin := time.Now()
		s := servertest.Start(b)
		b.ReportMetric(float64(time.Since(begin).Microseconds()), "ready-µs")
		if err := s.Stop(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall is the smallest call, through the gateway to a service.
func BenchmarkCall(b *testing.B) {
	s := servertest.Start(b)
	owner := s.Owner()
	for b.Loop() {
		if _, err := owner.Launcher.GetServerInfo(b.Context(), &launcherv1.GetServerInfoRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}
