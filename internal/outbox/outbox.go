// Package outbox keeps every message, waiting or gone: one row per recipient of
// a send, from the moment it is decided until its end is known.
//
// A send may be held, opened, paused or cancelled as a whole, and its row carries
// the sums of its messages. A sum changes in the transaction that changes the
// message, so the two never disagree.
//
//	           Put                                Commit
//	(nothing) ────► queued ──────────────────────────► sent, delivered, bounced,
//	                 ▲  │ claimed, then under way         failed, skipped
//	                 └──┘ Commit, deferred
//
//	queued ── send cancelled ──► cancelled
//
// Whoever sends is a node with a lease (Node). It claims a stretch of a send's
// order at a time, which costs one row and none of its messages', and gives the
// stretch up when it has dealt with all of it. Attempts begin with an intent,
// which is written before the message is handed over: one row for all that begin
// together, and none of the messages' (outbox_attempt). It is written only while
// the claim stands, so whoever changes waiting messages from outside revokes the
// claims on them first. Every result names the epoch that its message had when it
// was claimed.
//
// What a dead node held is taken back by Reap, which moves the epochs on, so that
// a node that lost its lease changes nothing: a message whose attempt had not
// begun is simply free again; one whose attempt had begun is uncertain, and is
// tried once more with the same Message-ID. So nothing is lost once Put has committed, and a message is
// repeated only when its final reply was open at a crash: at most one for each
// open connection.
package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Phase says whether the messages of a send may leave.
type Phase string

// The phases of a send.
const (
	Held      Phase = "held"      // being prepared
	Open      Phase = "open"      // may be claimed
	Paused    Phase = "paused"    // by the sender or the platform
	Cancelled Phase = "cancelled" // what waits becomes cancelled
	Done      Phase = "done"      // nothing of it waits, nothing will come
)

// State is the state of one message.
type State string

// The states of a message. Queued waits, whether somebody has claimed it or not; the others are final, but
// for Sent and Delivered, which a late bounce turns into Bounced.
const (
	Queued    State = "queued"
	Sent      State = "sent"      // accepted; whether it arrived is not known yet
	Delivered State = "delivered" // accepted where acceptance counts as arrival
	Bounced   State = "bounced"
	Failed    State = "failed"
	Skipped   State = "skipped"
	HeldBack  State = "held_back"
	Dropped   State = "cancelled"
)

// Send is what a source has sent: a broadcast, a step of a sequence, and so on.
type Send struct {
	Tenant    id.Tenant
	ID        id.Send
	Source    Source
	EmailType id.EmailType
}

// Create makes a send, held. Creating it again changes nothing.
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

// Message is one mail to one recipient, as it is put into the outbox.
type Message struct {
	ID             id.Message // made by Put when empty
	Contact        id.Contact
	Visit          int    // which visit of the contact it belongs to; 0 where a send has one message a contact
	Email          string // the canonical address
	Content        id.Content
	ContentVersion int
	Variant        string // empty: no variants
	Identity       id.Identity
	Lane           id.MTAConfig
	DueAt          time.Time
	Rank           string // its place in the order of a planned send; empty: not planned
}
