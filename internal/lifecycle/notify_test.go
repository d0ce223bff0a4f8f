//go:build unix

package lifecycle_test

import (
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/lifecycle"
)

func TestNotify(t *testing.T) {
	ctx, stop := lifecycle.Notify(t.Context(), syscall.SIGUSR1)
	defer stop()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
}
