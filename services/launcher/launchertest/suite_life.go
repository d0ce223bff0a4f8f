package launchertest

import (
	"slices"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
)

func testLaunchLife(t *testing.T, s *suite) {
	p := s.project("shop")
	id := s.prepare(s.request(p)).GetLaunchId()
	live := func() []string {
		t.Helper()
		resp, err := s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id, OnlyLive: true})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, l := range resp.GetLaunches() {
			ids = append(ids, l.GetLaunchId())
		}
		return ids
	}
	if len(live()) != 0 {
		t.Error("a launch without a host counts as live")
	}
	_, detach := s.attach(p, id)
	if !slices.Equal(live(), []string{id}) {
		t.Errorf("live: %v", live())
	}
	for range 2 {
		if err := s.report(p, id, started(4711)); err != nil {
			t.Fatal(err)
		}
	}
	if l := s.launch(p, id); l.GetState() != launcherv1.LaunchState_LAUNCH_STATE_RUNNING || l.GetStarted().GetPid() != 4711 {
		t.Errorf("got %v", l)
	}
	for _, code := range []int32{130, 0} {
		if err := s.report(p, id, exited(code)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.report(p, id, started(4711)); err != nil {
		t.Fatal(err)
	}
	if l := s.launch(p, id); l.GetState() != launcherv1.LaunchState_LAUNCH_STATE_EXITED || l.GetExited().GetExitCode() != 130 {
		t.Errorf("the first end stands: %v", l)
	}
	detach()
	stream, err := s.Owner.AttachLaunch(s.ctx, &launcherv1.AttachLaunchRequest{ProjectId: p.id, LaunchId: id})
	if err == nil {
		_, err = stream.Recv()
	}
	s.fails(err, fault.LaunchNotFound, "is over")
}

func testLaunchFaults(t *testing.T, s *suite) {
	p := s.project("shop")
	_, err := s.Owner.GetLaunch(s.ctx, &launcherv1.GetLaunchRequest{ProjectId: p.id, LaunchId: "none"})
	s.fails(err, fault.LaunchNotFound)
	_, err = s.Owner.GetLaunch(s.ctx, &launcherv1.GetLaunchRequest{ProjectId: "none", LaunchId: "x"})
	s.fails(err, fault.ProjectNotFound)
	s.fails(s.report(p, "none", started(1)), fault.LaunchNotFound)
	s.fails(s.report(p, "none", started(0)), fault.InvalidField)
	s.fails(s.report(p, "none", func(*launcherv1.ReportLaunchRequest) {}), fault.InvalidField)
	_, err = s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: "none"})
	s.fails(err, fault.ProjectNotFound)
	_, err = s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id, PageToken: "damaged"})
	s.fails(err, fault.PageTokenInvalid)
	stream, err := s.Owner.AttachLaunch(s.ctx, &launcherv1.AttachLaunchRequest{ProjectId: p.id, LaunchId: "none"})
	if err == nil {
		_, err = stream.Recv()
	}
	s.fails(err, fault.LaunchNotFound)
}

func testLaunchPages(t *testing.T, s *suite) {
	p := s.project("shop")
	var want []string
	for range 7 {
		want = append(want, s.prepare(s.request(p)).GetLaunchId())
	}
	slices.Reverse(want)
	var got []string
	for token := ""; ; {
		resp, err := s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id, PageSize: 3, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range resp.GetLaunches() {
			got = append(got, l.GetLaunchId())
		}
		if token = resp.GetNextPageToken(); token == "" {
			break
		}
		_, err = s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id, PageToken: token, OnlyLive: true})
		s.fails(err, fault.PageTokenInvalid)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func testRenewToken(t *testing.T, s *suite) {
	p := s.project("shop")
	plan := s.prepare(s.request(p))
	agent := s.As(Env(plan, "IDEAI_TOKEN"))
	renewed, err := agent.RenewToken(s.ctx, &launcherv1.RenewTokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if renewed.GetExpireTime().AsTime().Before(plan.GetTokenExpireTime().AsTime()) {
		t.Error("the new token ends before the old one")
	}
	again := s.As(renewed.GetToken())
	if _, err := again.RenewToken(s.ctx, &launcherv1.RenewTokenRequest{}); err != nil {
		t.Error(err)
	}
	if err := s.report(p, plan.GetLaunchId(), exited(0)); err != nil {
		t.Fatal(err)
	}
	_, err = again.RenewToken(s.ctx, &launcherv1.RenewTokenRequest{})
	s.fails(err, fault.LaunchNotFound, "is over")
	_, err = s.Owner.RenewToken(s.ctx, &launcherv1.RenewTokenRequest{})
	s.fails(err, fault.CallerNotAllowed)
	_, err = s.As("nonsense").RenewToken(s.ctx, &launcherv1.RenewTokenRequest{})
	s.fails(err, fault.ReasonUnauthenticated)
}

func testAgentIsConfined(t *testing.T, s *suite) {
	p := s.project("shop")
	agent := s.As(Env(s.prepare(s.request(p)), "IDEAI_TOKEN"))
	if _, err := agent.GetServerInfo(s.ctx, &launcherv1.GetServerInfoRequest{}); err != nil {
		t.Error(err)
	}
	for name, call := range map[string]func() error{
		"drain": func() error { _, err := agent.Drain(s.ctx, &launcherv1.DrainRequest{}); return err },
		"resolve": func() error {
			_, err := agent.ResolveProject(s.ctx, &launcherv1.ResolveProjectRequest{Path: p.root})
			return err
		},
		"register": func() error {
			_, err := agent.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: p.root})
			return err
		},
		"get project": func() error {
			_, err := agent.GetProject(s.ctx, &launcherv1.GetProjectRequest{ProjectId: p.id})
			return err
		},
		"unregister": func() error {
			_, err := agent.UnregisterProject(s.ctx, &launcherv1.UnregisterProjectRequest{ProjectId: p.id})
			return err
		},
		"list": func() error { _, err := agent.ListProjects(s.ctx, &launcherv1.ListProjectsRequest{}); return err },
		"trust": func() error {
			_, err := agent.GetTrust(s.ctx, &launcherv1.GetTrustRequest{ProjectId: p.id})
			return err
		},
		"set trust": func() error {
			_, err := agent.SetTrust(s.ctx, &launcherv1.SetTrustRequest{ProjectId: p.id, Trusted: true})
			return err
		},
		"prepare": func() error { _, err := agent.PrepareLaunch(s.ctx, s.request(p)); return err },
		"preview": func() error {
			_, err := agent.PreviewContext(s.ctx, &launcherv1.PreviewContextRequest{ProjectId: p.id, ProfileId: "claude"})
			return err
		},
		"report": func() error {
			_, err := agent.ReportLaunch(s.ctx, &launcherv1.ReportLaunchRequest{ProjectId: p.id, LaunchId: "launch-1",
				Event: &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{}}})
			return err
		},
		"get": func() error {
			_, err := agent.GetLaunch(s.ctx, &launcherv1.GetLaunchRequest{ProjectId: p.id, LaunchId: "launch-1"})
			return err
		},
		"list launches": func() error {
			_, err := agent.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id})
			return err
		},
		"attach": func() error {
			stream, err := agent.AttachLaunch(s.ctx, &launcherv1.AttachLaunchRequest{ProjectId: p.id, LaunchId: "launch-1"})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { Fails(t, call(), fault.CallerNotAllowed, "AGENT") })
	}
}

func testDrain(t *testing.T, s *suite) {
	p := s.project("shop")
	id := s.prepare(s.request(p)).GetLaunchId()
	stream, _ := s.attach(p, id)
	if _, err := s.Owner.Drain(s.ctx, &launcherv1.DrainRequest{Why: "a newer build"}); err != nil {
		t.Fatal(err)
	}
	_, err := stream.Recv()
	s.fails(err, fault.Draining)
	// From here on a server may be gone at any time, and says so if it answers.
	gone := func(err error) bool {
		reason := fault.ReasonOf(grpcerr.FromStatus(err, grpcerr.Call{}))
		return reason == fault.Draining || reason == fault.ServiceUnavailable
	}
	if _, err = s.Owner.PrepareLaunch(s.ctx, s.request(p)); !gone(err) {
		t.Errorf("a launch was prepared by a draining server: %v", err)
	}
	if _, err = s.Owner.Drain(s.ctx, &launcherv1.DrainRequest{}); err != nil && !gone(err) {
		t.Error(err)
	}
	info, err := s.Owner.GetServerInfo(s.ctx, &launcherv1.GetServerInfoRequest{})
	if err == nil && !info.GetDraining() || err != nil && !gone(err) {
		t.Errorf("got %v %v", info, err)
	}
}
