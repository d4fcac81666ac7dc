package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/letter"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/pace"
	"github.com/packetboat/packetboat/internal/suppression"
)

// claimBatch is how many messages a feeder claims at once.
const claimBatch = 256

// checkedFor is how long it counts that a contact was found willing.
const checkedFor = 5 * time.Second

// job is a message on its way to a worker.
type job struct {
	item     outbox.Item
	contact  *contact.Contact
	content  *content.Compiled
	sender   *letter.Sender
	signer   *dkim.Signer // set when its lane wants a signature
	lane     *laneSettings
	send     *send
	throttle *lane.Throttle // of the recipient's provider, or nil
	days     []pace.Day     // of which it took a permit
	checked  time.Time      // when all of this was looked up
	marked   string         // what the subject of a test begins with; empty: no test
}

// feed claims the due messages of a send batch by batch and hands them to
// their lanes, until none is due, or none may leave.
func (e *Engine) feed(ctx context.Context, tenant id.Tenant, send id.Send) (*deferral, error) {
	var after outbox.Position
	for e.leased() && ctx.Err() == nil {
		items, err := e.claim(ctx, tenant, send, after)
		switch {
		case err != nil:
			return nil, err
		case len(items) == 0 && after == (outbox.Position{}):
			return nil, nil
		case len(items) == 0: // once more from the beginning, for what was put back
			after = outbox.Position{}
			continue
		}
		after = outbox.Last(items)
		if h, err := e.deliverItems(ctx, tenant, items); h != nil || err != nil {
			return h, err
		}
	}
	return nil, nil
}

// deliverItems passes claimed messages on. Whatever it cannot pass on it puts back: to be
// due when it can go, or, if nothing of the batch can, as it was, and then it says
// when to look at the send again.
func (e *Engine) deliverItems(ctx context.Context, tenant id.Tenant, items []outbox.Item) (*deferral, error) {
	jobs, ends, waiting, err := e.check(ctx, tenant, items)
	if err != nil {
		e.release(items...)
		return nil, err
	}
	e.noteWaits(waiting)
	passed, over, later := e.pass(ctx, jobs)
	ends, waiting = append(ends, over...), append(waiting, later...)
	if _, err := e.write(&step{results: ends}); err != nil {
		return nil, err
	}
	return e.putBack(waiting, passed+len(ends) == 0 && ctx.Err() == nil), nil
}

// deferredItem is a message that cannot leave now.
type deferredItem struct {
	item outbox.Item
	*deferral
}

// putBack puts messages back until they can go. When they are all there is, it
// leaves their time alone and returns when the first of them can go.
func (e *Engine) putBack(waiting []deferredItem, all bool) *deferral {
	if len(waiting) == 0 {
		return nil
	}
	first := waiting[0].deferral
	items := make([]outbox.Item, len(waiting))
	for i, p := range waiting {
		items[i] = p.item
		items[i].DueAt = p.until
		if p.until.Before(first.until) {
			first = p.deferral
		}
	}
	if !all {
		e.delay(items)
		return nil
	}
	e.release(items...)
	return first
}

// check looks at claimed messages: which can go, which have ended, and which
// must wait.
func (e *Engine) check(ctx context.Context, tenant id.Tenant, items []outbox.Item) (jobs []*job, ends []outbox.Result, waiting []deferredItem, err error) {
	now := e.Now()
	people, listed, err := e.loadContacts(ctx, tenant, items)
	if err != nil {
		return nil, nil, nil, err
	}
	jobs = make([]*job, 0, len(items))
	for _, it := range items {
		j, err := e.prepare(ctx, it)
		if h, ok := errors.AsType[*deferral](err); ok {
			waiting = append(waiting, deferredItem{it, h})
			continue
		}
		if errors.Is(err, errNoSender) {
			ends = append(ends, failed(it, err.Error(), now))
			continue
		}
		if err != nil {
			return nil, nil, nil, err
		}
		c := people[it.Contact]
		if reason := refusal(c, it, j.sender.Consent(), listed); reason != "" {
			ends = append(ends, outbox.Result{Item: it, At: now, State: outbox.Skipped, SkipReason: reason})
			continue
		}
		j.contact, j.checked = c, now
		jobs = append(jobs, j)
	}
	return jobs, ends, waiting, nil
}

// refusal checks once more, right before the send, whether the contact may be mailed.
func refusal(c *contact.Contact, it outbox.Item, k contact.Consent, listed map[string]bool) string {
	switch {
	case c == nil:
		return "not_active"
	case c.Email != it.Email: // the address was changed since: the new one was not asked about
		return "invalid_email"
	}
	return c.Refusal(k, listed[it.Email])
}

func (e *Engine) loadContacts(ctx context.Context, tenant id.Tenant, items []outbox.Item) (map[id.Contact]*contact.Contact, map[string]bool, error) {
	list, err := e.recipients(ctx, tenant, items)
	if err != nil {
		return nil, nil, err
	}
	emails := make([]string, len(items))
	for i, it := range items {
		emails[i] = it.Email
	}
	listed, err := suppression.Listed(ctx, e.DB, tenant, emails)
	if err != nil {
		return nil, nil, err
	}
	people := make(map[id.Contact]*contact.Contact, len(list))
	for i := range list {
		people[list[i].ID] = &list[i]
	}
	return people, listed, nil
}
