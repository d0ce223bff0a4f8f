package launchersvc

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/provider"
)

// mcpServer is the name of our MCP server in every CLI.
const mcpServer = "ideai"

// The variables that every process of a launch finds.
const (
	envToken   = "IDEAI_TOKEN"
	envAddress = "IDEAI_ADDRESS"
	envLaunch  = "IDEAI_LAUNCH"
)

// planner makes the plan of one launch from what was gathered.
type planner struct {
	service *Service
	*preparation
	gathered
	identity *launcherv1.Identity
	os       hostOS

	invocation provider.Invocation
	kind       provider.Kind
	workspace  provider.Workspace
	headless   bool
	side       string
	carrier    *provider.Carrier
}

func newConversationID() string { return "c-" + uuid.NewString() }

func (b *planner) plan(ctx context.Context) (*launcherv1.LaunchPlan, error) {
	if err := b.read(); err != nil {
		return nil, err
	}
	injection, err := b.inject(ctx)
	if err != nil {
		return nil, err
	}
	token, expires, err := b.service.issue(b.identity, b.req.GetLaunchId())
	if err != nil {
		return nil, err
	}
	host := b.req.GetHost()
	handOver := b.handOver(token)
	report := &launcherv1.InjectionReport{
		Strategy: injection.GetStrategy(), Carrier: injection.GetCarrier(), Verification: injection.GetVerification(),
		VerifiedVersion: injection.GetVerifiedVersion(), CliVersion: host.GetCliVersion(), FrozenOnResume: injection.GetFrozenOnResume(),
		Applies: appliesOut[b.carrier.AppliesIn(b.headless)],
	}
	b.believe(report)
	plan := &launcherv1.LaunchPlan{
		LaunchId:      b.req.GetLaunchId(),
		Identity:      b.identity,
		ProfileId:     b.profile.ID,
		Kind:          kindsOut[b.kind],
		Workspace:     workspacesOut[b.workspace],
		SideDirectory: b.side,
		Argv:          b.argv(injection, handOver),
		Env:           b.env(injection, handOver, token),
		Cwd:           b.cwd(),
		Files:         append(slices.Clone(injection.GetFiles()), files(handOver)...),
		Stdin:         append(slices.Clone(injection.GetStdin()), handOver.Stdin...),
		Injection:     report,
		ContextDigest: b.context.GetDigest(),
		StableDigest:  b.context.GetStableDigest(),
		ContextTokens: b.context.GetTokens(),
		McpServers:    b.servers(),
		Warnings:      append(b.warnings, injectionWarnings(report, b.profile, kindsOut[b.kind])...),

		TokenExpireTime:  timestamppb.New(expires),
		ContextUnchanged: b.unchanged(),
		StableUnchanged:  b.stableUnchanged(),
	}
	plan.Warnings = plan.Warnings[:min(len(plan.Warnings), maxWarnings)]
	for _, sec := range b.context.GetSections() {
		plan.Sections = append(plan.Sections, sec.GetReport())
	}
	for _, name := range handOver.EnvUnset {
		if !slices.ContainsFunc(plan.Env, func(e *typev1.EnvVar) bool { return e.GetName() == name }) {
			plan.EnvUnset = append(plan.EnvUnset, name)
		}
	}
	for _, d := range b.profile.DialogsIn(b.workspace, b.headless || !host.GetInteractive()) {
		plan.ExpectedDialogs = append(plan.ExpectedDialogs, &launcherv1.ExpectedDialog{Kind: dialogsOut[d.Kind], When: d.When})
	}
	return plan, b.check(plan)
}

// read understands the request: the person's arguments, kind and workspace.
func (b *planner) read() error {
	b.invocation = b.profile.ReadArgs(b.req.GetPassthroughArgs())
	b.invocation.Env = b.req.GetHost().GetEnvNames()
	if b.invocation.Manage {
		return fault.New(fault.ArgumentConflict, fault.Meta{"profile": b.profile.ID, "argument": cmp.Or(first(b.req.GetPassthroughArgs()), "")},
			"these arguments start no session of %s; run %s itself with them", b.profile.Name, b.profile.Binary)
	}
	b.kind = b.invocation.Kind
	if asked := b.req.GetKind(); asked != typev1.LaunchKind_LAUNCH_KIND_UNSPECIFIED {
		b.kind = kindsIn[asked]
	}
	if slices.Contains([]provider.Kind{provider.Continue, provider.Swap, provider.Rotation}, b.kind) {
		return needsHistory(string(b.kind))
	}
	b.headless = b.invocation.Headless || b.kind == provider.Headless || b.kind == provider.StructuredTurn
	b.workspace = provider.Project
	if b.req.GetWorkspace() == typev1.Workspace_WORKSPACE_RUN_DIRECTORY {
		b.workspace = provider.RunDirectory
	}
	host := b.req.GetHost()
	runRoot := host.GetRunRoot()
	if runRoot == "" {
		runRoot = b.os.join(host.GetProjectRoot(), ".ideai", "run")
	}
	b.side = b.os.join(runRoot, b.req.GetLaunchId())
	if b.kind == provider.StructuredTurn {
		// A file at another path is another file to a CLI: it would send the
		// text of every turn again.
		b.side = b.os.join(runRoot, b.identity.GetConversationId())
	}
	return nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// handOver is what gives the CLI our tools, nothing when it is not given them.
func (b *planner) handOver(token string) provider.Piece {
	if len(b.tools) == 0 {
		return provider.Piece{}
	}
	host := b.req.GetHost()
	return b.profile.HandOver(provider.Values{
		Side: b.side, Project: host.GetProjectRoot(), Ideai: host.GetIdeaiPath(), Address: host.GetServerAddress(),
		Token: token, Language: b.language, Tools: b.tools,
	})
}

func (b *planner) servers() []*launcherv1.McpServer {
	if len(b.tools) == 0 {
		return nil
	}
	return []*launcherv1.McpServer{{Name: mcpServer, Tools: b.tools, Preapproved: true}}
}

// inject chooses a carrier that goes together with the person's arguments and
// has the context service render it.
func (b *planner) inject(ctx context.Context) (*typev1.Injection, error) {
	var err error
	if b.carrier, err = b.choose(); err != nil {
		return nil, err
	}
	host := b.req.GetHost()
	resp, err := b.service.deps.Context.RenderInjection(ctx, &contextv1.RenderInjectionRequest{
		Context:            b.toSend(),
		ProfileId:          b.profile.ID,
		Kind:               kindsOut[b.kind],
		Workspace:          workspacesOut[b.workspace],
		Strategy:           strategiesOut[b.carrier.Strategy],
		Carrier:            b.carrier.Name,
		Headless:           b.headless,
		SideDirectory:      b.side,
		ProjectRoot:        host.GetProjectRoot(),
		CliVersion:         host.GetCliVersion(),
		ArgvItemLimitBytes: host.GetArgvItemLimitBytes(),
	})
	if err != nil {
		return nil, serviceFault(err, contextService)
	}
	injection := resp.GetInjection()
	if b.unchanged() && b.carrier.KeptInSession {
		injection.Files, injection.Args, injection.Env, injection.Stdin = nil, nil, nil, nil
	}
	return injection, nil
}

// argv is the host's binary, our arguments, and the person's own as they are.
func (b *planner) argv(injection *typev1.Injection, handOver provider.Piece) []*typev1.Arg {
	var ours []provider.Arg
	for _, a := range injection.GetArgs() {
		ours = append(ours, provider.Arg{Value: a.GetValue(), Secret: a.GetSecret()})
	}
	ours = append(ours, handOver.Args...)
	var out []*typev1.Arg
	for _, a := range provider.Argv(b.req.GetHost().GetCliPath(), ours, b.req.GetPassthroughArgs()) {
		out = append(out, &typev1.Arg{Value: a.Value, Secret: a.Secret})
	}
	return out
}

// env is what the plan sets; our own variables stand above a template's.
func (b *planner) env(injection *typev1.Injection, handOver provider.Piece, token string) []*typev1.EnvVar {
	out := []*typev1.EnvVar{
		{Name: envToken, Value: token, Secret: true},
		{Name: envAddress, Value: b.req.GetHost().GetServerAddress()},
		{Name: envLaunch, Value: b.req.GetLaunchId()},
	}
	add := func(v *typev1.EnvVar) {
		if !slices.ContainsFunc(out, func(o *typev1.EnvVar) bool { return o.GetName() == v.GetName() }) {
			out = append(out, v)
		}
	}
	for _, v := range injection.GetEnv() {
		add(v)
	}
	for _, v := range handOver.Env {
		add(&typev1.EnvVar{Name: v.Name, Value: v.Value, Secret: v.Secret, ListSeparator: v.Separator})
	}
	return out
}

func (b *planner) cwd() string {
	if b.workspace == provider.RunDirectory {
		return b.side
	}
	return b.os.join(b.req.GetHost().GetProjectRoot(), b.req.GetHost().GetCwdRelative())
}

func files(piece provider.Piece) []*typev1.File {
	out := make([]*typev1.File, len(piece.Files))
	for i, f := range piece.Files {
		out[i] = &typev1.File{Path: f.Path, Content: f.Content, Mode: f.Mode}
	}
	return out
}

// check holds a plan to what its receivers rely on, whatever made its parts.
func (b *planner) check(plan *launcherv1.LaunchPlan) error {
	for _, f := range plan.GetFiles() {
		if !b.os.inside(f.GetPath(), b.side) {
			return fmt.Errorf("launcher: the plan writes %s, outside %s", f.GetPath(), b.side)
		}
	}
	return nil
}
