// Package binding implements the interface between the author of a template and the users who fill
// it in: typed parameters, repeating sections, slots for blocks.
//
// A Schema is what a template (or a block) declares; a Document is its parsed bodies with
// placeholders; a binding contains the values. Check checks a binding against the schema and
// reports all problems at once; it returns a Bound, in which everything that is declared has a
// value, and Document.Expand writes that into the bodies, escaped for its type and position.
//
// The package uses no database and renders nothing for recipients: merge fields and Liquid stay
// unchanged, in bodies and in values.
package binding
