package main

import (
	"context"

	"github.com/spf13/cobra"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

func (a *app) trustCommand() *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Trust this project's rules, personas and skills", Args: cobra.NoArgs,
		Long: "Lists the files of this project that speak to agents as rules, and asks whether to use them.\nUntil then agents are started without them. A source tree that is no project yet becomes one.",
		RunE: a.withSession(func(cmd *cobra.Command, s *session, _ []string) error {
			at, err := a.placeOrNew(cmd.Context(), s, revoke)
			if err != nil {
				return err
			}
			if revoke {
				r, err := setTrust(cmd.Context(), s, at, false)
				if err != nil {
					return err
				}
				return a.show(r, func() { a.say("%s is no longer trusted", at.project) })
			}
			r, err := s.launcher.GetTrust(cmd.Context(), &launcherv1.GetTrustRequest{ProjectId: at.project, WorktreeId: at.worktree})
			if err != nil {
				return err
			}
			trust := r.GetTrust()
			if !a.asJSON {
				a.trustFiles(trust)
			}
			if trust.GetTrusted() {
				return a.show(r, func() { a.say("%s is trusted", at.project) })
			}
			if !yes && !a.ask("let agents follow these files of %s?", at.project) {
				return &refusedError{"the project is not trusted; --yes trusts it without asking"}
			}
			set, err := setTrust(cmd.Context(), s, at, true)
			if err != nil {
				return err
			}
			return a.show(set, func() { a.say("%s is trusted", at.project) })
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "trust it no longer")
	cmd.MarkFlagsMutuallyExclusive("yes", "revoke")
	return cmd
}

func setTrust(ctx context.Context, s *session, at place, trusted bool) (*launcherv1.SetTrustResponse, error) {
	return s.launcher.SetTrust(ctx, &launcherv1.SetTrustRequest{ProjectId: at.project, Trusted: trusted})
}

func (a *app) trustFiles(trust *launcherv1.Trust) {
	if len(trust.GetFiles()) == 0 {
		a.say("no file of this project speaks to agents as a rule yet")
		return
	}
	a.table([]string{"file", "section", "bytes"}, trustRows(a, trust))
}

func trustRows(a *app, trust *launcherv1.Trust) [][]any {
	rows := make([][]any, 0, len(trust.GetFiles()))
	for _, f := range trust.GetFiles() {
		rows = append(rows, []any{f.GetPath(), a.tr(sectionNames[f.GetSection()]), f.GetSizeBytes()})
	}
	return rows
}
