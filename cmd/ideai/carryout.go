package main

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/fault"
)

// reportTimeout bounds how long the end of a launch waits for the server.
const reportTimeout = 2 * time.Second

// carryOut runs the plan in this terminal. The server hears of it beside: a
// CLI that runs never waits for it, nor ends with it.
func (a *app) carryOut(ctx context.Context, s *session, at place, plan *launcherv1.LaunchPlan, req *launcherv1.PrepareLaunchRequest) error {
	facts := req.GetHost()
	for _, w := range plan.GetWarnings() {
		if worthSaying(w) {
			a.remark("%s", a.fileProblem(w.GetMessage()))
		}
	}
	// Ctrl-C is for the CLI; host passes on the rest.
	ctx = context.WithoutCancel(ctx)
	beside, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { a.stayAttached(beside, s, again(req, plan)) })
	begin := time.Now()
	code, err := host.Run(ctx, plan, host.Options{
		ProjectRoot: facts.GetProjectRoot(),
		OnStarted: func(pid int, when time.Time) {
			wg.Go(func() { report(beside, s, at, plan.GetLaunchId(), started(pid, when)) })
			wg.Go(func() { sweep(beside, s, at, facts.GetProjectRoot()) })
		},
	})
	ran := time.Since(begin)
	if err != nil {
		code = exitError
	}
	last, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	report(last, s, at, plan.GetLaunchId(), exited(code, ran))
	end()
	wg.Wait()
	if err != nil {
		return err
	}
	if facts.GetInteractive() {
		a.remark("%s ended after %s; what it was told: ideai launch explain", plan.GetIdentity().GetInstanceId(), ran.Round(time.Second).String())
	}
	if code != 0 {
		return &codeError{code}
	}
	return nil
}

// worthSaying leaves out what is said elsewhere or is the normal state of a
// young project.
func worthSaying(w *launcherv1.Warning) bool {
	return w.GetKind() != launcherv1.WarningKind_WARNING_KIND_UNTRUSTED && w.GetKind() != launcherv1.WarningKind_WARNING_KIND_NO_PERSONA
}

// How long stayAttached waits before it looks for the next server.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// again is the request for a launch that exists, so that a server which never
// heard of it knows it as it is.
func again(req *launcherv1.PrepareLaunchRequest, plan *launcherv1.LaunchPlan) *launcherv1.PrepareLaunchRequest {
	r := proto.CloneOf(req)
	id := plan.GetIdentity()
	r.AgentId, r.InstanceId, r.ConversationId = id.GetAgentId(), id.GetInstanceId(), id.GetConversationId()
	return r
}

// stayAttached tells the server that the launch lives, until ctx ends. When
// the server goes away it attaches to the next one, starting it when needed:
// the agent's tools have to reach one. A server that died before it wrote the
// launch down left no record; the next one is given it again.
func (a *app) stayAttached(ctx context.Context, s *session, launch *launcherv1.PrepareLaunchRequest) {
	wait := firstRetry
	for {
		err := attach(ctx, s, launch)
		switch {
		case err == nil:
			wait = firstRetry
		case fault.ReasonOf(err) == fault.LaunchNotFound:
			_, _ = s.launcher.PrepareLaunch(ctx, launch) // attaching tells whether it helped
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = min(2*wait, lastRetry)
		if a.flags.inProcess {
			continue // there is no other server
		}
		if next, err := a.connect(ctx); err == nil {
			next.close() // it only makes sure that a server listens
		}
	}
}

// attach attaches to the launch and returns nil once one side ended it, an
// error when it could not be attached.
func attach(ctx context.Context, s *session, launch *launcherv1.PrepareLaunchRequest) error {
	stream, err := s.launcher.AttachLaunch(ctx, &launcherv1.AttachLaunchRequest{ProjectId: launch.GetProjectId(), LaunchId: launch.GetLaunchId()})
	if err != nil {
		return err
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	_, _ = stream.Recv()
	return nil
}

// report tells the server what became of a launch. A server that cannot be
// told learns it by the end of the attachment.
func report(ctx context.Context, s *session, at place, launch string, event func(*launcherv1.ReportLaunchRequest)) {
	req := &launcherv1.ReportLaunchRequest{ProjectId: at.project, LaunchId: launch}
	event(req)
	_, _ = s.launcher.ReportLaunch(ctx, req)
}

func started(pid int, at time.Time) func(*launcherv1.ReportLaunchRequest) {
	return func(r *launcherv1.ReportLaunchRequest) {
		r.Event = &launcherv1.ReportLaunchRequest_Started{Started: &launcherv1.LaunchStarted{Pid: int64(pid), StartTime: timestamppb.New(at)}}
	}
}

func exited(code int, ran time.Duration) func(*launcherv1.ReportLaunchRequest) {
	return func(r *launcherv1.ReportLaunchRequest) {
		r.Event = &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{ExitCode: int32(code), Duration: durationpb.New(ran)}}
	}
}

// sweep tidies up after launches whose host was killed.
func sweep(ctx context.Context, s *session, at place, root string) {
	live := map[string]bool{}
	r, err := s.launcher.ListLaunches(ctx, &launcherv1.ListLaunchesRequest{ProjectId: at.project, OnlyLive: true, PageSize: 1000})
	if err != nil {
		return // not knowing what lives, leave all
	}
	for _, l := range r.GetLaunches() {
		live[l.GetLaunchId()] = true
	}
	_, _ = host.Sweep(root, filepath.Join(root, ".ideai", "run"), func(id string) bool { return live[id] })
}
