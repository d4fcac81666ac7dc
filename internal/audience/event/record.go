package event

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// contactSource is the source of contacts that an event creates.
const contactSource = "event"

// Record records events of a tenant, in the caller's transaction or in one of its own, and returns
// their results in the same order. Since it appends to the journal, it should be the last statement
// of a transaction.
func Record(ctx context.Context, db *sqldb.DB, t id.Tenant, list []Input, now time.Time) ([]Result, error) {
	w := &work{tenant: t, events: prepare(list, now)}
	err := db.InTx(ctx, func(tx *sqldb.DB) error { return record(ctx, tx, []*work{w}, now) })
	if err != nil {
		return nil, fmt.Errorf("record events: %w", err)
	}
	return results(w.events), nil
}

func results(list []*prepared) []Result {
	out := make([]Result, len(list))
	for i, e := range list {
		if out[i] = e.result; e.same != nil {
			out[i] = e.same.result
		}
	}
	return out
}

// work are the events of a tenant that one transaction records.
type work struct {
	tenant  id.Tenant
	events  []*prepared
	found   *contact.Found
	replays map[key]Result // results of earlier events, by their keys
}

// record records the events of several tenants. It sets the results again if the transaction is
// repeated.
func record(ctx context.Context, tx *sqldb.DB, list []*work, now time.Time) error {
	b := tx.Batch()
	for _, w := range list {
		// A contact may be anonymised after it was looked up. The lock makes eraseLate see the events.
		journal.QueueLock(b, tx, w.tenant)
	}
	for _, w := range list {
		w.queueLookups(b, tx, now)
	}
	if err := b.Run(ctx); err != nil {
		return err
	}
	var entries []journal.Entry
	for _, w := range list {
		if err := w.resolve(ctx, tx, now); err != nil {
			return err
		}
		if err := w.reserveKeys(ctx, tx, now); err != nil {
			return err
		}
		for _, e := range w.events {
			if e.result.ID == e.id {
				entries = append(entries, journal.Entry{
					Tenant: w.tenant, ID: e.id, Type: journal.CustomEvent, Name: e.name, Contact: e.result.Contact, At: e.at, Data: e.entryData(),
				})
			}
		}
	}
	return journal.Append(ctx, tx, entries...)
}

// queueLookups looks up the contacts and the keys of events, as part of a batch of tx.
func (w *work) queueLookups(b *sqldb.Batch, tx *sqldb.DB, now time.Time) {
	var ids []id.Contact
	var emails []string
	var keys []key
	for _, e := range w.events {
		e.result, e.same, e.deleted = Result{Err: e.invalid}, nil, false
		if e.invalid != nil {
			continue
		}
		if e.contact.IsZero() {
			emails = append(emails, e.email)
		} else {
			ids = append(ids, e.contact)
		}
		if !e.key.IsZero() {
			keys = append(keys, e.key)
		}
	}
	w.found = contact.QueueFind(b, tx, w.tenant, ids, emails)
	w.replays = queueReplays(b, tx, w.tenant, keys, now)
}

// resolve sets the results of events: their contacts, which it creates where the account's settings
// say so, or faults.
func (w *work) resolve(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	var unknown []*prepared
	for _, e := range w.events {
		if r, ok := w.replays[e.key]; ok {
			e.result = r
		}
		if e.invalid != nil || !e.result.ID.IsZero() {
			continue
		}
		c, ok := w.found.ByID[e.contact]
		if e.contact.IsZero() {
			if c, ok = w.found.ByEmail[e.email]; !ok {
				unknown = append(unknown, e)
				continue
			}
		}
		e.setContact(c, ok)
	}
	if len(unknown) == 0 {
		return nil
	}
	account, err := tenant.ByID(ctx, tx, w.tenant)
	if err != nil {
		return err
	}
	if !account.Settings.AutoCreateOnEvent {
		for _, e := range unknown {
			e.result.Err = contact.ErrNotFound
		}
		return nil
	}
	return w.create(ctx, tx, unknown, now)
}

// setContact sets the result of an event of a contact; found says whether there is one.
func (e *prepared) setContact(c contact.Known, found bool) {
	if !found || c.Anonymized {
		e.result.Err = contact.ErrNotFound
		return
	}
	e.deleted = c.Status == contact.Suppressed
	e.result = Result{ID: e.id, Contact: c.ID, Warnings: e.warnings}
}

// create creates the contacts of events with unknown addresses.
func (w *work) create(ctx context.Context, tx *sqldb.DB, unknown []*prepared, now time.Time) error {
	var drafts []contact.Draft
	at := map[string]int{}
	for _, e := range unknown {
		if _, ok := at[e.email]; !ok {
			at[e.email] = len(drafts)
			drafts = append(drafts, contact.Draft{
				Email: e.email, Mode: contact.CreatingMissing, New: true, Change: contact.Change{SourceIfNew: contactSource},
			})
		}
	}
	rules, err := sender.ContactRules(ctx, tx, w.tenant)
	if err != nil {
		return err
	}
	outcomes, err := contact.SaveAll(ctx, tx, w.tenant, drafts, rules, now)
	if err != nil {
		return err
	}
	for _, e := range unknown {
		o := outcomes[at[e.email]]
		if o.Err != nil {
			e.result.Err = o.Err
			continue
		}
		e.setContact(contact.Known{ID: o.Contact.ID, Status: o.Contact.Status, Anonymized: o.Contact.AnonymizedAt != nil}, true)
	}
	return nil
}
