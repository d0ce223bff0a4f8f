// Package fault is how domain code says what went wrong: a reason that
// programs switch on, a sentence that tells a person what to do next, and the
// values both speak of. It knows nothing of gRPC; grpcerr maps it to the wire.
package fault

import (
	"errors"
	"fmt"
	"maps"
)

// Kind is the class of a fault. Each reason has exactly one.
type Kind uint8

// The kinds, named after the gRPC codes they become.
const (
	Internal Kind = iota
	InvalidArgument
	NotFound
	AlreadyExists
	FailedPrecondition
	Aborted
	OutOfRange
	PermissionDenied
	Unauthenticated
	ResourceExhausted
	Unavailable
	DeadlineExceeded
	Canceled
	Unimplemented
)

// Meta holds the values a fault speaks of. Its keys are fixed per reason.
type Meta map[string]string

// Field is one request field that breaks its rule.
type Field struct {
	Path    string // proto field path, such as note.body
	Message string
}

// Error is a fault. It is immutable once returned.
type Error struct {
	Reason Reason
	Msg    string // for people: what is wrong and what to do, never a secret
	Meta   Meta
	Fields []Field // for InvalidField
	Detail any     // a message to carry along, such as the current note; nil for none
	cause  error
}

// New makes a fault. meta must have exactly the keys of the reason; the
// message states every value of it that a person needs.
func New(reason Reason, meta Meta, format string, args ...any) *Error {
	return &Error{Reason: reason, Msg: fmt.Sprintf(format, args...), Meta: meta}
}

// Wrap returns a copy of e with a cause, which logs show and clients never see.
func (e *Error) Wrap(cause error) *Error {
	c := e.clone()
	c.cause = cause
	return c
}

// WithDetail returns a copy of e that carries d to the client.
func (e *Error) WithDetail(d any) *Error {
	c := e.clone()
	c.Detail = d
	return c
}

// WithFields returns a copy of e that names the fields at fault.
func (e *Error) WithFields(fields ...Field) *Error {
	c := e.clone()
	c.Fields = fields
	return c
}

func (e *Error) clone() *Error {
	c := *e
	c.Meta = maps.Clone(e.Meta)
	return &c
}

// Kind returns the class of the fault's reason.
func (e *Error) Kind() Kind { return e.Reason.Kind() }

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Msg + ": " + e.cause.Error()
	}
	return e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault of the same reason, so that
// errors.Is(err, fault.Of(fault.NoteNotFound)) works through wrapping.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason
}

// Of returns a bare fault of a reason, to compare with errors.Is.
func Of(reason Reason) *Error { return &Error{Reason: reason, Msg: string(reason)} }

// As returns the fault in err's chain, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// ReasonOf returns the reason of the fault in err's chain, ReasonInternal for
// other errors and "" for nil.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	if e, ok := As(err); ok {
		return e.Reason
	}
	return ReasonInternal
}
