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
			n, err := getNote(cmd.Context(), s, at, args[0])
			if err != nil {
				return err
			}
			id := n.GetNoteId()
			m, err := a.edit(cmd.Context(), draft{
				name: id + ".md", text: noteText(n), etag: n.GetEtag(),
				save: func(ctx context.Context, text, etag string) (proto.Message, error) {
					n, err := parseNote(id, text)
					if err != nil {
						return nil, err
					}
					n.Etag = etag
					return s.memory.SaveNote(ctx, &memoryv1.SaveNoteRequest{ProjectId: at.project, WorktreeId: at.worktree, Note: n})
				},
				current: func(ctx context.Context) (string, string, error) {
					n, err := getNote(ctx, s, at, id)
					return noteText(n), n.GetEtag(), err
				},
			})
			return a.edited(m, err, id)
		}),
	}
}

// edited tells what an edit came to.
func (a *app) edited(m proto.Message, err error, what string) error {
	if err != nil {
		return err
	}
	if m == nil {
		a.remark("nothing was changed")
		return nil
	}
	return a.show(m, func() { a.say("saved %s", what) })
}
