package launchertest_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

const (
	current = launcherv1.ContextState_CONTEXT_STATE_CURRENT
	stale   = launcherv1.ContextState_CONTEXT_STATE_STALE
	pending = launcherv1.ContextState_CONTEXT_STATE_PENDING
)

func rules(r *launchertest.Rig, body string) {
	r.Context.Set(func(d *launchertest.ContextDocs) { d.Rules = &contextv1.Rules{Body: body} })
}

func refresh(t testing.TB, r *launchertest.Rig, project, launch string) *launcherv1.RefreshContextResponse {
	t.Helper()
	resp, err := r.Owner.RefreshContext(t.Context(), &launcherv1.RefreshContextRequest{ProjectId: project, LaunchId: launch})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func refreshed(project, launch, digest string) *launcherv1.ReportLaunchRequest {
	return &launcherv1.ReportLaunchRequest{ProjectId: project, LaunchId: launch, Event: &launcherv1.ReportLaunchRequest_Refreshed{
		Refreshed: &launcherv1.LaunchRefreshed{ContextDigest: digest},
	}}
}

func TestRefreshReachesTheNextTurn(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "Be kind.")
	plan := prepare(t, r, launchertest.Request(id, "l1", root))
	if got := refresh(t, r, id, "l1"); got.GetState() != current || len(got.GetFiles()) > 0 {
		t.Errorf("before anything changed: %v", got)
	}
	rules(r, "Be brief.")
	r.Memory.Set(nil, &memoryv1.RecalledNote{NoteId: "vat", Description: "rates"})
	got := refresh(t, r, id, "l1")
	if got.GetState() != stale || got.GetApplies() != typev1.Applies_APPLIES_NEXT_TURN || got.GetDigestBefore() != plan.GetContextDigest() ||
		got.GetDigestAfter() == plan.GetContextDigest() || got.GetTokensDelta() != 1 || got.GetSideDirectory() != plan.GetSideDirectory() {
		t.Errorf("got %v", got)
	}
	changes := got.GetChanges()
	if len(changes) != 2 || changes[0].GetSection() != typev1.SectionKind_SECTION_KIND_RULES || changes[1].GetSection() != typev1.SectionKind_SECTION_KIND_MEMORY ||
		changes[1].GetTokensBefore() != 0 || changes[1].GetTokensAfter() != 1 || len(changes[1].GetAddedSources()) != 1 || len(changes[0].GetAddedSources()) != 0 {
		t.Errorf("changes %v", changes)
	}
	files := got.GetFiles()
	if len(files) != 1 || files[0].GetPath() != plan.GetSideDirectory()+"/CLAUDE.md" || !strings.Contains(string(files[0].GetContent()), "Be brief.") || files[0].GetMode() != 0o600 {
		t.Errorf("files %v", files)
	}
	// Nothing is done until the host says so.
	if again := refresh(t, r, id, "l1"); again.GetState() != stale || len(again.GetFiles()) != 1 {
		t.Errorf("asking changed something: %v", again)
	}
	report(t, r, refreshed(id, "l1", got.GetDigestAfter()))
	record := list(t, r, id)[0]
	if record.GetContextDigest() != got.GetDigestAfter() || record.GetContextTokens() != 3 || len(record.GetSections()) != 3 ||
		record.GetRefresh().GetContextDigest() != got.GetDigestAfter() || record.GetRefresh().GetCreateTime() == nil {
		t.Errorf("record %v", record)
	}
	r.Restart()
	if again := refresh(t, r, id, "l1"); again.GetState() != current || len(again.GetFiles()) > 0 || again.GetDigestBefore() != got.GetDigestAfter() {
		t.Errorf("after the refresh, with another server: %v", again)
	}
	rules(r, "Be kind.")
	// Claude Code shows the first change only: the next ones wait.
	now := refresh(t, r, id, "l1")
	if now.GetState() != stale || len(now.GetFiles()) != 1 || now.GetApplies() != typev1.Applies_APPLIES_AT_RESUME ||
		len(now.GetWarnings()) != 1 || now.GetWarnings()[0].GetKind() != launcherv1.WarningKind_WARNING_KIND_REFRESH_WAITS {
		t.Errorf("a second change, after a restart: %v", now)
	}
	report(t, r, refreshed(id, "l1", now.GetDigestAfter()))
	if l := list(t, r, id)[0]; l.GetContextDigest() != got.GetDigestAfter() || l.GetRefresh().GetContextDigest() != now.GetDigestAfter() {
		t.Errorf("record %v", l.GetRefresh())
	}
}

// Where a refresh waits for a resume, the launch keeps what it was told.
func TestRefreshWaitsForAResume(t *testing.T) {
	for name, change := range map[string]func(*launcherv1.PrepareLaunchRequest){
		"codex":           func(req *launcherv1.PrepareLaunchRequest) { req.ProfileId = "codex" },
		"claude headless": func(req *launcherv1.PrepareLaunchRequest) { req.PassthroughArgs = []string{"-p", "hello"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := launchertest.NewRig(t)
			id, root := shop(t, r, true)
			rules(r, "Be kind.")
			req := launchertest.Request(id, "l1", root)
			change(req)
			plan := prepare(t, r, req)
			rules(r, "Be brief.")
			got := refresh(t, r, id, "l1")
			if got.GetState() != stale || got.GetApplies() != typev1.Applies_APPLIES_AT_RESUME || len(got.GetFiles()) != 1 {
				t.Fatalf("got %v", got)
			}
			report(t, r, refreshed(id, "l1", got.GetDigestAfter()))
			now := refresh(t, r, id, "l1")
			if now.GetState() != pending || len(now.GetFiles()) > 0 || now.GetDigestBefore() != plan.GetContextDigest() || len(now.GetChanges()) != 1 {
				t.Errorf("after the refresh: %v", now)
			}
			// Back to what the agent was told: the file has to follow.
			rules(r, "Be kind.")
			if back := refresh(t, r, id, "l1"); back.GetState() != current || len(back.GetFiles()) != 1 {
				t.Errorf("back again: %v", back)
			}
		})
	}
}

func TestRefreshIsRefusedWhereOnlyAFreshSessionTakesIt(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "Be kind.")
	req := launchertest.Request(id, "l1", root)
	req.Carrier = "append_system_prompt_file"
	prepare(t, r, req)
	rules(r, "Be brief.")
	got := refresh(t, r, id, "l1")
	if got.GetState() != stale || got.GetApplies() != typev1.Applies_APPLIES_AT_RESTART || len(got.GetFiles()) > 0 {
		t.Errorf("got %v", got)
	}
	_, err := r.Owner.ReportLaunch(t.Context(), refreshed(id, "l1", got.GetDigestAfter()))
	launchertest.Fails(t, err, fault.InvalidField, "fresh session")
}

// What a host wrote is recorded only when it is what would be told now, or what
// it was given to write.
func TestRefreshThatIsOvertaken(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "one")
	prepare(t, r, launchertest.Request(id, "l1", root))
	rules(r, "two")
	two := refresh(t, r, id, "l1")
	rules(r, "three")
	// It wrote what it was given; that there is something newer shows.
	report(t, r, refreshed(id, "l1", two.GetDigestAfter()))
	three := refresh(t, r, id, "l1")
	if three.GetState() != stale || three.GetDigestBefore() != two.GetDigestAfter() {
		t.Errorf("got %v", three)
	}
	r.Restart() // the next server was told of no refresh
	_, err := r.Owner.ReportLaunch(t.Context(), refreshed(id, "l1", "0123"))
	launchertest.Fails(t, err, fault.StaleEtag)
	if f, _ := fault.As(err); f.Meta["current_etag"] != three.GetDigestAfter() {
		t.Errorf("metadata %v", f.Meta)
	}
	report(t, r, refreshed(id, "l1", three.GetDigestAfter()))
	if now := refresh(t, r, id, "l1"); now.GetState() != pending || len(now.GetFiles()) > 0 {
		t.Errorf("got %v", now)
	}
}

// A host that asks again for a launch whose CLI runs does not make it forget
// what the CLI was given.
func TestAskingAgainForARunningLaunchTellsItNothing(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "Be kind.")
	req := launchertest.Request(id, "l1", root)
	plan := prepare(t, r, req)
	report(t, r, &launcherv1.ReportLaunchRequest{ProjectId: id, LaunchId: "l1", Event: &launcherv1.ReportLaunchRequest_Started{Started: &launcherv1.LaunchStarted{Pid: 4711}}})
	r.Restart()
	rules(r, "Be brief.")
	if again := prepare(t, r, req); again.GetContextDigest() == plan.GetContextDigest() {
		t.Fatal("the plan made again is of another time")
	}
	got := refresh(t, r, id, "l1")
	if got.GetState() != stale || got.GetDigestBefore() != plan.GetContextDigest() || len(got.GetFiles()) != 1 {
		t.Errorf("got %v", got)
	}
	if l := list(t, r, id)[0]; l.GetContextDigest() != plan.GetContextDigest() || l.GetState() != launcherv1.LaunchState_LAUNCH_STATE_RUNNING {
		t.Errorf("record %v", l)
	}
}

// A refresh never takes the notes away because the memory service is down.
func TestRefreshNeedsTheMemory(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	r.Memory.Set(nil, &memoryv1.RecalledNote{NoteId: "vat", Description: "rates"})
	prepare(t, r, launchertest.Request(id, "l1", root))
	r.Memory.Set(fault.New(fault.StoreUnavailable, fault.Meta{"path": "x"}, "the disk is gone"))
	_, err := r.Owner.RefreshContext(t.Context(), &launcherv1.RefreshContextRequest{ProjectId: id, LaunchId: "l1"})
	launchertest.Fails(t, err, fault.ServiceUnavailable, "take them away")
}

func TestDiff(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "# Rules\n\nOne.\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.")
	prepare(t, r, launchertest.Request(id, "l1", root))
	report(t, r, exits(id, "l1"))
	rules(r, "# Rules\n\nOne.\nTwo.\nThree.\nFour.\nFive.\nSix.\nEight.\nNine.")
	prepare(t, r, launchertest.Request(id, "l2", root))
	r.Restart() // what was told is kept
	for name, other := range map[string]string{"now": "", "another launch": "l2"} {
		d, err := r.Owner.DiffContext(t.Context(), &launcherv1.DiffContextRequest{ProjectId: id, LaunchId: "l1", OtherLaunchId: other})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.GetSections()) != 1 || d.GetSections()[0].GetChange().GetSection() != typev1.SectionKind_SECTION_KIND_RULES {
			t.Fatalf("%s: %v", name, d)
		}
		var got strings.Builder
		for _, l := range d.GetSections()[0].GetLines() {
			got.WriteString(map[launcherv1.DiffOp]string{
				launcherv1.DiffOp_DIFF_OP_SAME: " ", launcherv1.DiffOp_DIFF_OP_ADDED: "+", launcherv1.DiffOp_DIFF_OP_REMOVED: "-", launcherv1.DiffOp_DIFF_OP_SKIPPED: "@",
			}[l.GetOp()] + l.GetText() + "\n")
		}
		if want := "@5\n Four.\n Five.\n Six.\n-Seven.\n+Eight.\n+Nine.\n"; got.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got.String(), want)
		}
	}
}

// Neither the person's arguments nor a token are kept with what was told.
func TestWhatIsKeptHoldsNoArguments(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	req := launchertest.Request(id, "l1", root)
	req.PassthroughArgs = []string{"--model", "secret-argument"}
	plan := prepare(t, r, req)
	r.Restart()
	docs, _, err := r.Stores.Runtime(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := docs.Get(t.Context(), "run/launches/l1.context")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret-argument", launchertest.Env(plan, "IDEAI_TOKEN")} {
		if strings.Contains(string(doc.Data), secret) {
			t.Errorf("%s holds %q", doc.Key, secret)
		}
	}
}

// Only what changes from turn to turn is sent again where the session keeps the
// rest.
func TestVolatileSectionsAlone(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "Be kind.")
	r.Context.Set(func(d *launchertest.ContextDocs) { d.State = "dev works" })
	turn := func(launch, carrier string, before *launcherv1.LaunchPlan) *launcherv1.LaunchPlan {
		req := launchertest.Request(id, launch, root)
		req.Kind, req.ConversationId, req.Carrier, req.PassthroughArgs = typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN, "c1", carrier, []string{"-p", "hi"}
		req.IfContextDigest, req.IfStableDigest = before.GetContextDigest(), before.GetStableDigest()
		plan := prepare(t, r, req)
		report(t, r, exits(id, launch))
		return plan
	}
	first := turn("l1", "stdin", nil)
	r.Context.Set(func(d *launchertest.ContextDocs) { d.State = "dev rests" })
	second := turn("l2", "stdin", first)
	if text := string(second.GetStdin()); !second.GetStableUnchanged() || second.GetContextUnchanged() || !strings.Contains(text, "dev rests") || strings.Contains(text, "Be kind.") {
		t.Errorf("stable unchanged %v, sent %q", second.GetStableUnchanged(), text)
	}
	if second.GetContextDigest() == first.GetContextDigest() || len(second.GetSections()) != len(first.GetSections()) {
		t.Error("the plan does not account for the whole context")
	}
	// A file is read whole: without the rest it would be gone.
	third := turn("l3", "side_directory", first)
	if third.GetStableUnchanged() || !strings.Contains(content(third), "Be kind.") {
		t.Errorf("stable unchanged %v, sent %q", third.GetStableUnchanged(), content(third))
	}
	rules(r, "Be brief.")
	if fourth := turn("l4", "stdin", second); fourth.GetStableUnchanged() || !strings.Contains(string(fourth.GetStdin()), "Be brief.") {
		t.Error("a changed rule is not sent")
	}
}

// watch opens a watch and reads its snapshot.
func watch(t *testing.T, r *launchertest.Rig, project string, launches int) grpc.ServerStreamingClient[launcherv1.WatchContextResponse] {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	stream, err := r.Owner.WatchContext(ctx, &launcherv1.WatchContextRequest{ProjectId: project})
	if err != nil {
		t.Fatal(err)
	}
	for range launches {
		if c := event(t, stream).GetContext(); c.GetState() != current {
			t.Fatalf("snapshot %v", c)
		}
	}
	if ev := event(t, stream); ev.GetSynced() == nil {
		t.Fatalf("got %v, want synced", ev)
	}
	return stream
}

func event(t *testing.T, stream grpc.ServerStreamingClient[launcherv1.WatchContextResponse]) *launcherv1.WatchContextResponse {
	t.Helper()
	ev, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestWatchTellsWhenAContextIsStale(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "Be kind.")
	prepare(t, r, launchertest.Request(id, "l1", root))
	stream := watch(t, r, id, 1)

	// A pull changes many files and is one event.
	for range 20 {
		rules(r, "Be brief.")
	}
	c := event(t, stream).GetContext()
	if c.GetState() != stale || len(c.GetChanges()) != 1 || c.GetChanges()[0].GetSection() != typev1.SectionKind_SECTION_KIND_RULES || c.GetApplies() != typev1.Applies_APPLIES_NEXT_TURN {
		t.Errorf("changed rules: %v", c)
	}
	r.Memory.Set(nil, &memoryv1.RecalledNote{NoteId: "vat", Description: "rates"})
	if c = event(t, stream).GetContext(); c.GetState() != stale || len(c.GetChanges()) != 2 {
		t.Errorf("another note: %v", c)
	}
	report(t, r, refreshed(id, "l1", refresh(t, r, id, "l1").GetDigestAfter()))
	if c = event(t, stream).GetContext(); c.GetState() != current || len(c.GetChanges()) != 0 {
		t.Errorf("refreshed: %v", c)
	}
	if _, err := r.Owner.SetTrust(t.Context(), &launcherv1.SetTrustRequest{ProjectId: id, Trusted: false}); err != nil {
		t.Fatal(err)
	}
	if c = event(t, stream).GetContext(); c.GetState() != stale || c.GetTokensDelta() != -1 {
		t.Errorf("trust taken away: %v", c)
	}
	r.Service.Drain(t.Context(), "test")
	_, err := stream.Recv()
	launchertest.Fails(t, err, fault.Draining)
}

// Rules that cannot be read are told of; a service that is away is not.
func TestWatchTellsOfProblems(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	rules(r, "Be kind.")
	prepare(t, r, launchertest.Request(id, "l1", root))
	stream := watch(t, r, id, 1)
	r.Context.Set(func(d *launchertest.ContextDocs) {
		d.Err = fault.New(fault.Damaged, fault.Meta{"name": "CONTEXT.md", "line": "3"}, "CONTEXT.md, line 3: a conflict")
	})
	if c := event(t, stream).GetContext(); c.GetState() != stale || !strings.Contains(c.GetProblem(), "line 3") {
		t.Errorf("broken rules: %v", c)
	}
	r.Memory.Set(fault.New(fault.StoreUnavailable, fault.Meta{"path": "x"}, "the disk is gone"))
	r.Context.Set(func(d *launchertest.ContextDocs) { d.Err, d.Rules = nil, &contextv1.Rules{Body: "Be brief."} })
	r.Memory.Set(nil)
	if c := event(t, stream).GetContext(); c.GetState() != stale || c.GetProblem() != "" || len(c.GetChanges()) != 1 {
		t.Errorf("mended, and the memory is back: %v", c)
	}
}

// Claude Code shows the first 8 KB of a changed file.
func TestLargeChangesWaitForAResume(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	long := strings.Repeat("Every change has a test and a reason.\n", 2000)
	rules(r, long)
	prepare(t, r, launchertest.Request(id, "l1", root))
	rules(r, long+"And a name.\n")
	if got := refresh(t, r, id, "l1"); got.GetApplies() != typev1.Applies_APPLIES_NEXT_TURN || len(got.GetWarnings()) > 0 {
		t.Errorf("one more line of many: %s, %v", got.GetApplies(), got.GetWarnings())
	}
	rules(r, strings.ReplaceAll(long, "reason", "name"))
	got := refresh(t, r, id, "l1")
	if got.GetApplies() != typev1.Applies_APPLIES_AT_RESUME || len(got.GetFiles()) != 1 || len(got.GetWarnings()) != 1 ||
		got.GetWarnings()[0].GetKind() != launcherv1.WarningKind_WARNING_KIND_REFRESH_WAITS {
		t.Errorf("every line: %s, %d files, %v", got.GetApplies(), len(got.GetFiles()), got.GetWarnings())
	}
	report(t, r, refreshed(id, "l1", got.GetDigestAfter()))
	if now := refresh(t, r, id, "l1"); now.GetState() != pending || len(now.GetFiles()) > 0 {
		t.Errorf("after the refresh: %s, %d files", now.GetState(), len(now.GetFiles()))
	}
	if l := list(t, r, id)[0]; l.GetRefresh().GetApplies() != typev1.Applies_APPLIES_AT_RESUME || l.GetContextDigest() != got.GetDigestBefore() {
		t.Errorf("record %v", l.GetRefresh())
	}
}
