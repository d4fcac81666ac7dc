package rule

import (
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
)

// History is what is stored about a contact's past.
type History struct {
	Lists      map[id.Segment]time.Time // the static lists it is on, with the time it was added
	Messages   []Message                // all its mails in the outbox
	Sends      map[id.Send]Send         // the sends of its mails; zero: unknown
	Hits       []Hit                    // all opens and clicks
	Complaints []JournalEvent           // complaints and unsubscribes caused by a mail
	Events     []NamedEvent             // custom events, page views, forms, sequences
	Suppressed bool                     // its address is on the suppression list
}

// Send is the data about a send that rules need.
type Send struct {
	Type   id.EmailType
	Source outbox.Source
}

// Message is one mail to the contact.
type Message struct {
	ID      id.Message
	Send    id.Send
	Variant string
	State   outbox.State
	SentAt  *time.Time // nil: no attempt has been accepted
	EndedAt *time.Time
}

// Hit is an open or a click.
type Hit struct {
	Message      id.Message
	Send         id.Send
	Click        bool // else an open
	URL          string
	At           time.Time
	Class        track.Class
	Corroborated bool // the message has a confirmed open
}

// JournalEvent is a complaint or an unsubscribe.
type JournalEvent struct {
	Complaint bool // else an unsubscribe
	Message   id.Message
	Send      id.Send
	At        time.Time
}

// NamedEvent is a journal entry that rules look up by name.
type NamedEvent struct {
	Type       journal.Type
	Name       string
	At         time.Time
	Properties map[string]any // of a custom event
}
