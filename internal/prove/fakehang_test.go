package prove

import (
	"os/signal"
	"syscall"
	"time"
)

// hang waits to be ended; a stubborn one takes no hint.
func hang(stubborn bool) int {
	if stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	<-time.After(time.Hour)
	return 0
}
