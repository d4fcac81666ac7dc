package letter

import (
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
)

// TestMail is one mail of a test send. It is made and sent as those of its send
// are, but it is in no outbox and counts for nothing.
type TestMail struct {
	Send      id.Send // whose mails it looks like
	EmailType id.EmailType
	To        string          // the canonical address
	Contact   contact.Contact // whose data it shows
	Content   *content.Compiled
	Variant   string // its name, as the subject shows it
	Identity  id.Identity
	Lane      lane.Config
}

// TestOutcome is what became of a TestMail.
type TestOutcome struct {
	MessageID string // with its angle brackets; empty when the mail was not made
	Err       error  // why no server accepted it, in words for the person who asked; nil: one did
}
