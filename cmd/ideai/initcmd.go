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

// rulesFiles are the files in which teams keep rules for one CLI or another.
var rulesFiles = []string{
	".ideai/CONTEXT.md", ".ideai/agents/*.md", ".ideai/skills/*/SKILL.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", ".cursorrules",
}

func (a *app) initCommand() *cobra.Command {
	var yes bool
	var id, lang string
	cmd := &cobra.Command{
		Use: "init", Short: "Make the current folder a project", Args: cobra.NoArgs,
		Long: "Looks for the CLIs and the rules files that are there, says what it would do, and does it on a yes:\nwrites .ideai/project.yaml, adds the project to those ideai knows, and trusts its rules.",
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
			r, err := a.initialise(cmd.Context(), s, root, id, lang)
			if err != nil {
				return err
			}
			return a.show(r, func() {
				a.saidAdded(r)
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
	for d := dir; ; d = filepath.Dir(d) {
		for _, mark := range []string{".ideai", ".git"} {
			if _, err := os.Lstat(filepath.Join(d, mark)); err == nil && d != userHome() {
				return d, nil
			}
		}
		if d == filepath.Dir(d) {
			return dir, nil
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
	a.say("rules found: %s", a.listOrNone(rulesIn(root)))
	if _, err := os.Stat(filepath.Join(root, ".ideai", "project.yaml")); os.IsNotExist(err) {
		a.say("would write .ideai/project.yaml (language: %s)", lang)
	}
	a.say("would add the project and trust its rules; other files stay as they are")
}

// rulesIn names the files of a tree that speak to agents as rules, or would.
func rulesIn(root string) []string {
	var found []string
	for _, pattern := range rulesFiles {
		paths, _ := fs.Glob(os.DirFS(root), pattern)
		for _, name := range paths {
			if st, err := os.Stat(filepath.Join(root, name)); err == nil && st.Mode().IsRegular() {
				found = append(found, name)
			}
		}
	}
	return found
}

func (a *app) listOrNone(names []string) string {
	if len(names) == 0 {
		return a.tr("none")
	}
	return strings.Join(names, ", ")
}

// initialise registers the project, writes its settings when it has none, and
// trusts it: the person who makes a project has read it.
func (a *app) initialise(ctx context.Context, s *session, root, id, lang string) (*launcherv1.RegisterProjectResponse, error) {
	r, err := register(ctx, s, root, id)
	if err != nil {
		return nil, err
	}
	project := r.GetProject().GetProjectId()
	at := place{project: project, worktree: r.GetWorktreeId(), info: r.GetProject()}
	if _, err := os.Stat(filepath.Join(at.root(), ".ideai", "project.yaml")); os.IsNotExist(err) {
		_, err := s.context.SaveSettings(ctx, &contextv1.SaveSettingsRequest{
			ProjectId: project, WorktreeId: r.GetWorktreeId(), Settings: &contextv1.Settings{Language: lang},
		})
		if err != nil {
			return nil, err
		}
	} else if err != nil && !os.IsNotExist(err) {
		return nil, unreadableFile(root, err)
	}
	if _, err := setTrust(ctx, s, at, true); err != nil {
		return nil, err
	}
	r.Project.Trusted = true
	return r, nil
}

func unreadableFile(path string, err error) error {
	if os.IsPermission(err) {
		err = fs.ErrPermission
	}
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": path}, "%s cannot be read; check its permissions", path).Wrap(err)
}
