// Package mjml compiles MJML, the markup of responsive mail, into HTML. The
// compiler is the official one, the npm package mjml-browser, which scripts/mjml
// puts into the folder dist; it runs in an interpreter of JavaScript written in
// Go. A program that was built without it answers ErrUnavailable.
//
// # One interpreter
//
// A Compiler has one interpreter, on which documents take turns, by their owners:
// after a document of one owner comes one of each other owner that waits. It is
// opened when the first document comes and closed when none has come for a
// minute, together with what is kept of compiled documents. A document may take
// two seconds of a processor (on Linux; elsewhere, two seconds) and 64 MB; one
// that wants more costs the interpreter, and the next document gets a new one. The interpreter reaches no file and no network, and
// the random numbers of the compiler are the same for every document, so that
// equal sources give equal HTML.
//
// # What is asked of a document
//
// The official compiler forgives nearly everything: an end tag that is missing
// takes the rest of the document with it, an element that it does not know
// vanishes with all it holds, and neither is an error to it. Check, which runs
// first and needs no interpreter, says so instead: elements must be closed and
// attributes quoted (Error), and every element must be one of MJML's
// (UnknownError). mj-include is none: there are no files to include. Inside
// elements whose content is HTML (mj-text, mj-button, mj-raw, ...) only their
// end is looked for. Everything else that the compiler reports becomes a Warning.
//
// # Liquid
//
// Liquid tags pass through compilation byte for byte, in text and in attribute
// values, with any character in them: the compiler is shown a word in place of
// each. Between elements the compiler drops all text, Liquid included, which is
// a Warning: a condition around an element has to be inside mj-raw.
package mjml
