// Package outbox stores all messages, waiting or finished: one row for each recipient of a send,
// which is inserted when the audience is read and updated when the message's attempts end.
//
// A send can be held, opened, paused or cancelled as a whole. Its row contains the sums of its
// messages. A sum changes in the transaction that changes the message, so the two always agree.
//
//	           AddMessages                        Commit
//	(nothing) ────► queued ──────────────────────────► sent, delivered, bounced,
//	                 ▲  │ claimed, then in flight         failed, skipped
//	                 └──┘ Commit, deferred
//
//	queued ── send cancelled ──► cancelled
//
// Messages are sent by nodes: processes with a lease (Node). A node claims a stretch of a send's
// order at a time. That inserts one row and updates none of the messages. The node releases the
// stretch when all of its messages are settled or put back. An attempt begins with an intent, which
// is committed before the message is handed over: one row for all attempts that begin together
// (outbox_attempt). It is written only while the node's claim exists, so code that changes waiting
// messages without having claimed them revokes the claims on them first. Each result contains the
// epoch that its message had when it was claimed.
//
// Reap takes back the claims of dead nodes and increases the epochs of their messages, so that a
// node that lost its lease changes nothing. A message whose attempt had not begun can be claimed
// again. One whose attempt had begun is uncertain, and is tried once more with the same Message-ID.
// Therefore no message is lost once AddMessages has committed, and a message is sent twice only if
// its final reply was outstanding when the process was killed: at most one for each open connection.
package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Phase is the state of a send, which determines whether its messages may be claimed.
type Phase string

// The phases of a send.
const (
	Held      Phase = "held"      // being prepared
	Open      Phase = "open"      // may be claimed
	Paused    Phase = "paused"    // by the sender or the platform
	Cancelled Phase = "cancelled" // waiting messages become cancelled
	Done      Phase = "done"      // no message waits, and none will be added
)

// State is the state of one message.
type State string

// The states of a message. Queued messages wait, claimed or not. The other states are final, except
// that a late bounce changes Sent and Delivered to Bounced.
const (
	Queued           State = "queued"
	Sent             State = "sent"      // accepted; its delivery is not confirmed yet
	Delivered        State = "delivered" // accepted where acceptance counts as delivery
	Bounced          State = "bounced"
	Failed           State = "failed"
	Skipped          State = "skipped"
	HeldBack         State = "held_back"
	MessageCancelled State = "cancelled"
)

// Send is the messages of one source: a broadcast, a step of a sequence, and so on.
type Send struct {
	Tenant    id.Tenant
	ID        id.Send
	Source    Source
	EmailType id.EmailType
}

// Create inserts a send in the phase Held, with its terms. If it exists already, Create changes
// nothing.
func Create(ctx context.Context, tx *sqldb.DB, s Send, terms Terms, now time.Time) error {
	n, err := tx.Exec(ctx, `
		INSERT INTO send (tenant_id, id, source_kind, source_id, phase, opened_at, email_type_id) VALUES ($1, $2, $3, $4, 'held', $5, $6)
		ON CONFLICT (tenant_id, id) DO NOTHING`, s.Tenant, s.ID, s.Source.Kind, s.Source.ID, now.UnixMicro(), sqldb.Null(s.EmailType))
	if err == nil && n == 1 {
		err = terms.write(ctx, tx, s.Tenant, s.ID)
	}
	if err != nil {
		return fmt.Errorf("create a send: %w", err)
	}
	return nil
}

// Addressed identifies a message in its send.
type Addressed struct {
	Contact id.Contact
	Visit   int // see Message.Visit
}

// Message is one mail to one recipient, as given to AddMessages.
type Message struct {
	ID             id.Message // assigned by AddMessages if zero
	Contact        id.Contact
	Visit          int    // number of the contact's visit of a step; 0 in sends with one message per contact
	Email          string // the canonical address
	Content        id.Content
	ContentVersion int
	Variant        string // empty: no variants
	Identity       id.Identity
	Provider       mx.Provider // of the recipient; empty: unknown
	Lane           id.Lane
	DueAt          time.Time
	Rank           string // its position in the order of a planned send; empty: not planned
}
