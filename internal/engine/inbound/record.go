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
	group     *sqldb.Group[*request]
	providers maildomain.Providers
}

type request struct {
	Event
	err  error
	none bool // it has no effect
}

const (
	maxTogether   = 500              // reports of one transaction
	recordTimeout = 30 * time.Second // after which a call fails
	maxAge        = 60 * 24 * time.Hour
)

// NewRecorder returns a Recorder. Record works while Run does.
func NewRecorder(db *sqldb.DB, now func() time.Time) *Recorder {
	r := &Recorder{DB: db, Now: now, providers: maildomain.Providers{DB: db, Now: now}}
	r.group = sqldb.NewGroup(maxTogether, r.flush)
	return r
}

// Run records reports until ctx ends.
func (r *Recorder) Run(ctx context.Context) error { return r.group.Run(ctx) }

// Record records one report, and returns its effect when it is durable. The error may be ErrUnsettled or
// ErrNoMessage.
func (r *Recorder) Record(ctx context.Context, e Event) (Effect, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
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

// flush records reports with one transaction for each tenant. If that fails, each is tried alone, so
// that one report does not fail another.
func (r *Recorder) flush(ctx context.Context, batch []*request) error {
	ctx, cancel := fault.Within(ctx, recordTimeout)
	defer cancel()
	byTenant := map[id.Tenant][]*request{}
	for _, q := range batch {
		byTenant[q.Tenant] = append(byTenant[q.Tenant], q)
	}
	for tenant, list := range byTenant {
		err := r.recordTenant(ctx, tenant, list)
		if err == nil {
			continue
		}
		for _, q := range list {
			if q.err = err; len(list) > 1 && ctx.Err() == nil {
				q.err = r.recordTenant(ctx, tenant, []*request{q})
				if q.err == nil {
					continue
				}
			}
		}
	}
	return nil
}

// recordTenant records reports of one tenant. An error of a single report is stored in it.
func (r *Recorder) recordTenant(ctx context.Context, tenant id.Tenant, list []*request) error {
	var results []error
	err := r.DB.InTx(ctx, func(tx *sqldb.DB) error {
		results = make([]error, len(list))
		ids := make([]id.Message, len(list))
		for i, q := range list {
			ids[i] = q.Message
		}
		messages, err := outbox.FindAll(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		of, err := outbox.Sources(ctx, tx, tenant, sendsOf(messages))
		if err != nil {
			return err
		}
		var counted reported
		var bounces []outbox.Bounce
		var deliveries []outbox.Delivery
		for i, q := range list {
			m, ok := messages[q.Message]
			q.none = false
			switch {
			case !ok:
				results[i] = ErrNoMessage
			case m.SentAt == nil && m.State == outbox.Queued:
				results[i] = ErrUnsettled
			case m.SentAt == nil || q.At.Sub(*m.SentAt) > maxAge: // too late to mean anything
				q.none = q.Effect != Unsubscribed
			case q.Effect == Bounced:
				b, ok := bounceOf(m, q.Event)
				if q.none = !ok; ok {
					bounces = append(bounces, b)
				}
			case q.Effect == Delivered:
				deliveries = append(deliveries, outbox.Delivery{Message: m.ID, At: q.At})
			}
		}
		if len(deliveries) > 0 {
			if _, err := outbox.RecordDeliveries(ctx, tx, tenant, deliveries); err != nil {
				return err
			}
		}
		answers := map[outage.Key]outage.Traffic{}
		if len(bounces) > 0 {
			if err := r.guard(ctx, tx, bounces, messages); err != nil {
				return err
			}
			moved, err := outbox.RecordBounces(ctx, tx, tenant, bounces)
			if err != nil {
				return err
			}
			for _, b := range bounces {
				if b.Class == string(reply.Hard) && slices.Contains(moved, b.Message) {
					counted.add(messages[b.Message], b.At, traffic.Counts{Late: 1})
					if b.Guard != nil {
						key := outage.KeyAt(b.Guard.Directory, b.Guard.Sent)
						answers[key] = answers[key].Plus(outage.Traffic{Unknown: 1})
					}
					moved = slices.DeleteFunc(moved, func(m id.Message) bool { return m == b.Message }) // reported twice
				}
			}
		}
		for i, q := range list {
			m, ok := messages[q.Message]
			if !ok || results[i] != nil || m.SentAt == nil || of[m.Send].Kind == outbox.KindSeedCopy { // a seed is no person
				continue
			}
			switch q.Effect {
			case Complained:
				if q.At.Sub(*m.SentAt) <= maxAge {
					fresh, err := track.RecordComplaint(ctx, tx, m, q.At)
					if err != nil {
						return err
					}
					if fresh {
						counted.add(m, q.At, traffic.Counts{Complained: 1})
					}
				}
			case Unsubscribed: // at any age
				err = track.RecordUnsubscribe(ctx, tx, m, q.Scope, consent.Proof{Source: cmp.Or(q.Source, consent.Mailto)}, q.At)
			}
			if err != nil {
				return err
			}
		}
		if err := counted.store(ctx, tx, tenant, &r.providers); err != nil {
			return err
		}
		return outage.Count(ctx, tx, answers, r.Now())
	})
	if err != nil {
		return fault.Timely(ctx, fmt.Errorf("record reports: %w", err))
	}
	for i, q := range list {
		q.err = results[i]
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
