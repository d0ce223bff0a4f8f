package main

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
)

func (a *app) memoryEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit NOTE", Short: "Edit a note in $EDITOR", Args: cobra.ExactArgs(1), ValidArgsFunction: a.complete(noteIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			r, err := getNote(cmd.Context(), s, at, args[0])
			if err != nil {
				return err
			}
			id := r.GetNote().GetNoteId()
			m, changed, err := a.edit(cmd.Context(), draft{
				name: id + ".md", text: r.GetSource(), etag: r.GetNote().GetEtag(),
				unchanged: &memoryv1.SaveNoteResponse{Note: r.GetNote()},
				save: func(ctx context.Context, text, etag string) (proto.Message, error) {
					return s.memory.SaveNote(ctx, &memoryv1.SaveNoteRequest{
						ProjectId: at.project, WorktreeId: at.worktree, Note: &memoryv1.Note{NoteId: id, Etag: etag}, Source: &text,
					})
				},
				current: func(ctx context.Context) (string, string, error) {
					r, err := getNote(ctx, s, at, id)
					return r.GetSource(), r.GetNote().GetEtag(), err
				},
			})
			return a.edited(m, changed, err, id)
		}),
	}
}

// edited tells what an edit came to.
func (a *app) edited(m proto.Message, changed bool, err error, what string) error {
	if err != nil {
		return err
	}
	if !changed {
		a.remark("nothing was changed")
		return a.show(m, func() {})
	}
	return a.show(m, func() { a.say("saved %s", what) })
}
