package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (a *app) initCommand() *cobra.Command {
	var yes bool
	var id, lang string
	cmd := &cobra.Command{
		Use: "init", Short: "Make the current folder a project", Args: cobra.NoArgs,
		Long: "Looks for the CLIs that are there, says what it would do, and does it on a yes: writes\n.ideai/project.yaml and adds the project to those ideai knows. Then it lists the files that\nspeak to agents as rules, and asks whether to use them.",
		RunE: a.withSession(func(cmd *cobra.Command, s *session, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			root, err := projectRoot(cmd.Context(), s, dir)
			if err != nil {
				return err
			}
			if err := readable(filepath.Join(root, ".ideai")); err != nil {
				return err
			}
			if lang == "" {
				lang = a.lang
			}
			if !a.asJSON {
				a.initPlan(cmd.Context(), root, lang)
			}
			if !yes && !a.ask("do this?") {
				return &refusedError{"nothing was written; --yes does it without asking"}
			}
			r, at, err := a.initialise(cmd.Context(), s, root, id, lang)
			if err != nil {
				return err
			}
			if !a.asJSON {
				a.saidAdded(r)
			}
			if r.Project.Trusted, err = a.initTrust(cmd.Context(), s, at, yes); err != nil {
				return err
			}
			return a.show(r, func() {
				a.say("next: ideai claude, or ideai agent edit NAME")
			})
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.StringVar(&id, "id", "", "the project's id (default: from project.yaml, else the folder's name)")
	f.StringVar(&lang, "lang", "", "language of the texts for agents: en or fr (default: yours)")
	return cmd
}

// projectRoot is the folder to make a project of: the one ideai knows already,
// else the nearest that has a .git or .ideai, else the current one.
func projectRoot(ctx context.Context, s *session, dir string) (string, error) {
	r, err := s.launcher.ResolveProject(ctx, &launcherv1.ResolveProjectRequest{Path: dir})
	if err == nil {
		return place{worktree: r.GetWorktreeId(), info: r.GetProject()}.root(), nil
	}
	if fault.ReasonOf(err) != fault.ProjectNotFound {
		return "", err
	}
	root, _ := markedRoot(dir)
	return root, nil
}

// markedRoot is the nearest folder from dir upwards that has a .git or .ideai,
// else dir itself.
func markedRoot(dir string) (root string, marked bool) {
	for d := dir; ; d = filepath.Dir(d) {
		for _, mark := range []string{".ideai", ".git"} {
			if _, err := os.Lstat(filepath.Join(d, mark)); err == nil && d != userHome() {
				return d, true
			}
		}
		if d == filepath.Dir(d) {
			return dir, false
		}
	}
}

// userHome is the person's home, which is never a project by a mark in it.
func userHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// readable makes sure that an existing .ideai can be read.
func readable(dir string) error {
	if _, err := os.ReadDir(dir); err != nil && !os.IsNotExist(err) {
		return fault.New(fault.StoreUnavailable, fault.Meta{"path": dir},
			"%s cannot be read; give yourself read and write permission on it", dir).Wrap(err)
	}
	return nil
}

// initPlan says what was found and what would be done.
func (a *app) initPlan(ctx context.Context, root, lang string) {
	a.say("project: %s", root)
	a.say("CLIs found: %s", a.listOrNone(a.installedCLIs(ctx)))
	if _, err := os.Stat(filepath.Join(root, ".ideai", "project.yaml")); os.IsNotExist(err) {
		a.say("would write .ideai/project.yaml (language: %s)", lang)
	}
	a.say("would add the project; other files stay as they are")
}

func (a *app) listOrNone(names []string) string {
	if len(names) == 0 {
		return a.tr("none")
	}
	return strings.Join(names, ", ")
}

// initTrust shows the files that speak as rules and trusts the project on a
// yes; one that has none yet is its maker's to fill.
func (a *app) initTrust(ctx context.Context, s *session, at place, yes bool) (trusted bool, err error) {
	r, err := s.launcher.GetTrust(ctx, &launcherv1.GetTrustRequest{ProjectId: at.project, WorktreeId: at.worktree})
	if err != nil || r.GetTrust().GetTrusted() {
		return r.GetTrust().GetTrusted(), err
	}
	files := r.GetTrust().GetFiles()
	if !a.asJSON && len(files) > 0 {
		a.trustFiles(r.GetTrust())
	}
	if len(files) > 0 && !yes && !a.ask("let agents follow these files of %s?", at.project) {
		a.remark("%s is not trusted: its %d files of rules are left out; `ideai trust` lists them and asks", at.project, len(files))
		return false, nil
	}
	_, err = setTrust(ctx, s, at, true)
	return err == nil, err
}

// initialise registers the project and writes its settings when it has none.
func (a *app) initialise(ctx context.Context, s *session, root, id, lang string) (*launcherv1.RegisterProjectResponse, place, error) {
	r, err := register(ctx, s, root, id)
	if err != nil {
		return nil, place{}, err
	}
	project := r.GetProject().GetProjectId()
	at := place{project: project, worktree: r.GetWorktreeId(), info: r.GetProject()}
	if _, err := os.Stat(filepath.Join(at.root(), ".ideai", "project.yaml")); os.IsNotExist(err) {
		_, err := s.context.SaveSettings(ctx, &contextv1.SaveSettingsRequest{
			ProjectId: project, WorktreeId: r.GetWorktreeId(), Settings: &contextv1.Settings{Language: lang},
		})
		if err != nil {
			return nil, place{}, err
		}
	} else if err != nil && !os.IsNotExist(err) {
		return nil, place{}, unreadableFile(root, err)
	}
	return r, at, nil
}

func unreadableFile(path string, err error) error {
	if os.IsPermission(err) {
		err = fs.ErrPermission
	}
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": path}, "%s cannot be read; check its permissions", path).Wrap(err)
}
