package webhook

import (
	"slices"

	"github.com/packetboat/packetboat/internal/account/journal"
)

// AllEvents stands for every event type in an endpoint's list.
const AllEvents = "*"

// The event types.
const (
	ContactCreated      = "contact.created"
	ContactUpdated      = "contact.updated"
	ContactDeleted      = "contact.deleted"
	ContactSubscribed   = "contact.subscribed"
	ContactUnsubscribed = "contact.unsubscribed"
	EmailSent           = "email.sent"
	EmailDelivered      = "email.delivered"
	EmailDeferred       = "email.deferred"
	EmailOpened         = "email.opened"
	EmailClicked        = "email.clicked"
	EmailBounced        = "email.bounced"
	EmailComplained     = "email.complained"
	EmailFailed         = "email.failed"
	BroadcastScheduled  = "broadcast.scheduled"
	BroadcastStarted    = "broadcast.started"
	BroadcastPaused     = "broadcast.paused"
	BroadcastResumed    = "broadcast.resumed"
	BroadcastCompleted  = "broadcast.completed"
	BroadcastFailed     = "broadcast.failed"
	BroadcastCancelled  = "broadcast.cancelled"
	SequenceEnrolled    = "sequence.enrolled"
	SequenceCompleted   = "sequence.completed"
	SequenceExited      = "sequence.exited"
	FormSubmitted       = "form.submitted"
	EventRecorded       = "event.recorded"
	ListMemberAdded     = "list.member_added"
	ListMemberRemoved   = "list.member_removed"
	SuppressionAdded    = "suppression.added"
	SuppressionRemoved  = "suppression.removed"
	DomainVerified      = "domain.verified"
	DomainFailed        = "domain.failed"
	DomainPaused        = "domain.paused"
	MTADown             = "mta.down"
	MTARecovered        = "mta.recovered"
	ImportCompleted     = "import.completed"
	WebhookTest         = "webhook.test" // sent by Test, whatever types an endpoint has
)

// sources are the journal entries that events are made of, and the event types of each. Entries
// about subscriptions become one of the two types.
var sources = map[journal.Type][]string{
	journal.ContactCreated:      {ContactCreated},
	journal.ContactUpdated:      {ContactUpdated},
	journal.ContactRestored:     {ContactUpdated},
	journal.ContactDeleted:      {ContactDeleted},
	journal.ContactAnonymized:   {ContactDeleted},
	journal.SubscriptionChanged: {ContactSubscribed, ContactUnsubscribed},
	journal.EmailSent:           {EmailSent},
	journal.EmailDelivered:      {EmailSent, EmailDelivered}, // the acceptance by a relay is both
	journal.EmailDeferred:       {EmailDeferred},
	journal.EmailOpened:         {EmailOpened},
	journal.EmailClicked:        {EmailClicked},
	journal.EmailBounced:        {EmailBounced},
	journal.EmailComplained:     {EmailComplained},
	journal.EmailFailed:         {EmailFailed},
	journal.BroadcastScheduled:  {BroadcastScheduled},
	journal.BroadcastStarted:    {BroadcastStarted},
	journal.BroadcastPaused:     {BroadcastPaused},
	journal.BroadcastResumed:    {BroadcastResumed},
	journal.BroadcastCompleted:  {BroadcastCompleted},
	journal.BroadcastFailed:     {BroadcastFailed},
	journal.BroadcastCancelled:  {BroadcastCancelled},
	journal.SequenceEnrolled:    {SequenceEnrolled},
	journal.SequenceCompleted:   {SequenceCompleted},
	journal.SequenceExited:      {SequenceExited},
	journal.FormSubmitted:       {FormSubmitted},
	journal.CustomEvent:         {EventRecorded},
	journal.ListAdded:           {ListMemberAdded},
	journal.ListRemoved:         {ListMemberRemoved},
	journal.SuppressionAdded:    {SuppressionAdded},
	journal.SuppressionRemoved:  {SuppressionRemoved},
	journal.DomainVerified:      {DomainVerified},
	journal.DomainFailed:        {DomainFailed},
	journal.DomainPaused:        {DomainPaused},
	journal.MTADown:             {MTADown},
	journal.MTARecovered:        {MTARecovered},
	journal.ImportCompleted:     {ImportCompleted},
}

// followedTypes returns the types of the entries in sources.
func followedTypes() []journal.Type {
	types := make([]journal.Type, 0, len(sources))
	for t := range sources {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}
