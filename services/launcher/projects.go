package launchersvc

import (
	"context"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/page"
	"github.com/idea-ide/ideai/internal/project"
)

// ResolveProject returns the project and worktree of a path.
func (s *Service) ResolveProject(ctx context.Context, path string) (*launcherv1.Project, string, error) {
	if err := s.enter(); err != nil {
		return nil, "", err
	}
	p, worktree, err := s.deps.Projects.Resolve(path)
	if err != nil {
		return nil, "", err
	}
	out, err := s.describe(ctx, p)
	return out, worktree, err
}

// RegisterProject registers the project of a path; see project.Registry.
func (s *Service) RegisterProject(ctx context.Context, path, wantID string) (*launcherv1.RegisterProjectResponse, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	done, err := s.deps.Projects.Register(path, wantID)
	if err != nil {
		return nil, err
	}
	if done.Created {
		s.forget(done.Project.ID) // the id may have stood for another folder
		s.deps.Logger.InfoContext(ctx, "project registered", "project", done.Project.ID)
	}
	p, err := s.describe(ctx, done.Project)
	if err != nil {
		return nil, err
	}
	return &launcherv1.RegisterProjectResponse{Project: p, WorktreeId: done.Worktree, Created: done.Created}, nil
}

// GetProject returns the project of an id or an alias.
func (s *Service) GetProject(ctx context.Context, id string) (*launcherv1.Project, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	p, err := s.deps.Projects.Get(id)
	if err != nil {
		return nil, err
	}
	return s.describe(ctx, p)
}

// UnregisterProject forgets a project and the trust in it. Its files stay.
func (s *Service) UnregisterProject(ctx context.Context, id string) error {
	if err := s.enter(); err != nil {
		return err
	}
	p, err := s.deps.Projects.Get(id)
	if err != nil {
		return err
	}
	if err := s.deps.Projects.Remove(p.ID); err != nil {
		return err
	}
	s.forget(p.ID)
	s.deps.Logger.InfoContext(ctx, "project unregistered", "project", p.ID)
	return s.dropTrust(ctx, p.ID)
}

// ListProjects returns a page of the registered projects by id.
func (s *Service) ListProjects(ctx context.Context, size int32, token string) ([]*launcherv1.Project, string, error) {
	if err := s.enter(); err != nil {
		return nil, "", err
	}
	all, err := s.deps.Projects.List()
	if err != nil {
		return nil, "", err
	}
	items, next, err := page.Slice(all, func(p project.Project) string { return p.ID }, size, token)
	if err != nil {
		return nil, "", err
	}
	out := make([]*launcherv1.Project, len(items))
	for i, p := range items {
		if out[i], err = s.describe(ctx, p); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// Bounds of what is shown of a project; more can be worked in.
const (
	maxWorktrees = 256
	maxAliases   = 64
)

func (s *Service) describe(ctx context.Context, p project.Project) (*launcherv1.Project, error) {
	trust, err := s.readTrust(ctx, p)
	if err != nil {
		return nil, err
	}
	out := &launcherv1.Project{ProjectId: p.ID, Root: p.Root, Trusted: trust.Trusted, Problem: p.Problem}
	aliases := p.Aliases()
	out.Aliases = aliases[:min(len(aliases), maxAliases)]
	for _, w := range p.Worktrees[:min(len(p.Worktrees), maxWorktrees)] {
		out.Worktrees = append(out.Worktrees, &launcherv1.Worktree{WorktreeId: w.ID, Root: w.Root, Branch: w.Branch})
	}
	return out, nil
}

// usable returns a project that can be worked in. The id may be an alias; the
// result's is not.
func (s *Service) usable(id string) (project.Project, error) {
	p, err := s.deps.Projects.Get(id)
	if err != nil {
		return project.Project{}, err
	}
	if p.Problem != "" {
		return project.Project{}, fault.New(fault.ProjectNotFound, fault.Meta{"project": id}, "the project %s cannot be used: %s", id, p.Problem)
	}
	return p, nil
}

// worktree returns a project that can be worked in and one of its worktrees.
func (s *Service) worktree(projectID, worktreeID string) (project.Project, project.Worktree, error) {
	p, err := s.usable(projectID)
	if err != nil {
		return project.Project{}, project.Worktree{}, err
	}
	w, ok := p.Worktree(worktreeID)
	if !ok {
		return project.Project{}, project.Worktree{}, fault.New(fault.WorktreeNotFound,
			fault.Meta{"project": p.ID, "worktree": worktreeID},
			"the project %s has no worktree %s; `ideai project show %s` lists them", p.ID, worktreeID, p.ID)
	}
	return p, w, nil
}
