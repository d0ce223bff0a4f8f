package launchersvc

import (
	"fmt"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

func behind(id string, tokens int32) *launcherv1.WatchContextResponse {
	return &launcherv1.WatchContextResponse{Event: &launcherv1.WatchContextResponse_Context{Context: &launcherv1.LaunchContext{LaunchId: id, TokensDelta: tokens}}}
}

// Of a launch that changes again only the last state is kept, in its place.
func TestOutboxKeepsTheLastOfEach(t *testing.T) {
	o := newOutbox()
	o.put("a", behind("a", 1))
	o.put("b", behind("b", 1))
	o.put("a", behind("a", 2))
	<-o.wake
	events, lagged := o.take()
	if lagged || len(events) != 2 || events[0].GetContext().GetTokensDelta() != 2 || events[1].GetContext().GetLaunchId() != "b" {
		t.Errorf("took %v", events)
	}
	if events, _ := o.take(); len(events) != 0 {
		t.Errorf("took them again: %v", events)
	}
	o.put("a", behind("a", 3))
	<-o.wake
	if events, _ := o.take(); len(events) != 1 {
		t.Errorf("took %v", events)
	}
}

// A watcher that takes nothing is told so, and holds no more than the bound.
func TestOutboxLags(t *testing.T) {
	o := newOutbox()
	for i := range outboxBound {
		o.put(fmt.Sprint(i), behind("x", 1))
	}
	if events, lagged := o.take(); lagged || len(events) != outboxBound {
		t.Errorf("at the bound: %d events, lagged %v", len(events), lagged)
	}
	for i := range 3 * outboxBound {
		o.put(fmt.Sprint(i), behind("x", 1))
	}
	if len(o.events) > outboxBound {
		t.Errorf("%d events are held", len(o.events))
	}
	if _, lagged := o.take(); !lagged {
		t.Error("nobody is told")
	}
}
