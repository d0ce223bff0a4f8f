package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// session is a connection to the gateway, with one client for each service.
type session struct {
	launcher launcherv1.LauncherServiceClient
	context  contextv1.ContextServiceClient
	memory   memoryv1.MemoryServiceClient
	address  string      // of the gateway, for those who connect later
	agent    *agentToken // set when the command acts as an agent
	close    func()
}

func newSession(address string, conn grpc.ClientConnInterface, agent *agentToken, closeConn func()) *session {
	return &session{
		launcher: launcherv1.NewLauncherServiceClient(conn),
		context:  contextv1.NewContextServiceClient(conn),
		memory:   memoryv1.NewMemoryServiceClient(conn),
		address:  address,
		agent:    agent,
		close:    closeConn,
	}
}

// place is the project and worktree a command is about.
type place struct {
	project, worktree string
	info              *launcherv1.Project // nil for an agent, who may not ask
}

// place finds the project of --project, of the agent's token, or of the
// current folder.
func (a *app) place(ctx context.Context, s *session) (place, error) {
	if s.agent != nil {
		return place{project: s.agent.project, worktree: s.agent.worktree}, nil
	}
	if a.flags.project != "" {
		return a.namedPlace(ctx, s)
	}
	dir, err := os.Getwd()
	if err != nil {
		return place{}, err
	}
	r, err := s.launcher.ResolveProject(ctx, &launcherv1.ResolveProjectRequest{Path: dir})
	if err != nil {
		return place{}, err
	}
	p := place{project: r.GetProject().GetProjectId(), worktree: r.GetWorktreeId(), info: r.GetProject()}
	if a.flags.worktree != "" {
		p.worktree = a.flags.worktree
	}
	return p, nil
}

// placeOrNew is place for commands that begin with a project: one that nobody
// registered so far is registered, a folder that nothing marks as a source tree
// when the person says so. With dry nothing is registered.
func (a *app) placeOrNew(ctx context.Context, s *session, dry bool) (place, error) {
	at, err := a.place(ctx, s)
	if fault.ReasonOf(err) != fault.ProjectNotFound || a.flags.project != "" || dry {
		return at, err
	}
	dir, err2 := os.Getwd()
	if err2 != nil {
		return place{}, err2
	}
	root, marked := markedRoot(dir)
	if !marked && !a.ask("make %s a project?", root) {
		return place{}, err
	}
	if _, err := register(ctx, s, root, ""); err != nil {
		return place{}, err
	}
	return a.place(ctx, s)
}

func (a *app) namedPlace(ctx context.Context, s *session) (place, error) {
	r, err := s.launcher.GetProject(ctx, &launcherv1.GetProjectRequest{ProjectId: a.flags.project})
	if err != nil {
		return place{}, err
	}
	return place{project: r.GetProject().GetProjectId(), worktree: a.flags.worktree, info: r.GetProject()}, nil
}

// root is the worktree's folder as the server sees it, "" for an agent.
func (p place) root() string {
	for _, w := range p.info.GetWorktrees() {
		if w.GetWorktreeId() == p.worktree || p.worktree == "" {
			return w.GetRoot()
		}
	}
	return p.info.GetRoot()
}

// page is a response with a token for the next one.
type page interface {
	proto.Message
	GetNextPageToken() string
}

// allPages fetches every page of a list and joins them into one response.
func allPages[P page](fetch func(token string) (P, error)) (P, error) {
	all, err := fetch("")
	for err == nil && all.GetNextPageToken() != "" {
		var next P
		next, err = fetch(all.GetNextPageToken())
		if err == nil {
			m := all.ProtoReflect()
			m.Clear(m.Descriptor().Fields().ByName("next_page_token"))
			proto.Merge(all, next)
		}
	}
	return all, err
}

func allProjects(ctx context.Context, s *session) (*launcherv1.ListProjectsResponse, error) {
	return allPages(func(token string) (*launcherv1.ListProjectsResponse, error) {
		return s.launcher.ListProjects(ctx, &launcherv1.ListProjectsRequest{PageSize: 1000, PageToken: token})
	})
}

// withSession makes a command that talks to the server.
func (a *app) withSession(run func(cmd *cobra.Command, s *session, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		return run(cmd, s, args)
	}
}

// withPlace makes a command that is about one project.
func (a *app) withPlace(run func(cmd *cobra.Command, s *session, at place, args []string) error) func(*cobra.Command, []string) error {
	return a.withSession(func(cmd *cobra.Command, s *session, args []string) error {
		at, err := a.place(cmd.Context(), s)
		if err != nil {
			return err
		}
		return run(cmd, s, at, args)
	})
}

// complete makes a completion for the first argument. It never starts a
// server and stays silent when it cannot answer.
func (a *app) complete(list func(ctx context.Context, s *session, at place) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		a.cmd = cmd
		if a.configure(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		s, ok := a.connectRunning(ctx)
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.close()
		at, err := a.place(ctx, s)
		if err != nil {
			at = place{} // lists that need no project still answer
		}
		names, err := list(ctx, s, at)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, n := range names {
			if strings.HasPrefix(n, prefix) {
				out = append(out, n)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
