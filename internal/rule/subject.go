package rule

import "packetboat/internal/contact"

// Subject is a contact and what is known of its history: what a rule that is
// matched in memory looks at.
type Subject struct {
	Contact contact.Contact
	History
}
