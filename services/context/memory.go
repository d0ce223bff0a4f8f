package contextsvc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/safetext"
)

// minExcerpt is the least an excerpt is worth, in tokens; below it a note's
// name says as much.
const minExcerpt = 40

// memory writes the notes: first the texts in order of weight, as whole as the
// budget allows, then the names of the others.
func (c *composition) memory() error {
	d := c.draft(MemorySection, c.texts.memory)
	d.section.Budget = c.budgets.Memory
	if c.in.MemoryUnavailable {
		d.leave("memory", Unavailable, 0)
	}
	if len(c.in.Notes) == 0 {
		return c.keep(d, false)
	}
	m := &memoryWriter{draft: d, texts: c.texts, tools: c.in.Tools, total: max(c.in.NotesTotal, len(c.in.Notes))}
	for _, n := range c.in.Notes {
		m.notes = append(m.notes, m.note(n))
	}
	return c.keep(d, m.write(c.budgets.MemoryIndex))
}

// memoryWriter fills the memory section within its budget.
type memoryWriter struct {
	*draft
	texts *texts
	notes []note
	tools []string
	total int
}

// note is a note with what may be given of it.
type note struct {
	source      string
	text        string // "" for one that is only named
	pointer     string // the note by name
	pointerCost int
}

func (m *memoryWriter) note(n Note) note {
	out := note{source: "note:" + n.ID, pointer: "- `" + safetext.Line(n.ID) + "`"}
	if about := safetext.Line(n.Description); about != "" {
		out.pointer += " — " + about
	}
	if n.Form != Pointer {
		out.text = strings.TrimSpace(n.Text)
	}
	out.pointerCost = m.cost(out.pointer)
	return out
}

// block is a note's text as it stands in the section.
type block struct {
	source, text string
	cost         int
}

// write reports whether there was room for anything.
func (m *memoryWriter) write(index int) bool {
	room := m.section.Budget - m.section.Tokens - m.headCost()
	if room < 0 {
		m.report(0, nil, m.notes, 0)
		return false
	}
	limit := index
	index = min(index, room)
	if index < limit {
		limit = 0 // it is the section's budget that is spent
	}
	blocks, named := m.choose(room - min(index, m.pointersCost()))
	for _, b := range blocks {
		room -= b.cost
	}
	list, rest := m.name(named, min(index, room))
	m.add("", m.head(len(blocks)))
	for _, b := range blocks {
		m.add(b.source, b.text)
	}
	if len(list) > 0 {
		m.add("", m.index(list))
	}
	m.report(len(blocks), list, rest, limit)
	return true
}

// report accounts for the notes beside those with a text: the named ones, those
// that lost their text to the budget, and, as one, all that are not named.
// limit is that of the list of names, 0 when the section's budget was spent.
func (m *memoryWriter) report(blocks int, list, rest []note, limit int) {
	for _, n := range list {
		m.section.Sources = append(m.section.Sources, Source{n.source, n.pointerCost})
		if n.text != "" {
			m.leave(n.source, Shortened, m.count(n.text))
		}
	}
	unnamed, cost := m.total-blocks-len(list), 0
	for _, n := range rest {
		if n.text != "" {
			m.leave(n.source, OverItsBudget, n.pointerCost+m.count(n.text))
			unnamed--
			continue
		}
		cost += n.pointerCost
	}
	if unnamed > 0 {
		why := OverItsIndex
		if limit == 0 {
			why = OverItsBudget
		}
		m.section.LeftOut = append(m.section.LeftOut, LeftOut{
			Name: fmt.Sprintf("%d more notes", unnamed), Why: why, Tokens: cost, Count: unnamed, Limit: limit,
		})
	}
}

// head is the line that says how many notes there are beyond the chosen ones.
func (m *memoryWriter) head(chosen int) string {
	line := m.texts.chosen(chosen, m.total)
	if chosen == 0 {
		line = m.texts.total(m.total)
	}
	if m.total > chosen && slices.Contains(m.tools, toolRecall) {
		line += " " + m.texts.rest
	}
	return line
}

// headCost is what the head costs at most, whatever is chosen.
func (m *memoryWriter) headCost() int {
	n, most := len(m.notes), 0
	for _, chosen := range []int{0, 1, n - 1, n} {
		most = max(most, m.cost(m.head(chosen)))
	}
	return most
}

// choose takes texts while they fit, shortening one that does not, and returns
// the notes that are left to be named.
func (m *memoryWriter) choose(room int) (blocks []block, named []note) {
	for _, n := range m.notes {
		if n.text == "" {
			named = append(named, n)
			continue
		}
		b := m.block(n.source, n.text)
		if whole := b.cost; whole > room {
			if b = m.excerpt(n.source, n.text, room); b.text == "" {
				named = append(named, n)
				continue
			}
			m.leave(n.source, Shortened, whole-b.cost)
		}
		room -= b.cost
		blocks = append(blocks, b)
	}
	return blocks, named
}

func (m *memoryWriter) block(source, text string) block {
	fenced := safetext.Block(source, text)
	return block{source, fenced, m.cost(fenced)}
}

// excerpt returns the paragraphs a note begins with that fit, no text when that
// is too little to be of use.
func (m *memoryWriter) excerpt(source, text string, room int) block {
	used := m.block(source, m.texts.cut).cost
	if room < minExcerpt+used {
		return block{}
	}
	end := 0
	for end < len(text) {
		next := len(text)
		if i := strings.Index(text[end:], "\n\n"); i >= 0 {
			next = end + i + len("\n\n")
		}
		if used += m.cost(text[end:next]); used > room {
			break
		}
		end = next
	}
	b := m.block(source, strings.TrimSpace(text[:end])+"\n\n"+m.texts.cut)
	if end == 0 || b.cost > room {
		return block{}
	}
	return b
}

// index is a list of notes by name.
func (m *memoryWriter) index(notes []note) string {
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = n.pointer
	}
	lead := m.texts.byName
	if slices.Contains(m.tools, toolRead) {
		lead = m.texts.byNameRead
	}
	return lead + "\n" + safetext.Block("memory", strings.Join(lines, "\n"))
}

// pointersCost is what naming the notes that come as pointers takes.
func (m *memoryWriter) pointersCost() int {
	cost := 0
	for _, n := range m.notes {
		if n.text == "" {
			cost += n.pointerCost
		}
	}
	if cost > 0 {
		cost += m.cost(m.index(nil))
	}
	return cost
}

// name returns the notes that are named, and those there is no room to name.
func (m *memoryWriter) name(notes []note, room int) (list, rest []note) {
	left := room - m.cost(m.index(nil))
	for _, n := range notes {
		if n.pointerCost <= left {
			left -= n.pointerCost
			list = append(list, n)
		} else {
			rest = append(rest, n)
		}
	}
	// The lines together may take a token more than one by one.
	for len(list) > 0 && m.cost(m.index(list)) > room {
		rest = append(rest, list[len(list)-1])
		list = list[:len(list)-1]
	}
	return list, rest
}
