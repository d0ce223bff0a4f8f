package launchertest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

func list(t testing.TB, r *launchertest.Rig, project string) []*launcherv1.Launch {
	t.Helper()
	resp, err := r.Owner.ListLaunches(t.Context(), &launcherv1.ListLaunchesRequest{ProjectId: project, PageSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetLaunches()
}

func state(t testing.TB, r *launchertest.Rig, project, launch string) launcherv1.LaunchState {
	t.Helper()
	resp, err := r.Owner.GetLaunch(t.Context(), &launcherv1.GetLaunchRequest{ProjectId: project, LaunchId: launch})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetLaunch().GetState()
}

func report(t testing.TB, r *launchertest.Rig, req *launcherv1.ReportLaunchRequest) {
	t.Helper()
	if _, err := r.Owner.ReportLaunch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func starts(project, launch string) *launcherv1.ReportLaunchRequest {
	return &launcherv1.ReportLaunchRequest{ProjectId: project, LaunchId: launch,
		Event: &launcherv1.ReportLaunchRequest_Started{Started: &launcherv1.LaunchStarted{Pid: 1}}}
}

func exits(project, launch string) *launcherv1.ReportLaunchRequest {
	return &launcherv1.ReportLaunchRequest{ProjectId: project, LaunchId: launch,
		Event: &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{ExitCode: 3}}}
}

// attach attaches to a launch until detach is called.
func attach(t testing.TB, r *launchertest.Rig, project, launch string) (detach func(), err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := r.Owner.AttachLaunch(ctx, &launcherv1.AttachLaunchRequest{ProjectId: project, LaunchId: launch})
	if err == nil {
		_, err = stream.Recv()
	}
	return func() {
		cancel()
		for err == nil {
			_, err = stream.Recv()
		}
	}, err
}

func TestRecordsOutliveTheServer(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	for i := range 35 {
		launch := fmt.Sprintf("l%02d", i)
		prepare(t, r, launchertest.Request(id, launch, root))
		report(t, r, exits(id, launch))
	}
	before := list(t, r, id)
	r.Restart()
	after := list(t, r, id)
	if len(after) != 30 || after[0].GetLaunchId() != "l34" || after[29].GetLaunchId() != "l05" {
		t.Fatalf("%d records, from %s to %s", len(after), after[0].GetLaunchId(), after[len(after)-1].GetLaunchId())
	}
	for i := range after {
		if !proto.Equal(before[i], after[i]) {
			t.Errorf("got %v, want %v", after[i], before[i])
		}
	}
	docs, _, err := r.Stores.Runtime(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for doc, err := range docs.List(t.Context(), "run/launches") {
		if err != nil {
			t.Fatal(err)
		}
		stored++
		if strings.Contains(doc.Key, "l04") {
			t.Errorf("%s is kept", doc.Key)
		}
	}
	if stored != 2*30 {
		t.Errorf("%d documents are kept, want a record and a context of each of 30 launches", stored)
	}
}

func TestSameRequestAfterRestart(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	req := launchertest.Request(id, "l1", root)
	before := prepare(t, r, req)
	r.Restart()
	other := launchertest.Request(id, "l2", root)
	if got := prepare(t, r, other).GetIdentity().GetInstanceId(); got != "dev-2" {
		t.Errorf("the launch from before holds dev for a while, the next got %s", got)
	}
	after := prepare(t, r, req)
	if !proto.Equal(after.GetIdentity(), before.GetIdentity()) || after.GetContextDigest() != before.GetContextDigest() {
		t.Errorf("got %v, want %v", after.GetIdentity(), before.GetIdentity())
	}
	req.Task = "another"
	_, err := r.Owner.PrepareLaunch(t.Context(), req)
	launchertest.Fails(t, err, fault.IDReused)
}

func TestLaunchesWithoutAHostAreLost(t *testing.T) {
	lost, running := launcherv1.LaunchState_LAUNCH_STATE_LOST, launcherv1.LaunchState_LAUNCH_STATE_RUNNING
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	for _, launch := range []string{"stays", "leaves", "idle"} {
		prepare(t, r, launchertest.Request(id, launch, root))
	}
	for _, launch := range []string{"stays", "leaves"} {
		if _, err := attach(t, r, id, launch); err != nil {
			t.Fatal(err)
		}
		report(t, r, starts(id, launch))
	}
	r.Clock.Pass(2 * time.Minute)
	if got := state(t, r, id, "idle"); got != lost {
		t.Errorf("a launch nobody attached to is %v", got)
	}
	if got := state(t, r, id, "leaves"); got != running {
		t.Errorf("an attached launch is %v", got)
	}
	r.Restart()
	detach, err := attach(t, r, id, "stays")
	if err != nil {
		t.Fatal(err)
	}
	if got := state(t, r, id, "leaves"); got != running {
		t.Errorf("right after a restart it is %v", got)
	}
	r.Clock.Pass(2 * time.Minute)
	if a, b := state(t, r, id, "stays"), state(t, r, id, "leaves"); a != running || b != lost {
		t.Errorf("the attached one is %v, the other %v", a, b)
	}
	// The instance of the lost one is free; once it is taken, its host is too late.
	plan := prepare(t, r, launchertest.Request(id, "next", root))
	if got := plan.GetIdentity().GetInstanceId(); got != "dev-2" {
		t.Errorf("the next launch is %s", got)
	}
	_, err = attach(t, r, id, "leaves")
	launchertest.Fails(t, err, fault.IDReused, "next")
	report(t, r, exits(id, "next"))
	if _, err := attach(t, r, id, "leaves"); err != nil {
		t.Errorf("its instance is free again: %v", err)
	}
	if got := state(t, r, id, "leaves"); got != running {
		t.Errorf("attached again it is %v", got)
	}
	detach()
}

func TestTokenOfALostLaunchIsNotRenewed(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	agent := r.As(launchertest.Env(prepare(t, r, launchertest.Request(id, "l1", root)), "IDEAI_TOKEN"))
	r.Clock.Pass(2 * time.Minute)
	_, err := agent.RenewToken(t.Context(), &launcherv1.RenewTokenRequest{})
	launchertest.Fails(t, err, fault.LaunchNotFound)
	if _, err := attach(t, r, id, "l1"); err != nil {
		t.Fatal(err)
	}
	r.Clock.Pass(11 * time.Hour)
	if _, err := agent.RenewToken(t.Context(), &launcherv1.RenewTokenRequest{}); err != nil {
		t.Error(err)
	}
}

func TestDamagedRecordIsPassedOver(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	docs, _, err := r.Stores.Runtime(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for key, data := range map[string]string{
		"run/launches/bad.json":   "{",
		"run/launches/other.json": `{"format":1,"launch":{"launchId":"x","createTime":"2026-01-01T00:00:00Z"}}`,
		"run/launches/notes.txt":  "hello",
	} {
		if _, err := docs.Put(t.Context(), key, []byte(data), store.Absent); err != nil {
			t.Fatal(err)
		}
	}
	prepare(t, r, launchertest.Request(id, "l1", root))
	if got := list(t, r, id); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	r.Restart()
	if _, err := docs.Get(t.Context(), "run/launches/bad.json"); err != nil {
		t.Error("a record that could not be read is gone")
	}
	if !strings.Contains(r.Logs.String(), "bad.json") {
		t.Error("the log does not name it")
	}
}

func TestLongArgumentsDoNotFillRecords(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	req := launchertest.Request(id, "l1", root)
	for range 100 {
		req.PassthroughArgs = append(req.PassthroughArgs, strings.Repeat("é", 50_000))
	}
	plan := prepare(t, r, req)
	if got := plan.GetArgv()[len(plan.GetArgv())-1].GetValue(); len(got) != 100_000 {
		t.Errorf("the plan's argument has %d bytes", len(got))
	}
	r.Restart()
	got := list(t, r, id)
	if len(got) != 1 || len(got[0].GetArgv()) != len(plan.GetArgv()) || proto.Size(got[0]) > 64<<10 {
		t.Errorf("%d records, the first of %d bytes", len(got), proto.Size(got[0]))
	}
}

// Whatever lies beside what an agent may be told must not reach a plan, and the
// agent's token must not reach anything but its variable.
func TestNothingLeaks(t *testing.T) {
	const canary = "canary-5f1c"
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	docs, log, err := r.Stores.Runtime(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"conversations/c1/conversation.json", "conversations/c1/handoff.md", "coordination.json", "proposals/p1.json", "agents/other.md"} {
		if _, err := docs.Put(t.Context(), key, []byte(canary), store.Absent); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Append(t.Context(), "conversations/c1/log", [][]byte{[]byte(canary)}, 0); err != nil {
		t.Fatal(err)
	}
	r.Context.Set(func(d *launchertest.ContextDocs) {
		d.Personas = map[string]*contextv1.Persona{"other": {AgentId: "other", Body: canary}}
	})
	first := launchertest.Request(id, "l1", root)
	first.Task, first.PassthroughArgs = canary, []string{canary}
	leak := prepare(t, r, first)
	r.Memory.Set(nil, &memoryv1.RecalledNote{NoteId: "n", Description: "d"})

	var tokens []string
	tokens = append(tokens, launchertest.Env(leak, "IDEAI_TOKEN"))
	for i, profile := range []string{"claude", "codex"} {
		req := launchertest.Request(id, fmt.Sprintf("l%d", i+2), root)
		req.ProfileId = profile
		plan := prepare(t, r, req)
		if strings.Contains(plan.String(), canary) || strings.Contains(content(plan), canary) {
			t.Errorf("%s: the plan holds what the agent must not see", profile)
		}
		token := launchertest.Env(plan, "IDEAI_TOKEN")
		tokens = append(tokens, token)
		agent := r.As(token)
		renewed, err := agent.RenewToken(t.Context(), &launcherv1.RenewTokenRequest{})
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, renewed.GetToken())
		if slices.ContainsFunc(launchertest.Argv(plan), func(a string) bool { return strings.Contains(a, token) }) || strings.Contains(content(plan), token) {
			t.Errorf("%s: the token stands in an argument or a file", profile)
		}
	}
	r.Restart()
	var kept strings.Builder
	for doc, err := range docs.List(t.Context(), "run") {
		if err != nil {
			t.Fatal(err)
		}
		kept.Write(doc.Data)
	}
	if kept.Len() == 0 || r.Logs.String() == "" {
		t.Fatal("nothing was recorded or logged: this test shows nothing")
	}
	for _, token := range tokens {
		if strings.Contains(kept.String(), token) || strings.Contains(r.Logs.String(), token) {
			t.Error("a token stands in a record or in the log")
		}
	}
	if strings.Contains(r.Logs.String(), canary) {
		t.Error("the log holds a person's text")
	}
}
