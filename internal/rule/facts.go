package rule

import (
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/track"
)

// History is what a contact did and what was done to it.
type History struct {
	Lists      map[id.Segment]time.Time // the static lists it is on, and since when
	Messages   []Message                // every mail that was decided on
	Sends      map[id.Send]Send         // those of its mails; zero: nothing is known
	Hits       []Hit                    // every open and click
	Told       []JournalEvent           // complaints and unsubscribes that a mail brought about
	Events     []NamedEvent             // custom events, page views, forms, sequences
	Suppressed bool                     // its address is on the suppression list
}

// Send is what is known of a send.
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
	SentAt  *time.Time // nil: no hand-off has ended
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
	Corroborated bool // its message is known to have been opened for certain
}

// JournalEvent is a complaint or an unsubscribe.
type JournalEvent struct {
	Complaint bool // else an unsubscribe
	Message   id.Message
	Send      id.Send
	At        time.Time
}

// NamedEvent is an entry of the journal that rules ask for by name.
type NamedEvent struct {
	Type       journal.Type
	Name       string
	At         time.Time
	Properties map[string]any // of a custom event
}
