// Package journal records what happens, in order, for the code that reacts to it.
//
// Code that changes something appends an entry in the same transaction and does not know who reads
// it. Tenants are divided into groups (id.Tenant.Group), and each group has its own order:
// positions, horizon and the followers' cursors belong to the group, and two groups share no row,
// key or lock.
//
// An entry is inserted with its position in the order of its group, and is not updated afterwards.
// Positions come from a sequence, so entries committed before another was appended precede it,
// whatever the clocks of the machines say. Concurrent transactions commit in any order. Followers
// therefore read only up to a horizon, before which no transaction has yet to commit; they never
// skip the entries of a slow transaction. A follower's cursor and its effects commit together, so
// each entry takes effect exactly once.
//
//	Append (caller's transaction) → has its position, committed
//	horizon → final: no entry will be committed before it
//	Followers → read in order, batch by batch
//
// From its first entry until its end, a transaction holds up the followers for all later entries of
// the group. It should therefore append as its last statement.
//
// For a message whose acceptance counts as delivery (a relay's 250), a single entry EmailDelivered
// stands for both sent and delivered.
package journal

import (
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Type is the kind of an entry. The types shown on a contact's timeline have the same names in the
// API.
type Type string

// The types that are written.
const (
	EmailSent         Type = "email_sent"
	EmailDelivered    Type = "email_delivered"
	EmailDeferred     Type = "email_deferred" // a server answered that it may accept the message later
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
	SegmentEntered      Type = "segment_entered" // these are named by the segment's key; only of segments that triggers watch
	SegmentLeft         Type = "segment_left"
	DateReached         Type = "date_reached" // named by the field; only of fields that triggers watch
	SuppressionAdded    Type = "suppression_added"
	SuppressionRemoved  Type = "suppression_removed"

	BounceApplied   Type = "bounce_applied"   // a guarded bounce takes effect on its contact (package outage)
	BounceWithdrawn Type = "bounce_withdrawn" // the effect of a guarded bounce is taken back

	SendEnded Type = "send_ended" // no message of the send is waiting, and none will be added

	SeedBounced Type = "seed_bounced" // the copy of a broadcast to a seed was refused for its address

	CustomEvent       Type = "event"          // named by the event's event_name
	PageViewed        Type = "page_viewed"    // named by its URL
	FormSubmitted     Type = "form_submitted" // these are named by the form's slug
	OptInRequested    Type = "opt_in_requested"
	OptInConfirmed    Type = "opt_in_confirmed"
	SequenceEnrolled  Type = "sequence_enrolled" // these are named by the sequence's id
	SequenceCompleted Type = "sequence_completed"
	SequenceExited    Type = "sequence_exited"

	BroadcastScheduled   Type = "broadcast_scheduled" // these have the broadcast's id as name
	BroadcastUnscheduled Type = "broadcast_unscheduled"
	BroadcastStarted     Type = "broadcast_started"
	BroadcastPaused      Type = "broadcast_paused"
	BroadcastResumed     Type = "broadcast_resumed"
	BroadcastCompleted   Type = "broadcast_completed"
	BroadcastFailed      Type = "broadcast_failed"
	BroadcastCancelled   Type = "broadcast_cancelled"

	DomainVerified Type = "domain_verified" // these are named by the sending domain's id
	DomainFailed   Type = "domain_failed"
	DomainPaused   Type = "domain_paused"
	MTADown        Type = "mta_down" // these have the MTA config's id as name
	MTARecovered   Type = "mta_recovered"

	ImportCompleted Type = "import_completed" // named by the job's id
)

// Entry records one change or event.
type Entry struct {
	Tenant   id.Tenant
	ID       id.Entry // set by Append if zero; entries that were appended together may share it, and the position
	Position int64    // in the tenant's group, assigned by Append; increasing, with gaps
	Type     Type
	Name     string // identifies the subject, for the types that are looked up by it
	Contact  id.Contact
	Send     id.Send // the send of the mail, for entries about mails
	Message  id.Message
	At       time.Time
	Data     any // nil, or a value that encodes to a JSON object; when read: nil or json.RawMessage
}

// Decode decodes the entry's data into v.
func (e Entry) Decode(v any) error {
	raw, _ := e.Data.(json.RawMessage)
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, v)
}
