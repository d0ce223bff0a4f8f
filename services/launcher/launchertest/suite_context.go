package launchertest

import (
	"context"
	"path"
	"slices"
	"testing"

	"google.golang.org/grpc"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// Nothing changed since the launch: nothing to do.
func testRefresh(t *testing.T, s *suite) {
	p := s.project("shop")
	plan := s.prepare(s.request(p))
	r, err := s.Owner.RefreshContext(s.ctx, &launcherv1.RefreshContextRequest{ProjectId: p.id, LaunchId: plan.GetLaunchId()})
	if err != nil {
		t.Fatal(err)
	}
	if r.GetState() != launcherv1.ContextState_CONTEXT_STATE_CURRENT || r.GetDigestBefore() != plan.GetContextDigest() || r.GetDigestAfter() != plan.GetContextDigest() ||
		len(r.GetFiles()) > 0 || len(r.GetChanges()) > 0 || r.GetTokensDelta() != 0 || r.GetSideDirectory() != plan.GetSideDirectory() {
		t.Errorf("got %v", r)
	}
	if r.GetApplies() != typev1.Applies_APPLIES_NEXT_TURN || plan.GetInjection().GetApplies() != r.GetApplies() {
		t.Errorf("applies %s, the plan says %s", r.GetApplies(), plan.GetInjection().GetApplies())
	}
	other := s.prepare(s.request(p))
	d, err := s.Owner.DiffContext(s.ctx, &launcherv1.DiffContextRequest{ProjectId: p.id, LaunchId: plan.GetLaunchId(), OtherLaunchId: other.GetLaunchId()})
	if err != nil || len(d.GetSections()) > 0 || d.GetDigestBefore() != plan.GetContextDigest() || d.GetDigestAfter() != other.GetContextDigest() {
		t.Errorf("two equal launches differ: %v %v", d, err)
	}
}

// contextEvent reads one event.
func contextEvent(t *testing.T, stream grpc.ServerStreamingClient[launcherv1.WatchContextResponse]) *launcherv1.WatchContextResponse {
	t.Helper()
	ev, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func testWatchContext(t *testing.T, s *suite) {
	p := s.project("shop")
	first := s.prepare(s.request(p))
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	stream, err := s.Owner.WatchContext(ctx, &launcherv1.WatchContextRequest{ProjectId: p.id})
	if err != nil {
		t.Fatal(err)
	}
	if c := contextEvent(t, stream).GetContext(); c.GetLaunchId() != first.GetLaunchId() || c.GetState() != launcherv1.ContextState_CONTEXT_STATE_CURRENT ||
		c.GetIdentity().GetInstanceId() != "dev" || c.GetProfileId() != "claude" || c.GetDigestAfter() != first.GetContextDigest() {
		t.Errorf("snapshot %v", c)
	}
	if ev := contextEvent(t, stream); ev.GetSynced() == nil {
		t.Fatalf("event %v, want synced", ev)
	}
	second := s.prepare(s.request(p))
	if c := contextEvent(t, stream).GetContext(); c.GetLaunchId() != second.GetLaunchId() {
		t.Errorf("a new launch: %v", c)
	}
	if err := s.report(p, first.GetLaunchId(), exited(0)); err != nil {
		t.Fatal(err)
	}
	if ev := contextEvent(t, stream); ev.GetEndedLaunchId() != first.GetLaunchId() {
		t.Errorf("an ended launch: %v", ev)
	}
	one, err := s.Owner.WatchContext(ctx, &launcherv1.WatchContextRequest{ProjectId: p.id, LaunchId: second.GetLaunchId()})
	if err != nil {
		t.Fatal(err)
	}
	if c := contextEvent(t, one).GetContext(); c.GetLaunchId() != second.GetLaunchId() {
		t.Errorf("the launch asked for: %v", c)
	}
	if ev := contextEvent(t, one); ev.GetSynced() == nil {
		t.Errorf("event %v, want synced", ev)
	}
	cancel()
	_, err = stream.Recv()
	s.fails(err, fault.ReasonCanceled)
}

func testContextFaults(t *testing.T, s *suite) {
	p := s.project("shop")
	over := s.prepare(s.request(p)).GetLaunchId()
	if err := s.report(p, over, exited(0)); err != nil {
		t.Fatal(err)
	}
	refresh := func(project, launch string) error {
		_, err := s.Owner.RefreshContext(s.ctx, &launcherv1.RefreshContextRequest{ProjectId: project, LaunchId: launch})
		return err
	}
	watch := func(project, launch string) error {
		stream, err := s.Owner.WatchContext(s.ctx, &launcherv1.WatchContextRequest{ProjectId: project, LaunchId: launch})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	diff := func(project, launch, other string) error {
		_, err := s.Owner.DiffContext(s.ctx, &launcherv1.DiffContextRequest{ProjectId: project, LaunchId: launch, OtherLaunchId: other})
		return err
	}
	s.fails(refresh("none", "x"), fault.ProjectNotFound)
	s.fails(refresh(p.id, "none"), fault.LaunchNotFound)
	s.fails(refresh(p.id, ""), fault.InvalidField)
	s.fails(refresh(p.id, over), fault.LaunchNotFound, "is over")
	s.fails(watch("none", ""), fault.ProjectNotFound)
	s.fails(watch(p.id, "none"), fault.LaunchNotFound)
	s.fails(watch(p.id, over), fault.LaunchNotFound, "is over")
	s.fails(watch("", ""), fault.InvalidField)
	s.fails(diff("none", "x", ""), fault.ProjectNotFound)
	s.fails(diff(p.id, "none", ""), fault.LaunchNotFound)
	s.fails(diff(p.id, over, "none"), fault.LaunchNotFound)
	s.fails(diff(p.id, "", ""), fault.InvalidField)
	if err := diff(p.id, over, ""); err != nil {
		t.Errorf("a launch that is over is compared with now: %v", err)
	}
	refreshed := func(launch, digest string) error {
		return s.report(p, launch, func(r *launcherv1.ReportLaunchRequest) {
			r.Event = &launcherv1.ReportLaunchRequest_Refreshed{Refreshed: &launcherv1.LaunchRefreshed{ContextDigest: digest}}
		})
	}
	live := s.prepare(s.request(p)).GetLaunchId()
	s.fails(refreshed("none", "x"), fault.LaunchNotFound)
	s.fails(refreshed(live, ""), fault.InvalidField)
	s.fails(refreshed(live, "another"), fault.StaleEtag, "refresh it once more")
	s.fails(refreshed(over, "x"), fault.LaunchNotFound, "is over")
}

// A host that starts the CLI for every turn: equal paths, and nothing told
// twice.
func testStructuredTurn(t *testing.T, s *suite) {
	p := s.project("shop")
	turn := func(change func(*launcherv1.PrepareLaunchRequest)) *launcherv1.LaunchPlan {
		t.Helper()
		req := s.request(p)
		req.Kind, req.ConversationId = typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN, "c-talk"
		req.PassthroughArgs = []string{"-p", "hi", "--resume", "x"}
		change(req)
		plan := s.prepare(req)
		if err := s.report(p, plan.GetLaunchId(), exited(0)); err != nil {
			t.Fatal(err)
		}
		return plan
	}
	first := turn(func(*launcherv1.PrepareLaunchRequest) {})
	if first.GetContextUnchanged() || first.GetSideDirectory() != p.root+"/.ideai/run/c-talk" {
		t.Errorf("the first turn: unchanged %v, side %s", first.GetContextUnchanged(), first.GetSideDirectory())
	}
	// claude reads the file at each start, and says that it is gone when it is.
	again := turn(func(r *launcherv1.PrepareLaunchRequest) { r.IfContextDigest = first.GetContextDigest() })
	if !again.GetContextUnchanged() || !slices.EqualFunc(contextFiles(first), contextFiles(again), sameFile) || len(contextFiles(again)) != 1 {
		t.Errorf("the next turn: unchanged %v, files %v", again.GetContextUnchanged(), contextFiles(again))
	}
	// A text put before the prompt stays in the session.
	piped := turn(func(r *launcherv1.PrepareLaunchRequest) { r.Carrier = "stdin" })
	if len(piped.GetStdin()) == 0 {
		t.Fatal("no context on standard input")
	}
	silent := turn(func(r *launcherv1.PrepareLaunchRequest) {
		r.Carrier, r.IfContextDigest = "stdin", piped.GetContextDigest()
	})
	if !silent.GetContextUnchanged() || len(silent.GetStdin()) > 0 || silent.GetInjection().GetCarrier() != "stdin" || silent.GetContextDigest() != piped.GetContextDigest() {
		t.Errorf("the next turn: unchanged %v, %d bytes by %s", silent.GetContextUnchanged(), len(silent.GetStdin()), silent.GetInjection().GetCarrier())
	}
	if len(silent.GetMcpServers()) != 1 || Env(silent, "IDEAI_TOKEN") == "" {
		t.Error("a turn without the context has no tools")
	}
	stale := turn(func(r *launcherv1.PrepareLaunchRequest) { r.Carrier, r.IfContextDigest = "stdin", "of-another-time" })
	if stale.GetContextUnchanged() || len(stale.GetStdin()) == 0 {
		t.Error("another context counts as unchanged")
	}
	req := s.request(p)
	req.ConversationId = "locks"
	_, err := s.Owner.PrepareLaunch(s.ctx, req)
	s.fails(err, fault.InvalidField, "folder")
}

func contextFiles(plan *launcherv1.LaunchPlan) []*typev1.File {
	return slices.DeleteFunc(slices.Clone(plan.GetFiles()), func(f *typev1.File) bool { return path.Ext(f.GetPath()) != ".md" })
}

func sameFile(a, b *typev1.File) bool {
	return a.GetPath() == b.GetPath() && string(a.GetContent()) == string(b.GetContent())
}
