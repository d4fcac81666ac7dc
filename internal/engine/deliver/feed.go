package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/pace"
)

// claimBatch is how many messages a feeder claims at once.
const claimBatch = 256

// checkValid is how long the check of a contact and its settings stays valid.
const checkValid = 5 * time.Second

// job is a claimed message on its way to a worker, with what is needed to send it.
type job struct {
	item      outbox.Item
	contact   *contact.Contact
	event     journal.Trigger // that enrolled the contact in the sequence; zero unless the content reads it
	content   *content.Compiled
	sender    *render.Sender
	signer    *dkim.Signer // set if its lane's mail is signed
	lane      *laneSettings
	send      *send
	throttle  *lane.Throttle // of the recipient's provider, or nil
	route     directmx.Route // set if its lane is of type direct_mx
	dest      *dest          // where the route leads; nil for other lanes
	from      directmx.From  // how it connects to the destination
	provider  string         // that limits and counts are kept for: a lane.WarmupProvider
	directory string         // who runs the recipient's mailbox (mx.Directory); empty if that is not known
	target    directmx.Target
	days      []pace.Day // the daily limits of which it has a permit
	checked   time.Time  // when all of this was loaded
	receives  bool       // mail for the return path of its domain arrives here
	testMark  string     // the prefix of a test's subject; empty: not a test
}

// feed claims the due messages of a send batch by batch and passes them to their lanes, until none
// is due, or none can be sent: then it returns the deferral of the first.
func (e *Engine) feed(ctx context.Context, tenant id.Tenant, send id.Send) (*deferral, error) {
	var after outbox.Position
	for e.leased() && ctx.Err() == nil {
		items, err := e.claim(ctx, tenant, send, after)
		switch {
		case err != nil:
			return nil, err
		case len(items) == 0 && after == (outbox.Position{}):
			return nil, nil
		case len(items) == 0: // once more from the beginning, for messages that were put back
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

// deliverItems passes claimed messages to their lanes. Those that cannot be sent now are delayed.
// If that is the whole batch, it is released with its due times unchanged, and the result says when
// to feed the send again.
func (e *Engine) deliverItems(ctx context.Context, tenant id.Tenant, items []outbox.Item) (*deferral, error) {
	jobs, ends, waiting, err := e.checkItems(ctx, tenant, items)
	if err != nil {
		e.release(items...)
		return nil, err
	}
	e.noteWaits(waiting)
	// Jobs are passed before anything is written about the others, so that workers begin at once. From then
	// on they belong to the workers: an error below must not release them.
	passed, over, later := e.passJobs(ctx, jobs)
	ends, waiting = append(ends, over...), append(waiting, later...)
	if _, err := e.writeStep(&step{results: ends}); err != nil {
		return nil, err
	}
	return e.putBack(waiting, passed+len(ends) == 0 && ctx.Err() == nil), nil
}

// deferredItem is a message that cannot be sent now.
type deferredItem struct {
	item outbox.Item
	*deferral
}

// putBack delays messages until they can be sent. If all is set, nothing else was in the batch: it
// releases them with their due times unchanged and returns the earliest deferral, unless others of the send
// may be sent before.
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
		all = all && !p.part
	}
	if !all {
		e.delay(items)
		return nil
	}
	e.release(items...)
	return first
}

// checkItems sorts claimed messages into those that can be sent, those that have ended, and those
// that must wait.
func (e *Engine) checkItems(ctx context.Context, tenant id.Tenant, items []outbox.Item) (jobs []*job, ends []outbox.Result, waiting []deferredItem, err error) {
	now := e.Now()
	people, listed, err := e.loadContacts(ctx, tenant, items)
	if err != nil {
		return nil, nil, nil, err
	}
	events, err := e.events(ctx, tenant, items)
	if err != nil {
		return nil, nil, nil, err
	}
	jobs = make([]*job, 0, len(items))
	for _, it := range items {
		j, err := e.prepareJob(ctx, it)
		if h, ok := errors.AsType[*deferral](err); ok {
			waiting = append(waiting, deferredItem{it, h})
			continue
		}
		if errors.Is(err, errNoSender) {
			ends = append(ends, failedResult(it, err.Error(), now))
			continue
		}
		if err != nil {
			return nil, nil, nil, err
		}
		c := people[it.Contact]
		if reason := j.skipReason(c, listed); reason != "" {
			ends = append(ends, outbox.Result{Item: it, At: now, State: outbox.Skipped, SkipReason: reason})
			continue
		}
		j.contact, j.event, j.checked = c, events[outbox.Addressed{Contact: it.Contact, Visit: it.Visit}], now
		jobs = append(jobs, j)
	}
	return jobs, ends, waiting, nil
}

// skipReason returns the skip reason of a message whose contact may not be mailed any more, or "".
func (j *job) skipReason(c *contact.Contact, listed map[string]bool) string {
	switch {
	case c == nil:
		return "not_active"
	case c.Email != j.item.Email: // changed after the audience was read: the new address was not checked
		return "invalid_email"
	}
	if j.content.Context.Confirmation {
		return c.ConfirmationRefusal(listed[j.item.Email])
	}
	return c.Refusal(j.sender.Consent(), listed[j.item.Email])
}

func (e *Engine) loadContacts(ctx context.Context, tenant id.Tenant, items []outbox.Item) (map[id.Contact]*contact.Contact, map[string]bool, error) {
	load := e.recipients
	if items[0].Kind == outbox.KindSeedCopy { // the items are of one send
		load = e.seeds
	}
	list, err := load(ctx, tenant, items)
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

// claim claims due messages of a send.
func (e *Engine) claim(ctx context.Context, tenant id.Tenant, send id.Send, after outbox.Position) ([]outbox.Item, error) {
	// Not cancelled: of a claim whose commit was interrupted, it is unknown whether it exists.
	return e.node.ClaimAfter(context.WithoutCancel(ctx), tenant, send, after, claimBatch, e.Now())
}

// release returns messages on which no attempt began. They can be claimed again after the node has
// written the release, with its next claim or within a second.
func (e *Engine) release(items ...outbox.Item) { e.node.Release(items...) }

// delay postpones messages to their DueAt. It retries until the write succeeds, since the messages
// are claimed until then.
func (e *Engine) delay(items []outbox.Item) {
	if len(items) == 0 {
		return
	}
	// If the engine gives up, the node's lease expires and another node takes the messages back.
	_ = e.retryWrite("delay messages failed, will retry", func() error { return e.node.Delay(e.writeCtx, items) })
}

// recipients loads the contacts of messages, with the fields that their content uses.
func (e *Engine) recipients(ctx context.Context, tenant id.Tenant, items []outbox.Item) ([]contact.Contact, error) {
	ids := make([]id.Contact, len(items))
	var reads contact.FieldSet
	seen := map[id.Content]bool{}
	for i, it := range items {
		ids[i] = it.Contact
		if seen[it.Content] {
			continue
		}
		seen[it.Content] = true
		c, err := e.Contents.Get(ctx, tenant, it.Content)
		if errors.Is(err, content.ErrGone) { // the message fails in prepareJob
			continue
		}
		if err != nil {
			return nil, err
		}
		reads.AddSet(render.Reads(c))
	}
	return contact.Recipients(ctx, e.DB, tenant, ids, reads)
}

// events returns the events that enrolled the contacts of messages in the sequence that sends them,
// if the content of one of the messages reads them.
func (e *Engine) events(ctx context.Context, tenant id.Tenant, items []outbox.Item) (map[outbox.Addressed]journal.Trigger, error) {
	reads := map[id.Content]bool{}
	var list []outbox.Addressed
	for _, it := range items {
		if it.Kind == outbox.KindSeedCopy {
			return nil, nil
		}
		if _, known := reads[it.Content]; !known {
			c, err := e.Contents.Get(ctx, tenant, it.Content)
			if errors.Is(err, content.ErrGone) { // the message fails in prepareJob
				continue
			}
			if err != nil {
				return nil, err
			}
			reads[it.Content] = render.ReadsEvent(c)
		}
		if reads[it.Content] {
			list = append(list, outbox.Addressed{Contact: it.Contact, Visit: it.Visit})
		}
	}
	return sequence.TriggersOf(ctx, e.DB, tenant, items[0].Send, list) // the items are of one send
}
