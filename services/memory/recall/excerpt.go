package recall

import (
	"slices"
	"sort"
	"strings"
)

// cutMark stands where an excerpt leaves text out.
const cutMark = "[…]"

// Excerpt is Excerpts for one note.
func (x *Index) Excerpt(id string, q Query, maxTokens int, count func(string) int) string {
	return x.Excerpts(q).Of(id, maxTokens, count)
}

// Excerpts takes passages that answer one query out of notes. It is for one
// goroutine.
type Excerpts struct {
	x      *Index
	query  Query
	worths map[string][]worth // nil until the query is read
}

// Excerpts returns what takes passages for q. The query is read when the first
// note needs it.
func (x *Index) Excerpts(q Query) *Excerpts { return &Excerpts{x: x, query: q} }

// Of returns the passages of a note's body that answer the query best, in the
// note's order under their headings, with a mark where text is left out. It
// never takes more than maxTokens by count. A body that fits is returned
// whole; an unknown note, or no room for anything, gives an empty string.
func (e *Excerpts) Of(id string, maxTokens int, count func(string) int) string {
	e.x.mu.RLock()
	at, ok := e.x.byID[id]
	if !ok || maxTokens <= 0 {
		e.x.mu.RUnlock()
		return ""
	}
	body := strings.TrimSpace(e.x.slots[at].note.Body)
	e.x.mu.RUnlock()
	if count(body) <= maxTokens {
		return body
	}
	e.read()
	made := excerpt{body: body, pieces: split(body), worths: e.worths, max: maxTokens, count: count}
	made.rate()
	made.choose()
	return made.fit()
}

func (e *Excerpts) read() {
	if e.worths != nil {
		return
	}
	text := e.query.Text
	if strings.TrimSpace(text) == "" {
		text = hintText(e.query)
	}
	read := e.x.read(text)
	e.x.mu.RLock()
	defer e.x.mu.RUnlock()
	e.worths = e.x.worths(e.x.unitsOf(text, read))
}

// worth is what a form of the notes is worth to one unit of the query.
type worth struct {
	unit   int
	weight float64
}

// worths gives the forms that meet the units. The caller holds the lock.
func (x *Index) worths(units []unit) map[string][]worth {
	out := map[string][]worth{}
	for i := range units {
		for _, a := range units[i].alts {
			weight := units[i].weight * a.weight * a.idf
			for _, id := range a.forms {
				text := x.vocab.forms[id].text
				out[text] = append(out[text], worth{i, weight})
			}
			for _, class := range a.all {
				for _, id := range class {
					text := x.vocab.forms[id].text
					out[text] = append(out[text], worth{i, weight / float64(len(a.all))})
				}
			}
		}
	}
	return out
}

// excerpt is one excerpt in the making.
type excerpt struct {
	body   string
	pieces []piece
	worths map[string][]worth
	max    int
	count  func(string) int
	order  []int // chosen pieces, the best first
}

// underHeading is what a match in a heading counts for the text below it.
const underHeading = 0.5

// rate gives every piece what it is worth to each unit.
func (e *excerpt) rate() {
	var t tokenizer
	for i := range e.pieces {
		p := &e.pieces[i]
		p.units = map[int]float64{}
		t.run(e.body[p.start:p.end], func(tok token) {
			for _, w := range e.worths[tok.text] {
				p.units[w.unit] = max(p.units[w.unit], w.weight)
			}
		})
		for _, h := range p.above {
			for u, weight := range e.pieces[h].units {
				p.units[u] = max(p.units[u], underHeading*weight)
			}
		}
	}
}

// choose takes pieces while there is room, each time the one that adds most to
// what is there already; without any match it takes them from the start.
func (e *excerpt) choose() {
	have := map[int]float64{}
	chosen := make([]bool, len(e.pieces))
	left := e.max
	for {
		best, bestGain := -1, 0.0
		for i := range e.pieces {
			if p := &e.pieces[i]; !chosen[i] && !p.heading {
				if gain := p.gain(have); gain > bestGain {
					best, bestGain = i, gain
				}
			}
		}
		if best < 0 {
			break
		}
		chosen[best] = true
		p := &e.pieces[best]
		cost := e.count(e.body[p.start:p.end])
		if cost > left {
			if len(e.order) == 0 {
				e.order = append(e.order, best)
				return
			}
			continue
		}
		left -= cost
		e.order = append(e.order, best)
		for u, w := range p.units {
			have[u] = max(have[u], w)
		}
	}
	if len(e.order) == 0 {
		for i := range e.pieces {
			if !e.pieces[i].heading {
				e.order = append(e.order, i)
			}
		}
	}
}

// gain is what a piece adds to the units met so far; a unit met again counts a
// little.
func (p *piece) gain(have map[int]float64) float64 {
	sum := 0.0
	for u, w := range p.units {
		sum += max(w-have[u], 0.15*w)
	}
	return sum
}

// fit assembles as many of the chosen pieces as there is room for; when there
// is none for the best one, it takes the words around its best match.
func (e *excerpt) fit() string {
	if len(e.order) == 0 {
		return ""
	}
	if n := most(len(e.order), func(n int) bool { return e.fits(e.assemble(e.order[:n], true)) }); n > 0 {
		return e.assemble(e.order[:n], true)
	}
	if text := e.assemble(e.order[:1], false); e.fits(text) {
		return text
	}
	p := e.pieces[e.order[0]]
	words := strings.Fields(e.body[p.start:p.end])
	at := e.strongest(words)
	n := most(len(words), func(n int) bool { return e.fits(window(words, at, n)) })
	if n == 0 {
		return ""
	}
	return window(words, at, n)
}

func (e *excerpt) fits(text string) bool { return e.count(text) <= e.max }

// most returns the greatest n up to limit that is ok, when all smaller ones are
// too; 0 when there is none.
func most(limit int, ok func(n int) bool) int {
	return sort.Search(limit, func(i int) bool { return !ok(i + 1) })
}

// strongest returns the place of the word that meets the query best.
func (e *excerpt) strongest(words []string) int {
	var t tokenizer
	best, weight := 0, 0.0
	for i, word := range words {
		t.run(word, func(tok token) {
			for _, w := range e.worths[tok.text] {
				if w.weight > weight {
					best, weight = i, w.weight
				}
			}
		})
	}
	return best
}

// window returns n words, a third of them before the one at, with marks where
// others are left out.
func window(words []string, at, n int) string {
	start := max(0, min(at-n/3, len(words)-n))
	text := strings.Join(words[start:start+n], " ")
	if start > 0 {
		text = cutMark + " " + text
	}
	if start+n < len(words) {
		text += " " + cutMark
	}
	return text
}

// assemble joins pieces in the note's order, with the headings above them.
func (e *excerpt) assemble(order []int, headings bool) string {
	var want []int
	for _, i := range order {
		want = append(want, i)
		if headings {
			want = append(want, e.pieces[i].above...)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var b strings.Builder
	end := 0
	for k, i := range want {
		p := e.pieces[i]
		between := e.body[end:p.start]
		switch {
		case k > 0 && want[k-1] == i-1, strings.TrimSpace(between) == "":
			if k > 0 {
				b.WriteString(between)
			}
		case k == 0:
			b.WriteString(cutMark + "\n\n")
		case strings.Contains(between, "\n"):
			b.WriteString("\n\n" + cutMark + "\n\n")
		default:
			b.WriteString(" " + cutMark + " ")
		}
		b.WriteString(e.body[p.start:p.end])
		end = p.end
	}
	if strings.TrimSpace(e.body[end:]) != "" {
		b.WriteString("\n\n" + cutMark)
	}
	return b.String()
}
