// Package contactsearch is the index of the search for contacts: it returns the contacts
// whose address, names or company may contain given words (docs/adr/0019-search-index.md).
//
// It is a trigram index, in segments of 512 to 8,192 contacts, in the tables contact_search_*.
// When package contact writes a search_text, it queues the contact in the same transaction
// (Enqueue, QueueNewEntries, Remove). Indexer, an engine, puts queued contacts into a segment, and
// merges small segments.
// When a contact changes, its old entry stays in its segment, so that a search may return
// it as a candidate without reason. Indexer rebuilds the index when most entries are
// outdated.
//
// The index never changes the result of a search, only its duration: queued contacts are
// compared one by one, and each candidate is compared by its own text.
//
// The package also reads id and search_text of table contact.
package contactsearch
