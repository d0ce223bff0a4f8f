package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

func (a *app) projectCommand() *cobra.Command {
	cmd := group("project", "Projects: the source trees ideai knows")
	cmd.AddCommand(a.projectList(), a.projectShow(), a.projectAdd(), a.projectRemove())
	return cmd
}

func (a *app) projectList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the projects", Args: cobra.NoArgs,
		RunE: a.withSession(func(cmd *cobra.Command, s *session, _ []string) error {
			r, err := allProjects(cmd.Context(), s)
			if err != nil {
				return err
			}
			return a.show(r, func() {
				if len(r.GetProjects()) == 0 {
					a.say("no projects; `ideai init` in a source tree adds one")
					return
				}
				rows := make([][]any, 0, len(r.GetProjects()))
				for _, p := range r.GetProjects() {
					rows = append(rows, []any{p.GetProjectId(), a.yesNo(p.GetTrusted()), len(p.GetWorktrees()), p.GetRoot()})
				}
				a.table([]string{"project", "trusted", "worktrees", "folder"}, rows)
				for _, p := range r.GetProjects() {
					a.projectProblem(p)
				}
			})
		}),
	}
}

func (a *app) yesNo(b bool) string {
	if b {
		return a.tr("yes")
	}
	return a.tr("no")
}

func (a *app) projectProblem(p *launcherv1.Project) {
	if p.GetProblem() != "" {
		a.remark("%s: %s", p.GetProjectId(), p.GetProblem())
	}
}

func projectIDs(ctx context.Context, s *session, _ place) ([]string, error) {
	r, err := allProjects(ctx, s)
	var ids []string
	for _, p := range r.GetProjects() {
		ids = append(ids, p.GetProjectId())
	}
	return ids, err
}

func (a *app) projectShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [PROJECT]", Short: "Show a project and its worktrees", Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.complete(projectIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				a.flags.project = args[0]
			}
			return a.withPlace(func(_ *cobra.Command, _ *session, at place, _ []string) error {
				r := &launcherv1.ResolveProjectResponse{Project: at.info, WorktreeId: at.worktree}
				return a.show(r, func() { a.projectDetails(r) })
			})(cmd, args)
		},
	}
}

func (a *app) projectDetails(r *launcherv1.ResolveProjectResponse) {
	p := r.GetProject()
	a.say("%s in %s", p.GetProjectId(), p.GetRoot())
	a.say("trusted: %s", a.yesNo(p.GetTrusted()))
	if names := p.GetAliases(); len(names) > 0 {
		a.say("also called: %s", strings.Join(names, ", "))
	}
	rows := make([][]any, 0, len(p.GetWorktrees()))
	for _, w := range p.GetWorktrees() {
		rows = append(rows, []any{w.GetWorktreeId(), w.GetBranch(), w.GetRoot()})
	}
	if len(rows) > 0 {
		a.table([]string{"worktree", "branch", "folder"}, rows)
	}
	a.projectProblem(p)
}

func (a *app) projectAdd() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use: "add [FOLDER]", Short: "Add the project of a folder", Args: cobra.MaximumNArgs(1),
		RunE: a.withSession(func(cmd *cobra.Command, s *session, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			r, err := register(cmd.Context(), s, dir, id)
			if err != nil {
				return err
			}
			return a.show(r, func() { a.saidAdded(r) })
		}),
	}
	cmd.Flags().StringVar(&id, "id", "", "the project's id (default: from project.yaml, else the folder's name)")
	return cmd
}

func register(ctx context.Context, s *session, dir, id string) (*launcherv1.RegisterProjectResponse, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(abs); err != nil {
		return nil, err
	}
	return s.launcher.RegisterProject(ctx, &launcherv1.RegisterProjectRequest{Path: abs, ProjectId: id})
}

func (a *app) saidAdded(r *launcherv1.RegisterProjectResponse) {
	p := r.GetProject()
	if r.GetCreated() {
		a.say("added %s in %s", p.GetProjectId(), p.GetRoot())
	} else {
		a.say("%s in %s was added before", p.GetProjectId(), p.GetRoot())
	}
}

func (a *app) projectRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove PROJECT", Short: "Forget a project; its files stay", Args: cobra.ExactArgs(1), ValidArgsFunction: a.complete(projectIDs),
		RunE: a.withSession(func(cmd *cobra.Command, s *session, args []string) error {
			r, err := s.launcher.UnregisterProject(cmd.Context(), &launcherv1.UnregisterProjectRequest{ProjectId: args[0]})
			if err != nil {
				return err
			}
			return a.show(r, func() { a.say("forgot %s; its files stay", args[0]) })
		}),
	}
}
