package flow

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// effects are what steps and actions do in one transaction. Those that append to the journal, or
// lock what other transactions need, are collected and carried out at its end.
type effects struct {
	tx      *sqldb.DB
	tenant  id.Tenant
	account tenant.Tenant
	rules   contact.Rules
	now     time.Time
	log     *slog.Logger
	box     *secret.Box // opens the headers of webhooks
	people  map[id.Contact]*contact.Contact

	texts  texts
	events []recorded
	enroll map[id.Sequence][]entrant
	calls  []webhook.Call
	mails  []written
}

// recorded is an event to record for a subject.
type recorded struct {
	subject *subject
	input   event.Input
}

// written is a mail to a user about a subject.
type written struct {
	subject *subject
	mail    usermail.Mail
}

// entrant is a subject to enroll in another sequence.
type entrant struct {
	subject *subject
}

// subject is a contact for which a step or an action is carried out.
type subject struct {
	contact id.Contact
	trigger json.RawMessage // an encoded journal.Trigger; nil: none
	actor   *actor
	data    map[string]any            // of the actor, in requests without a body of their own
	called  func(id.Delivery)         // called with its request; may be nil
	skipped func(code, reason string) // called if there is nothing to do for the contact
	failed  func(code, reason string) // called if the step or action cannot be carried out
}

// The codes of what keeps a step or action from being carried out, beside those of faults.
const (
	noConfiguration = "no_configuration"
	listDeleted     = "list_deleted"
	badHeaders      = "headers_unreadable"
	badBody         = "invalid_body"
	largeBody       = "body_too_large"
	tooManyMails    = "too_many_mails"
	notActive       = "sequence_not_active"
	tooOften        = "enroll_limit"
	alreadyIn       = "duplicate"
)

// actor is the sequence or automation whose step is carried out.
type actor struct {
	kind string // "sequence" or "automation", its name in Liquid
	id   string
	name string
	call string // the type of its calls
}

func newEffects(ctx context.Context, tx *sqldb.DB, t id.Tenant, log *slog.Logger, box *secret.Box, now time.Time) (*effects, error) {
	e := &effects{
		tx: tx, tenant: t, now: now, log: log, box: box, people: map[id.Contact]*contact.Contact{}, enroll: map[id.Sequence][]entrant{}, texts: texts{},
	}
	var err error
	if e.account, err = tenant.ByID(ctx, tx, t); err != nil {
		return nil, err
	}
	e.rules, err = sender.ContactRules(ctx, tx, t)
	return e, err
}

// reload loads contacts, again after they were changed.
func (e *effects) reload(ctx context.Context, ids []id.Contact) error {
	list, err := contact.Load(ctx, e.tx, e.tenant, ids)
	if err != nil {
		return err
	}
	for i := range list {
		e.people[list[i].ID] = &list[i]
	}
	return nil
}

// finish carries out what was collected. It appends to the journal, so it comes last.
func (e *effects) finish(ctx context.Context) error {
	if err := e.write(ctx); err != nil {
		return err
	}
	if err := e.record(ctx); err != nil {
		return err
	}
	if err := e.enrollOthers(ctx); err != nil {
		return err
	}
	return webhook.AddCalls(ctx, e.tx, e.box, e.tenant, e.calls, e.now)
}

// write adds the mails to users, as far as there is room for them.
func (e *effects) write(ctx context.Context) error {
	list := make([]usermail.Mail, len(e.mails))
	for i, w := range e.mails {
		list[i] = w.mail
	}
	added, err := usermail.Add(ctx, e.tx, e.tenant, list, e.now)
	if err != nil {
		return err
	}
	if dropped := e.mails[added:]; len(dropped) > 0 {
		e.log.Warn("mails to users dropped", "tenant", e.tenant, "mails", len(dropped), "reason", "too many are waiting")
		for _, w := range dropped {
			w.subject.failed(tooManyMails, "too many mails to users are waiting")
		}
	}
	return nil
}

// record records the custom events.
func (e *effects) record(ctx context.Context) error {
	if len(e.events) == 0 {
		return nil
	}
	list := make([]event.Input, len(e.events))
	for i, r := range e.events {
		list[i] = r.input
	}
	results, err := event.Record(ctx, e.tx, e.tenant, list, e.now)
	if err != nil {
		return err
	}
	for i, r := range results {
		if f, ok := fault.As(r.Err); ok {
			e.events[i].subject.failed(f.Code, f.Message)
		} else if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// enrollOthers enrolls contacts in the sequences that steps name.
func (e *effects) enrollOthers(ctx context.Context) error {
	ids := make([]id.Sequence, 0, len(e.enroll))
	for s := range e.enroll {
		ids = append(ids, s)
	}
	slices.SortFunc(ids, id.Compare)
	loaded, err := sequence.ByID(ctx, e.tx, e.tenant, ids)
	if err != nil {
		return err
	}
	for _, s := range ids {
		q, ok := loaded[s]
		if !ok || q.Status != sequence.Active {
			for _, m := range e.enroll[s] {
				m.subject.failed(notActive, "the sequence to enroll in is not active")
			}
			continue
		}
		list := make([]sequence.Candidate, len(e.enroll[s]))
		for i, m := range e.enroll[s] {
			list[i] = sequence.Candidate{Contact: m.subject.contact, Trigger: m.subject.trigger}
		}
		results, err := sequence.EnrollAll(ctx, e.tx, q, list, e.now)
		if err != nil {
			return err
		}
		for i, r := range results {
			switch {
			case r.Limited:
				e.enroll[s][i].subject.failed(tooOften, "the contact was enrolled too often within an hour")
			case !r.New:
				e.enroll[s][i].subject.skipped(alreadyIn, "the contact is or was in the sequence")
			}
		}
	}
	return nil
}
