package agenttools

import (
	"fmt"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/safetext"
)

// The languages of texts.
const (
	english = iota
	french
)

// texts are the words of each language.
var texts = [...]language{english: inEnglish, french: inFrench}

// language holds every word that a model or a person reads.
type language struct {
	instructions func(project, agent string) string
	tools        map[string]toolText

	argQuery, argLimit, argName, argPart string

	// Results.
	noNote, byName, excerpt, pinned string
	linked                          string            // %s is the linking note
	fields                          map[string]string // by the proto's word
	found                           func(n, total int) string
	part                            func(n, of int) string

	// Failures. Each tells the next step.
	unreachable, ended, notYours string
	noSuchNote                   string // %s is the name
	unusable, wrong              string // %s is the server's sentence
	broken                       string // %s is the request id
}

// toolText is what a tool is called and what it is for.
type toolText struct{ title, description string }

// failure turns an error into what the model should do now.
func (w *language) failure(err error) string {
	f, ok := fault.As(err)
	if !ok {
		return w.unreachable
	}
	switch f.Reason {
	case fault.NoteNotFound:
		return fmt.Sprintf(w.noSuchNote, safetext.Line(f.Meta["note"]))
	case fault.ReasonUnauthenticated:
		return w.ended
	case fault.CallerNotAllowed, fault.OutOfScope, fault.ProjectNotFound, fault.WorktreeNotFound:
		return w.notYours
	case fault.Damaged, fault.HiddenText, fault.TooLarge, fault.NameMismatch, fault.OutsideProject:
		return fmt.Sprintf(w.unusable, safetext.Line(f.Msg))
	case fault.InvalidField:
		return fmt.Sprintf(w.wrong, safetext.Line(f.Msg+fields(f)))
	case fault.ReasonInternal:
		return fmt.Sprintf(w.broken, safetext.Line(f.Meta["request_id"]))
	}
	return w.unreachable
}

// fields lists the arguments at fault.
func fields(f *fault.Error) (list string) {
	for _, field := range f.Fields {
		list += "; " + field.Path + ": " + field.Message
	}
	return list
}
