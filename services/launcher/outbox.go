package launchersvc

import (
	"sync"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

// outboxBound is how many launches may wait for one watcher.
const outboxBound = 256

// outbox collects what a watcher has still to be sent. Of a launch that changes
// again before it was sent only the last event is kept.
type outbox struct {
	wake chan struct{} // holds one token while there is something to take

	mu     sync.Mutex
	events map[string]*launcherv1.WatchContextResponse
	order  []string
	lagged bool
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), events: map[string]*launcherv1.WatchContextResponse{}}
}

func (o *outbox) put(id string, ev *launcherv1.WatchContextResponse) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, waits := o.events[id]; !waits {
		if len(o.order) >= outboxBound {
			o.lagged = true
		}
		o.order = append(o.order, id)
	}
	if o.lagged {
		o.order = nil
	} else {
		o.events[id] = ev
	}
	wake(o.wake)
}

// take returns what waits, in the order of each launch's first event.
func (o *outbox) take() (events []*launcherv1.WatchContextResponse, lagged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range o.order {
		events = append(events, o.events[id])
	}
	o.order = nil
	clear(o.events)
	return events, o.lagged
}
