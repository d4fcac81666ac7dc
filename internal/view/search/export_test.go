package search

import "github.com/packetboat/packetboat/internal/people/contactsearch"

// Match is match for a record without other texts.
func Match(title, text string) (rank, start, end int) {
	rank, at := match(contactsearch.Terms(text), true, title)
	if at == nil {
		return rank, 0, 0
	}
	return rank, at.Start, at.End
}
