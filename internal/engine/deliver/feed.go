package deliver

import (
	"context"
	"errors"

	"packetboat/internal/contact"
	"packetboat/internal/content"
	"packetboat/internal/id"
	"packetboat/internal/letter"
	"packetboat/internal/outbox"
	"packetboat/internal/suppression"
)

// claimBatch is how many messages a feeder claims at once.
const claimBatch = 256

// job is a message on its way to a worker.
type job struct {
	item    outbox.Item
	contact contact.Contact
	content *content.Compiled
	sender  *letter.Sender
	lane    *laneSettings
}

// feed claims the due messages of a stream batch by batch and hands them to
// their lanes, until none is due.
func (e *Engine) feed(ctx context.Context, tenant id.Tenant, stream string) error {
	for e.leased() {
		items, err := e.node.Claim(ctx, tenant, stream, claimBatch, e.Now())
		if err != nil || len(items) == 0 {
			return err
		}
		if err := e.hand(ctx, tenant, items); err != nil {
			return err
		}
	}
	return nil
}

// hand passes claimed messages on. Whatever it cannot pass on it puts back.
func (e *Engine) hand(ctx context.Context, tenant id.Tenant, items []outbox.Item) error {
	people, listed, err := e.people(ctx, tenant, items)
	if err != nil {
		e.release(items)
		return err
	}
	for i, it := range items {
		j, err := e.prepare(ctx, it)
		if err != nil {
			if ctx.Err() != nil || !errors.Is(err, errNoSender) {
				e.release(items[i:])
				return err
			}
			r := failed(it, err.Error(), e.Now())
			if _, err := e.write(&step{result: &r}); err != nil {
				return err
			}
			continue
		}
		var known bool
		j.contact, known = people[it.Contact]
		if reason := refusal(j.contact, known, it, j.sender.Consent(), listed); reason != "" {
			r := outbox.Result{Item: it, At: e.Now(), State: outbox.Skipped, SkipReason: reason}
			if _, err := e.write(&step{result: &r}); err != nil {
				return err
			}
			continue
		}
		if err := e.lanes.offer(ctx, j); err != nil {
			e.release(items[i:])
			return err
		}
	}
	return nil
}

// refusal is the check of contract 10.1, made again right before the send.
func refusal(c contact.Contact, known bool, it outbox.Item, k contact.Consent, listed map[string]bool) string {
	switch {
	case !known:
		return "not_active"
	case c.Email != it.Email: // the address was changed since: the new one was not asked about
		return "invalid_email"
	}
	return c.Refusal(k, listed[it.Email])
}

func (e *Engine) people(ctx context.Context, tenant id.Tenant, items []outbox.Item) (map[id.Contact]contact.Contact, map[string]bool, error) {
	ids := make([]id.Contact, len(items))
	emails := make([]string, len(items))
	for i, it := range items {
		ids[i], emails[i] = it.Contact, it.Email
	}
	list, err := contact.Load(ctx, e.DB, tenant, ids)
	if err != nil {
		return nil, nil, err
	}
	listed, err := suppression.Listed(ctx, e.DB, tenant, emails)
	if err != nil {
		return nil, nil, err
	}
	people := make(map[id.Contact]contact.Contact, len(list))
	for _, c := range list {
		people[c.ID] = c
	}
	return people, listed, nil
}
