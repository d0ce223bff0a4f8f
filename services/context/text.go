package contextsvc

import (
	"slices"
	"strings"
)

// The languages of headings and texts.
const (
	english = "en"
	french  = "fr"
)

var languages = map[string]*texts{english: &englishTexts, french: &frenchTexts}

// texts are our own words to an agent in one language. {agent}, {project} and
// {person} stand for names. They follow a few rules: bare tool names, since
// each CLI prefixes them its own way; when to do a thing before what it is; what
// not to do said once; nothing a person reading along would find odd.
type texts struct {
	rules, persona, capabilities, memory, state, handoff string // headings; {name} is the agent's

	nobody string // the person, when no name is known
	who    string
	others string // leads the other agents
	tools  string // how to find the tools
	advice [][]sentence
	skills string // leads the skills
	data   string // what a data block is
	orders string // who gives orders, in a project the person has trusted
	alone  string // who does in another

	chosen     func(n, total int) string // of the notes
	total      func(total int) string    // when none was chosen
	rest       string                    // where the others are
	byName     string                    // leads the pointers
	byNameRead string                    // the same, when they can be read
	cut        string                    // stands where a text was shortened
	exchange   string                    // heading of the handoff's recent exchange
}

// sentence is said to agents that have its tool.
type sentence struct{ tool, text string }

// The names of our tools.
const (
	toolRecall  = "idea_memory_recall"
	toolRead    = "idea_memory_read"
	toolPropose = "idea_memory_propose"
	toolSet     = "idea_workstate_set"
	toolState   = "idea_workstate_read"
	toolAsk     = "idea_ask_agent"
	toolReply   = "idea_reply"
	toolHandoff = "idea_handoff_read"
)

// paragraphs returns the lines of the advice for the given tools.
func (t *texts) paragraphs(tools []string) []string {
	var out []string
	for _, sentences := range t.advice {
		var line []string
		for _, s := range sentences {
			if slices.Contains(tools, s.tool) {
				line = append(line, s.text)
			}
		}
		if len(line) > 0 {
			out = append(out, "- "+strings.Join(line, " "))
		}
	}
	return out
}
