// Package library stores the reusable emails of a tenant, and every version of their content.
//
// An entry has a name, a slug, tags and a status, which are updated in place. Its content (type
// draft.Content) is never updated: each write of content appends a version, even one equal to the
// last.
//
//	draft ⇄ published ⇄ archived      by a change, from any to any
//	any → archived                    by Archive; not listed unless asked for
//
// Content is rendered before the transaction that appends it, on the basis of the current version.
// If another version was appended meanwhile, it is rendered again, so that no version is lost and
// no number is assigned twice.
//
// A broadcast copies the content of a version (Content) and stores its number. An entry can be
// deleted when no unfinished broadcast refers to it.
package library
