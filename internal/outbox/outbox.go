// Package outbox keeps every message, waiting or gone: one row per recipient of
// a send, from the moment it is decided until its end is known.
//
// The messages of one send are a stream, which may be held, let go, paused or
// cancelled as a whole, and which carries the sums of its messages. A sum changes
// in the transaction that changes the message, so the two never disagree.
//
//	           Put                                Commit
//	(nothing) ────► queued ──────────────────────────► sent, delivered, bounced,
//	                 ▲  │ claimed, then under way         failed, skipped
//	                 └──┘ Commit, deferred
//
//	queued ── stream cancelled ──► cancelled
//
// Whoever sends is a node with a lease (Node). It claims a stretch of a stream's
// order at a time, which costs one row and none of its messages', and gives the
// stretch up when it has dealt with all of it. Attempts begin with an intent,
// which is written before the message is handed over: one row for all that begin
// together, and none of the messages' (outbox_flight). It is written only while
// the claim stands, so whoever changes waiting messages from outside revokes the
// claims on them first. Every result names the epoch that its message had when it
// was claimed.
//
// What a dead node held is taken back by Reap, which moves the epochs on, so that
// a node that lost its lease changes nothing: a message whose attempt had not
// begun is simply free again; one whose attempt had begun is uncertain, and is
// tried once more with the same Message-ID (mail-notes 9.2). So nothing is lost once Put has committed, and a message is
// repeated only when its final reply was open at a crash: at most one for each
// open connection.
package outbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Phase says whether the messages of a stream may leave.
type Phase string

// The phases of a stream.
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

// Stream is one send.
type Stream struct {
	Tenant    id.Tenant
	ID        string // the id of what sends: a broadcast
	Kind      string // "broadcast"
	EmailType id.EmailType
}

// Begin makes a stream, held. Making it again changes nothing.
func Begin(ctx context.Context, tx *sqldb.DB, s Stream, now time.Time) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox_stream (tenant_id, id, kind, phase, opened_at, email_type_id) VALUES ($1, $2, $3, 'held', $4, $5)
		ON CONFLICT (tenant_id, id) DO NOTHING`, s.Tenant, s.ID, s.Kind, now.UnixMicro(), sqldb.Null(s.EmailType))
	if err != nil {
		return fmt.Errorf("begin a stream: %w", err)
	}
	return nil
}

// Message is one mail to one recipient, as it is put into the outbox.
type Message struct {
	ID             id.Message // made by Put when empty
	Contact        id.Contact
	Email          string // the canonical address
	Content        id.Content
	ContentVersion int
	Variant        string // empty: no variants
	Identity       id.Identity
	Lane           id.MTAConfig
	DueAt          time.Time
	Rank           string // its place in the order of a planned send; empty: not planned
}

// Put adds messages to a stream, one for each contact: a contact that has one
// already is passed over, so that a page put twice does no harm. It returns how
// many were added.
func Put(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream string, messages []Message) (int, error) {
	if len(messages) == 0 {
		return 0, nil
	}
	random := make([]byte, nonceBytes*len(messages))
	_, _ = rand.Read(random) // never fails
	t := tx.Table("id TEXT", "contact_id TEXT", "email TEXT", "content_id TEXT", "content_version BIGINT",
		"variant_id TEXT", "identity_id TEXT", "lane_id TEXT", "nonce TEXT", "due_at BIGINT", "rank TEXT")
	for i, m := range messages {
		if m.ID == "" {
			m.ID = id.New[id.Message]()
		}
		t.Add(m.ID, m.Contact, m.Email, m.Content, m.ContentVersion, sqldb.Null(m.Variant), m.Identity, m.Lane,
			hex.EncodeToString(random[i*nonceBytes:(i+1)*nonceBytes]), m.DueAt.UnixMicro(), sqldb.Null(m.Rank))
	}
	added, err := tx.Exec(ctx, `
		INSERT INTO outbox (tenant_id, id, stream_id, contact_id, email, content_id, content_version,
			variant_id, identity_id, lane_id, nonce, state, queued_at, due_at, rank)
		SELECT $1, v.id, $2, v.contact_id, v.email, v.content_id, v.content_version,
			v.variant_id, v.identity_id, v.lane_id, v.nonce, 'queued', v.due_at, v.due_at, v.rank
		FROM `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, stream_id, contact_id) DO NOTHING`, t.Args(tenant, stream)...)
	if err != nil {
		return 0, fmt.Errorf("put messages into the outbox: %w", err)
	}
	_, err = tx.Exec(ctx, `
		UPDATE outbox_stream SET total = total + $3, waiting = waiting + $3 WHERE tenant_id = $1 AND id = $2`,
		tenant, stream, added)
	if err != nil {
		return 0, fmt.Errorf("count messages put: %w", err)
	}
	return int(added), nil
}

// nonceBytes is the random part of a Message-ID: 64 bits.
const nonceBytes = 8
