// Package mjml compiles MJML, the markup of responsive mail, into HTML. The compiler is the official
// one, the npm package mjml-browser, which scripts/mjml puts into the folder dist; it runs in a
// JavaScript interpreter written in Go. A program that was built without it returns ErrUnavailable.
//
// # One interpreter
//
// A Compiler has one interpreter, which owners of documents use in turns: after a document of one
// owner, one of each other waiting owner is compiled. The interpreter is opened for the first
// document and closed after a minute without one, together with the cache of compiled documents. A
// document may take two seconds of CPU time (on Linux; elsewhere, two seconds) and 64 MB. If it
// exceeds that, the interpreter is closed, and the next document gets a new one. The interpreter has
// no access to files and network, and the random numbers of the compiler are the same for every
// document, so that equal sources give equal HTML.
//
// # Checks of a document
//
// The official compiler reports few errors: if an end tag is missing, it drops the rest of the
// document, and it drops an unknown element with all its content. Check, which runs first and does
// not need the interpreter, reports these: elements must be closed and attributes quoted (Error), and
// every element must be one of MJML's (UnknownError). mj-include is not supported: there are no files
// to include. In elements whose content is HTML (mj-text, mj-button, mj-raw, ...) only the end tag is
// looked for. Everything else that the compiler reports becomes a Warning.
//
// # Liquid
//
// Liquid passes through compilation byte for byte, in text and in attribute values, whatever it
// contains: the compiler gets a word in its place. Between elements the compiler drops all text,
// Liquid included, which is a Warning: a condition around an element must be inside mj-raw.
//
// The same is done for conditional comments that an author wrote: the official compiler joins the marks of
// those that are next to each other, and so destroys <!--<![endif]-->.
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
	Line    int    `json:"line,omitempty"` // in the source, counted from 1; 0: unknown
	Tag     string `json:"tag,omitempty"`
	Message string `json:"message"`
}

// Error is the reason why a source is not an MJML document, and where.
type Error struct {
	Line    int // counted from 1; 0: unknown
	Column  int // in characters, counted from 1; 0: unknown
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

// Element is a tag and its position.
type Element struct {
	Tag    string `json:"tag"`
	Line   int    `json:"line"`
	Column int    `json:"-"` // in characters, counted from 1; 0: unknown
}

// Error names the first of them.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("mjml: line %d: there is no element <%s>", e.Elements[0].Line, e.Elements[0].Tag)
}

// ErrUnavailable means that the program was built without the compiler.
var ErrUnavailable = errors.New("mjml: this program was built without the MJML compiler")

// ErrTooMuch means that a document takes more time or memory than allowed.
var ErrTooMuch = errors.New("mjml: the document takes too much time or memory to compile")
