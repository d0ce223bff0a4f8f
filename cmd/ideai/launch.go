package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/prove"
	"github.com/idea-ide/ideai/provider"
)

// launchFlags are the choices for one launch.
type launchFlags struct {
	agent, profile, task, workspace, strategy, carrier string
	dryRun, full                                       bool
}

// launchFlagNames are those that may stand before the name of a CLI.
var launchFlagNames = []string{"agent", "task", "workspace", "strategy", "carrier", "dry-run", "full"}

func (a *app) bindLaunchFlags(f *pflag.FlagSet) {
	l := &a.launch
	f.StringVar(&l.agent, "agent", "", "the agent to start (default: the project's)")
	f.StringVar(&l.task, "task", "", "what it is to do, to choose notes by")
	f.StringVar(&l.workspace, "workspace", "", "where it runs: project (default) or run_directory")
	f.StringVar(&l.strategy, "strategy", "", "how the context enters: convention_file, flag, stdin or env (default: the best verified)")
	f.StringVar(&l.carrier, "carrier", "", "the concrete carrier of that strategy")
	f.BoolVar(&l.dryRun, "dry-run", false, "show the plan and start nothing")
	f.BoolVar(&l.full, "full", false, "with --dry-run, show the files' contents too")
}

func (a *app) launchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "launch [-- ARGS...]", Short: "Start an agent, with choices", Args: cobra.ArbitraryArgs,
		Long: "Starts the agent's CLI with the project's context. Everything after -- goes to the CLI as it is.\nWithout --profile it is the agent's own CLI, else the first one installed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return usage("arguments for the CLI stand after --; usage: %s", cmd.UseLine())
			}
			return a.runLaunch(cmd.Context(), a.launch.profile, args)
		},
	}
	a.bindLaunchFlags(cmd.Flags())
	cmd.Flags().StringVar(&a.launch.profile, "profile", "", "the CLI, such as claude or codex")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.complete(agentIDs))
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profileIDs(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(slices.Sorted(maps.Keys(strategies)), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("workspace", cobra.FixedCompletions(slices.Sorted(maps.Keys(workspaces)), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(a.explainCommand())
	return cmd
}

func profileIDs() []string {
	var ids []string
	for _, p := range provider.Builtin().Profiles() {
		ids = append(ids, p.ID)
	}
	return ids
}

// addProfileCommands adds `ideai claude`, `ideai codex`…: one for each profile
// of the catalogue. What stands after the name is the CLI's and is not read.
func (a *app) addProfileCommands(root *cobra.Command) {
	a.bindLaunchFlags(root.Flags())
	_ = root.RegisterFlagCompletionFunc("agent", a.complete(agentIDs))
	root.AddGroup(&cobra.Group{ID: "cli", Title: a.tr("Start an agent:")}, &cobra.Group{ID: "rest", Title: a.tr("Commands:")})
	root.SetHelpCommandGroupID("rest")
	root.SetCompletionCommandGroupID("rest")
	for _, c := range root.Commands() {
		c.GroupID = "rest"
	}
	for _, p := range provider.Builtin().Profiles() {
		root.AddCommand(&cobra.Command{
			Use: p.ID + " [ARGS...]", Short: fmt.Sprintf(a.tr("Start %s with the project's context"), p.ID), GroupID: "cli",
			DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.runLaunch(cmd.Context(), p.ID, args)
			},
		})
	}
}

// launchesOnly refuses the flags of a launch before a command that is none.
func launchesOnly(cmd *cobra.Command) error {
	if cmd.GroupID == "cli" || cmd.Name() == "launch" || cmd == cmd.Root() {
		return nil
	}
	for _, name := range launchFlagNames {
		if cmd.Root().Flags().Changed(name) {
			return usage("--%s stands before the name of a CLI, such as: ideai --%s … claude", name, name)
		}
	}
	return nil
}

// runLaunch starts an agent and ends with its exit code.
func (a *app) runLaunch(ctx context.Context, profileID string, args []string) error {
	if p, err := provider.Builtin().Profile(profileID); err == nil && p.ReadArgs(args).Manage && !a.launch.dryRun {
		return a.pass(ctx, p, args)
	}
	req, err := a.launchRequest(profileID, args)
	if err != nil {
		return err
	}
	s, err := a.connectToLaunch(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	at, err := a.placeOrNew(ctx, s, a.launch.dryRun)
	if err != nil {
		return err
	}
	req.ProjectId, req.WorktreeId = at.project, at.worktree
	if a.askTrust(ctx, s, at); ctx.Err() != nil {
		return ctx.Err()
	}
	if err := a.completeRequest(ctx, s, at, req); err != nil {
		return err
	}
	r, err := s.launcher.PrepareLaunch(ctx, req)
	if err != nil {
		return err
	}
	if a.launch.dryRun {
		shown := &launcherv1.PrepareLaunchResponse{Plan: withoutSecrets(r.GetPlan())}
		return a.show(shown, func() { a.showPlan(shown.GetPlan(), a.launch.full) })
	}
	return a.carryOut(ctx, s, at, r.GetPlan(), req)
}

// pass starts the CLI as it is, for arguments that begin no session, such as
// its help or login. It needs no server and no project.
func (a *app) pass(ctx context.Context, p *provider.Profile, args []string) error {
	code, err := host.Pass(context.WithoutCancel(ctx), p, args, host.Options{})
	if err != nil {
		return err
	}
	if code != 0 {
		return &codeError{code}
	}
	return nil
}

// launchRequest reads the flags.
func (a *app) launchRequest(profileID string, args []string) (*launcherv1.PrepareLaunchRequest, error) {
	l := a.launch
	req := &launcherv1.PrepareLaunchRequest{
		LaunchId: newLaunchID(), AgentId: l.agent, ProfileId: profileID, Task: l.task, Carrier: l.carrier, PassthroughArgs: args, DryRun: l.dryRun,
	}
	var ok bool
	if req.Workspace, ok = workspaces[l.workspace]; !ok && l.workspace != "" {
		return nil, usage("--workspace is one of %s", strings.Join(slices.Sorted(maps.Keys(workspaces)), ", "))
	}
	if req.Strategy, ok = strategies[l.strategy]; !ok && l.strategy != "" {
		return nil, usage("--strategy is one of %s", strings.Join(slices.Sorted(maps.Keys(strategies)), ", "))
	}
	if profileID != "" {
		if _, err := provider.Builtin().Profile(profileID); err != nil {
			return nil, err
		}
	}
	return req, nil
}

func newLaunchID() string {
	return time.Now().UTC().Format("20060102-150405-") + strings.ReplaceAll(uuid.NewString(), "-", "")[:8]
}

// completeRequest chooses the profile and adds what this machine knows.
func (a *app) completeRequest(ctx context.Context, s *session, at place, req *launcherv1.PrepareLaunchRequest) error {
	if req.GetProfileId() == "" {
		id, err := a.chooseProfile(ctx, s, at, req.GetAgentId())
		if err != nil {
			return err
		}
		req.ProfileId = id
	}
	facts, err := a.facts(ctx, req.GetProfileId())
	if missing := (*host.NotInstalledError)(nil); errors.As(err, &missing) && a.launch.dryRun {
		a.remark("%s is not on your PATH; the plan is made as if it were", missing.Binary)
		facts, err = a.factsWithout(missing.Binary)
	}
	if err != nil {
		return err
	}
	facts.ProjectRoot, facts.ServerAddress = at.root(), s.address
	facts.OpenFolder = host.OpenFolder(at.root())
	if dir, err := os.Getwd(); err == nil {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if rel, err := filepath.Rel(facts.GetProjectRoot(), dir); err == nil && rel != "." && filepath.IsLocal(rel) {
			facts.CwdRelative = rel
		}
	}
	req.Host = facts
	return nil
}

func (a *app) facts(ctx context.Context, profileID string) (*launcherv1.Host, error) {
	p, err := provider.Builtin().Profile(profileID)
	if err != nil {
		return nil, err
	}
	facts, err := host.Facts(ctx, p, host.FactsOptions{CacheFile: filepath.Join(a.config.StateDir, "cache", "versions.json")})
	if err != nil {
		return nil, err
	}
	facts.Locale = a.locale()
	facts.Proofs = prove.Facts(a.config.StateDir, p, facts.GetCliVersion(), os.Environ())
	return facts, nil
}

// factsWithout are the facts of a machine on which a CLI would be in the usual
// place.
func (a *app) factsWithout(binary string) (*launcherv1.Host, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &launcherv1.Host{
		Os: runtime.GOOS, CliPath: filepath.Join("/usr/local/bin", binary), IdeaiPath: self, Locale: a.locale(), Interactive: a.people,
	}, nil
}

// chooseProfile is the profile that the server chooses for an agent, else the
// first CLI installed. What a project says of it counts once it is trusted,
// which is the server's to know.
func (a *app) chooseProfile(ctx context.Context, s *session, at place, agent string) (string, error) {
	r, err := s.launcher.PreviewContext(ctx, &launcherv1.PreviewContextRequest{ProjectId: at.project, WorktreeId: at.worktree, AgentId: agent})
	if err == nil {
		return r.GetProfileId(), nil
	}
	if f, ok := fault.As(err); !ok || len(f.Fields) != 1 || f.Fields[0].Path != "profile_id" {
		return "", err
	}
	var missing error
	for _, id := range profileIDs() {
		_, err := a.facts(ctx, id)
		if err == nil {
			return id, nil
		}
		if a.launch.dryRun {
			return id, nil // a plan needs no CLI
		}
		if missing == nil {
			missing = err
		}
	}
	return "", missing
}

// installedCLIs names the CLIs that are there, with their versions.
func (a *app) installedCLIs(ctx context.Context) []string {
	var out []string
	for _, id := range profileIDs() {
		if facts, err := a.facts(ctx, id); err == nil {
			out = append(out, strings.TrimSpace(id+" "+facts.GetCliVersion()))
		}
	}
	return out
}

// askTrust asks once about the files of an untrusted project that speak as
// rules. On a no, or with nobody to ask, the launch goes on without them.
func (a *app) askTrust(ctx context.Context, s *session, at place) {
	if at.info.GetTrusted() {
		return
	}
	r, err := s.launcher.GetTrust(ctx, &launcherv1.GetTrustRequest{ProjectId: at.project, WorktreeId: at.worktree})
	if err != nil || len(r.GetTrust().GetFiles()) == 0 {
		return // the launch itself will tell
	}
	if a.people && !a.launch.dryRun {
		to := *a.terminal
		to.out = a.questions // standard output is the CLI's
		to.table([]string{"file", "section", "bytes"}, trustRows(a, r.GetTrust()))
		if a.ask("let agents follow these files of %s?", at.project) {
			if _, err := setTrust(ctx, s, at, true); err == nil {
				return
			}
		}
	}
	a.remark("%s is not trusted: its %d files of rules are left out; `ideai trust` lists them and asks", at.project, len(r.GetTrust().GetFiles()))
}
