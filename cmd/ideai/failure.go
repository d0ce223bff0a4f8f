package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/safetext"
)

// The exit codes, as the help of ideai documents them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitRefused     = 4
	exitUnavailable = 5
	exitInterrupted = 130
)

// usageError is a command line that makes no sense.
type usageError struct {
	format string
	args   []any
}

func (e *usageError) Error() string { return fmt.Sprintf(e.format, e.args...) }

func usage(format string, args ...any) error { return &usageError{format, args} }

// refusedError is a refusal that no service made.
type refusedError struct{ msg string }

func (e *refusedError) Error() string { return e.msg }

// codeError ends the command with an exit code and no word: the program that
// was started has said what there is to say.
type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// keptError is a failure that left the person's text in a file.
type keptError struct {
	cause error
	path  string
}

func (e *keptError) Error() string { return e.cause.Error() }
func (e *keptError) Unwrap() error { return e.cause }

// noteExistsError is a save of a new note under a name that is taken.
type noteExistsError struct {
	note  string
	cause error
}

func (e *noteExistsError) Error() string { return e.cause.Error() }
func (e *noteExistsError) Unwrap() error { return e.cause }

// exitCode is the exit code for an error.
func exitCode(err error) int {
	var code *codeError
	var use *usageError
	var refused *refusedError
	var inUse *background.InUseError
	var missing *host.NotInstalledError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &use):
		return exitUsage
	case errors.As(err, &refused), errors.As(err, &inUse):
		return exitRefused
	case errors.As(err, &missing):
		return exitNotFound
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	f, ok := fault.As(err)
	if !ok {
		return exitError
	}
	switch f.Kind() {
	case fault.NotFound:
		return exitNotFound
	case fault.InvalidArgument:
		if f.Reason == fault.InvalidField || f.Reason == fault.ArgumentConflict || f.Reason == fault.PageTokenInvalid {
			return exitUsage
		}
		return exitRefused
	case fault.AlreadyExists, fault.FailedPrecondition, fault.Aborted, fault.PermissionDenied, fault.Unauthenticated, fault.ResourceExhausted:
		return exitRefused
	case fault.Unavailable, fault.DeadlineExceeded, fault.Unimplemented:
		return exitUnavailable
	case fault.Canceled:
		return exitInterrupted
	default:
		return exitError
	}
}

// fail tells the person what went wrong and what to do.
func (t *terminal) fail(err error) {
	var code *codeError
	if err == nil || errors.As(err, &code) {
		return
	}
	if errors.Is(err, context.Canceled) {
		err = fault.New(fault.ReasonCanceled, nil, "interrupted").Wrap(err)
	}
	if t.asJSON {
		t.failJSON(err)
		return
	}
	_, _ = fmt.Fprintf(t.err, "ideai: %s\n", safetext.Escape(t.explain(err)))
	if f, ok := fault.As(err); ok && len(f.Fields) > 1 {
		for _, v := range f.Fields {
			_, _ = fmt.Fprintf(t.err, "  %s: %s\n", safetext.Escape(v.Path), safetext.Escape(v.Message))
		}
	}
	var kept *keptError
	if errors.As(err, &kept) {
		t.remark("your text is kept in %s", kept.path)
	}
}

// explain is the sentence for an error in the person's language. English is
// what the service wrote; French is made from the reason and its metadata.
func (t *terminal) explain(err error) string {
	var use *usageError
	var inUse *background.InUseError
	var missing *host.NotInstalledError
	var exists *noteExistsError
	switch {
	case errors.As(err, &exists):
		return fmt.Sprintf(t.tr("the note %s exists already; --replace replaces it, `ideai memory edit %s` changes it"), exists.note, exists.note)
	case errors.As(err, &use):
		return fmt.Sprintf(t.tr(use.format), use.args...)
	case errors.As(err, &inUse):
		return fmt.Sprintf(t.tr("another ideai server listens at %s; use that one, or give this one another --address"), inUse.Address)
	case errors.As(err, &missing):
		return fmt.Sprintf(t.tr("%s is not on your PATH; %s"), missing.Binary, missing.Install)
	}
	f, ok := fault.As(err)
	if !ok {
		return t.tr(err.Error())
	}
	if t.lang == "fr" {
		if s := t.fileProblem(f.Msg); f.Reason == fault.Damaged && s != f.Msg {
			return s
		}
		if s, ok := frenchReason(f); ok {
			return s
		}
	}
	return f.Msg
}

// failJSON writes the error as one JSON document on standard error.
func (t *terminal) failJSON(err error) {
	type field struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	}
	var doc struct {
		Error struct {
			Reason   string            `json:"reason"`
			Message  string            `json:"message"`
			Metadata map[string]string `json:"metadata"`
			Fields   []field           `json:"fields,omitempty"`
			KeptIn   string            `json:"keptIn,omitempty"`
		} `json:"error"`
	}
	doc.Error.Message = t.explain(err)
	doc.Error.Metadata = map[string]string{}
	if f, ok := fault.As(err); ok {
		doc.Error.Reason = string(f.Reason)
		for k, v := range f.Meta {
			doc.Error.Metadata[k] = v
		}
		for _, v := range f.Fields {
			doc.Error.Fields = append(doc.Error.Fields, field{v.Path, v.Message})
		}
	}
	var kept *keptError
	if errors.As(err, &kept) {
		doc.Error.KeptIn = kept.path
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(doc) == nil {
		_, _ = fmt.Fprint(t.err, b.String())
	}
}
