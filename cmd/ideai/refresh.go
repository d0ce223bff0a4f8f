package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
)

func (a *app) refreshCommand() *cobra.Command {
	var dryRun, diff bool
	cmd := &cobra.Command{
		Use: "refresh [LAUNCH]", Short: "Give running agents the context as it is now", Args: cobra.MaximumNArgs(1),
		Long: `Gives running agents of this project, or one launch, the context as it is now:
it rewrites the files they were given and says when each takes them. Nothing is
typed into a session; an agent whose program reads its context only at the
start keeps the old one until then.`,
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			launches, err := a.launchesToRefresh(cmd.Context(), s, at, args)
			if err != nil {
				return err
			}
			var done []refreshDone
			var failed error
			for _, l := range launches {
				r, err := a.refresh(cmd.Context(), s, at, l, refreshHow{dryRun: dryRun, diff: diff})
				switch {
				case err == nil:
					done = append(done, r)
				case len(args) > 0:
					return err
				default: // the others are refreshed all the same
					a.remark("%s: %s", l.GetLaunchId(), a.explain(err))
					failed = &codeError{exitCode(err)}
				}
			}
			if len(done) == 0 && failed != nil {
				return failed
			}
			if err := a.showRefreshed(done, dryRun); err != nil {
				return err
			}
			return failed
		}),
		ValidArgsFunction: a.complete(liveLaunchIDs),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only show who has an older context")
	cmd.Flags().BoolVar(&diff, "diff", false, "show the lines that differ, too")
	return cmd
}

// refreshDone is one launch with what a refresh of it came to.
type refreshDone struct {
	launch *launcherv1.Launch
	*launcherv1.RefreshContextResponse
	diff *launcherv1.DiffContextResponse // as it was before, when asked for
}

type refreshHow struct{ dryRun, diff bool }

func liveLaunches(ctx context.Context, s *session, at place) ([]*launcherv1.Launch, error) {
	r, err := allPages(func(token string) (*launcherv1.ListLaunchesResponse, error) {
		return s.launcher.ListLaunches(ctx, &launcherv1.ListLaunchesRequest{ProjectId: at.project, OnlyLive: true, PageSize: 1000, PageToken: token})
	})
	return r.GetLaunches(), err
}

func liveLaunchIDs(ctx context.Context, s *session, at place) ([]string, error) {
	launches, err := liveLaunches(ctx, s, at)
	var ids []string
	for _, l := range launches {
		ids = append(ids, l.GetLaunchId())
	}
	return ids, err
}

func (a *app) launchesToRefresh(ctx context.Context, s *session, at place, args []string) ([]*launcherv1.Launch, error) {
	if len(args) == 0 {
		return liveLaunches(ctx, s, at)
	}
	r, err := s.launcher.GetLaunch(ctx, &launcherv1.GetLaunchRequest{ProjectId: at.project, LaunchId: args[0]})
	return []*launcherv1.Launch{r.GetLaunch()}, err
}

// refresh brings the files of one launch up to date, and tells the server so.
func (a *app) refresh(ctx context.Context, s *session, at place, l *launcherv1.Launch, how refreshHow) (refreshDone, error) {
	r, err := s.launcher.RefreshContext(ctx, &launcherv1.RefreshContextRequest{ProjectId: at.project, LaunchId: l.GetLaunchId()})
	done := refreshDone{launch: l, RefreshContextResponse: r}
	if err == nil && how.diff {
		done.diff, err = s.launcher.DiffContext(ctx, &launcherv1.DiffContextRequest{ProjectId: at.project, LaunchId: l.GetLaunchId()})
	}
	if err != nil || how.dryRun || len(r.GetFiles()) == 0 {
		return done, err
	}
	in := place{project: at.project, worktree: l.GetIdentity().GetWorktreeId(), info: at.info}
	if err := host.Rewrite(r, host.Options{ProjectRoot: in.root(), RunRoot: filepath.Dir(r.GetSideDirectory())}); err != nil {
		return done, err
	}
	_, err = s.launcher.ReportLaunch(ctx, &launcherv1.ReportLaunchRequest{ProjectId: at.project, LaunchId: l.GetLaunchId(),
		Event: &launcherv1.ReportLaunchRequest_Refreshed{Refreshed: &launcherv1.LaunchRefreshed{ContextDigest: r.GetDigestAfter()}}})
	return done, err
}

var appliesWhen = map[typev1.Applies]string{
	typev1.Applies_APPLIES_NEXT_TURN:  "with the next prompt",
	typev1.Applies_APPLIES_AT_RESUME:  "when the session is resumed",
	typev1.Applies_APPLIES_AT_RESTART: "in a fresh session only",
}

// when says when an agent has what it would be told now.
func (a *app) when(r refreshDone) string {
	if r.GetState() == launcherv1.ContextState_CONTEXT_STATE_CURRENT {
		return a.tr("it has it already")
	}
	return a.tr(appliesWhen[r.GetApplies()])
}

// changed lists the sections that differ, with the tokens each gains or loses.
func (a *app) changed(r refreshDone) string {
	var out []string
	for _, c := range r.GetChanges() {
		out = append(out, fmt.Sprintf("%s %+d", a.tr(sectionNames[c.GetSection()]), c.GetTokensAfter()-c.GetTokensBefore()))
	}
	return strings.Join(out, ", ")
}

func (a *app) showRefreshed(done []refreshDone, dryRun bool) error {
	if a.asJSON {
		return a.showRefreshedJSON(done)
	}
	var rows [][]any
	behind := 0
	for _, r := range done {
		id := r.launch.GetIdentity()
		rows = append(rows, []any{r.GetLaunchId(), id.GetInstanceId(), r.launch.GetProfileId(), id.GetWorktreeId(), a.changed(r), a.when(r)})
		if r.GetState() != launcherv1.ContextState_CONTEXT_STATE_CURRENT {
			behind++
		}
	}
	if len(rows) == 0 {
		a.say("no agent runs in this project")
		return nil
	}
	a.table([]string{"launch", "agent", "profile", "worktree", "changed tokens", "has it"}, rows)
	if dryRun && behind > 0 {
		a.remark("nothing was rewritten; without --dry-run it is")
	}
	for _, r := range done {
		a.warnings(r.GetWarnings())
		a.showDiff(r.diff)
	}
	return nil
}

// showRefreshedJSON answers with one object for each launch, the files without
// their contents.
func (a *app) showRefreshedJSON(done []refreshDone) error {
	out := []byte("[")
	for i, r := range done {
		m := proto.CloneOf(r.RefreshContextResponse)
		for _, f := range m.GetFiles() {
			f.Content = nil
		}
		data, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, data...)
	}
	return a.rawJSON(append(out, ']'))
}

var diffSigns = map[launcherv1.DiffOp]string{
	launcherv1.DiffOp_DIFF_OP_SAME:    " ",
	launcherv1.DiffOp_DIFF_OP_ADDED:   "+",
	launcherv1.DiffOp_DIFF_OP_REMOVED: "-",
}

// showDiff prints how a context differed from what an agent had been told.
func (a *app) showDiff(d *launcherv1.DiffContextResponse) {
	for _, section := range d.GetSections() {
		a.say("--- %s", a.tr(sectionNames[section.GetChange().GetSection()]))
		if section.GetTextMissing() {
			a.say("the text it was told is too long to be kept")
		}
		for _, l := range section.GetLines() {
			if l.GetOp() == launcherv1.DiffOp_DIFF_OP_SKIPPED {
				a.say("@@ %s equal lines", l.GetText())
				continue
			}
			a.block(diffSigns[l.GetOp()] + l.GetText())
		}
		if section.GetTruncated() {
			a.say("and more lines")
		}
	}
}
