package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (a *app) memorySearch() *cobra.Command {
	var limit, budget int32
	var hints []string
	cmd := &cobra.Command{
		Use: "search QUERY...", Short: "Search the notes as agents recall them", Args: cobra.MinimumNArgs(1),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			r, err := s.memory.RecallNotes(cmd.Context(), &memoryv1.RecallNotesRequest{
				ProjectId: at.project, WorktreeId: at.worktree, Query: strings.Join(args, " "), Hints: hints,
				MaxNotes: limit, BudgetTokens: budget,
			})
			if err != nil {
				return err
			}
			return a.show(r, func() { a.hits(r) })
		}),
	}
	cmd.Flags().Int32Var(&limit, "limit", 0, "at most this many notes (default 5)")
	cmd.Flags().Int32Var(&budget, "budget", 0, "tokens for their texts (default 2000)")
	cmd.Flags().StringSliceVar(&hints, "hint", nil, "words that lean the choice, such as a persona's")
	return cmd
}

func (a *app) hits(r *memoryv1.RecallNotesResponse) {
	if len(r.GetNotes()) == 0 {
		a.say("no note on this, of %d", r.GetTotalNotes())
		return
	}
	rows := make([][]any, 0, len(r.GetNotes()))
	for _, n := range r.GetNotes() {
		rows = append(rows, []any{fmt.Sprintf("%.2f", n.GetScore()), n.GetNoteId(), a.tr(noteForms[n.GetForm()]), n.GetTokens(), n.GetDescription()})
	}
	a.table([]string{"score", "note", "form", "tokens", "description"}, rows)
	if left := r.GetLeftOutNoteIds(); len(left) > 0 {
		a.say("left out for want of budget: %s", strings.Join(left, ", "))
	}
}

var noteForms = map[typev1.NoteForm]string{
	typev1.NoteForm_NOTE_FORM_FULL:    "whole",
	typev1.NoteForm_NOTE_FORM_EXCERPT: "excerpt",
	typev1.NoteForm_NOTE_FORM_POINTER: "name only",
}

// whyLimit is how deep `memory why` looks for its note.
const whyLimit = 32

func (a *app) memoryWhy() *cobra.Command {
	return &cobra.Command{
		Use: "why NOTE QUERY...", Short: "Explain why a query finds a note, or does not", Args: cobra.MinimumNArgs(2),
		ValidArgsFunction: a.complete(noteIDs),
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, args []string) error {
			r, err := s.memory.RecallNotes(cmd.Context(), &memoryv1.RecallNotesRequest{
				ProjectId: at.project, WorktreeId: at.worktree, Query: strings.Join(args[1:], " "), MaxNotes: whyLimit, BudgetTokens: 100000,
			})
			if err != nil {
				return err
			}
			for i, n := range r.GetNotes() {
				if n.GetNoteId() == args[0] {
					return a.show(r, func() { a.why(i+1, n) })
				}
			}
			return a.whyNot(cmd, s, at, args[0], r)
		}),
	}
}

func (a *app) why(rank int, n *memoryv1.RecalledNote) {
	a.say("%s is number %d, score %.2f", n.GetNoteId(), rank, n.GetScore())
	rows := make([][]any, 0, len(n.GetWhy()))
	for _, w := range n.GetWhy() {
		rows = append(rows, []any{w.GetTerm(), w.GetMatched(), w.GetField(), a.tr(recallReasons[w.GetKind()])})
	}
	a.table([]string{"word", "met", "in", "because"}, rows)
}

var recallReasons = map[memoryv1.RecallReasonKind]string{
	memoryv1.RecallReasonKind_RECALL_REASON_KIND_PINNED:   "the persona pins it",
	memoryv1.RecallReasonKind_RECALL_REASON_KIND_TERM:     "the word is in the note",
	memoryv1.RecallReasonKind_RECALL_REASON_KIND_GLOSSARY: "synonym or translation",
	memoryv1.RecallReasonKind_RECALL_REASON_KIND_LINK:     "a matching note links to it",
	memoryv1.RecallReasonKind_RECALL_REASON_KIND_INDEX:    "listed in the index",
	memoryv1.RecallReasonKind_RECALL_REASON_KIND_HINT:     "a hint met it",
}

// whyNot tells why a note was not among the answers.
func (a *app) whyNot(cmd *cobra.Command, s *session, at place, id string, r *memoryv1.RecallNotesResponse) error {
	for _, left := range r.GetLeftOutNoteIds() {
		if left == id {
			return a.show(r, func() { a.say("%s was found and left out for want of budget", id) })
		}
	}
	if s.agent == nil {
		r, err := getNote(cmd.Context(), s, at, id)
		if err != nil {
			return err
		}
		n := r.GetNote()
		for _, p := range n.GetProblems() {
			if p.GetExcluded() {
				a.noteProblems(n)
				return fault.New(fault.Damaged, fault.Meta{"name": id, "line": fmt.Sprint(p.GetLine())},
					"%s is never recalled until its file is mended", id)
			}
		}
	}
	return a.show(r, func() {
		if len(r.GetNotes()) == 0 {
			a.say("no note scores above the floor for these words; %s neither", id)
			return
		}
		a.say("%s is not among the %d notes found: none of the words leads to it, or too few", id, len(r.GetNotes()))
	})
}
