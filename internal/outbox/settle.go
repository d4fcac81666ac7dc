package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Result is what became of a claimed message.
type Result struct {
	Item       Item
	State      State     // Queued: told to come again, at Due
	At         time.Time // when it was decided
	Due        time.Time // of the next attempt, for Queued
	Answered   bool      // a server answered
	Uncertain  bool      // the attempt broke off after the message was written, before the answer
	Unsent     bool      // the attempt was not made after all: it does not count
	BounceType string    // hard, soft or block, for Bounced
	SkipReason string    // a contact.Skip constant, for Skipped
	Category   string    // a reply.Category, for a refusal
	Code       int       // the SMTP reply, 0 when there was none
	Enhanced   string
	Error      string // the server's words, or ours; at most 1 KB
}

// Commit writes, in one transaction, what became of messages and which
// attempts begin now. It returns the intents that may go ahead: the others were
// lost to another node, or their send is no longer open, and must not be sent.
//
// A connection hands in its last result together with its next intent and waits
// for both, so that at any moment at most one message of each connection has an
// end that is not yet written.
//
// Everything is sent to the database at once, as if all messages were still this
// node's to settle. If some turn out to be another's by now, which is rare, nothing
// is written, and it begins again without their results.
func (n *Node) Commit(ctx context.Context, results []Result, intents []Item, now time.Time) (begun map[id.Message]bool, err error) {
	rows, tried := n.attempts.newRows(intents, now), n.attempts.begunAt(results)
	own := ended(results)
	for {
		var settled map[id.Message]bool
		err = n.DB.InTx(ctx, func(tx *sqldb.DB) (err error) {
			settled, begun, err = n.commit(ctx, tx, own, tried, intents, rows, now)
			return err
		})
		if !errors.Is(err, errTaken) {
			break
		}
		own = slices.DeleteFunc(own, func(r Result) bool { return !settled[r.Item.ID] })
	}
	if err != nil {
		n.attempts.noteWritten(rows, nil, nil)
		return nil, fmt.Errorf("commit results and intents: %w", err)
	}
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

// errTaken says that messages which were to be settled are not this node's any more.
var errTaken = errors.New("messages were taken back by another node")

// ended returns the results, of each message the last.
func ended(results []Result) []Result {
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

// commit writes results and attempts. It returns which messages were settled, with
// errTaken if those are not all, and which attempts begin.
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
	for _, it := range intents { // also of sends that no result changes it is asked whether they are open
		if _, ok := changes[sendOf(it)]; !ok {
			changes[sendOf(it)] = change{}
		}
	}
	// The sends come last: everybody who settles waits for their rows, and who
	// pauses one does too.
	order, after := changes.queue(b)
	if err := b.Run(ctx); err != nil {
		return nil, nil, err
	}
	if len(settled) < len(results) {
		return settled, nil, errTaken
	}
	for _, at := range order {
		if after[at].over {
			if err := end(ctx, tx, at.tenant, at.id, now); err != nil {
				return nil, nil, err
			}
		}
	}
	return settled, begun, dropStopped(ctx, tx, n.Owner, rows, after, begun)
}

// sendKey names a send of any tenant.
type sendKey struct {
	tenant id.Tenant
	id     id.Send
}

func sendOf(it Item) sendKey { return sendKey{it.Tenant, it.Send} }

// changes are what results change about their sends.
type changes map[sendKey]change

type change struct {
	Sums
	sent time.Time // when a message was last handed over; zero: none was
	wait time.Time // when the first of those that were put off is due; zero: none was
}

// queue adds to a batch what adds the changes to their sends, in an order that no two
// could wait for each other in, and returns the order and where each send stands
// afterwards.
func (c changes) queue(b *sqldb.Batch) (order []sendKey, after map[sendKey]*standing) {
	order = slices.SortedFunc(maps.Keys(c), func(a, b sendKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), id.Compare(a.id, b.id))
	})
	after = make(map[sendKey]*standing, len(c))
	for _, at := range order {
		after[at] = c[at].queue(b, at.tenant, at.id)
	}
	return order, after
}

// settle adds to a batch what writes what became of messages, of those tried with the
// attempt, and returns what that changes about their sends. The messages that were
// still this node's to settle are added to settled; if those are not all, what was
// written is not true.
func settle(b *sqldb.Batch, tx *sqldb.DB, results []Result, tried map[id.Message]attempt, settled map[id.Message]bool) (changes, error) {
	for tenant, own := range byTenant(results, func(r Result) id.Tenant { return r.Item.Tenant }) {
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
		if r.handedOver() && r.At.After(s.sent) {
			s.sent = r.At
		}
		if r.State == Queued && (s.wait.IsZero() || r.Due.Before(s.wait)) {
			s.wait = r.Due
		}
		c[at] = s
		if r.handedOver() && r.Item.Day != "" {
			days[sendDay{at.tenant, at.id, LaneDay{r.Item.Lane, r.Item.Day}}]++
		}
		if e, ok := r.entry(); ok {
			entries = append(entries, e)
		}
	}
	if err := journal.QueueUnnoticed(b, tx, entries...); err != nil {
		return nil, err
	}
	if len(days) > 0 {
		b.Call(func(ctx context.Context) error { return countDays(ctx, tx, days) })
	}
	return c, nil
}

// noteAttempt sets what an attempt changes about its message, whatever its end.
const noteAttempt = `attempts = outbox.attempts + v.tried, first_at = COALESCE(outbox.first_at, v.first_at),
			lane_id = COALESCE(v.lane_id, outbox.lane_id)`

// attemptValues returns the values of noteAttempt: of a message that was not tried,
// nothing changes.
func attemptValues(r Result, tried map[id.Message]attempt) (n int, first, lane any) {
	f, ok := tried[r.Item.ID]
	if !ok || r.Unsent {
		return 0, nil, nil
	}
	return 1, f.FirstAt, f.Lane
}

// settleOf adds to a batch what writes what became of a tenant's messages. Those that
// were still this node's to settle are given to stood.
func settleOf(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result, tried map[id.Message]attempt, stood func(scan func(...any) error) error) {
	var plain, others []Result // most are delivered, about which there is little to say
	for _, r := range results {
		if r.State == Delivered && !r.Uncertain && !r.Item.Deferred {
			plain = append(plain, r)
		} else {
			others = append(others, r)
		}
	}
	if len(plain) > 0 {
		settleDelivered(b, tx, tenant, plain, tried, stood)
	}
	if len(others) > 0 {
		settleOthers(b, tx, tenant, others, tried, stood)
	}
}

// settleDelivered writes that messages were delivered about which nothing was noted
// before.
func settleDelivered(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result, tried map[id.Message]attempt, stood func(scan func(...any) error) error) {
	t := tx.Table("id UUID", "epoch BIGINT", "tried BIGINT", "first_at BIGINT", "lane_id UUID", "at BIGINT")
	for _, r := range results {
		n, first, lane := attemptValues(r, tried)
		t.Add(r.Item.ID, r.Item.Epoch, n, first, lane, r.At.UnixMicro())
	}
	b.Queue(`
		UPDATE outbox SET `+noteAttempt+`, state = 'delivered', sent_at = v.at, answered = TRUE
		FROM `+t.As("v", 2)+`
		WHERE outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch AND outbox.state = 'queued'
		RETURNING outbox.id`, stood, t.Args(tenant)...)
}

// settleOthers is settleDelivered for every other end, and for messages that
// are put off.
func settleOthers(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result, tried map[id.Message]attempt, stood func(scan func(...any) error) error) {
	t := tx.Table("id UUID", "epoch BIGINT", "tried BIGINT", "first_at BIGINT", "lane_id UUID", "state TEXT", "due_at BIGINT", "sent_at BIGINT",
		"answered BOOLEAN", "uncertain BIGINT")
	said := newNotes(tx)
	for _, r := range results {
		said.add(r)
		var due, sent any // NULL: as it is
		if r.State == Queued {
			due = r.Due.UnixMicro()
		}
		uncertain := 0
		if r.Uncertain {
			uncertain = 1
		}
		if r.handedOver() {
			sent = r.At.UnixMicro()
		}
		n, first, lane := attemptValues(r, tried)
		t.Add(r.Item.ID, r.Item.Epoch, n, first, lane, r.State, due, sent, r.Answered || r.Item.Answered, uncertain)
	}
	b.Queue(`
		UPDATE outbox SET `+noteAttempt+`, state = v.state, epoch = outbox.epoch + 1, sent_at = v.sent_at,
			due_at = COALESCE(v.due_at, outbox.due_at),
			queued_at = CASE WHEN v.due_at IS NULL THEN outbox.queued_at ELSE COALESCE(outbox.queued_at, outbox.due_at) END,
			deferred = (v.state = 'queued'), answered = v.answered, uncertain = outbox.uncertain + v.uncertain
		FROM `+t.As("v", 2)+`
		WHERE outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch AND outbox.state = 'queued'
		RETURNING outbox.id`, stood, t.Args(tenant)...)
	b.Call(func(ctx context.Context) error { return said.write(ctx, tx, tenant) })
}

func messageID(scan func(...any) error) (m id.Message, err error) { return m, scan(&m) }

// handedOver reports whether the hand-off ended: the message was accepted, or
// refused for this address.
func (r Result) handedOver() bool {
	return r.State == Delivered || r.State == Sent || r.State == Bounced
}

// count adds to s what the result changes.
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
	if r.handedOver() {
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
}

// entry returns what the journal is told; deferred and skipped messages are
// no event of their own.
func (r Result) entry() (journal.Entry, bool) {
	e := journal.Entry{
		Tenant: r.Item.Tenant, Contact: r.Item.Contact, Send: r.Item.Send, Message: r.Item.ID, At: r.At,
	}
	switch r.State {
	case Delivered:
		e.Type = journal.EmailDelivered
	case Sent:
		e.Type = journal.EmailSent
	case Bounced:
		e.Type = journal.EmailBounced
		e.Data = Refusal{r.BounceType, r.Category, r.Code, r.Enhanced, r.Error}
	case Failed:
		e.Type = journal.EmailFailed
		e.Data = Refusal{Category: r.Category, Code: r.Code, Enhanced: r.Enhanced, Text: r.Error}
	default:
		return journal.Entry{}, false
	}
	return e, true
}
