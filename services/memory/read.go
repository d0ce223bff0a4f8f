package memorysvc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/page"
	"github.com/idea-ide/ideai/internal/store"
)

// GetNote returns one note as its file is at this moment, with the file.
func (s *Service) GetNote(ctx context.Context, at Place, id string) (*Note, error) {
	id, err := canonical(id)
	if err != nil {
		return nil, err
	}
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return nil, err
	}
	return sh.fresh(ctx, id)
}

// NoteAt returns one note as it was at an etag: the current one, or one of the
// last few that the service has seen replaced.
func (s *Service) NoteAt(ctx context.Context, at Place, id, etag string) (*Note, error) {
	id, err := canonical(id)
	if err != nil {
		return nil, err
	}
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return nil, err
	}
	if n := sh.at(id, etag); n != nil {
		return n, nil
	}
	if n, err := sh.fresh(ctx, id); err == nil && n.Etag == etag {
		return n, nil
	} else if err != nil && fault.ReasonOf(err) != fault.NoteNotFound {
		return nil, err
	}
	return nil, fault.New(fault.NoteNotFound, fault.Meta{"note": id},
		"note %q is not known any more as it was at that etag; get it without an etag and merge by hand", id)
}

// canonical returns the id meant by what a caller gave as one.
func canonical(given string) (string, error) {
	id := CanonicalID(given)
	if !ValidID(id) {
		return "", badField("note_id", idRule)
	}
	return id, nil
}

// fresh returns a note from its file when that is newer than the shelf. A file
// the store cannot give is taken from the shelf, with its problem.
func (s *shelf) fresh(ctx context.Context, id string) (*Note, error) {
	s.mu.RLock()
	known, keys := s.notes[id], s.keys[id]
	s.mu.RUnlock()
	if len(keys) > 1 {
		return known, nil
	}
	key := keyFor(id)
	if len(keys) == 1 {
		key = keys[0]
	}
	doc, err := s.docs.Get(ctx, key)
	switch {
	case err == nil && known != nil && known.Etag == string(doc.Version):
		return known.with(doc.Data), nil
	case err == nil:
		return parseNote(doc).with(doc.Data), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case known != nil && !errors.Is(err, store.ErrNotFound):
		return known, nil
	}
	return nil, noteFault(id, err)
}

// List is one page of notes.
type List struct {
	Notes []*Note
	Next  string // token of the next page, empty at the end
	Total int    // notes in all pages
}

// ListNotes returns a page of notes by id; only those with problems when
// onlyProblems is set. Bodies are there; callers leave them out.
func (s *Service) ListNotes(ctx context.Context, at Place, onlyProblems bool, size int32, token string) (List, error) {
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return List{}, err
	}
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	ids := sh.ids
	if onlyProblems {
		ids = nil
		for _, id := range sh.ids {
			if len(sh.notes[id].Problems) > 0 {
				ids = append(ids, id)
			}
		}
	}
	itself := func(id string) string { return id }
	picked, next, err := page.Slice(ids, itself, size, token, at.Project, at.Worktree, strconv.FormatBool(onlyProblems))
	if err != nil {
		return List{}, err
	}
	list := List{Next: next, Total: len(ids), Notes: make([]*Note, len(picked))}
	for i, id := range picked {
		list.Notes[i] = sh.notes[id]
	}
	return list, nil
}

// Part is one part of a note's body.
type Part struct {
	ID          string
	Description string
	Text        string // at most PartBytes, cut between lines where lines are shorter
	Part, Parts int    // from 1
}

// ReadNote returns one part of a note, for agents; 0 is the first. An excluded
// note is DAMAGED.
func (s *Service) ReadNote(ctx context.Context, at Place, id string, part int) (Part, error) {
	id, err := canonical(id)
	if err != nil {
		return Part{}, err
	}
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return Part{}, err
	}
	n, err := sh.fresh(ctx, id)
	if err != nil {
		return Part{}, err
	}
	if p := n.blocker(); p != nil {
		sh.expire(time.Now())
		sh.mu.RLock()
		last := sh.usable[n.ID]
		sh.mu.RUnlock()
		if last == nil {
			return Part{}, damaged(n.ID, p.Line, p.Message)
		}
		n = last
	}
	parts := split(n.Body)
	part = max(part, 1)
	if part > len(parts) {
		return Part{}, badField("part", fmt.Sprintf("the note has %d parts", len(parts)))
	}
	return Part{ID: n.ID, Description: n.Description, Text: parts[part-1], Part: part, Parts: len(parts)}, nil
}

// split cuts a body into parts of at most PartBytes: after a line, or inside
// one that is longer, between characters. An empty body is one empty part.
func split(body string) []string {
	var parts []string
	for len(body) > PartBytes {
		cut := PartBytes
		for cut > 0 && body[cut-1] != '\n' {
			cut--
		}
		if cut == 0 {
			for cut = PartBytes; !utf8.RuneStart(body[cut]); cut-- {
			}
		}
		parts = append(parts, body[:cut])
		body = body[cut:]
	}
	if body != "" || len(parts) == 0 {
		parts = append(parts, body)
	}
	return parts
}
