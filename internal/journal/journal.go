// Package journal keeps what happened, in order, for those who react to it.
//
// Whoever makes something happen appends an entry in the same transaction and
// is done. Entries have no place in the order until they are committed: one
// sequencer places them afterwards, so that a follower reading by position never
// overtakes a slow writer. A follower's cursor and its effects commit together,
// so each entry takes effect exactly once.
//
//	Append (caller's transaction) → committed, unplaced
//	Sequencer → placed
//	Followers → read in order, batch by batch
//
// A message whose acceptance counts as its delivery (a relay's 250) writes the
// one entry EmailDelivered, which stands for "sent" and "delivered" both.
package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Type says what happened; the names are those of contract 13.3 where they are
// on a contact's timeline.
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

	CustomEvent       Type = "event"             // named by its event_name
	PageViewed        Type = "page_viewed"       // named by its URL
	FormSubmitted     Type = "form_submitted"    // named by the form's slug
	SequenceEnrolled  Type = "sequence_enrolled" // these are named by the sequence's id
	SequenceCompleted Type = "sequence_completed"
	SequenceExited    Type = "sequence_exited"

	BroadcastScheduled   Type = "broadcast_scheduled"
	BroadcastUnscheduled Type = "broadcast_unscheduled"
	BroadcastStarted     Type = "broadcast_started"
	BroadcastPaused      Type = "broadcast_paused"
	BroadcastResumed     Type = "broadcast_resumed"
	BroadcastCompleted   Type = "broadcast_completed"
	BroadcastFailed      Type = "broadcast_failed"
	BroadcastCancelled   Type = "broadcast_cancelled"
)

// Entry is one thing that happened.
type Entry struct {
	Tenant    id.Tenant
	ID        id.Entry // made by Append when empty
	Position  int64    // 0 until placed
	Type      Type
	Name      string // what it is about, for the types that are asked for by it
	Contact   id.Contact
	Broadcast id.Broadcast
	Message   id.Message
	At        time.Time
	Data      any // nil, or what encodes to a JSON object; json.RawMessage when read
}

// Decode reads the entry's data into v.
func (e Entry) Decode(v any) error {
	raw, _ := e.Data.(json.RawMessage)
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, v)
}

// Append writes entries. It is called inside the transaction that makes them true.
func Append(ctx context.Context, tx *sqldb.DB, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	t := tx.Table("tenant_id TEXT", "id TEXT", "type TEXT", "name TEXT", "contact_id TEXT", "broadcast_id TEXT", "message_id TEXT", "occurred_at BIGINT", "data JSONB")
	for _, e := range entries {
		data := "{}"
		switch d := e.Data.(type) {
		case nil:
		case json.RawMessage:
			data = string(d)
		default:
			b, err := json.Marshal(d)
			if err != nil {
				return fmt.Errorf("journal %s: %w", e.Type, err)
			}
			data = string(b)
		}
		if e.ID == "" {
			e.ID = id.New[id.Entry]()
		}
		t.Add(e.Tenant, e.ID, e.Type, sqldb.Null(e.Name), sqldb.Null(e.Contact), sqldb.Null(e.Broadcast), sqldb.Null(e.Message), e.At.UnixMicro(), data)
	}
	_, err := t.Insert(ctx, tx, "journal")
	if err != nil {
		return fmt.Errorf("append to the journal: %w", err)
	}
	return nil
}

// scan reads one placed entry.
func scan(row func(...any) error) (Entry, error) {
	var e Entry
	var name, contact, broadcast, message sql.NullString
	var at int64
	var data string
	if err := row(&e.Tenant, &e.ID, &e.Position, &e.Type, &name, &contact, &broadcast, &message, &at, &data); err != nil {
		return Entry{}, err
	}
	e.Name = name.String
	e.Contact, e.Broadcast, e.Message = id.Contact(contact.String), id.Broadcast(broadcast.String), id.Message(message.String)
	e.At, e.Data = sqldb.Time(at), json.RawMessage(data)
	return e, nil
}
