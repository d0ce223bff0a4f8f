package recall

import (
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Index holds notes and finds them. It is safe for concurrent use: a search
// sees every note either before or after a change, never between.
type Index struct {
	glossary *glossary
	memo     *memo

	mu      sync.RWMutex
	slots   []slot              // by slot number
	classes [][fieldCount]uint8 // by slot number: length classes of the fields, apart because every score reads them
	free    []uint32            // numbers of empty slots
	byID    map[string]uint32   // note id to slot number
	vocab   vocabulary
	sums    [fieldCount]uint64 // total length of each field over all notes
}

// slot holds one note.
type slot struct {
	note    Note
	lengths [fieldCount]uint16 // words in each field
	forms   []uint32           // the note's forms: those it says, ascending, then those of its id only
	said    int                // how many of forms it says
	sketch  sketch             // of those
	links   []string           // ids of notes it links to, ascending
	used    bool
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	g := builtinGlossary()
	return &Index{glossary: g, memo: newMemo(), byID: map[string]uint32{}, vocab: newVocabulary(g.languages)}
}

// Len returns how many notes the index holds.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.byID)
}

// Put adds a note, or replaces the one of the same id. The index keeps the
// strings of n.
func (x *Index) Put(n Note) {
	a := analyze(n)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.insert(a)
}

// PutAll puts many notes, using all processors. Searches may see some of the
// notes before all are in. Of two notes with one id the later stays.
func (x *Index) PutAll(notes []Note) {
	const batch = 64
	type result struct {
		ready chan []analysis
		notes []Note
	}
	results := make([]result, 0, len(notes)/batch+1)
	for part := range slices.Chunk(notes, batch) {
		results = append(results, result{ready: make(chan []analysis, 1), notes: part})
	}
	work := make(chan result)
	for range min(runtime.GOMAXPROCS(0), len(results)) {
		go func() {
			for r := range work {
				out := make([]analysis, len(r.notes))
				for i, n := range r.notes {
					out[i] = analyze(n)
				}
				r.ready <- out
			}
		}()
	}
	go func() {
		for _, r := range results {
			work <- r
		}
		close(work)
	}()
	for _, r := range results {
		done := <-r.ready
		x.mu.Lock()
		for _, a := range done {
			x.insert(a)
		}
		x.mu.Unlock()
	}
}

// Delete removes a note; an unknown id is nothing to do.
func (x *Index) Delete(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
}

func (x *Index) insert(a analysis) {
	x.memo.changed()
	x.remove(a.note.ID)
	at := uint32(len(x.slots))
	if n := len(x.free); n > 0 {
		at, x.free = x.free[n-1], x.free[:n-1]
	} else {
		x.slots, x.classes = append(x.slots, slot{}), append(x.classes, [fieldCount]uint8{})
	}
	s := slot{note: a.note, lengths: a.lengths, links: a.links, used: true, forms: make([]uint32, 0, len(a.forms))}
	var named []uint32
	for _, f := range a.forms {
		id := x.vocab.intern(f.text)
		x.vocab.forms[id].add(posting{slot: at, counts: f.counts})
		if f.counts.only(inName) {
			named = append(named, id)
		} else {
			s.forms = append(s.forms, id)
			s.sketch.add(id)
		}
	}
	slices.Sort(s.forms)
	s.said = len(s.forms)
	s.forms = append(s.forms, named...)
	for f, n := range a.lengths {
		x.sums[f] += uint64(n)
		x.classes[at][f] = lengthClass(int(n))
	}
	x.slots[at] = s
	x.byID[a.note.ID] = at
}

func (x *Index) remove(id string) {
	at, ok := x.byID[id]
	if !ok {
		return
	}
	x.memo.changed()
	s := &x.slots[at]
	for _, f := range s.forms {
		x.vocab.drop(f, at)
	}
	for f, n := range s.lengths {
		x.sums[f] -= uint64(n)
	}
	delete(x.byID, id)
	*s = slot{}
	x.free = append(x.free, at)
}

// analysis is a note cut into forms, not yet in an index.
type analysis struct {
	note    Note
	lengths [fieldCount]uint16
	forms   []formCount
	links   []string
}

type formCount struct {
	text     string
	counts   counts
	question bool // indexed in titles only
}

func analyze(n Note) analysis {
	a := analysis{note: n, links: links(n)}
	seen := make(map[string]int, 128) // form to its place; -1 is noise
	var t tokenizer
	add := func(f field, text string) {
		length := t.run(text, func(tok token) {
			i, ok := seen[tok.text]
			if !ok {
				i = a.place(tok.text)
				seen[tok.text] = i
			}
			if i < 0 || a.forms[i].question && f != inName && (f == inBody || tok.pos > 0) {
				return
			}
			a.forms[i].counts = a.forms[i].counts.plus(f)
		})
		a.lengths[f] = uint16(min(int(a.lengths[f])+length, 1<<16-1))
	}
	add(inName, n.ID)
	add(inDescription, n.Description)
	add(inType, n.Type)
	for line := range strings.Lines(n.Body) {
		if heading(line) {
			add(inHeading, line)
		} else {
			add(inBody, line)
		}
	}
	a.forms = slices.DeleteFunc(a.forms, func(f formCount) bool { return f.counts == 0 })
	return a
}

// place gives a form its place in a.forms, or -1 to noise.
func (a *analysis) place(text string) int {
	question := titleQuestions[text]
	if noise(text) && !question {
		return -1
	}
	a.forms = append(a.forms, formCount{text: text, question: question})
	return len(a.forms) - 1
}

// heading reports whether a line of Markdown is a heading.
func heading(line string) bool {
	text := strings.TrimLeft(line, "#")
	level := len(line) - len(text)
	return level > 0 && level <= 6 && strings.HasPrefix(text, " ")
}
