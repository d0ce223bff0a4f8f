package memorysvc

import "strings"

// minExcerpt is the fewest tokens worth an excerpt.
const minExcerpt = 40

// pack gives each choice as much of the budget as is fair: all get a pointer
// as far as the budget goes; the best ones are whole when they fit; each other
// one is whole or an excerpt within an equal share of what is left; and what
// remains then makes them whole, or their excerpts longer, in order. So no note
// is whole at the cost of one that ranks before it. A note's tokens are those
// of its text and of its pointer.
func (s *Service) pack(a *Answer, choices []choice, budget int, excerpt func(id string, tokens int) string) {
	first := len(a.Notes)
	var bodies []string
	var wants []choice
	for _, c := range choices {
		cost := s.pointerTokens(c.note)
		if cost > budget {
			a.leaveOut(c.note.ID)
			continue
		}
		budget -= cost
		wants = append(wants, c)
		bodies = append(bodies, c.note.Body)
		a.Notes = append(a.Notes, Recalled{ID: c.note.ID, Description: c.note.Description,
			Form: Pointer, Tokens: cost, Score: c.score, Why: c.why})
	}
	given := a.Notes[first:]
	for i := range given {
		if wants[i].best {
			budget -= s.give(&given[i], bodies[i], budget, max(budget/2, budget/(len(given)-i)), excerpt)
		}
	}
	others := 0
	for _, w := range wants {
		if !w.best {
			others++
		}
	}
	share := budget / max(others, 1)
	for i := range given {
		if !wants[i].best {
			budget -= s.give(&given[i], bodies[i], share, share, excerpt)
		}
	}
	for i := range given {
		if budget > 0 {
			budget -= s.give(&given[i], bodies[i], budget, budget, excerpt)
		}
	}
}

// give puts more text into a note, whole within share tokens more than it has
// or an excerpt within part more, and returns the tokens that took.
func (s *Service) give(r *Recalled, body string, share, part int, excerpt func(string, int) string) int {
	if r.Form == Full {
		return 0
	}
	spent := 0
	if r.Form == Excerpt {
		spent = r.Tokens
	}
	if full, fits := s.fits(body, spent+share); fits {
		r.Form, r.Text, r.Tokens = Full, body, full
		return full - spent
	}
	part += spent
	if part < minExcerpt || strings.TrimSpace(body) == "" {
		return 0
	}
	text := excerpt(r.ID, part)
	if text == "" {
		text = s.beginning(body, part)
	}
	tokens := s.count(text)
	if text == "" || tokens > part || tokens <= spent {
		return 0
	}
	r.Form, r.Text, r.Tokens = Excerpt, text, tokens
	return tokens - spent
}

// fits returns the tokens of a body when they are within a budget. Bodies that
// are far too large are not counted; an empty one has nothing to give.
func (s *Service) fits(body string, budget int) (tokens int, ok bool) {
	const longToken = 16 // no prose has more bytes a token
	if strings.TrimSpace(body) == "" || len(body) > longToken*budget {
		return 0, false
	}
	tokens = s.count(body)
	return tokens, tokens <= budget
}

// beginning returns the first lines of a body within a budget.
func (s *Service) beginning(body string, budget int) string {
	end := 0
	for line := range strings.Lines(body) {
		tokens := s.count(line)
		if tokens > budget {
			break
		}
		budget -= tokens
		end += len(line)
	}
	return strings.TrimRight(body[:end], "\n")
}

// addIndex adds pointers to further notes, in order, as far as the budget goes.
func (s *Service) addIndex(a *Answer, further []*Note, budget int) {
	for _, n := range further {
		cost := s.pointerTokens(n)
		if cost > budget || len(a.Notes) >= maxAnswer {
			return
		}
		budget -= cost
		a.Notes = append(a.Notes, Recalled{ID: n.ID, Description: n.Description,
			Form: Pointer, Tokens: cost, Why: []Reason{{Kind: ReasonIndex}}})
	}
}

// pointerTokens is what a line of name and description takes.
func (s *Service) pointerTokens(n *Note) int {
	return s.count("- " + n.ID + ": " + n.Description + "\n")
}
