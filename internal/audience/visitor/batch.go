package visitor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// batch applies requests of one tenant in one transaction. Visitors are read at its beginning
// and written at its end, as are the touches and the journal of their contacts; in between,
// identify calls write contacts.
type batch struct {
	engine  *Engine
	tx      *sqldb.DB
	account tenant.Tenant

	visitors map[id.Visitor]*visitor
	visits   map[id.Contact]contact.Visits
	claimed  map[id.Hit]id.Visitor // the clicks of the requests that a visitor has claimed
	kept     []keptRow
	done     []attributed // page views and events of contacts
	add      totals

	// What identify calls need is read when the first of them is applied.
	rules   *contact.Rules
	fields  field.Catalog
	signers map[time.Time]auth.IdentitySigner // by the minute of the request
	pending *int64                            // contacts that may still be created by unverified visitors
}

// attributed is a page view or an event of a contact.
type attributed struct {
	contact id.Contact
	Request
}

// run applies requests in order.
func (b *batch) run(ctx context.Context, list []stored) error {
	ids := map[id.Visitor]bool{}
	for _, s := range list {
		ids[s.Visitor] = true
	}
	var created int
	var err error
	b.visits = map[id.Contact]contact.Visits{}
	if b.visitors, created, err = lockOrCreate(ctx, b.tx, b.account.ID, slices.SortedFunc(maps.Keys(ids), id.Compare)); err != nil {
		return err
	}
	b.add.visitors += int64(created)
	if err := b.loadClaimed(ctx, list); err != nil {
		return err
	}
	for _, s := range list {
		v := b.visitors[s.Visitor]
		if v == nil {
			return fmt.Errorf("visitor %s was deleted concurrently", s.Visitor)
		}
		if err := b.one(ctx, v, s); err != nil {
			return err
		}
	}
	return b.finish(ctx)
}

// one applies a request of a visitor.
func (b *batch) one(ctx context.Context, v *visitor, s stored) error {
	first := v.arrive(s.At)
	switch s.Kind {
	case Page:
		b.page(v, s, first)
	case Event:
		b.attribute(v, s)
	case Identify:
		return b.identify(ctx, v, s.Request)
	}
	return nil
}

// arrive records that the visitor was seen, and reports whether a session began.
func (v *visitor) arrive(at time.Time) bool {
	began := v.firstSeen.IsZero() || at.Sub(v.seen) >= SessionTimeout
	if v.firstSeen.IsZero() {
		v.firstSeen = at
	}
	if began {
		v.session = at
	}
	if at.After(v.seen) {
		v.seen = at
	}
	return began
}

// page applies a page view. began says that it is the first request of a session.
func (b *batch) page(v *visitor, s stored, began bool) {
	t, from := touchOf(s.Request, b.account.Settings.TrackedDomains)
	if v.first == nil {
		v.first = &t
		b.visit(v.contact, contact.Visits{First: t.visit()})
		began = true // also if an identify call came before it
	}
	if from.campaign || from.external && began {
		v.last = &t
		b.visit(v.contact, contact.Visits{Last: t.visit()})
	}
	b.claim(v, s.Request)
	b.attribute(v, s)
}

// attribute records a page view or an event for the visitor's contact, or keeps it.
func (b *batch) attribute(v *visitor, s stored) {
	if !v.contact.IsZero() {
		b.done = append(b.done, attributed{v.contact, s.Request})
		return
	}
	if v.kept >= maxKept {
		return
	}
	if len(s.Properties) > maxKeptProperties {
		s.Properties = nil
	}
	v.kept++
	b.add.kept++
	b.kept = append(b.kept, keptRow{v.id, s.id, s.Request})
}

// visit adds visits of a contact; none if it is zero.
func (b *batch) visit(c id.Contact, v contact.Visits) {
	if c.IsZero() {
		return
	}
	all := b.visits[c]
	if all.First == nil {
		all.First = v.First
	}
	if v.Last != nil && (all.Last == nil || !v.Last.At.Before(all.Last.At)) {
		all.Last = v.Last
	}
	b.visits[c] = all
}

// finish writes what the requests changed. Data of contacts that were anonymised meanwhile
// is dropped. The journal comes last.
func (b *batch) finish(ctx context.Context) error {
	if err := b.dropAnonymized(ctx); err != nil {
		return err
	}
	tenant := b.account.ID
	bytes, err := keep(ctx, b.tx, tenant, b.kept)
	if err != nil {
		return err
	}
	b.add.bytes += bytes
	list := slices.SortedFunc(maps.Values(b.visitors), func(x, y *visitor) int { return id.Compare(x.id, y.id) })
	if err := save(ctx, b.tx, tenant, list); err != nil {
		return err
	}
	if b.add != (totals{}) {
		if _, err := addTotals(ctx, b.tx, tenant, b.add); err != nil {
			return err
		}
	}
	if b.add.pending > 0 {
		if _, err := addPendingToday(ctx, b.tx, tenant, b.engine.Now(), b.add.pending); err != nil {
			return err
		}
	}
	if err := contact.SaveVisits(ctx, b.tx, tenant, b.visits); err != nil {
		return err
	}
	return b.record(ctx)
}

// dropAnonymized removes the links to contacts that are anonymised.
func (b *batch) dropAnonymized(ctx context.Context) error {
	ids := map[id.Contact]bool{}
	for _, v := range b.visitors {
		if !v.contact.IsZero() {
			ids[v.contact] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	q := b.tx.Batch()
	found := contact.QueueFind(q, b.tx, b.account.ID, slices.SortedFunc(maps.Keys(ids), id.Compare), nil)
	if err := q.Run(ctx); err != nil {
		return fmt.Errorf("find the contacts of visitors: %w", err)
	}
	gone := map[id.Contact]bool{}
	for c := range ids {
		if known, ok := found.ByID[c]; !ok || known.Anonymized {
			gone[c] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for _, v := range b.visitors {
		if gone[v.contact] {
			v.unlink()
		}
	}
	maps.DeleteFunc(b.visits, func(c id.Contact, _ contact.Visits) bool { return gone[c] })
	b.done = slices.DeleteFunc(b.done, func(a attributed) bool { return gone[a.contact] })
	return nil
}

// pageView is the data of a page_viewed entry, whose name is the page's URL.
type pageView struct {
	Title    string `json:"title,omitempty"`
	Referrer string `json:"referrer,omitempty"`
}

// record appends the page views and events of contacts to the journal.
func (b *batch) record(ctx context.Context) error {
	var events []event.Input
	var pages []journal.Entry
	for _, a := range b.done {
		if a.Kind == Page {
			pages = append(pages, journal.Entry{
				Tenant: b.account.ID, Type: journal.PageViewed, Name: a.URL, Contact: a.contact, At: a.At, Data: pageView{a.Title, a.Referrer},
			})
			continue
		}
		properties, err := a.properties()
		if err != nil {
			return fmt.Errorf("%w: %w", errRequest, err)
		}
		events = append(events, event.Input{
			Name: a.EventName, Type: a.EventType, Contact: a.contact, Properties: properties, OccurredAt: a.At, Source: event.Website,
		})
	}
	if len(events) > 0 {
		results, err := event.Record(ctx, b.tx, b.account.ID, events, b.engine.Now())
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Err != nil {
				b.engine.Log.Debug("event of a visitor not recorded", "tenant", b.account.ID, "err", r.Err)
			}
		}
	}
	return journal.Append(ctx, b.tx, pages...)
}
