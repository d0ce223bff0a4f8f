package contextsvc

import (
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
	m := &memoryWriter{composition: c, draft: d}
	m.write()
	return c.keep(d, m.wrote)
}

// memoryWriter fills the memory section within its budget.
type memoryWriter struct {
	*composition
	*draft
	wrote bool
}

// block is a note's text as it will stand in the section.
type block struct {
	source, text string
}

func (m *memoryWriter) write() {
	lead := m.head(len(m.in.Notes)) // the longest it can be
	room := m.budgets.Memory - m.section.Tokens - m.cost(lead)
	if room < 0 {
		for _, n := range m.in.Notes {
			m.leave("note:"+n.ID, OverItsBudget, m.count(n.Text))
		}
		return
	}
	index := min(m.budgets.MemoryIndex, room)
	room -= min(index, m.indexCost(m.in.Notes))
	blocks, named := m.choose(&room)
	list, rest := m.names(named, m.budgets.Memory-m.section.Tokens-m.cost(lead)-m.costs(blocks))
	m.reportNames(list, rest)
	m.draft.add("", m.head(len(blocks)))
	for _, b := range blocks {
		m.draft.add(b.source, b.text)
	}
	m.wrote = true
	if len(list) == 0 {
		return
	}
	m.draft.add("", m.nameList(list))
	for _, n := range list {
		m.section.Sources = append(m.section.Sources, Source{"note:" + n.ID, m.count(m.pointer(n))})
	}
}

// reportNames tells which notes lost their text to the budget, and which are
// not even named.
func (m *memoryWriter) reportNames(list, rest []Note) {
	for _, n := range list {
		if n.Form != Pointer && strings.TrimSpace(n.Text) != "" {
			m.leave("note:"+n.ID, Shortened, m.count(n.Text))
		}
	}
	for _, n := range rest {
		m.leave("note:"+n.ID, OverItsBudget, m.count(m.pointer(n))+m.count(n.Text))
	}
}

// head is the line that says how many notes there are beyond these.
func (m *memoryWriter) head(chosen int) string {
	total := max(m.in.NotesTotal, len(m.in.Notes))
	line := m.texts.chosen(chosen, total)
	if chosen == 0 {
		line = m.texts.total(total)
	}
	if total > chosen && m.has(toolRecall) {
		line += " " + m.texts.rest
	}
	return line
}

func (m *memoryWriter) has(tool string) bool {
	for _, t := range m.in.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// choose takes texts while they fit, shortening one that does not, and returns
// the notes that are left to be named.
func (m *memoryWriter) choose(room *int) (blocks []block, named []Note) {
	for _, n := range m.in.Notes {
		text := strings.TrimSpace(n.Text)
		if n.Form == Pointer || text == "" {
			named = append(named, n)
			continue
		}
		source := "note:" + n.ID
		whole := safetext.Block(source, text)
		cost := m.cost(whole)
		if cost <= *room {
			*room -= cost
			blocks = append(blocks, block{source, whole})
			continue
		}
		short, shortCost := m.excerpt(source, text, *room)
		if short == "" {
			named = append(named, n)
			continue
		}
		*room -= shortCost
		blocks = append(blocks, block{source, short})
		m.leave(source, Shortened, cost-shortCost)
	}
	return blocks, named
}

// excerpt returns the paragraphs a note begins with that fit, "" when that is
// too little to be of use.
func (m *memoryWriter) excerpt(source, text string, room int) (string, int) {
	frame := m.cost(safetext.Block(source, m.texts.cut))
	if room < minExcerpt+frame {
		return "", 0
	}
	used, end := frame, 0
	for i := 0; i < len(text); {
		next := len(text)
		if j := strings.Index(text[i:], "\n\n"); j >= 0 {
			next = i + j + 2
		}
		used += m.cost(text[i:next])
		if used > room {
			break
		}
		i, end = next, next
	}
	if end == 0 {
		return "", 0
	}
	short := safetext.Block(source, strings.TrimSpace(text[:end])+"\n\n"+m.texts.cut)
	cost := m.cost(short)
	if cost > room {
		return "", 0
	}
	return short, cost
}

func (m *memoryWriter) costs(blocks []block) int {
	n := 0
	for _, b := range blocks {
		n += m.cost(b.text)
	}
	return n
}

// pointer is a note by name.
func (m *memoryWriter) pointer(n Note) string {
	line := "- `" + n.ID + "`"
	if about := safetext.Line(n.Description); about != "" {
		line += " — " + about
	}
	return line
}

func (m *memoryWriter) nameList(notes []Note) string {
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = m.pointer(n)
	}
	lead := m.texts.byName
	if m.has(toolRead) {
		lead = m.texts.byNameRead
	}
	return lead + "\n" + safetext.Block("memory", strings.Join(lines, "\n"))
}

// indexCost is what naming the notes that come as pointers would take.
func (m *memoryWriter) indexCost(notes []Note) int {
	cost := m.cost(m.nameList(nil))
	any := false
	for _, n := range notes {
		if n.Form == Pointer {
			cost, any = cost+m.cost(m.pointer(n)), true
		}
	}
	if !any {
		return 0
	}
	return cost
}

// names returns the notes that are named, and those there is no room to name.
func (m *memoryWriter) names(notes []Note, room int) (list, rest []Note) {
	room = min(room, m.budgets.MemoryIndex) - m.cost(m.nameList(nil))
	for _, n := range notes {
		cost := m.cost(m.pointer(n))
		if cost > room {
			rest = append(rest, n)
			continue
		}
		room -= cost
		list = append(list, n)
	}
	return list, rest
}
