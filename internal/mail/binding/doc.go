// Package binding is the language between a template's author and those who
// fill it in: typed parameters, repeating sections, slots for blocks.
//
// A Schema says what a template (or a block) declares; a Document is its bodies,
// read once, in which the placeholders stand; a binding gives the values. Check
// checks a binding against the schema and reports every problem at once; what it returns
// is Bound, in which each declared thing has a value, and Document.Expand writes
// that into the bodies, escaped as its type and its place ask.
//
// Nothing here knows a database, and nothing is rendered for a recipient: merge
// fields and Liquid pass through untouched, in bodies as in values.
package binding
