package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// Effect is what a report changes.
type Effect string

// The effects.
const (
	Bounced      Effect = "bounced"
	Complained   Effect = "complained"
	Unsubscribed Effect = "unsubscribed"
	Delivered    Effect = "delivered" // the recipient's server accepted the message
	None         Effect = "none"      // the report says nothing about the message, or comes too late
)

// Event is one report about one message.
type Event struct {
	Tenant     id.Tenant
	Message    id.Message
	Effect     Effect
	At         time.Time
	Recipients []dsn.Recipient          // of Bounced: one of them is the message's
	Scope      contact.UnsubscribeScope // of Unsubscribed
	Source     string                   // of Unsubscribed: where the contact did so; default consent.Mailto
}

var (
	// ErrUnsettled means that the message's attempt is not stored yet. The report should be sent again.
	ErrUnsettled = errors.New("the message is still being sent")
	// ErrNoMessage means that the tenant has no such message.
	ErrNoMessage = errors.New("no such message")
)

// Recorder applies the effects of reports. Those that arrive while one transaction commits are
// recorded together by the next. Recording a report again changes nothing.
type Recorder struct {
	DB        *sqldb.DB
	Now       func() time.Time
	group     *groupcommit.Group[*request]
	providers maildomain.Providers
}

type request struct {
	Event
	err  error
	none bool // it has no effect
}

const (
	maxTogether   = 500              // reports of one transaction
	recordTimeout = 30 * time.Second // after which Record fails
	maxAge        = 60 * 24 * time.Hour
)

// NewRecorder returns a Recorder. Record works while Run does.
func NewRecorder(db *sqldb.DB, now func() time.Time) *Recorder {
	r := &Recorder{DB: db, Now: now, providers: maildomain.Providers{DB: db, Now: now}}
	r.group = groupcommit.New(maxTogether, func(ctx context.Context, batch []*request) error {
		return r.recordTenant(ctx, batch[0].Tenant, batch)
	})
	// A transaction ends with counts that all tenants share (outage.Count), so it must not go on to lock
	// rows of another tenant: two processes would wait for each other.
	r.group.PerTenant(func(q *request) id.Tenant { return q.Tenant })
	return r
}

// Run records reports until ctx ends.
func (r *Recorder) Run(ctx context.Context) error { return r.group.Run(ctx) }

// Record records one report, and returns its effect when it is durable. The error may be ErrUnsettled or
// ErrNoMessage.
func (r *Recorder) Record(ctx context.Context, e Event) (Effect, error) {
	ctx, cancel := fault.Within(ctx, recordTimeout)
	defer cancel()
	q := &request{Event: e}
	if err := r.group.Within(ctx, q); err != nil {
		return None, err
	}
	if q.none || q.err != nil {
		return None, q.err
	}
	return e.Effect, nil
}

// recordTenant records reports of one tenant. An error of a single report is stored in it.
func (r *Recorder) recordTenant(ctx context.Context, tenant id.Tenant, list []*request) error {
	var e effects
	err := r.DB.InTx(ctx, func(tx *sqldb.DB) error {
		// All that a try collects is in a new value, and reaches the requests only after the commit: a
		// transaction that is retried starts over.
		e = effects{Recorder: r, tx: tx, tenant: tenant, list: list, outcomes: make([]outcome, len(list)), answers: map[outage.Key]outage.Traffic{}}
		return e.record(ctx)
	})
	if err != nil {
		return fmt.Errorf("record reports: %w", err)
	}
	for i, q := range list {
		q.err, q.none = e.outcomes[i].err, e.outcomes[i].none
	}
	return nil
}

// effects is what reports of one tenant change in one transaction.
type effects struct {
	*Recorder
	tx       *sqldb.DB
	tenant   id.Tenant
	list     []*request
	outcomes []outcome // of the list
	messages map[id.Message]outbox.Record
	sources  map[id.Send]outbox.Source

	bounces    []outbox.Bounce
	deliveries []outbox.Delivery
	counted    reported
	answers    map[outage.Key]outage.Traffic
}

// outcome is what became of one report.
type outcome struct {
	err  error
	none bool // it has no effect
}

// record writes the effects. Everything in it may be done again: a sender repeats a report whose answer
// it did not get, and providers report the same bounce by mail and by a hook.
func (e *effects) record(ctx context.Context) (err error) {
	ids := make([]id.Message, len(e.list))
	for i, q := range e.list {
		ids[i] = q.Message
	}
	if e.messages, err = outbox.FindAll(ctx, e.tx, e.tenant, ids); err != nil {
		return err
	}
	if e.sources, err = outbox.Sources(ctx, e.tx, e.tenant, sendsOf(e.messages)); err != nil {
		return err
	}
	for i, q := range e.list {
		e.outcomes[i] = e.sort(q)
	}
	// A message that was relayed and then bounced ends as a bounce in any order. Deliveries come first,
	// so that its timeline shows both.
	if len(e.deliveries) > 0 {
		if _, err := outbox.RecordDeliveries(ctx, e.tx, e.tenant, e.deliveries); err != nil {
			return err
		}
	}
	if err := e.recordBounces(ctx); err != nil {
		return err
	}
	for i, q := range e.list {
		if err := e.recordChoice(ctx, q, e.outcomes[i]); err != nil {
			return err
		}
	}
	// These rows belong to many messages, and outage's to all tenants: other transactions wait for them
	// until this one ends, so they come last.
	if err := e.counted.store(ctx, e.tx, e.tenant, &e.providers); err != nil {
		return err
	}
	return outage.Count(ctx, e.tx, e.answers, e.Now())
}

// sort collects bounces and deliveries, and returns what becomes of a report as far as its message
// determines it.
func (e *effects) sort(q *request) outcome {
	m, ok := e.messages[q.Message]
	switch {
	case !ok:
		return outcome{err: ErrNoMessage}
	// A server that accepts and bounces at once can be faster than our commit of its acceptance.
	// RecordBounces would ignore the bounce, and it would be lost: the error makes the reporter try again.
	case m.SentAt == nil && m.State == outbox.Queued:
		return outcome{err: ErrUnsettled}
	// It was never sent, or the report is too late to mean anything. A person's choice counts at any age.
	case m.SentAt == nil || q.At.Sub(*m.SentAt) > maxAge:
		return outcome{none: q.Effect != Unsubscribed}
	case q.Effect == Bounced:
		b, ok := bounceOf(m, q.Event)
		if !ok {
			return outcome{none: true}
		}
		e.bounces = append(e.bounces, b)
	case q.Effect == Delivered:
		e.deliveries = append(e.deliveries, outbox.Delivery{Message: m.ID, At: q.At})
	}
	return outcome{}
}

// recordBounces records the bounces, and counts those that are new.
func (e *effects) recordBounces(ctx context.Context) error {
	if len(e.bounces) == 0 {
		return nil
	}
	// A guard is part of the journal entry that RecordBounces appends. Without it, the contact's follower
	// would apply at once a bounce that outage may hold.
	if err := e.guard(ctx, e.tx, e.bounces, e.messages); err != nil {
		return err
	}
	moved, err := outbox.RecordBounces(ctx, e.tx, e.tenant, e.bounces)
	if err != nil {
		return err
	}
	isNew := make(map[id.Message]bool, len(moved))
	for _, m := range moved {
		isNew[m] = true
	}
	for _, b := range e.bounces {
		first := isNew[b.Message]
		isNew[b.Message] = false // of several reports about a message, the first was recorded
		if !first || b.Class != string(reply.Hard) {
			continue
		}
		e.counted.add(e.messages[b.Message], b.At, traffic.Counts{Late: 1})
		if b.Guard != nil {
			key := outage.KeyAt(b.Guard.Directory, b.Guard.Sent)
			e.answers[key] = e.answers[key].Plus(outage.Traffic{Unknown: 1})
		}
	}
	return nil
}

// recordChoice records a complaint, or that a person unsubscribed.
func (e *effects) recordChoice(ctx context.Context, q *request, o outcome) error {
	m, ok := e.messages[q.Message]
	if !ok || o.err != nil || m.SentAt == nil || e.sources[m.Send].Kind == outbox.KindSeedCopy { // a seed is no person
		return nil
	}
	switch q.Effect {
	case Complained:
		if q.At.Sub(*m.SentAt) > maxAge {
			return nil
		}
		fresh, err := track.RecordComplaint(ctx, e.tx, m, q.At)
		if fresh {
			e.counted.add(m, q.At, traffic.Counts{Complained: 1})
		}
		return err
	case Unsubscribed:
		return track.RecordUnsubscribe(ctx, e.tx, m, q.Scope, consent.Proof{Source: cmp.Or(q.Source, consent.Mailto)}, q.At)
	}
	return nil
}

// guard guards those of the bounces that say that the recipient does not exist, and removes the mark
// that bounceOf left where it is not known who runs the recipient's mailbox.
func (r *Recorder) guard(ctx context.Context, tx *sqldb.DB, bounces []outbox.Bounce, messages map[id.Message]outbox.Record) error {
	var domains []string
	for _, b := range bounces {
		if b.Guard != nil {
			domains = append(domains, address.Domain(messages[b.Message].Email))
		}
	}
	known, err := r.providers.Within(ctx, tx, domains...)
	if err != nil {
		return err
	}
	for i, b := range bounces {
		if b.Guard == nil {
			continue
		}
		m := messages[b.Message]
		domain := address.Domain(m.Email)
		bounces[i].Guard = nil
		if directory := mx.Directory(domain, known[domain].Provider, known[domain].Record); directory != "" {
			bounces[i].Guard = &outage.Guard{Directory: directory, Lane: m.Lane, Sent: *m.SentAt}
		}
	}
	return nil
}

func sendsOf(messages map[id.Message]outbox.Record) []id.Send {
	var list []id.Send
	for _, m := range messages {
		list = append(list, m.Send)
	}
	slices.SortFunc(list, id.Compare)
	return slices.Compact(list)
}

// bounceOf returns the bounce that a report means for its message: that of the recipient with the
// message's address. Where no recipient has it, since the address was rewritten on the way, a single
// recipient is taken for it.
func bounceOf(m outbox.Record, e Event) (outbox.Bounce, bool) {
	var failed *dsn.Recipient
	for i := range e.Recipients {
		r := &e.Recipients[i]
		if r.Address == m.Email {
			failed = r
			break
		}
		if len(e.Recipients) == 1 {
			failed = r
		}
	}
	if failed == nil || !failed.Failed() {
		return outbox.Bounce{}, false
	}
	code := failed.Status
	if len(code) > 0 && failed.SMTPCode > 0 && int(code[0]-'0') != failed.SMTPCode/100 {
		code = ""
	}
	b := outbox.Bounce{Message: m.ID, At: e.At, Refusal: outbox.Refusal{
		Class: string(failed.Verdict.Class), Category: string(failed.Verdict.Category), Code: failed.SMTPCode, Enhanced: code, Text: failed.Diagnostic,
	}}
	if failed.Verdict.Class == reply.Hard && failed.Verdict.Reason == reply.InvalidRecipient {
		b.Guard = &outage.Guard{} // completed by Recorder.guard
	}
	return b, true
}
