// Package journal keeps what happened, in order, for those who react to it.
//
// Whoever makes something happen appends an entry in the same transaction and
// is done. The entry is written with its place in the order, and never again for
// the order's sake. Places are drawn one after the other, so what had been
// committed when another entry was appended stands before that, whatever the
// clocks of their machines say. Transactions that run at once commit in any order:
// followers read up to a horizon only, before which nobody has still to commit, so
// that they never overtake a slow writer. A follower's cursor and its effects
// commit together, so each entry takes effect exactly once.
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
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
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
	ID       id.Entry // made by Append when empty
	Position int64    // given by Append; later ones are larger, and some are left out
	Type     Type
	Name     string // what it is about, for the types that are asked for by it
	Contact  id.Contact
	Send     id.Send // that the mail belongs to, for what happens to mails
	Message  id.Message
	At       time.Time
	Data     any // nil, or what encodes to a JSON object; json.RawMessage when read
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
//
// On SQLite, where writers take turns until they have committed, a cursor counts
// the places; on PostgreSQL the column's default draws them.
func Append(ctx context.Context, tx *sqldb.DB, entries ...Entry) error {
	if err := AppendUnnoticed(ctx, tx, entries...); err != nil || len(entries) == 0 {
		return err
	}
	tx.Notify(Wake)
	return nil
}

// Wake is notified when there are new entries.
const Wake sqldb.Signal = "journal"

// AppendUnnoticed is Append for entries that come many times a second for as long
// as a send lasts: it leaves them to the next look of the Engine, which has more to
// do at a time then.
func AppendUnnoticed(ctx context.Context, tx *sqldb.DB, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	write := appended
	if tx.Dialect() == sqldb.SQLite {
		write = placed
	}
	if err := write(ctx, tx, entries); err != nil {
		return fmt.Errorf("append to the journal: %w", err)
	}
	return nil
}

// placed writes entries behind the last one.
func placed(ctx context.Context, db *sqldb.DB, entries []Entry) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		head, err := cursor(ctx, tx, sequencer)
		if err != nil {
			return err
		}
		list := slices.Clone(entries)
		for i := range list {
			list[i].Position = head + int64(i) + 1
		}
		if err := appended(ctx, tx, list); err != nil {
			return err
		}
		return move(ctx, tx, sequencer, head+int64(len(list)))
	})
}

// appended writes entries. Where Position is 0 the database gives one.
func appended(ctx context.Context, tx *sqldb.DB, entries []Entry) error {
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Tenant == entries[0].Tenant {
			n++
		}
		if err := appendedOf(ctx, tx, entries[0].Tenant, entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// appendedOf writes entries of one tenant.
func appendedOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []Entry) error {
	columns := []string{"id UUID", "type TEXT", "name TEXT", "contact_id UUID", "send_id UUID", "message_id UUID", "occurred_at BIGINT", "data JSONB"}
	names := "id, type, name, contact_id, send_id, message_id, occurred_at, data"
	if entries[0].Position != 0 {
		columns, names = append(columns, "pos BIGINT"), names+", pos"
	}
	t := tx.Table(columns...)
	for _, e := range entries {
		data, err := encoded(e.Data)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Type, err)
		}
		if e.ID.IsZero() {
			e.ID = id.New[id.Entry]()
		}
		row := []any{e.ID, e.Type, sqldb.Null(e.Name), sqldb.Null(e.Contact), sqldb.Null(e.Send), sqldb.Null(e.Message), e.At.UnixMicro(), data}
		if e.Position != 0 {
			row = append(row, e.Position)
		}
		t.Add(row...)
	}
	_, err := tx.Exec(ctx, `INSERT INTO journal (tenant_id, `+names+`) SELECT `+tx.Param(1, "INTEGER")+`, `+names+` FROM `+t.As("v", 2), t.Args(tenant)...)
	return err
}

func encoded(data any) (string, error) {
	switch d := data.(type) {
	case nil:
		return "{}", nil
	case json.RawMessage:
		return string(d), nil
	}
	b, err := json.Marshal(data)
	return string(b), err
}

// scan reads one entry.
func scan(row func(...any) error) (Entry, error) {
	var e Entry
	var name, contact, send, message sql.NullString
	var at int64
	var data string
	if err := row(&e.Tenant, &e.ID, &e.Position, &e.Type, &name, &contact, &send, &message, &at, &data); err != nil {
		return Entry{}, err
	}
	e.Name = name.String
	e.Contact, e.Send, e.Message = id.Read[id.Contact](contact.String), id.Read[id.Send](send.String), id.Read[id.Message](message.String)
	e.At, e.Data = sqldb.Time(at), json.RawMessage(data)
	return e, nil
}
