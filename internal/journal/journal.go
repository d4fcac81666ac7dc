// Package journal keeps what happened, in order, for those who react to it.
//
// Code that makes something happen appends an entry in the same transaction and is
// done. Tenants fall into groups (id.Tenant.Group), and each group has an order of
// its own: places, horizon and the followers' cursors are the group's, and no two
// groups have a row, a key or a lock in common.
//
// An entry is written with its place in the order of its group, and never again for
// the order's sake. Places are drawn one after the other, so what had been committed
// when another entry was appended stands before that, whatever the clocks of their
// machines say. Transactions that run at once commit in any order: followers read up
// to a horizon only, before which no transaction has still to commit, so that they
// never overtake a slow writer. A follower's cursor and its effects commit together,
// so each entry takes effect exactly once.
//
//	Append (caller's transaction) → has its place, committed
//	horizon → final: nothing will come before it any more
//	Followers → read in order, batch by batch
//
// A transaction holds up what comes behind it from its first entry to its end: the
// entries are best the last thing that it writes.
//
// A message whose acceptance counts as its delivery (a relay's 250) writes the
// one entry EmailDelivered, which stands for "sent" and "delivered" both.
package journal

import (
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/id"
)

// Type says what happened. Those that are on a contact's timeline have these names
// in the API, too.
type Type string

// The types that are written.
const (
	EmailSent         Type = "email_sent"
	EmailDelivered    Type = "email_delivered"
	EmailBounced      Type = "email_bounced"
	EmailFailed       Type = "email_failed"
	EmailOpened       Type = "email_opened"
	EmailClicked      Type = "email_clicked"
	EmailComplained   Type = "email_complained"
	EmailUnsubscribed Type = "email_unsubscribed"

	ContactCreated      Type = "contact_created"
	ContactUpdated      Type = "contact_updated"
	ContactDeleted      Type = "contact_deleted"
	ContactRestored     Type = "contact_restored"
	ContactAnonymized   Type = "contact_anonymized"
	TagAdded            Type = "tag_added"
	TagRemoved          Type = "tag_removed"
	ScoreChanged        Type = "score_changed"
	SubscriptionChanged Type = "subscription_changed"
	StageChanged        Type = "stage_changed"
	ListAdded           Type = "list_added"
	ListRemoved         Type = "list_removed"
	SuppressionAdded    Type = "suppression_added"
	SuppressionRemoved  Type = "suppression_removed"

	SendEnded Type = "send_ended" // nothing of a send waits, and nothing will come

	CustomEvent       Type = "event"             // named by its event_name
	PageViewed        Type = "page_viewed"       // named by its URL
	FormSubmitted     Type = "form_submitted"    // named by the form's slug
	SequenceEnrolled  Type = "sequence_enrolled" // these are named by the sequence's id
	SequenceCompleted Type = "sequence_completed"
	SequenceExited    Type = "sequence_exited"

	BroadcastScheduled   Type = "broadcast_scheduled" // these are named by the broadcast's id
	BroadcastUnscheduled Type = "broadcast_unscheduled"
	BroadcastStarted     Type = "broadcast_started"
	BroadcastPaused      Type = "broadcast_paused"
	BroadcastResumed     Type = "broadcast_resumed"
	BroadcastCompleted   Type = "broadcast_completed"
	BroadcastFailed      Type = "broadcast_failed"
	BroadcastCancelled   Type = "broadcast_cancelled"

	DomainPaused Type = "domain_paused" // named by the sending domain's id
	MTADown      Type = "mta_down"      // these are named by the MTA config's id
	MTARecovered Type = "mta_recovered"
)

// Entry is one thing that happened.
type Entry struct {
	Tenant   id.Tenant
	ID       id.Entry // made by Append when empty; contacts that were made at once may share one, and the position
	Position int64    // in the tenant's group, given by Append: later ones are larger, some are left out
	Type     Type
	Name     string // what it is about, for the types that are asked for by it
	Contact  id.Contact
	Send     id.Send // that the mail belongs to, for what happens to mails
	Message  id.Message
	At       time.Time
	Data     any // nil, or what encodes to a JSON object; nil or json.RawMessage when read
}

// Decode reads the entry's data into v.
func (e Entry) Decode(v any) error {
	raw, _ := e.Data.(json.RawMessage)
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, v)
}
