package main

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (a *app) agentCommand() *cobra.Command {
	cmd := group("agent", "Agents: the roles of this project")
	cmd.AddCommand(a.agentList(), a.agentShow(), a.agentEdit(), a.agentDelete())
	return cmd
}

func (a *app) agentList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the agents", Args: cobra.NoArgs,
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, _ []string) error {
			r, err := allPersonas(cmd.Context(), s, at)
			if err != nil {
				return err
			}
			return a.show(r, func() {
				if len(r.GetPersonas()) == 0 {
					a.say("no agents; `ideai agent edit NAME` makes one")
					return
				}
				rows := make([][]any, 0, len(r.GetPersonas()))
				for _, p := range r.GetPersonas() {
					rows = append(rows, []any{p.GetAgentId(), p.GetProfileId(), p.GetDescription()})
				}
				a.table([]string{"agent", "profile", "description"}, rows)
				for _, p := range r.GetPersonas() {
					if p.GetProblem() != "" {
						a.remark("%s", a.fileProblem(p.GetProblem()))
					}
				}
			})
		}),
	}
}

func allPersonas(ctx context.Context, s *session, at place) (*contextv1.ListPersonasResponse, error) {
	return allPages(func(token string) (*contextv1.ListPersonasResponse, error) {
		return s.context.ListPersonas(ctx, &contextv1.ListPersonasRequest{
			ProjectId: at.project, WorktreeId: at.worktree, PageSize: 1000, PageToken: token,
		})
	})
}

func agentIDs(ctx context.Context, s *session, at place) ([]string, error) {
	r, err := allPersonas(ctx, s, at)
	var ids []string
	for _, p := range r.GetPersonas() {
		ids = append(ids, p.GetAgentId())
	}
	return ids, err
}

func (a *app) agentShow() *cobra.Command {
	return &cobra.Command{
		Use: "show AGENT", Short: "Show an agent's persona", Args: cobra.ExactArgs(1), ValidArgsFunction: a.complete(agentIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			r, err := getPersona(cmd.Context(), s, at, args[0])
			if err != nil {
				return err
			}
			return a.show(r, func() {
				a.block(r.GetSource())
				if p := r.GetPersona(); p.GetProblem() != "" {
					a.remark("%s", a.fileProblem(p.GetProblem()))
				}
			})
		}),
	}
}

func getPersona(ctx context.Context, s *session, at place, id string) (*contextv1.GetPersonaResponse, error) {
	return s.context.GetPersona(ctx, &contextv1.GetPersonaRequest{ProjectId: at.project, WorktreeId: at.worktree, AgentId: id})
}

func (a *app) agentEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit AGENT", Short: "Edit an agent's persona in $EDITOR, or make a new one", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.complete(agentIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			id := args[0]
			r, err := getPersona(cmd.Context(), s, at, id)
			text := r.GetSource()
			if fault.ReasonOf(err) == fault.PersonaNotFound {
				text, err = a.tr(newPersona), nil
			}
			if err != nil {
				return err
			}
			m, changed, err := a.edit(cmd.Context(), draft{
				name: id + ".md", text: text, etag: r.GetPersona().GetEtag(),
				unchanged: &contextv1.SavePersonaResponse{Persona: r.GetPersona()},
				save: func(ctx context.Context, text, etag string) (proto.Message, error) {
					return s.context.SavePersona(ctx, &contextv1.SavePersonaRequest{
						ProjectId: at.project, WorktreeId: at.worktree, Persona: &contextv1.Persona{AgentId: id, Etag: etag}, Source: &text,
					})
				},
				current: func(ctx context.Context) (string, string, error) {
					r, err := getPersona(ctx, s, at, id)
					return r.GetSource(), r.GetPersona().GetEtag(), err
				},
			})
			return a.edited(m, changed, err, id)
		}),
	}
}

// newPersona is what the editor shows for an agent that does not exist yet.
const newPersona = `---
description: What this agent is for, in one line. Other agents see it.
recall: []
pinned: []
---
You are …
`

func (a *app) agentDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete AGENT", Short: "Delete an agent's persona", Args: cobra.ExactArgs(1), ValidArgsFunction: a.complete(agentIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			got, err := getPersona(cmd.Context(), s, at, args[0])
			if err != nil {
				return err
			}
			p := got.GetPersona()
			if !yes && !a.ask("delete %s: %s?", args[0], p.GetDescription()) {
				return &refusedError{"nothing was deleted; --yes deletes without asking"}
			}
			r, err := s.context.DeletePersona(cmd.Context(), &contextv1.DeletePersonaRequest{
				ProjectId: at.project, WorktreeId: at.worktree, AgentId: args[0], Etag: p.GetEtag(),
			})
			if err != nil {
				return err
			}
			return a.show(r, func() { a.say("deleted %s", args[0]) })
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
