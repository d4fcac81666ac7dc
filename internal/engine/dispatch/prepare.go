package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// prepare puts the next pages of a broadcast's audience into the outbox. It reports whether there
// are more.
func (e *Engine) prepare(ctx context.Context, t tenant.Tenant, bid id.Broadcast) (more bool, err error) {
	now := e.Now()
	run, ok, err := broadcast.Lease(ctx, e.DB, t.ID, bid, e.Owner, now, now.Add(lease))
	if err != nil || !ok {
		return false, err
	}
	defer func() {
		// Release the lease even if ctx has ended.
		if e := run.Release(context.WithoutCancel(ctx), e.DB); err == nil {
			err = e
		}
	}()
	b, err := broadcast.Head(ctx, e.DB, t.ID, bid)
	if err != nil {
		return false, err
	}
	if run.Planning != nil && run.Planning.Stage != broadcast.Collect {
		return e.advancePlanning(ctx, t, b, &run)
	}
	facts, err := broadcast.LoadPreconditions(ctx, e.DB, b)
	if err != nil {
		return false, err
	}
	if stopped, err := e.stopIfBlocked(ctx, b, facts, now); stopped || err != nil {
		return stopped, err
	}
	allocator, err := e.newAllocator(ctx, b, facts)
	if err != nil {
		return false, err
	}
	if e.Providers == nil {
		e.Providers = &maildomain.Providers{DB: e.DB, Now: e.Now}
	}
	p := preparation{
		b: b, providers: e.Providers, run: &run, audience: e.audience(b), allocator: allocator, due: now,
		consent: contact.Consent{TypeKey: facts.EmailType.Key, Category: facts.EmailType.Category},
	}
	if run.After.IsZero() && run.Planning == nil && needsPlan(b, facts, allocator.recorded, spread.DayOf(now, t.Location())) {
		run.Planning = &broadcast.Planning{Stage: broadcast.Collect, Start: spread.DayOf(*b.StartedAt, t.Location())}
		if err := run.Plan(ctx, e.DB, *run.Planning, now.Add(lease)); err != nil {
			return false, err
		}
	}
	if run.Planning != nil {
		p.due = outbox.Unplanned()
	}
	// While one page is written, the next is read.
	ahead, stop := context.WithCancel(ctx)
	next := e.readAhead(ahead, p, run.After)
	defer func() {
		stop()
		if next != nil { // the reader uses p.audience until it ends
			<-next
		}
	}()
	for left := e.pagesPerTick(); left > 0; left-- {
		r := <-next
		next = nil
		if r.err != nil {
			return false, r.err
		}
		if left > 1 && !r.last {
			next = e.readAhead(ahead, p, r.ids[len(r.ids)-1])
		}
		if err := e.insertPage(ctx, p, r); err != nil || r.last {
			return (run.Planning != nil || run.AwaitsCopies()) && err == nil, err
		}
	}
	return true, nil
}

// pagesPerTick returns how many pages of one broadcast a tick processes: fewer if several are in
// preparation.
func (e *Engine) pagesPerTick() int { return cmp.Or(e.Pages, max(20/max(e.preparing, 1), 2)) }

// preparation is the data that all pages of a send have in common.
type preparation struct {
	b         broadcast.Broadcast
	run       *broadcast.Run
	audience  *segment.Audience
	allocator *allocator
	consent   contact.Consent
	providers *maildomain.Providers
	due       time.Time
}

// pageSize is the number of contacts in one transaction, which occupies SQLite's only writing
// connection for about 30 ms.
const pageSize = 2000

// maxAudiences is how many audiences an engine keeps between ticks; each may have a read-ahead in
// memory.
const maxAudiences = 8

// audience returns the audience of a broadcast. It is kept between ticks for its read-ahead.
func (e *Engine) audience(b broadcast.Broadcast) *segment.Audience {
	if a, ok := e.audiences[b.ID]; ok && a.Tenant == b.Tenant {
		return a
	}
	if e.audiences == nil || len(e.audiences) >= maxAudiences {
		e.audiences = map[id.Broadcast]*segment.Audience{}
	}
	e.audiences[b.ID] = &segment.Audience{Tenant: b.Tenant, Include: b.Include, Exclude: b.Exclude}
	return e.audiences[b.ID]
}

// audiencePage is a page that was read: its contacts and their messages.
type audiencePage struct {
	ids      []id.Contact
	messages []outbox.Message
	excluded map[string]int // number of contacts without a message, by reason
	last     bool
	err      error
}

// readAhead reads the page after a contact in the background.
func (e *Engine) readAhead(ctx context.Context, p preparation, after id.Contact) <-chan audiencePage {
	done := make(chan audiencePage, 1)
	go func() {
		size := cmp.Or(e.Page, pageSize)
		var r audiencePage
		if r.ids, r.err = p.audience.After(ctx, e.DB, after, size, e.Now()); r.err == nil {
			r.messages, r.excluded, r.err = e.chooseRecipients(ctx, p, r.ids)
		}
		r.last = len(r.ids) < size
		done <- r
	}()
	return done
}

// insertPage inserts a page. Its data were read before the transaction, which is therefore short. A
// contact that unsubscribes in between is caught by the check before sending.
func (e *Engine) insertPage(ctx context.Context, p preparation, r audiencePage) error {
	ids, excluded, last := r.ids, r.excluded, r.last
	now := e.Now()
	err := e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		// First: from here on, a pause and the lease of another process come after this page. If they came
		// before, nothing is written.
		if err := p.run.Hold(ctx, tx); err != nil {
			return err
		}
		if _, err := outbox.AddMessages(ctx, tx, p.b.Tenant, p.b.Send, r.messages); err != nil {
			return err
		}
		// The checkpoint and the counts commit with the page, so that the next process reads no page twice
		// and leaves none out.
		if len(ids) > 0 {
			if err := p.run.Advance(ctx, tx, ids[len(ids)-1], excluded, now.Add(lease)); err != nil {
				return err
			}
		}
		if !last {
			return nil
		}
		if p.run.Planning != nil {
			planning := *p.run.Planning
			planning.Stage = broadcast.ToPlan
			return p.run.Plan(ctx, tx, planning, now.Add(lease))
		}
		// The send opens with its last page. Opened earlier, it could end between two pages.
		return p.run.Prepared(ctx, tx, now)
	})
	if err != nil {
		return err
	}
	// After the commit: a page whose transaction failed is read again from the checkpoint in memory.
	p.run.NoteAdvanced(ids, excluded)
	if last {
		delete(e.audiences, p.b.ID)
		e.Log.Info("broadcast prepared", "tenant", p.b.Tenant, "broadcast", p.b.ID, "excluded", p.run.Excluded)
	}
	return nil
}

// recipient is a contact that may get a message, with its route and variant.
type recipient struct {
	contact.Contact
	route.Route
	variant string
}

// recipients returns the contacts that may get a message of b, in the order of ids, and counts the
// others by reason.
func (a *allocator) recipients(ctx context.Context, consent contact.Consent, ids []id.Contact) ([]recipient, map[string]int, error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	db, b := a.engine.DB, a.b
	contacts, err := contact.Addressees(ctx, db, b.Tenant, ids)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(contacts, func(a, b contact.Contact) int { return id.Compare(a.ID, b.ID) })
	addresses := make([]string, len(contacts))
	for i, c := range contacts {
		addresses[i] = c.Email
	}
	listed, err := suppression.Listed(ctx, db, b.Tenant, addresses)
	if err != nil {
		return nil, nil, err
	}
	last, err := a.lastSenders(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	chosen := make([]recipient, 0, len(contacts))
	excluded := map[string]int{}
	for _, c := range contacts {
		if reason := c.Refusal(consent, listed[c.Email]); reason != "" {
			excluded[reason]++
			continue
		}
		chosen = append(chosen, recipient{c, a.route(c.ID, last[c.ID]), b.Assign(c.ID)})
	}
	return chosen, excluded, nil
}

// chooseRecipients returns messages for the contacts that may get one, and counts the others by
// reason. They are sorted by contact id, the order in which the messages get their ids: each index of
// the outbox then grows at its end (outbox.AddMessages).
func (e *Engine) chooseRecipients(ctx context.Context, p preparation, ids []id.Contact) ([]outbox.Message, map[string]int, error) {
	chosen, excluded, err := p.allocator.recipients(ctx, p.consent, ids)
	if err != nil {
		return nil, nil, err
	}
	ranks, err := e.ranks(ctx, p, ids)
	if err != nil {
		return nil, nil, err
	}
	domains := make([]string, len(chosen))
	for i, r := range chosen {
		domains[i] = address.Domain(r.Email)
	}
	known, err := p.providers.Of(ctx, domains...)
	if err != nil {
		return nil, nil, err
	}
	messages := make([]outbox.Message, len(chosen))
	for i, r := range chosen {
		messages[i] = outbox.Message{
			Contact: r.ID, Email: r.Email, Content: p.run.Contents[r.variant], ContentVersion: p.b.ContentVersion, Variant: r.variant,
			Identity: r.Identity, Provider: known[domains[i]].Provider, Lane: r.Lane, DueAt: p.due, Rank: ranks[r.ID],
		}
	}
	return messages, excluded, nil
}
