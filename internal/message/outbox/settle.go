package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Result is the result of a claimed message.
type Result struct {
	Item       Item
	State      State     // Queued: deferred until Due
	At         time.Time // time of the result
	Due        time.Time // of the next attempt, for Queued
	Answered   bool      // a server answered
	Uncertain  bool      // the connection was lost after the message was written, before the answer
	Unsent     bool      // the attempt was not made: it does not count
	BounceType string    // hard, soft or block, for Bounced
	SkipReason string    // a contact.Skip constant, for Skipped
	Category   string    // a reply.Category, for a refusal
	Code       int       // of the SMTP reply; 0: none
	Enhanced   string
	Error      string        // the server's text or our own; at most 1 KB
	ProviderID string        // the id that a provider gave to the message when it accepted it; empty: none
	Reply      string        // to the attempt: the server's text, or what kept it from answering; at most 1 KB
	Guard      *outage.Guard // of a hard bounce that the recipient's provider may be wrong about; nil: none
}

// Commit stores results and intents in one transaction. It returns the messages whose attempts may
// begin. The others were taken by another node, or their send is no longer open, and must not be
// sent.
//
// A connection commits its last result together with its next intent and waits for both. So at any
// time, at most one message of each connection has a result that is not stored.
//
// All statements are sent to the database at once, as if this node still had all of the messages.
// If it lost some, which is rare, the transaction is rolled back and repeated without their
// results.
func (n *Node) Commit(ctx context.Context, results []Result, intents []Item, now time.Time) (begun map[id.Message]bool, err error) {
	rows, tried := n.attempts.newRows(intents, now), n.attempts.attemptsOf(results)
	own := lastResults(results)
	// Each round drops at least one result, so the loop ends.
	for {
		var settled map[id.Message]bool
		err = n.DB.InTx(ctx, func(tx *sqldb.DB) (err error) {
			settled, begun, err = n.commit(ctx, tx, own, tried, intents, rows, now)
			return err
		})
		if !errors.Is(err, errNotOwned) {
			break
		}
		// The others were settled by an earlier try of this call, whose answer was lost, or Reap gave
		// them to another node. Either way they are counted there. Counted here, too, the sums would
		// never agree with the rows again.
		own = slices.DeleteFunc(own, func(r Result) bool { return !settled[r.Item.ID] })
	}
	if err != nil {
		// The rows may have been committed all the same. Nothing begins under them, and they are deleted
		// with those that are settled. If the node dies before, their messages count as uncertain.
		n.attempts.noteWritten(rows, nil, nil)
		return nil, fmt.Errorf("commit results and intents: %w", err)
	}
	// Only now, since a result that is not durable keeps its message claimed and its attempt recorded.
	// This includes results that were dropped above: their messages are no longer this node's.
	n.attempts.noteWritten(rows, begun, results)
	n.claims.remove(func(yield func(Item) bool) {
		for _, r := range results {
			if !yield(r.Item) {
				return
			}
		}
	}, false)
	return begun, nil
}

// errNotOwned means that another node has taken back some of the messages to settle.
var errNotOwned = errors.New("messages were taken back by another node")

// lastResults returns the last result of each message.
func lastResults(results []Result) []Result {
	byID := make(map[id.Message]Result, len(results))
	for _, r := range results {
		byID[r.Item.ID] = r
	}
	own := make([]Result, 0, len(byID))
	for _, r := range results {
		if last, ok := byID[r.Item.ID]; ok {
			own = append(own, last)
			delete(byID, r.Item.ID)
		}
	}
	return own
}

// commit stores results and attempts. It returns which messages were settled, with errNotOwned if
// those are not all, and which attempts begin.
func (n *Node) commit(ctx context.Context, tx *sqldb.DB, results []Result, tried map[id.Message]attempt, intents []Item, rows []*attemptRow, now time.Time) (
	settled, begun map[id.Message]bool, err error,
) {
	settled, begun = make(map[id.Message]bool, len(results)), make(map[id.Message]bool, len(intents))
	b := tx.Batch()
	changes, err := settle(b, tx, results, tried, settled)
	if err != nil {
		return nil, nil, err
	}
	insertAttempts(b, tx, n.Owner, rows, now, begun)
	// An empty change locks the row of the send and reads its phase. Without it, an attempt could begin
	// after the transaction that pauses or cancels the send was answered.
	for _, it := range intents {
		if _, ok := changes[sendOf(it)]; !ok {
			changes[sendOf(it)] = change{}
		}
	}
	// The sends come last: each transaction that settles messages of a send locks its row, as does
	// one that pauses it.
	order, after := changes.queue(b, tx)
	if err := b.Run(ctx); err != nil {
		return nil, nil, err
	}
	// The sums above were computed for all results. The error rolls them back.
	if len(settled) < len(results) {
		return settled, nil, errNotOwned
	}
	// The row of the send is locked, so of all transactions that settle its messages, only the one
	// that settles the last of them finds it over, and it ends once.
	for _, at := range order {
		if after[at].over {
			if err := endSend(ctx, tx, at.tenant, at.id, now); err != nil {
				return nil, nil, err
			}
		}
	}
	return settled, begun, dropStopped(ctx, tx, n.Owner, rows, after, begun)
}

// sendKey identifies a send of any tenant.
type sendKey struct {
	tenant id.Tenant
	id     id.Send
}

func sendOf(it Item) sendKey { return sendKey{it.Tenant, it.Send} }

// changes are the changes of sends that follow from results.
type changes map[sendKey]change

type change struct {
	Sums
	lastSent  time.Time // when the last message was sent; zero: none was
	firstWait time.Time // when the first deferred message is due; zero: none was deferred
	byMix     map[int64]MixSums
	byTime    map[int64]TimeSums // by the beginning of the interval
	bounces   map[BounceValue]int
}

// queue adds changes of sends to a batch, in an order that is the same in all transactions, to
// avoid deadlocks. It returns the order and the state of each send, which is set when the batch has
// run.
func (c changes) queue(b *sqldb.Batch, tx *sqldb.DB) (order []sendKey, after map[sendKey]*sendState) {
	c.queueParts(b, tx)
	order = slices.SortedFunc(maps.Keys(c), func(a, b sendKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), id.Compare(a.id, b.id))
	})
	after = make(map[sendKey]*sendState, len(c))
	for _, at := range order {
		after[at] = c[at].queue(b, at.tenant, at.id)
	}
	return order, after
}

// settle adds statements to a batch that store results, with the attempts in tried, and returns the
// changes of their sends. Messages that the node still has are added to settled; if some are
// missing, the transaction must be rolled back.
func settle(b *sqldb.Batch, tx *sqldb.DB, results []Result, tried map[id.Message]attempt, settled map[id.Message]bool) (changes, error) {
	for tenant, own := range id.ByTenant(results, func(r Result) id.Tenant { return r.Item.Tenant }) {
		settleOf(b, tx, tenant, own, tried, func(scan func(...any) error) error {
			var m id.Message
			err := scan(&m)
			settled[m] = true
			return err
		})
	}
	c, days := changes{}, map[sendDay]int{}
	var entries []journal.Entry
	for _, r := range results {
		at := sendOf(r.Item)
		s := c[at]
		s.count(r)
		if r.attemptedDelivery() && r.At.After(s.lastSent) {
			s.lastSent = r.At
		}
		s.countParts(r)
		if r.State == Queued && (s.firstWait.IsZero() || r.Due.Before(s.firstWait)) {
			s.firstWait = r.Due
		}
		c[at] = s
		if r.attemptedDelivery() && r.Item.Day != "" {
			days[sendDay{at.tenant, at.id, LaneDay{r.Item.Lane, r.Item.Day}}]++
		}
		if e, ok := r.entry(); ok {
			entries = append(entries, e)
		}
	}
	// Entries hold up followers from here on, and should come last. But the row of a send holds up all
	// other transactions that settle its messages, so the sends come last.
	if err := journal.QueueUnnoticed(b, tx, entries...); err != nil {
		return nil, err
	}
	if len(days) > 0 {
		b.Call(func(ctx context.Context) error { return countDays(ctx, tx, days) })
	}
	return c, nil
}

// setAttempt assigns what an attempt changes in its message, whatever the result.
const setAttempt = `attempts = outbox.attempts + v.tried, first_at = COALESCE(outbox.first_at, v.first_at),
			lane_id = COALESCE(v.lane_id, outbox.lane_id), contact_version = CASE WHEN v.tried = 0 THEN outbox.contact_version ELSE v.version END`

// attemptValues returns the values for setAttempt: no change for a message that was not tried.
func attemptValues(r Result, tried map[id.Message]attempt) (n int, first, lane, version any) {
	f, ok := tried[r.Item.ID]
	if !ok || r.Unsent {
		return 0, nil, nil, nil
	}
	if f.Version != 0 {
		version = f.Version
	}
	return 1, f.FirstAt, f.Lane, version
}

// settleOf is settle for the rows of one tenant's messages. onSettled is called with the id of each
// message that the node still has.
func settleOf(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result, tried map[id.Message]attempt, onSettled func(scan func(...any) error) error) {
	var plain, others []Result // most are delivered, which needs fewer columns
	for _, r := range results {
		if r.State == Delivered && !r.Uncertain && !r.Item.Deferred {
			plain = append(plain, r)
		} else {
			others = append(others, r)
		}
	}
	if len(plain) > 0 {
		settleDelivered(b, tx, tenant, plain, tried, onSettled)
	}
	if len(others) > 0 {
		settleOthers(b, tx, tenant, others, tried, onSettled)
	}
	queueProviderIDs(b, tx, tenant, results)
}

// settleDelivered stores delivered messages that have no note.
func settleDelivered(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result, tried map[id.Message]attempt, onSettled func(scan func(...any) error) error) {
	t := tx.Table("id UUID", "epoch BIGINT", "tried BIGINT", "first_at BIGINT", "lane_id UUID", "version INTEGER", "at BIGINT", "reply TEXT")
	for _, r := range results {
		n, first, lane, version := attemptValues(r, tried)
		t.Add(r.Item.ID, r.Item.Epoch, n, first, lane, version, r.At.UnixMicro(), sqldb.Null(r.acceptance()))
	}
	// The epoch makes this node's write void if Reap took the message back meanwhile. It need not
	// increase: no later write expects the state 'queued' of a message that has ended.
	b.Queue(`
		UPDATE outbox SET `+setAttempt+`, state = 'delivered', sent_at = v.at, answered = TRUE, accept_reply = v.reply
		FROM `+t.As("v", 2)+`
		WHERE outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch AND outbox.state = 'queued'
		RETURNING outbox.id`, onSettled, t.Args(tenant)...)
}

// settleOthers stores all other results, including deferred messages.
func settleOthers(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result, tried map[id.Message]attempt, onSettled func(scan func(...any) error) error) {
	t := tx.Table("id UUID", "epoch BIGINT", "tried BIGINT", "first_at BIGINT", "lane_id UUID", "version INTEGER", "state TEXT", "due_at BIGINT", "sent_at BIGINT",
		"answered BOOLEAN", "uncertain BIGINT", "reply TEXT")
	noted, failed := newNotes(tx), newFailedAttempts(tx)
	for _, r := range results {
		noted.add(r)
		if a, ok := tried[r.Item.ID]; ok {
			failed.add(r, a.Lane)
		}
		var due, sent any // NULL: unchanged
		if r.State == Queued {
			due = r.Due.UnixMicro()
		}
		uncertain := 0
		if r.Uncertain {
			uncertain = 1
		}
		if r.attemptedDelivery() {
			sent = r.At.UnixMicro()
		}
		n, first, lane, version := attemptValues(r, tried)
		t.Add(r.Item.ID, r.Item.Epoch, n, first, lane, version, r.State, due, sent, r.Answered || r.Item.Answered, uncertain, sqldb.Null(r.acceptance()))
	}
	// A deferred message stays 'queued', so its epoch must increase: the row of its attempt may be
	// deleted only later, and would make it look as if it were in flight when it is due again.
	b.Queue(`
		UPDATE outbox SET `+setAttempt+`, state = v.state, epoch = outbox.epoch + 1, sent_at = v.sent_at,
			due_at = COALESCE(v.due_at, outbox.due_at),
			queued_at = CASE WHEN v.due_at IS NULL THEN outbox.queued_at ELSE COALESCE(outbox.queued_at, outbox.due_at) END,
			deferred = (v.state = 'queued'), answered = v.answered, uncertain = outbox.uncertain + v.uncertain,
			accept_reply = v.reply
		FROM `+t.As("v", 2)+`
		WHERE outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch AND outbox.state = 'queued'
		RETURNING outbox.id`, onSettled, t.Args(tenant)...)
	b.Call(func(ctx context.Context) error { return noted.write(ctx, tx, tenant) })
	b.Call(func(ctx context.Context) error { return failed.write(ctx, tx, tenant) })
}

func messageID(scan func(...any) error) (m id.Message, err error) { return m, scan(&m) }

// attemptedDelivery reports whether a server answered finally: the message was accepted, or refused
// for the address.
func (r Result) attemptedDelivery() bool {
	return r.State == Delivered || r.State == Sent || r.State == Bounced
}

// count adds the changes of a result to s.
func (s *Sums) count(r Result) {
	if r.State == Queued {
		if !r.Item.Deferred {
			s.Deferred++
		}
		return
	}
	s.Waiting--
	if r.Item.Deferred {
		s.Deferred--
	}
	if r.attemptedDelivery() {
		s.Sent++
	}
	switch r.State {
	case Delivered, Sent:
		s.Delivered++
	case Bounced:
		s.Bounced++
	case Failed:
		s.Failed++
	case Skipped:
		s.Skipped++
	}
}

// Refusal is the data of a journal entry about a message that was not delivered.
type Refusal struct {
	Class    string `json:"class,omitempty"` // hard, soft or block
	Category string `json:"category,omitempty"`
	Code     int    `json:"code,omitempty"`
	Enhanced string `json:"enhanced,omitempty"`
	Text     string `json:"text,omitempty"`

	NextAttemptAt *time.Time    `json:"next_attempt_at,omitempty"` // of a deferred message
	Guard         *outage.Guard `json:"guard,omitempty"`           // of a bounce: see Result
}

// entry returns the journal entry for a result. Skipped messages have none, nor messages that no
// server deferred: those whose attempt did not reach one are many while a server is down.
func (r Result) entry() (journal.Entry, bool) {
	e := journal.Entry{
		Tenant: r.Item.Tenant, Contact: r.Item.Contact, Send: r.Item.Send, Message: r.Item.ID, At: r.At,
	}
	if r.Item.Kind == KindSeedCopy {
		return seedEntry(e, r.State, r.BounceType)
	}
	switch r.State {
	case Delivered:
		e.Type = journal.EmailDelivered
	case Sent:
		e.Type = journal.EmailSent
	case Bounced:
		e.Type = journal.EmailBounced
		e.Data = Refusal{Class: r.BounceType, Category: r.Category, Code: r.Code, Enhanced: r.Enhanced, Text: r.Error, Guard: r.Guard}
	case Failed:
		e.Type = journal.EmailFailed
		e.Data = Refusal{Category: r.Category, Code: r.Code, Enhanced: r.Enhanced, Text: r.Error}
	case Queued:
		if !r.Answered || r.Unsent { // no server deferred it
			return journal.Entry{}, false
		}
		e.Type = journal.EmailDeferred
		e.Data = Refusal{Category: r.Category, Code: r.Code, Enhanced: r.Enhanced, Text: r.Error, NextAttemptAt: new(r.Due.UTC())}
	default:
		return journal.Entry{}, false
	}
	return e, true
}
