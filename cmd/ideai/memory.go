package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (a *app) memoryCommand() *cobra.Command {
	cmd := group("memory", "Notes: what the project knows")
	cmd.AddCommand(a.memoryList(), a.memoryShow(), a.memorySave(), a.memoryEdit(), a.memoryDelete(), a.memorySearch(), a.memoryWhy())
	return cmd
}

func (a *app) memoryList() *cobra.Command {
	var problems bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the notes", Args: cobra.NoArgs,
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, _ []string) error {
			r, err := allNotes(cmd.Context(), s, at, problems)
			if err != nil {
				return err
			}
			return a.show(r, func() { a.noteTable(r) })
		}),
	}
	cmd.Flags().BoolVar(&problems, "problems", false, "only notes that have problems")
	return cmd
}

func allNotes(ctx context.Context, s *session, at place, problems bool) (*memoryv1.ListNotesResponse, error) {
	return allPages(func(token string) (*memoryv1.ListNotesResponse, error) {
		return s.memory.ListNotes(ctx, &memoryv1.ListNotesRequest{
			ProjectId: at.project, WorktreeId: at.worktree, PageSize: 1000, PageToken: token, OnlyProblems: problems,
		})
	})
}

func (a *app) noteTable(r *memoryv1.ListNotesResponse) {
	if len(r.GetNotes()) == 0 {
		a.say("no notes")
		return
	}
	rows := make([][]any, 0, len(r.GetNotes()))
	for _, n := range r.GetNotes() {
		rows = append(rows, []any{n.GetNoteId(), n.GetType(), n.GetDescription()})
	}
	a.table([]string{"note", "type", "description"}, rows)
	for _, n := range r.GetNotes() {
		a.noteProblems(n)
	}
}

// noteProblems tells what is wrong with a note's file, with its line.
func (a *app) noteProblems(n *memoryv1.Note) {
	for _, p := range n.GetProblems() {
		where := ".ideai/memory/" + n.GetNoteId()
		kept := strings.Contains(n.GetNoteId(), ".md.conflict-") // a version beside its note
		if !kept {
			where += ".md"
		}
		if p.GetLine() > 0 {
			where = fmt.Sprintf("%s:%d", where, p.GetLine())
		}
		if p.GetExcluded() && !kept {
			a.remark("%s: %s (not used until it is mended)", where, p.GetMessage())
		} else {
			a.remark("%s: %s", where, p.GetMessage())
		}
	}
}

func (a *app) memoryShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NOTE", Short: "Show a note", Args: cobra.ExactArgs(1), ValidArgsFunction: a.complete(noteIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			if s.agent != nil {
				return a.readNote(cmd.Context(), s, at, args[0])
			}
			r, err := getNote(cmd.Context(), s, at, args[0])
			if err != nil {
				return err
			}
			return a.show(r, func() {
				a.block(r.GetSource())
				a.noteProblems(r.GetNote())
			})
		}),
	}
}

// readNote shows a note the way agents read it, in parts.
func (a *app) readNote(ctx context.Context, s *session, at place, id string) error {
	whole := &memoryv1.ReadNoteResponse{}
	for part := int32(1); part == 1 || part <= whole.GetParts(); part++ {
		r, err := s.memory.ReadNote(ctx, &memoryv1.ReadNoteRequest{ProjectId: at.project, WorktreeId: at.worktree, NoteId: id, Part: part})
		if err != nil {
			return err
		}
		text := whole.GetText() + r.GetText()
		whole = r
		whole.Text = text
	}
	return a.show(whole, func() { a.block(whole.GetText()) })
}

func getNote(ctx context.Context, s *session, at place, id string) (*memoryv1.GetNoteResponse, error) {
	return s.memory.GetNote(ctx, &memoryv1.GetNoteRequest{ProjectId: at.project, WorktreeId: at.worktree, NoteId: id})
}

func noteIDs(ctx context.Context, s *session, at place) ([]string, error) {
	r, err := allNotes(ctx, s, at, false)
	var ids []string
	for _, n := range r.GetNotes() {
		ids = append(ids, n.GetNoteId())
	}
	return ids, err
}

func (a *app) memorySave() *cobra.Command {
	var description, kind, body, file, etag string
	var replace bool
	cmd := &cobra.Command{
		Use: "save NOTE", Short: "Create or replace a note, from flags or standard input", Args: cobra.ExactArgs(1),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			text := body
			if !cmd.Flags().Changed("body") {
				var err error
				if text, err = a.readText(file); err != nil {
					return err
				}
			}
			n := &memoryv1.Note{NoteId: args[0], Description: description, Type: kind, Body: text, Etag: etag}
			if replace {
				old, err := getNote(cmd.Context(), s, at, args[0])
				if err != nil && fault.ReasonOf(err) != fault.NoteNotFound {
					return err
				}
				n.Etag = old.GetNote().GetEtag()
			}
			r, err := s.memory.SaveNote(cmd.Context(), &memoryv1.SaveNoteRequest{ProjectId: at.project, WorktreeId: at.worktree, Note: n})
			if fault.ReasonOf(err) == fault.StaleEtag && n.GetEtag() == "" {
				return &noteExistsError{args[0], err}
			}
			if err != nil {
				return err
			}
			return a.show(r, func() { a.saidSaved(r.GetNote()) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&description, "description", "", "what the note answers, in one line")
	f.StringVar(&kind, "type", "", "project, user, feedback or reference")
	f.StringVar(&body, "body", "", "the text; without it, standard input or --file")
	f.StringVar(&file, "file", "-", "file to read the text from, - for standard input")
	f.StringVar(&etag, "etag", "", "replace the note of this etag, as --json shows it")
	f.BoolVar(&replace, "replace", false, "replace the note whatever it holds now")
	cmd.MarkFlagsMutuallyExclusive("etag", "replace")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	return cmd
}

func (a *app) saidSaved(n *memoryv1.Note) {
	a.say("saved %s", n.GetNoteId())
	a.noteProblems(n)
}

// readText reads a text given by file or standard input.
func (a *app) readText(file string) (string, error) {
	if file != "-" {
		data, err := os.ReadFile(file)
		return string(data), err
	}
	if a.people {
		a.remark("type the text, then end it with Ctrl-D")
	}
	data, err := io.ReadAll(a.in)
	return string(data), err
}

func (a *app) memoryDelete() *cobra.Command {
	var yes, missing bool
	cmd := &cobra.Command{
		Use: "delete NOTE", Short: "Delete a note", Args: cobra.ExactArgs(1), ValidArgsFunction: a.complete(noteIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			r, err := getNote(cmd.Context(), s, at, args[0])
			if err != nil && (!missing || fault.ReasonOf(err) != fault.NoteNotFound) {
				return err
			}
			n := r.GetNote()
			if !yes && !a.ask("delete %s: %s?", args[0], n.GetDescription()) {
				return &refusedError{"nothing was deleted; --yes deletes without asking"}
			}
			deleted, err := s.memory.DeleteNote(cmd.Context(), &memoryv1.DeleteNoteRequest{
				ProjectId: at.project, WorktreeId: at.worktree, NoteId: args[0], Etag: n.GetEtag(), AllowMissing: missing,
			})
			if err != nil {
				return err
			}
			return a.show(deleted, func() { a.say("deleted %s", args[0]) })
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&missing, "allow-missing", false, "an absent note is no error")
	return cmd
}
