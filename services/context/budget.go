package contextsvc

import (
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/safetext"
)

// state writes who is doing what. Its lines come from agents, so they stand in
// a data block; beyond the budget the last ones go.
func (c *composition) state() error {
	lines := splitText(c.in.State)
	if len(lines) == 0 {
		return nil
	}
	d := c.draft(StateSection, c.texts.state)
	d.section.Budget = c.budgets.State
	frame := func(lines []string) string { return safetext.Block("state", strings.Join(lines, "\n")) }
	kept := c.fit(d, lines, frame, last)
	if len(kept) > 0 {
		d.add("state", frame(kept))
	}
	c.reportCut(d, "state", lines, kept)
	return c.keep(d, len(kept) > 0)
}

// handoff writes where the conversation stands. Beyond the budget the recent
// exchange goes first, its oldest line before the others, then the last lines.
func (c *composition) handoff() error {
	lines := splitText(safetext.Escape(c.in.Handoff))
	if len(lines) == 0 {
		return nil
	}
	d := c.draft(HandoffSection, c.texts.handoff)
	d.section.Budget = c.budgets.Handoff
	kept := c.fit(d, lines, plainLines, exchangeFirst)
	if len(kept) < len(lines) {
		kept = tidy(kept)
	}
	if len(kept) > 0 {
		d.add("handoff", plainLines(kept))
	}
	c.reportCut(d, "handoff", lines, kept)
	return c.keep(d, len(kept) > 0)
}

func plainLines(lines []string) string { return strings.TrimSpace(strings.Join(lines, "\n")) }

// fit drops lines until what frame makes of them is within the section's
// budget; drop says which line goes next. Lines are counted one by one, since
// counting the whole after each would be quadratic; the last word has the
// whole.
func (c *composition) fit(d *draft, lines []string, frame func([]string) string, drop func([]string) int) []string {
	room := d.section.Budget - d.section.Tokens
	if d.cost(frame(lines)) <= room {
		return lines
	}
	lines = slices.Clone(lines)
	costs, sum := make([]int, len(lines)), d.cost(frame(nil))
	for i, l := range lines {
		costs[i] = c.count(l + "\n")
		sum += costs[i]
	}
	for len(lines) > 0 && (sum > room || d.cost(frame(lines)) > room) {
		i := drop(lines)
		sum -= costs[i]
		lines, costs = slices.Delete(lines, i, i+1), slices.Delete(costs, i, i+1)
	}
	return lines
}

func (c *composition) reportCut(d *draft, name string, all, kept []string) {
	if len(kept) == len(all) {
		return
	}
	why := Shortened
	if len(kept) == 0 {
		why = OverItsBudget
	}
	d.leave(name, why, c.count(strings.Join(all, "\n"))-c.count(strings.Join(kept, "\n")))
}

func last(lines []string) int { return len(lines) - 1 }

// exchangeFirst picks the first line below the heading of the recent exchange,
// that heading when nothing is below, else the last line.
func exchangeFirst(lines []string) int {
	at := slices.IndexFunc(lines, isExchange)
	switch {
	case at < 0:
		return last(lines)
	case at+1 == len(lines) || strings.HasPrefix(lines[at+1], "#"):
		return at
	}
	return at + 1
}

// tidy drops the headings that a cut left with nothing below them.
func tidy(lines []string) []string {
	if at := slices.IndexFunc(lines, isExchange); at >= 0 && (at+1 == len(lines) || strings.HasPrefix(lines[at+1], "#")) {
		lines = slices.Delete(slices.Clone(lines), at, at+1)
	}
	for n := len(lines); n > 0 && (lines[n-1] == "" || lines[n-1][0] == '#'); n-- {
		lines = lines[:n-1]
	}
	return lines
}

func isExchange(line string) bool {
	title := strings.TrimSpace(strings.TrimLeft(line, "#"))
	if !strings.HasPrefix(line, "#") {
		return false
	}
	for _, t := range languages {
		if strings.EqualFold(title, t.exchange) {
			return true
		}
	}
	return false
}

func splitText(s string) []string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
