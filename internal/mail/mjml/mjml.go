package mjml

import (
	"context"
	"errors"
	"fmt"
)

// Result is a compiled document.
type Result struct {
	HTML     string
	Warnings []Warning
}

// Warning is something the compiler passed over; it stops nothing.
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
func (e *Error) Error() string { return fmt.Sprintf("mjml: line %d: %s", e.Line, e.Message) }

// UnknownError names the elements that the compiler does not have.
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

// Compiler compiles documents, one at a time. It is safe for concurrent use.
type Compiler struct{}

// New returns a compiler that has not been opened yet.
func New() *Compiler { return &Compiler{} }

// Available reports whether the program was built with the compiler.
func (c *Compiler) Available() bool { return false }

// Compile returns the HTML of an MJML document. The error is an *Error, an
// *UnknownError, ErrTooMuch, ErrUnavailable or the context's.
func (c *Compiler) Compile(ctx context.Context, source string) (Result, error) {
	return Result{}, ErrUnavailable
}

// Close frees the interpreter.
func (c *Compiler) Close() {}
