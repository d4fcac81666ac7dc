package rule

import "github.com/packetboat/packetboat/internal/contact"

// Subject is a contact and what is known of its history: what a rule that is
// matched in memory looks at. Load reads some.
type Subject struct {
	Contact contact.Contact

	// What receives mail for the address's domain; empty while unresolved.
	MXRecord     string
	SMTPProvider string

	History
}
