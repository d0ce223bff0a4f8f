package launchersvc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/project"
)

// PrepareLaunch composes a launch and keeps its record. The same request for
// the same launch id gets the same plan, also when it is made at the same time
// or again later; once the launch is over its id is refused. A dry run leaves
// nothing behind.
func (s *Service) PrepareLaunch(ctx context.Context, req *launcherv1.PrepareLaunchRequest) (*launcherv1.LaunchPlan, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	p, w, err := s.worktree(req.GetProjectId(), req.GetWorktreeId())
	if err != nil {
		return nil, err
	}
	d, err := s.desk(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	caller, _ := auth.FromContext(ctx)
	if req.GetDryRun() {
		unlisted := &launch{record: &launcherv1.Launch{LaunchId: req.GetLaunchId()}}
		made, err := s.compose(ctx, d, unlisted, &preparation{req: req, project: p, worktree: w, person: caller.Person})
		return made.plan, err
	}
	digest, err := requestDigest(caller.Person, req)
	if err != nil {
		return nil, err
	}
	for {
		l, ready, err := d.begin(req.GetLaunchId(), digest)
		if err != nil {
			return nil, err
		}
		if ready == nil {
			return s.prepare(ctx, d, l, &preparation{req: req, project: p, worktree: w, person: caller.Person})
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if plan := d.planOf(l); plan != nil {
			return plan, nil
		}
		// Whoever prepared it failed, perhaps by giving up: now it is our turn.
	}
}

// preparation is one launch in the making.
type preparation struct {
	req      *launcherv1.PrepareLaunchRequest
	project  project.Project
	worktree project.Worktree
	person   string
}

// prepare makes the plan of a launch that begin gave to this caller.
func (s *Service) prepare(ctx context.Context, d *desk, l *launch, p *preparation) (*launcherv1.LaunchPlan, error) {
	began := time.Now()
	made, err := s.compose(ctx, d, l, p)
	if err != nil {
		d.abandon(l)
		return nil, err
	}
	plan, now := made.plan, s.deps.Clock()
	record := newRecord(plan, p.req.GetPassthroughArgs())
	record.CreateTime = timestamppb.New(now)
	d.finish(l, made, record, now)
	s.records.mark(d, append(d.sweep(now), plan.GetLaunchId())...)
	s.deps.Logger.InfoContext(ctx, "launch prepared",
		"project", p.project.ID, "worktree", p.worktree.ID, "launch", plan.GetLaunchId(), "instance", plan.GetIdentity().GetInstanceId(),
		"profile", plan.GetProfileId(), "kind", plan.GetKind().String(), "carrier", plan.GetInjection().GetCarrier(),
		"tokens", plan.GetContextTokens(), "warnings", len(plan.GetWarnings()), "took", time.Since(began))
	return plan, nil
}

// made is what a preparation comes to.
type made struct {
	plan *launcherv1.LaunchPlan
	told *told
}

// compose does the work of prepare: the effective context, an identity, the
// injection, and the plan made of them.
func (s *Service) compose(ctx context.Context, d *desk, l *launch, p *preparation) (made, error) {
	req := p.req
	g, err := s.gather(ctx, ask{
		project: p.project, worktree: p.worktree, agent: req.GetAgentId(), profile: req.GetProfileId(),
		task: req.GetTask(), locale: req.GetHost().GetLocale(), openFolder: req.GetHost().GetOpenFolder(),
	})
	if err != nil {
		return made{}, err
	}
	identity := &launcherv1.Identity{
		ProjectId: p.project.ID, WorktreeId: p.worktree.ID, PersonId: p.person, AgentId: g.agent,
		InstanceId: req.GetInstanceId(), ConversationId: req.GetConversationId(), Generation: 1,
	}
	if identity.ConversationId == "" {
		identity.ConversationId = newConversationID()
	}
	if err := d.allocate(l, identity, s.deps.Clock()); err != nil {
		return made{}, err
	}
	b := planner{service: s, preparation: p, gathered: g, identity: identity, os: hostOS(req.GetHost().GetOs())}
	plan, err := b.plan(ctx)
	if err != nil {
		return made{}, err
	}
	return made{plan, b.told()}, nil
}

// checkRequest refuses what the proto's rules cannot: paths that are none on
// the host, and names that collide.
func checkRequest(req *launcherv1.PrepareLaunchRequest) error {
	if slices.Contains(reserved, req.GetLaunchId()) {
		return invalid("launch_id", "%q is the name of ideai's own folder; use another launch id", req.GetLaunchId())
	}
	if slices.Contains(reserved, req.GetConversationId()) {
		return invalid("conversation_id", "%q is the name of ideai's own folder; use another conversation id", req.GetConversationId())
	}
	host := req.GetHost()
	os := hostOS(host.GetOs())
	for _, f := range []struct{ field, value string }{
		{"host.project_root", host.GetProjectRoot()},
		{"host.cli_path", host.GetCliPath()},
		{"host.ideai_path", host.GetIdeaiPath()},
		{"host.run_root", host.GetRunRoot()},
	} {
		if f.value != "" && !os.absolute(f.value) {
			return invalid(f.field, "%q is not an absolute path of %s; give the whole path", f.value, os)
		}
	}
	if !os.local(host.GetCwdRelative()) {
		return invalid("host.cwd_relative", "%q leads out of the project; give a path inside it", host.GetCwdRelative())
	}
	for i, a := range req.GetPassthroughArgs() {
		if strings.ContainsRune(a, 0) {
			return invalid(fmt.Sprintf("passthrough_args[%d]", i), "an argument cannot hold a NUL byte; leave it out")
		}
	}
	return nil
}

// needsHistory refuses the kinds of launch that go on with a conversation from
// its handoff, which no service of this server keeps.
func needsHistory(kind string) error {
	return fault.New(fault.ServiceUnavailable, fault.Meta{"service": "conversation"},
		"a %s launch needs the conversation service, which this server does not have; start a fresh launch", kind)
}
