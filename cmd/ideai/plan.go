package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
)

// masked stands for what must not be shown.
const masked = "•••"

// withoutSecrets returns a plan that may be shown: secret arguments and
// variables are masked, and so is every file that only its owner may read and
// that holds one of them.
func withoutSecrets(plan *launcherv1.LaunchPlan) *launcherv1.LaunchPlan {
	p := proto.CloneOf(plan)
	var secrets []string
	for _, a := range p.GetArgv() {
		if a.GetSecret() {
			secrets = append(secrets, a.GetValue())
			a.Value = masked
		}
	}
	for _, e := range p.GetEnv() {
		if e.GetSecret() {
			secrets = append(secrets, e.GetValue())
			e.Value = masked
		}
	}
	for _, f := range p.GetFiles() {
		for _, s := range secrets {
			if s != "" {
				f.Content = []byte(strings.ReplaceAll(string(f.GetContent()), s, masked))
			}
		}
	}
	return p
}

// showPlan prints a launch plan for people: what would be written, set and
// started, and what the agent would be told.
func (a *app) showPlan(plan *launcherv1.LaunchPlan, full bool) {
	id := plan.GetIdentity()
	a.say("launch %s: %s as %s in project %s, conversation %s", plan.GetLaunchId(), plan.GetProfileId(), id.GetInstanceId(), id.GetProjectId(), id.GetConversationId())
	a.say("folder: %s", plan.GetCwd())
	a.say("argv: %s", commandLine(plan.GetArgv()))
	for _, e := range plan.GetEnv() {
		a.say("env: %s=%s", e.GetName(), e.GetValue())
	}
	if names := plan.GetEnvUnset(); len(names) > 0 {
		a.say("env removed: %s", strings.Join(names, ", "))
	}
	for _, f := range plan.GetFiles() {
		a.say("file: %s (%d bytes, mode %04o)", f.GetPath(), len(f.GetContent()), f.GetMode())
		if full && utf8.Valid(f.GetContent()) {
			a.block(indented(string(f.GetContent())))
		}
	}
	for _, m := range plan.GetMcpServers() {
		a.say("MCP server %s: %s", m.GetName(), strings.Join(m.GetTools(), ", "))
	}
	a.injection(plan.GetInjection())
	a.sections(plan.GetSections(), plan.GetContextTokens())
	for _, d := range plan.GetExpectedDialogs() {
		a.say("dialog to expect: %s", d.GetWhen())
	}
	a.warnings(plan.GetWarnings())
}

func (a *app) injection(i *launcherv1.InjectionReport) {
	verified := a.tr(verifications[i.GetVerification()])
	switch v := i.GetVerifiedVersion(); {
	case i.GetProveTime() != nil && v != "":
		verified = fmt.Sprintf(a.tr("verified %s %s"), v, a.day(i.GetProveTime().AsTime()))
	case i.GetProveTime() != nil:
		verified = fmt.Sprintf(a.tr("seen NOT to work %s"), a.day(i.GetProveTime().AsTime()))
	case v != "":
		verified += " " + v
	}
	a.say("context enters by %s, %s (%s)", strategyName(i.GetStrategy()), i.GetCarrier(), verified)
}

// day is a date as one says it.
func (a *app) day(t time.Time) string {
	year, month, day := t.Local().Date()
	for ago, word := range []string{a.tr("today"), a.tr("yesterday")} {
		if y, m, d := time.Now().AddDate(0, 0, -ago).Date(); y == year && m == month && d == day {
			return word
		}
	}
	return t.Local().Format("2006-01-02")
}

var verifications = map[typev1.Verification]string{
	typev1.Verification_VERIFICATION_VERIFIED:      "seen to work with this version",
	typev1.Verification_VERIFICATION_OTHER_VERSION: "seen to work with version",
	typev1.Verification_VERIFICATION_UNVERIFIED:    "never seen to work",
}

// strategies are the words for --strategy and --workspace.
var (
	strategies = map[string]typev1.Strategy{
		"convention_file": typev1.Strategy_STRATEGY_CONVENTION_FILE, "flag": typev1.Strategy_STRATEGY_FLAG,
		"stdin": typev1.Strategy_STRATEGY_STDIN, "env": typev1.Strategy_STRATEGY_ENV,
	}
	workspaces = map[string]typev1.Workspace{
		"project": typev1.Workspace_WORKSPACE_PROJECT, "run_directory": typev1.Workspace_WORKSPACE_RUN_DIRECTORY,
	}
)

func strategyName(s typev1.Strategy) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "STRATEGY_"))
}

// commandLine writes an argv so that a shell would read it as it is, long
// arguments shortened.
func commandLine(argv []*typev1.Arg) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = shellWord(shortened(a.GetValue(), 200))
	}
	return strings.Join(words, " ")
}

func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shortened cuts a text to about n bytes and says how much is missing.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (+%d bytes)", s[:cut], len(s)-cut)
}

func indented(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") + "\n"
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain [LAUNCH]", Short: "Show what an earlier launch was given, the last one by default", Args: cobra.MaximumNArgs(1),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			if len(args) == 0 {
				r, err := s.launcher.ListLaunches(cmd.Context(), &launcherv1.ListLaunchesRequest{ProjectId: at.project, PageSize: 1})
				if err != nil {
					return err
				}
				if len(r.GetLaunches()) == 0 {
					return a.show(&launcherv1.GetLaunchResponse{}, func() { a.say("no launches yet") })
				}
				args = []string{r.GetLaunches()[0].GetLaunchId()}
			}
			r, err := s.launcher.GetLaunch(cmd.Context(), &launcherv1.GetLaunchRequest{ProjectId: at.project, LaunchId: args[0]})
			if err != nil {
				return err
			}
			return a.show(r, func() { a.showLaunch(r.GetLaunch()) })
		}),
	}
}

// showLaunch prints the record of a launch.
func (a *app) showLaunch(l *launcherv1.Launch) {
	id := l.GetIdentity()
	a.say("launch %s: %s as %s in project %s, conversation %s", l.GetLaunchId(), l.GetProfileId(), id.GetInstanceId(), id.GetProjectId(), id.GetConversationId())
	a.say("prepared %s, %s", l.GetCreateTime().AsTime().Local().Format("2006-01-02 15:04:05"), a.tr(launchStates[l.GetState()]))
	if l.GetExited() != nil {
		a.say("ended with exit code %d after %s", l.GetExited().GetExitCode(), l.GetExited().GetDuration().AsDuration().Round(time.Millisecond).String())
	}
	if r := l.GetRefresh(); r != nil {
		a.say("refreshed %s, taken %s", r.GetCreateTime().AsTime().Local().Format("2006-01-02 15:04:05"), a.tr(appliesWhen[r.GetApplies()]))
	}
	words := make([]*typev1.Arg, len(l.GetArgv()))
	for i, w := range l.GetArgv() {
		words[i] = &typev1.Arg{Value: w}
	}
	a.say("argv: %s", commandLine(words))
	if names := l.GetEnvNames(); len(names) > 0 {
		a.say("env: %s", strings.Join(names, ", "))
	}
	for _, f := range l.GetFiles() {
		a.say("file: %s (%d bytes, sha256 %s)", f.GetPath(), f.GetSizeBytes(), f.GetSha256())
	}
	a.injection(l.GetInjection())
	a.sections(l.GetSections(), l.GetContextTokens())
	a.warnings(l.GetWarnings())
}

var launchStates = map[launcherv1.LaunchState]string{
	launcherv1.LaunchState_LAUNCH_STATE_PREPARED: "not started",
	launcherv1.LaunchState_LAUNCH_STATE_RUNNING:  "running",
	launcherv1.LaunchState_LAUNCH_STATE_EXITED:   "ended",
	launcherv1.LaunchState_LAUNCH_STATE_LOST:     "lost: its terminal went away without a word",
}
