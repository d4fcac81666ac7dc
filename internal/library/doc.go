// Package library keeps the reusable emails of an account, and every version of
// what each of them said.
//
// An entry has a name, a slug, tags and a status, which change in place. What it
// says is a manuscript (package manuscript), and never changes: whoever writes
// to it appends a version, also one that says the same as the last.
//
//	draft ⇄ published ⇄ archived      by a change, from any to any
//	any → archived                    by Archive; hidden from lists unless asked for
//
// A content is rendered before the transaction that appends it, against the
// version that was current then. If another version got in between, it is
// rendered again: no version is lost and no number is given twice.
//
// Who sends what an entry says copies it (Content), and may name the version it
// was; an entry that is named so is deleted only when nobody needs it any more.
package library
