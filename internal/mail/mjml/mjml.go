package mjml

import (
	"errors"
	"fmt"
)

// Result is a compiled document. HTML is empty if the body has nothing visible: no element at all, or
// only sections and columns.
type Result struct {
	HTML     string
	Warnings []Warning
}

// Warning is a finding that does not prevent compilation.
type Warning struct {
	Line    int // in the source, counted from 1; 0: unknown
	Tag     string
	Message string
}

// Error is the reason why a source is not an MJML document, and the line.
type Error struct {
	Line    int // counted from 1; 0: unknown
	Message string
}

// Error returns the line and the message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "mjml: " + e.Message
	}
	return fmt.Sprintf("mjml: line %d: %s", e.Line, e.Message)
}

// UnknownError lists the elements that the compiler does not have, in the order of the source, up to
// maxUnknown.
type UnknownError struct{ Elements []Element }

// Element is a tag and its line.
type Element struct {
	Tag  string `json:"tag"`
	Line int    `json:"line"`
}

// Error names the first of them.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("mjml: line %d: there is no element <%s>", e.Elements[0].Line, e.Elements[0].Tag)
}

// ErrUnavailable means that the program was built without the compiler.
var ErrUnavailable = errors.New("mjml: this program was built without the MJML compiler")

// ErrTooMuch means that a document takes more time or memory than allowed.
var ErrTooMuch = errors.New("mjml: the document takes too much time or memory to compile")
