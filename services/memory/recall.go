package memorysvc

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/idea-ide/ideai/services/memory/recall"
)

// Bounds of a recall.
const (
	maxFound   = 32
	maxPinned  = 32
	maxBudget  = 100000
	maxIndex   = 20000
	maxAnswer  = 512
	maxLeftOut = 32
	maxLeaning = 128 // pointers ordered by relevance; further ones by type

	leastPointer = 4 // tokens of the shortest pointer
	usualPointer = 8 // tokens that few pointers are below
)

// Form says how much of a note is given.
type Form uint8

// The forms, in the order of the proto enum.
const (
	Full Form = iota + 1
	Excerpt
	Pointer
)

// ReasonKind names why a note was chosen.
type ReasonKind uint8

// The kinds, in the order of the proto enum.
const (
	ReasonPinned ReasonKind = iota + 1
	ReasonTerm
	ReasonGlossary
	ReasonLink
	ReasonIndex
	ReasonHint
)

// Reason is one reason why a note was chosen.
type Reason struct {
	Kind                 ReasonKind
	Term, Matched, Field string
}

// Question says for whom and what to recall. Zero numbers are the defaults of
// Config; a zero IndexBudget is no index.
type Question struct {
	Query        string   // the task in plain words; empty leaves the choice to Hints
	Hints        []string // words that lean the choice without asking
	Pinned       []string // ids to return whatever the query
	MaxNotes     int      // found notes, pinned ones apart
	BudgetTokens int      // for pinned and found notes
	IndexTokens  int      // for pointers to further notes
}

// Recalled is a note chosen for an agent. Its text is as people wrote it:
// whoever shows it to a model fences it.
type Recalled struct {
	ID, Description string
	Form            Form
	Text            string
	Tokens          int     // of Text, or of the pointer
	Score           float64 // 0 to 1 within one answer; 0 for pinned notes and the index
	Why             []Reason
}

// Answer is the outcome of a recall.
type Answer struct {
	Notes   []Recalled // pinned, then found by score, then the index
	Total   int        // usable notes of the project
	LeftOut []string   // chosen, and given up for want of budget or because they cannot be used
	Broken  int        // notes that are not used because of what is wrong with their files
}

// RecallNotes chooses notes for one agent and task. Equal notes and questions
// give equal answers. A pinned note that is not there is left out and no
// error.
func (s *Service) RecallNotes(ctx context.Context, at Place, q Question) (Answer, error) {
	ctx, span := s.tracer.Start(ctx, "memory.recall", trace.WithAttributes(
		attribute.String("ideai.project", at.Project), attribute.String("ideai.worktree", at.Worktree),
		attribute.Int("ideai.query_bytes", len(q.Query)), attribute.Int("ideai.hints", len(q.Hints))))
	defer span.End()
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return Answer{}, err
	}
	if q.MaxNotes == 0 {
		q.MaxNotes = s.config.MaxNotes
	}
	if q.BudgetTokens == 0 {
		q.BudgetTokens = s.config.BudgetTokens
	}
	sh.expire(time.Now())
	answer := s.choose(sh, q)
	span.SetAttributes(attribute.Int("ideai.notes", len(answer.Notes)), attribute.Int("ideai.total_notes", answer.Total),
		attribute.Int("ideai.left_out", len(answer.LeftOut)))
	return answer, ctx.Err()
}

func (q Question) check() error {
	for _, bound := range []struct {
		field string
		value int
		most  int
	}{
		{"max_notes", q.MaxNotes, maxFound}, {"budget_tokens", q.BudgetTokens, maxBudget},
		{"index_budget_tokens", q.IndexTokens, maxIndex}, {"pinned_note_ids", len(q.Pinned), maxPinned},
	} {
		if bound.value < 0 || bound.value > bound.most {
			return badField(bound.field, fmt.Sprintf("must be 0 to %d", bound.most))
		}
	}
	return nil
}

// choice is a note that a recall wants to give.
type choice struct {
	note  *Note
	score float64
	why   []Reason
	best  bool // given whole whenever it fits
}

func (s *Service) choose(sh *shelf, q Question) Answer {
	query := recall.Query{Text: q.Query, Hints: q.Hints, Limit: q.MaxNotes + len(q.Pinned)}
	hits, leaning := sh.search(query, q.IndexTokens)
	chosen := map[string]bool{}
	var answer Answer
	var choices []choice

	sh.mu.RLock()
	answer.Total, answer.Broken = len(sh.usable), len(sh.notes)-len(sh.usable)
	for _, id := range q.Pinned {
		id = CanonicalID(id)
		if n := sh.usable[id]; n == nil {
			answer.leaveOut(id)
		} else if !chosen[id] {
			choices = append(choices, choice{note: n, why: []Reason{{Kind: ReasonPinned}}, best: true})
		}
		chosen[id] = true
	}
	found := 0
	for _, hit := range hits {
		n := sh.usable[hit.ID]
		if found == q.MaxNotes || n == nil || chosen[hit.ID] {
			continue
		}
		choices = append(choices, choice{note: n, score: hit.Score, why: reasons(hit.Why), best: found == 0})
		chosen[hit.ID] = true
		found++
	}
	sh.mu.RUnlock()

	excerpts := sh.index.Excerpts(query)
	s.pack(&answer, choices, q.BudgetTokens, func(id string, tokens int) string {
		return excerpts.Of(id, tokens, s.count)
	})
	if q.IndexTokens > 0 {
		s.addIndex(&answer, sh.further(leaning, chosen, min(maxAnswer, q.IndexTokens/leastPointer)), q.IndexTokens)
	}
	return answer
}

// search returns what a query finds and, when an index is wanted, what its
// hints alone lean to. Without a text the two are one search.
func (s *shelf) search(query recall.Query, indexTokens int) (hits, leaning []recall.Hit) {
	if indexTokens > 0 && len(query.Hints) > 0 {
		hints := query
		hints.Text, hints.Limit = "", query.Limit+min(maxLeaning, indexTokens/usualPointer)
		if query.Text == "" {
			hints.Explained = query.Limit
			hits = s.index.Search(hints)
			return hits, hits
		}
		hints.Explained = -1
		leaning = s.index.Search(hints)
	}
	return s.index.Search(query), leaning
}

func (a *Answer) leaveOut(id string) {
	if len(a.LeftOut) < maxLeftOut {
		a.LeftOut = append(a.LeftOut, clip(id, MaxID))
	}
}

// further returns the notes not chosen yet, the best first: those the hints
// meet, then by weight of their type, about as many as most.
func (s *shelf) further(leaning []recall.Hit, chosen map[string]bool, most int) []*Note {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var notes []*Note
	add := func(n *Note) {
		if n != nil && !chosen[n.ID] {
			notes = append(notes, n)
			chosen[n.ID] = true
		}
	}
	for _, hit := range leaning {
		add(s.usable[hit.ID])
	}
	for _, n := range s.ranked {
		if len(notes) >= most {
			break
		}
		add(n)
	}
	return notes
}

// reasons turns the index's reasons into ours, within the bounds of an answer.
func reasons(why []recall.Reason) []Reason {
	out := make([]Reason, 0, len(why))
	for _, r := range why {
		kind := ReasonTerm
		switch r.Kind {
		case recall.Term:
		case recall.Glossary:
			kind = ReasonGlossary
		case recall.Link:
			kind = ReasonLink
		case recall.Hint:
			kind = ReasonHint
		}
		out = append(out, Reason{Kind: kind, Term: clip(r.Term, 256), Matched: clip(r.Matched, 256), Field: r.Field})
	}
	return out[:min(len(out), 16)]
}
