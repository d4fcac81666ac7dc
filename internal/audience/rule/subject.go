package rule

import "github.com/packetboat/packetboat/internal/people/contact"

// Subject is a contact and its history, the input of Match. Load loads it.
type Subject struct {
	Contact contact.Contact

	// The mail servers of the address's domain; empty if not resolved yet.
	MXRecord     string
	SMTPProvider string

	History
}
