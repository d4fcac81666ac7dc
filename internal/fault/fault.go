// Package fault holds the errors that are meant for the caller: a code that
// never changes, a kind, and one sentence.
//
// A fault is declared once, in the package whose rule it states, and given
// details or a cause where it happens. Faults know nothing of HTTP; package
// endpoint maps kinds to statuses. Every other error is a bug or an outage.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what sort of refusal a fault is.
type Kind int

// The kinds, in the order of their HTTP statuses.
const (
	Invalid          Kind = iota + 1 // the request is wrong
	Unauthenticated                  // nobody, or nobody we know, is asking
	Forbidden                        // this caller may not
	NotFound                         // no such record
	MethodNotAllowed                 // the route exists, not with this method
	Conflict                         // the state of things refuses it
	TooLarge                         // over a size cap
	Unsupported                      // a media type we do not read
	Unprocessable                    // understood, but it cannot be done
	Limited                          // too often
	Internal                         // our own mistake
	Unavailable                      // something we need is down
)

// Error is a fault. Two faults are equal, for errors.Is, when their codes are.
type Error struct {
	Kind    Kind
	Code    string // upper case with underscores; part of the API
	Message string // one sentence for a person
	Details any    // nil, or a value that encodes to a JSON object
	cause   error
}

// New declares a fault.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Error returns the message and, for the log, the cause behind it.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause, which is never shown to a caller.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy that carries details for the caller.
func (e *Error) With(details any) *Error {
	c := *e
	c.Details = details
	return &c
}

// Because returns a copy that carries a cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Sayf returns a copy with a message of its own.
func (e *Error) Sayf(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// As returns the fault in err's chain, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}
