// Package contactsearch is the index of the search of contacts: it says which
// contacts may hold some words in their addresses, names or companies
// (docs/adr/0019-search-index.md).
//
// The index is of trigrams, in segments of 8,192 contacts, in the tables
// contact_search_*. Package contact tells it in the same transaction of each
// contact whose search_text it writes (Await, AwaitNew, Forget); the contact then
// waits until Index, an engine, has brought it into a segment. What is in a segment
// stays there when the contact changes, and says too much then; Index renews
// segments when most of what they say is old.
//
// So the index decides how long a search takes and never what it finds: a contact
// that waits is looked at by itself, and whether a contact holds the words is asked
// of its own text.
//
// Besides its own tables the package reads id and search_text of the table contact,
// which it belongs to.
package contactsearch
