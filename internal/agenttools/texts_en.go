package agenttools

import "fmt"

var inEnglish = language{
	instructions: func(project, agent string) string {
		return fmt.Sprintf("Project memory for `%s`. You are `%s`. Recall before you decide.", project, agent)
	},
	tools: map[string]toolText{
		"idea_memory_recall": {
			"Search project notes",
			"Finds this project's notes on a subject: decisions, conventions, preferences, traps. Call it before choosing an approach or asking the person. Write the task as one plain sentence, in any language. Returns at most five notes unless you ask for more, whole, shortened or by name, each with why it matched. No result means the project has no note on it: go on, do not rephrase.",
		},
		"idea_memory_read": {
			"Read a project note",
			"Reads one note in full by its name, as given by a recall, a link `[[name]]` or the list in your instructions. Long notes come in parts.",
		},
	},

	argQuery: "The task or question, as one plain sentence.",
	argLimit: "At most this many notes.",
	argName:  "The note's name.",
	argPart:  "Which part of a long note.",

	noNote:  "No note on this. Go on.",
	byName:  "By name only; `idea_memory_read` gives one in full:",
	excerpt: "shortened; `idea_memory_read` gives it in full",
	pinned:  "pinned for you",
	linked:  "linked from `%s`",
	fields:  map[string]string{"name": "in its name", "description": "in its description", "heading": "in a heading", "body": "in its text"},
	found: func(n, total int) string {
		if n == 1 {
			return fmt.Sprintf("1 note of %d.", total)
		}
		return fmt.Sprintf("%d notes of %d.", n, total)
	},
	part: func(n, of int) string {
		if n < of {
			return fmt.Sprintf("part %d of %d; the next is part %d", n, of, n+1)
		}
		return fmt.Sprintf("part %d of %d, the last", n, of)
	},

	unreachable: "Memory is not reachable now; work without it and do not retry in this turn.",
	ended:       "Your access to the project's memory has ended; work without it. It comes back when the person starts a new session with ideai.",
	notYours:    "This session may not read that; work without it and do not retry.",
	noSuchNote:  "There is no note `%s`. Look for its subject with `idea_memory_recall`, or go on without it.",
	unusable:    "The note cannot be used until a person mends it (%s). Go on without it.",
	wrong:       "Not done: %s. Call again with that mended.",
	broken:      "Memory failed (request %s); work without it and do not retry in this turn.",
}
