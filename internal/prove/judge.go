package prove

import (
	"slices"
	"strconv"
	"strings"
)

// recallTool is the tool that is called.
const recallTool = "idea_memory_recall"

// section is a section of the context as the carrier sends it.
type section struct{ name, text string }

// expected is what a run has to show.
type expected struct {
	sections []section
	tools    []string
	prompt   string
}

// judge fills in what a run showed.
func (p *proof) judge(r *Result, want expected, e ended) {
	requests, called, elsewhere := p.stub.seen()
	r.Elsewhere = elsewhere
	switch {
	case e.expired:
		r.add(TimedOut, p.Timeout.String())
	case e.code != 0:
		r.add(Failed, strconv.Itoa(e.code))
	}
	r.ToolsAll = len(want.tools)
	if turn, ok := mainTurn(requests, want.prompt); !ok {
		for _, s := range want.sections {
			r.Sections = append(r.Sections, Section{Name: s.name, Bytes: len(s.text)})
		}
		if len(requests) == 0 {
			r.add(NoRequest, "")
		} else {
			r.add(NoPrompt, "")
		}
	} else {
		r.checkSections(turn.doc.allText(), want.sections)
		r.checkTools(requests, turn, want.tools)
		switch {
		case len(want.tools) == 0 && p.Profile.WithoutTools("") != "":
			// a CLI that takes no tools
		case !called || !answered(requests, turn, p.world.secret()):
			r.add(ToolFailed, recallTool)
		}
	}
	if e.expired || e.code != 0 || len(requests) == 0 {
		r.Output = lastLines(e.output, 12)
	}
}

func (r *Result) add(kind ProblemKind, subject string) {
	r.Problems = append(r.Problems, Problem{kind, subject})
}

// mainTurn is the first turn of the conversation for a prompt. CLIs ask beside
// it for titles and the like, without tools; when nothing else came, one of
// those has to do.
func mainTurn(requests []request, prompt string) (request, bool) {
	holds := func(r request) bool { return strings.Contains(r.doc.allText(), prompt) }
	if i := slices.IndexFunc(requests, func(r request) bool { return len(r.tools) > 0 && holds(r) }); i >= 0 {
		return requests[i], true
	}
	if i := slices.IndexFunc(requests, holds); i >= 0 {
		return requests[i], true
	}
	return request{}, false
}

// answered reports whether a later request holds what the tool alone can tell,
// once more than the turn itself: a resumed session remembers earlier answers.
func answered(requests []request, turn request, secret string) bool {
	before := strings.Count(turn.doc.allText(), secret)
	return slices.ContainsFunc(requests, func(r request) bool { return strings.Count(r.doc.allText(), secret) > before })
}

// checkSections looks for each section, whole and in order. A resumed session's
// request holds the context of its first turn as well, so there the last of
// each counts.
func (r *Result) checkSections(text string, sections []section) {
	last := -1
	for _, s := range sections {
		at := strings.LastIndex(text, s.text)
		r.Sections = append(r.Sections, Section{Name: s.name, Bytes: len(s.text), Arrived: at >= 0})
		switch {
		case at < 0 && partly(text, s.text):
			r.add(SectionCut, s.name)
		case at < 0:
			r.add(SectionMissing, s.name)
		case at < last:
			r.add(OutOfOrder, s.name)
		case !r.Resumed && strings.Count(text, s.text) > 1:
			r.add(SectionTwice, s.name)
		}
		last = max(last, at)
	}
}

// partly reports whether a section's beginning or end is there: it was cut, or
// something in it was changed.
func partly(text, section string) bool {
	const piece = 200
	if len(section) < 2*piece {
		return false
	}
	return strings.Contains(text, section[:piece]) || strings.Contains(text, section[len(section)-piece:])
}

// checkTools looks for our tools in the turn. In a terminal a later one will do
// as well.
func (r *Result) checkTools(requests []request, turn request, tools []string) {
	for _, t := range tools {
		_, first := findTool(turn.tools, t)
		later := r.Terminal && slices.ContainsFunc(requests, func(q request) bool { _, ok := findTool(q.tools, t); return ok })
		switch {
		case !first && !later:
			r.add(ToolMissing, t)
			continue
		case !first:
			r.ToolsLate = true
		}
		r.Tools++
	}
}

// lastLines returns the last lines that say something, each of a bearable
// length.
func lastLines(output string, n int) []string {
	var out []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, clip(line, 300))
		}
	}
	return out[max(0, len(out)-n):]
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
