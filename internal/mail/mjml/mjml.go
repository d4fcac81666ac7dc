package mjml

import (
	"errors"
	"fmt"
)

// Result is a compiled document. HTML is empty when the body has nothing that
// could be seen: no element at all, or only sections and columns.
type Result struct {
	HTML     string
	Warnings []Warning
}

// Warning is something that the compiler passes over; it stops nothing.
type Warning struct {
	Line    int // in the source, counted from 1; 0: not known
	Tag     string
	Message string
}

// Error says why and where a source is no MJML document.
type Error struct {
	Line    int // counted from 1; 0: not known
	Message string
}

// Error returns the line and the message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "mjml: " + e.Message
	}
	return fmt.Sprintf("mjml: line %d: %s", e.Line, e.Message)
}

// UnknownError names the elements that the compiler does not have, in the order
// of the source; of a great many only the first.
type UnknownError struct{ Elements []Element }

// Element is a tag and where it stands.
type Element struct {
	Tag  string `json:"tag"`
	Line int    `json:"line"`
}

// Error names the first of them.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("mjml: line %d: there is no element <%s>", e.Elements[0].Line, e.Elements[0].Tag)
}

// ErrUnavailable says that the program was built without the compiler.
var ErrUnavailable = errors.New("mjml: this program was built without the MJML compiler")

// ErrTooMuch says that a document takes more time or memory than a document may.
var ErrTooMuch = errors.New("mjml: the document takes too much time or memory to compile")
