package launchertest

import (
	"path"
	"slices"
	"strings"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func testPlan(t *testing.T, s *suite) {
	p := s.project("Boutique Élan")
	req := s.request(p)
	req.PassthroughArgs = []string{"--model", "opus", "it's a prompt\nwith lines"}
	req.Host.CwdRelative = "src/cart"
	plan := s.prepare(req)

	id := plan.GetIdentity()
	if id.GetProjectId() != p.id || id.GetWorktreeId() != "main" || id.GetPersonId() == "" || id.GetAgentId() != "dev" ||
		id.GetInstanceId() != "dev" || id.GetConversationId() == "" || id.GetGeneration() != 1 {
		t.Errorf("identity %v", id)
	}
	argv := Argv(plan)
	if argv[0] != "/opt/cli/bin/claude" || !slices.Equal(argv[len(argv)-3:], req.GetPassthroughArgs()) {
		t.Errorf("argv %q", argv)
	}
	if plan.GetSideDirectory() != p.root+"/.ideai/run/"+req.GetLaunchId() || plan.GetCwd() != p.root+"/src/cart" {
		t.Errorf("side %s, cwd %s", plan.GetSideDirectory(), plan.GetCwd())
	}
	if len(plan.GetFiles()) == 0 {
		t.Error("no files")
	}
	for _, f := range plan.GetFiles() {
		if !strings.HasPrefix(f.GetPath(), plan.GetSideDirectory()+"/") || f.GetMode() != 0o600 {
			t.Errorf("file %s mode %o", f.GetPath(), f.GetMode())
		}
	}
	token := Env(plan, "IDEAI_TOKEN")
	if token == "" || Env(plan, "IDEAI_ADDRESS") != req.GetHost().GetServerAddress() || Env(plan, "IDEAI_LAUNCH") != req.GetLaunchId() {
		t.Errorf("env %v", plan.GetEnv())
	}
	for _, e := range plan.GetEnv() {
		if e.GetSecret() != (e.GetName() == "IDEAI_TOKEN") {
			t.Errorf("%s secret: %v", e.GetName(), e.GetSecret())
		}
	}
	if strings.Contains(strings.Join(argv, "\x00"), token) {
		t.Error("the token stands in the argv")
	}
	servers := plan.GetMcpServers()
	if len(servers) != 1 || servers[0].GetName() != "ideai" || !servers[0].GetPreapproved() || len(servers[0].GetTools()) == 0 {
		t.Errorf("mcp %v", servers)
	}
	in := plan.GetInjection()
	if in.GetCarrier() != "side_directory" || in.GetVerification() != typev1.Verification_VERIFICATION_VERIFIED || in.GetCliVersion() != "2.1.332" {
		t.Errorf("injection %v", in)
	}
	if len(plan.GetContextDigest()) != 64 || plan.GetContextTokens() == 0 || len(plan.GetSections()) == 0 || plan.GetTokenExpireTime() == nil {
		t.Errorf("plan %v", plan)
	}
	if len(plan.GetExpectedDialogs()) == 0 || len(plan.GetWarnings()) != 0 {
		t.Errorf("dialogs %v, warnings %v", plan.GetExpectedDialogs(), plan.GetWarnings())
	}

	record := s.launch(p, req.GetLaunchId())
	if record.GetState() != launcherv1.LaunchState_LAUNCH_STATE_PREPARED || record.GetContextDigest() != plan.GetContextDigest() ||
		!slices.Contains(record.GetEnvNames(), "IDEAI_TOKEN") || len(record.GetFiles()) != len(plan.GetFiles()) || record.GetCreateTime() == nil {
		t.Errorf("record %v", record)
	}
	equal(t, "identity of the record", record.GetIdentity(), id)
}

func testPlanKinds(t *testing.T, s *suite) {
	p := s.project("shop")
	for name, c := range map[string]struct {
		profile string
		args    []string
		asked   typev1.LaunchKind
		want    typev1.LaunchKind
		carrier string
	}{
		"fresh":           {"claude", nil, 0, typev1.LaunchKind_LAUNCH_KIND_FRESH, "side_directory"},
		"resume":          {"claude", []string{"-c"}, 0, typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME, "side_directory"},
		"headless":        {"claude", []string{"-p", "hello"}, 0, typev1.LaunchKind_LAUNCH_KIND_HEADLESS, "side_directory"},
		"asked for":       {"claude", nil, typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN, typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN, "side_directory"},
		"codex":           {"codex", nil, 0, typev1.LaunchKind_LAUNCH_KIND_FRESH, "mcp_instructions"},
		"codex resume":    {"codex", []string{"resume", "--last"}, 0, typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME, "mcp_instructions"},
		"codex exec":      {"codex", []string{"exec", "hi"}, 0, typev1.LaunchKind_LAUNCH_KIND_HEADLESS, "mcp_instructions"},
		"another carrier": {"claude", []string{"--bare"}, 0, typev1.LaunchKind_LAUNCH_KIND_FRESH, "append_system_prompt_file"},
	} {
		t.Run(name, func(t *testing.T) {
			req := s.request(p)
			req.ProfileId, req.PassthroughArgs, req.Kind = c.profile, c.args, c.asked
			plan := s.prepare(req)
			if plan.GetKind() != c.want || plan.GetInjection().GetCarrier() != c.carrier {
				t.Errorf("got %v by %s", plan.GetKind(), plan.GetInjection().GetCarrier())
			}
			for _, name := range plan.GetEnvUnset() {
				if Env(plan, name) != "" {
					t.Errorf("%s is set and removed", name)
				}
			}
			if c.want == typev1.LaunchKind_LAUNCH_KIND_HEADLESS && len(plan.GetExpectedDialogs()) != 0 {
				t.Errorf("dialogs without a terminal: %v", plan.GetExpectedDialogs())
			}
		})
	}
}

func testPlanFaults(t *testing.T, s *suite) {
	p := s.project("shop")
	for name, c := range map[string]struct {
		change func(*launcherv1.PrepareLaunchRequest)
		reason fault.Reason
		words  []string
	}{
		"no such project":     {func(r *launcherv1.PrepareLaunchRequest) { r.ProjectId = "none" }, fault.ProjectNotFound, nil},
		"no such profile":     {func(r *launcherv1.PrepareLaunchRequest) { r.ProfileId = "none" }, fault.ProfileNotFound, []string{"claude"}},
		"no profile":          {func(r *launcherv1.PrepareLaunchRequest) { r.ProfileId = "" }, fault.InvalidField, []string{"name one"}},
		"no launch id":        {func(r *launcherv1.PrepareLaunchRequest) { r.LaunchId = "" }, fault.InvalidField, nil},
		"hostile launch id":   {func(r *launcherv1.PrepareLaunchRequest) { r.LaunchId = "../x" }, fault.InvalidField, nil},
		"our records' folder": {func(r *launcherv1.PrepareLaunchRequest) { r.LaunchId = "launches" }, fault.InvalidField, []string{"folder"}},
		"our locks' folder":   {func(r *launcherv1.PrepareLaunchRequest) { r.LaunchId = "locks" }, fault.InvalidField, []string{"folder"}},
		"no host":             {func(r *launcherv1.PrepareLaunchRequest) { r.Host = nil }, fault.InvalidField, nil},
		"unknown system":      {func(r *launcherv1.PrepareLaunchRequest) { r.Host.Os = "plan9" }, fault.InvalidField, nil},
		"relative cli":        {func(r *launcherv1.PrepareLaunchRequest) { r.Host.CliPath = "claude" }, fault.InvalidField, []string{"absolute"}},
		"relative root":       {func(r *launcherv1.PrepareLaunchRequest) { r.Host.ProjectRoot = "shop" }, fault.InvalidField, nil},
		"relative run root":   {func(r *launcherv1.PrepareLaunchRequest) { r.Host.RunRoot = "run" }, fault.InvalidField, nil},
		"relative ideai":      {func(r *launcherv1.PrepareLaunchRequest) { r.Host.IdeaiPath = "ideai" }, fault.InvalidField, nil},
		"cwd climbs out":      {func(r *launcherv1.PrepareLaunchRequest) { r.Host.CwdRelative = "src/../../x" }, fault.InvalidField, []string{"out of the project"}},
		"cwd is absolute":     {func(r *launcherv1.PrepareLaunchRequest) { r.Host.CwdRelative = "/etc" }, fault.InvalidField, nil},
		"NUL in an argument":  {func(r *launcherv1.PrepareLaunchRequest) { r.PassthroughArgs = []string{"a\x00b"} }, fault.InvalidField, nil},
		"no session":          {func(r *launcherv1.PrepareLaunchRequest) { r.PassthroughArgs = []string{"--help"} }, fault.ArgumentConflict, []string{"run claude itself"}},
		"conflicting flag":    {func(r *launcherv1.PrepareLaunchRequest) { r.PassthroughArgs = []string{"--safe-mode"} }, fault.ArgumentConflict, []string{"--safe-mode"}},
		"no such carrier":     {func(r *launcherv1.PrepareLaunchRequest) { r.Carrier = "telepathy" }, fault.InjectionUnsupported, []string{"side_directory"}},
		"strategy not had":    {func(r *launcherv1.PrepareLaunchRequest) { r.Strategy = typev1.Strategy_STRATEGY_ENV }, fault.InjectionUnsupported, nil},
		"carrier on resume":   {func(r *launcherv1.PrepareLaunchRequest) { r.Carrier, r.PassthroughArgs = "stdin", []string{"-c"} }, fault.InjectionUnsupported, nil},
		"swap needs history":  {func(r *launcherv1.PrepareLaunchRequest) { r.Kind = typev1.LaunchKind_LAUNCH_KIND_SWAP }, fault.ServiceUnavailable, []string{"conversation"}},
		"unknown kind":        {func(r *launcherv1.PrepareLaunchRequest) { r.Kind = 99 }, fault.InvalidField, nil},
		"too long a task":     {func(r *launcherv1.PrepareLaunchRequest) { r.Task = strings.Repeat("x", 16385) }, fault.InvalidField, nil},
		"no such worktree":    {func(r *launcherv1.PrepareLaunchRequest) { r.WorktreeId = "none" }, fault.WorktreeNotFound, nil},
		"hostile instance id": {func(r *launcherv1.PrepareLaunchRequest) { r.InstanceId = "a/../b" }, fault.InvalidField, nil},
	} {
		t.Run(name, func(t *testing.T) {
			req := s.request(p)
			c.change(req)
			_, err := s.Owner.PrepareLaunch(s.ctx, req)
			Fails(t, err, c.reason, c.words...)
		})
	}
	list, err := s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id})
	if err != nil || len(list.GetLaunches()) != 0 {
		t.Errorf("refused launches left records: %v %v", list, err)
	}
	// A refused launch holds nothing: its id and the first instance are free.
	if id := s.prepare(s.request(p)).GetIdentity().GetInstanceId(); id != "dev" {
		t.Errorf("got the instance %s", id)
	}
}

func testSameRequest(t *testing.T, s *suite) {
	p := s.project("shop")
	req := s.request(p)
	first := s.prepare(req)
	equal(t, "the same request again", s.prepare(req), first)
	other := Request(p.id, req.GetLaunchId(), p.root)
	other.Task = "something else"
	_, err := s.Owner.PrepareLaunch(s.ctx, other)
	s.fails(err, fault.IDReused, req.GetLaunchId())
	equal(t, "the same request after another was refused", s.prepare(req), first)

	// The same launch id in another project is another launch.
	q := s.project("other")
	second := s.prepare(Request(q.id, req.GetLaunchId(), q.root))
	if second.GetIdentity().GetConversationId() == first.GetIdentity().GetConversationId() {
		t.Error("two projects share a launch")
	}
	if err := s.report(p, req.GetLaunchId(), exited(0)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Owner.PrepareLaunch(s.ctx, req)
	s.fails(err, fault.IDReused, "is over")
}

func testInstances(t *testing.T, s *suite) {
	p := s.project("shop")
	launch := func(agent, instance string) (string, string) {
		t.Helper()
		req := s.request(p)
		req.AgentId, req.InstanceId = agent, instance
		plan := s.prepare(req)
		return req.GetLaunchId(), plan.GetIdentity().GetInstanceId()
	}
	one, first := launch("reviewer", "")
	two, second := launch("reviewer", "")
	_, third := launch("reviewer", "")
	_, other := launch("dev", "")
	if first != "reviewer" || second != "reviewer-2" || third != "reviewer-3" || other != "dev" {
		t.Errorf("got %s %s %s %s", first, second, third, other)
	}
	req := s.request(p)
	req.AgentId, req.InstanceId = "reviewer", "reviewer-2"
	_, err := s.Owner.PrepareLaunch(s.ctx, req)
	s.fails(err, fault.IDReused, two)
	if err := s.report(p, two, exited(0)); err != nil {
		t.Fatal(err)
	}
	if _, again := launch("reviewer", ""); again != "reviewer-2" {
		t.Errorf("the free instance is reviewer-2, got %s", again)
	}
	if err := s.report(p, one, exited(1)); err != nil {
		t.Fatal(err)
	}
	if _, named := launch("reviewer", "nightly"); named != "nightly" {
		t.Errorf("got %s", named)
	}
	if _, again := launch("reviewer", ""); again != "reviewer" {
		t.Errorf("the free instance is reviewer, got %s", again)
	}
	long := strings.Repeat("a", 63)
	_, _ = launch(long, "")
	if _, cut := launch(long, ""); cut != long[:61]+"-2" {
		t.Errorf("got %s", cut)
	}
}

func testPreview(t *testing.T, s *suite) {
	p := s.project("shop")
	resp, err := s.Owner.PreviewContext(s.ctx, &launcherv1.PreviewContextRequest{ProjectId: p.id, ProfileId: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	plan := s.prepare(s.request(p))
	if resp.GetContext().GetDigest() != plan.GetContextDigest() {
		t.Error("a launch gets another context than its preview")
	}
	for _, f := range plan.GetFiles() {
		if path.Base(f.GetPath()) == "CLAUDE.md" && len(f.GetContent()) == 0 {
			t.Error("the context's file is empty")
		}
	}
	if resp.GetProfileId() != "claude" {
		t.Errorf("composed for %q", resp.GetProfileId())
	}
	_, err = s.Owner.PreviewContext(s.ctx, &launcherv1.PreviewContextRequest{ProjectId: p.id})
	s.fails(err, fault.InvalidField, "name one")
	_, err = s.Owner.PreviewContext(s.ctx, &launcherv1.PreviewContextRequest{ProjectId: "none", ProfileId: "claude"})
	s.fails(err, fault.ProjectNotFound)
}

// A dry run is a plan that nothing comes of.
func testDryRun(t *testing.T, s *suite) {
	p := s.project("shop")
	req := s.request(p)
	req.AgentId, req.DryRun = "reviewer", true
	for range 2 {
		plan := s.prepare(req)
		if plan.GetLaunchId() != req.GetLaunchId() || plan.GetIdentity().GetInstanceId() != "reviewer" || len(plan.GetArgv()) == 0 {
			t.Errorf("got %v", plan)
		}
	}
	_, err := s.Owner.GetLaunch(s.ctx, &launcherv1.GetLaunchRequest{ProjectId: p.id, LaunchId: req.GetLaunchId()})
	s.fails(err, fault.LaunchNotFound)
	list, err := s.Owner.ListLaunches(s.ctx, &launcherv1.ListLaunchesRequest{ProjectId: p.id})
	if err != nil || len(list.GetLaunches()) > 0 {
		t.Errorf("launches: %v, %v", list, err)
	}
	req.DryRun = false
	if plan := s.prepare(req); plan.GetIdentity().GetInstanceId() != "reviewer" {
		t.Errorf("the launch after its dry run is %s", plan.GetIdentity().GetInstanceId())
	}
	again := s.request(p)
	again.AgentId, again.DryRun = "reviewer", true
	if plan := s.prepare(again); plan.GetIdentity().GetInstanceId() != "reviewer-2" {
		t.Errorf("a dry run beside it is %s, want the next free instance", plan.GetIdentity().GetInstanceId())
	}
}
