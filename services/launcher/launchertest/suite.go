package launchertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
)

// Subject is a launcher as its clients see it.
type Subject struct {
	// Owner calls as the person, HUMAN and HOST at once.
	Owner launcherv1.LauncherServiceClient
	// As returns a client that calls with a token.
	As func(token string) launcherv1.LauncherServiceClient
}

// Run holds launchers to the API. open gives each subtest a launcher of its
// own, which sees the files of this machine.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, *suite){
		"ServerInfo":       testServerInfo,
		"Projects":         testProjects,
		"ProjectFaults":    testProjectFaults,
		"Worktrees":        testWorktrees,
		"Trust":            testTrust,
		"Aliases":          testAliases,
		"Plan":             testPlan,
		"PlanKinds":        testPlanKinds,
		"PlanFaults":       testPlanFaults,
		"SameRequest":      testSameRequest,
		"Instances":        testInstances,
		"LaunchLife":       testLaunchLife,
		"LaunchFaults":     testLaunchFaults,
		"LaunchPages":      testLaunchPages,
		"Preview":          testPreview,
		"DryRun":           testDryRun,
		"RenewToken":       testRenewToken,
		"AgentIsConfined":  testAgentIsConfined,
		"DrainEndsStreams": testDrain,
		"Refresh":          testRefresh,
		"WatchContext":     testWatchContext,
		"ContextFaults":    testContextFaults,
		"StructuredTurn":   testStructuredTurn,
	} {
		t.Run(name, func(t *testing.T) { test(t, &suite{Subject: open(t), t: t, ctx: t.Context()}) })
	}
}

type suite struct {
	Subject
	t   *testing.T
	ctx context.Context
	ids int
}

func (s *suite) id() string {
	s.ids++
	return fmt.Sprintf("launch-%d", s.ids)
}

// place is a registered project with its folder.
type place struct{ id, root string }

// project registers an empty folder.
func (s *suite) project(name string) place {
	s.t.Helper()
	root := s.folder(name)
	resp, err := s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: root})
	if err != nil {
		s.t.Fatal(err)
	}
	return place{resp.GetProject().GetProjectId(), resp.GetProject().GetRoot()}
}

func (s *suite) folder(name string) string {
	s.t.Helper()
	root := filepath.Join(s.t.TempDir(), name)
	if err := os.Mkdir(root, 0o755); err != nil {
		s.t.Fatal(err)
	}
	return root
}

// request asks for a launch of claude.
func (s *suite) request(p place) *launcherv1.PrepareLaunchRequest {
	return Request(p.id, s.id(), p.root)
}

// Request asks for a fresh launch of claude in a project on Linux.
func Request(project, launch, root string) *launcherv1.PrepareLaunchRequest {
	return &launcherv1.PrepareLaunchRequest{
		ProjectId: project,
		LaunchId:  launch,
		ProfileId: "claude",
		Host: &launcherv1.Host{
			Os:            "linux",
			ProjectRoot:   root,
			CliPath:       "/opt/cli/bin/claude",
			CliVersion:    "2.1.332",
			IdeaiPath:     "/opt/ideai/bin/ideai",
			ServerAddress: "unix:///run/user/1000/ideai/s.sock",
			Interactive:   true,
		},
	}
}

func (s *suite) prepare(req *launcherv1.PrepareLaunchRequest) *launcherv1.LaunchPlan {
	s.t.Helper()
	resp, err := s.Owner.PrepareLaunch(s.ctx, req)
	if err != nil {
		s.t.Fatalf("prepare %s: %v", req.GetLaunchId(), err)
	}
	return resp.GetPlan()
}

// attach attaches to a launch and returns the stream and what ends it.
func (s *suite) attach(p place, launch string) (stream grpc.ServerStreamingClient[launcherv1.AttachLaunchResponse], detach func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	s.t.Cleanup(cancel)
	stream, err := s.Owner.AttachLaunch(ctx, &launcherv1.AttachLaunchRequest{ProjectId: p.id, LaunchId: launch})
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := stream.Recv()
	if err != nil || resp.GetLaunchId() != launch {
		s.t.Fatalf("attach %s: %v %v", launch, resp, err)
	}
	return stream, func() {
		cancel()
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			s.t.Error("the stream ended without a reason")
		}
	}
}

func (s *suite) report(p place, launch string, change func(*launcherv1.ReportLaunchRequest)) error {
	req := &launcherv1.ReportLaunchRequest{ProjectId: p.id, LaunchId: launch}
	change(req)
	_, err := s.Owner.ReportLaunch(s.ctx, req)
	return err
}

func started(pid int64) func(*launcherv1.ReportLaunchRequest) {
	return func(r *launcherv1.ReportLaunchRequest) {
		r.Event = &launcherv1.ReportLaunchRequest_Started{Started: &launcherv1.LaunchStarted{Pid: pid}}
	}
}

func exited(code int32) func(*launcherv1.ReportLaunchRequest) {
	return func(r *launcherv1.ReportLaunchRequest) {
		r.Event = &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{ExitCode: code}}
	}
}

func (s *suite) launch(p place, id string) *launcherv1.Launch {
	s.t.Helper()
	resp, err := s.Owner.GetLaunch(s.ctx, &launcherv1.GetLaunchRequest{ProjectId: p.id, LaunchId: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.GetLaunch()
}

// fails checks why a call failed, and that its fault has the keys of its reason
// and says what it must.
func (s *suite) fails(err error, reason fault.Reason, words ...string) {
	s.t.Helper()
	Fails(s.t, err, reason, words...)
}

// Fails checks why a call failed, that the fault has the metadata of its reason
// and that its message says what it must.
func Fails(t testing.TB, err error, reason fault.Reason, words ...string) {
	t.Helper()
	err = grpcerr.FromStatus(err, grpcerr.Call{})
	f, ok := fault.As(err)
	if !ok || f.Reason != reason {
		t.Errorf("got %v (%s), want %s", err, fault.ReasonOf(err), reason)
		return
	}
	for _, key := range reason.MetaKeys() {
		if _, ok := f.Meta[key]; !ok {
			t.Errorf("%s has no metadata %q: %v", reason, key, f.Meta)
		}
	}
	for _, w := range words {
		if !strings.Contains(f.Msg, w) {
			t.Errorf("%s says %q, without %q", reason, f.Msg, w)
		}
	}
}

// Env returns a variable of a plan, "" when it does not set it.
func Env(plan *launcherv1.LaunchPlan, name string) string {
	for _, e := range plan.GetEnv() {
		if e.GetName() == name {
			return e.GetValue()
		}
	}
	return ""
}

// Argv returns the argv of a plan.
func Argv(plan *launcherv1.LaunchPlan) []string {
	out := make([]string, len(plan.GetArgv()))
	for i, a := range plan.GetArgv() {
		out[i] = a.GetValue()
	}
	return out
}

func equal(t testing.TB, what string, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
