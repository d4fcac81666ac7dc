package render

import (
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// TestMail is one mail of a test send. It is rendered and sent like the mails of its send, but it
// is not in the outbox and not in any sum.
type TestMail struct {
	Send      id.Send // the send whose mails it imitates
	EmailType id.EmailType
	To        string          // the canonical address
	Contact   contact.Contact // whose data are merged
	Event     journal.Trigger // of a sequence; zero: none
	Content   *content.Compiled
	Variant   string // its name, shown in the subject
	Identity  id.Identity
	Lane      lane.Config
}

// TestOutcome is the result of a TestMail.
type TestOutcome struct {
	MessageID string // with its angle brackets; empty if the mail was not composed
	Err       error  // why no server accepted the mail, as a text for the caller; nil: accepted
}
