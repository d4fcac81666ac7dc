// Package fault defines the errors that are meant for the caller: a code that never changes, a
// kind, and one sentence.
//
// A fault is declared once, in the package whose rule it states; details or a cause are added where
// it occurs. Faults do not depend on HTTP; package endpoint maps kinds to statuses. Every other
// error is a bug or an outage.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind is the kind of a fault.
type Kind int

// The kinds, in the order of their HTTP statuses.
const (
	Invalid          Kind = iota + 1 // the request is invalid
	Unauthenticated                  // no valid credential
	Forbidden                        // the caller lacks the permission
	NotFound                         // no such record
	MethodNotAllowed                 // the route exists, but not with this method
	Conflict                         // the current state does not allow it
	Precondition                     // the record is not the one that the request was made on
	TooLarge                         // exceeds a size limit
	Unsupported                      // unsupported media type
	Unprocessable                    // valid, but cannot be done
	Limited                          // too many requests
	Internal                         // an error in the program
	Unavailable                      // a dependency does not work
)

// Error is a fault. errors.Is compares faults by code.
type Error struct {
	Kind    Kind
	Code    string // upper case with underscores; part of the API
	Message string // one sentence for people
	Details any    // nil, or a value that encodes to a JSON object
	cause   error
}

// New declares a fault.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Error returns the message with the cause, for the log.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause, which callers never see.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy with details for the caller.
func (e *Error) With(details any) *Error {
	c := *e
	c.Details = details
	return &c
}

// Because returns a copy with a cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Sayf returns a copy with another message.
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

// ErrDeadline reports work that was canceled because it exceeded the time limit of a request. It
// has the code of other outages; its details distinguish it.
var ErrDeadline = New(Unavailable, "UNAVAILABLE", "the request exceeded its time limit; try again, or request less").
	With(map[string]string{"reason": "deadline"})

// Within returns a context that ends after d with ErrDeadline as its cause.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, ErrDeadline)
}

// Late reports whether the deadline of Within has passed.
func Late(ctx context.Context) bool { return context.Cause(ctx) == error(ErrDeadline) }

// Timely returns err, or ErrDeadline because of err if the deadline of ctx has passed and err is no
// fault: a driver's error may be of any kind then.
func Timely(ctx context.Context, err error) error {
	if err == nil || !Late(ctx) {
		return err
	}
	if f, ok := As(err); ok && f.Kind != Internal {
		return err
	}
	return ErrDeadline.Because(err)
}

// Wait is the details of a fault of kind Limited: the time before the next request.
type Wait struct {
	Seconds int `json:"retry_after"`
}

// RetryAfter returns the duration for the Retry-After header.
func (w Wait) RetryAfter() time.Duration { return time.Duration(w.Seconds) * time.Second }
