package flow

import (
	"context"
	"errors"
	"slices"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/suppression"
)

// do carries out an action. What has become of it is known at the end of the transaction.
func (w *work) do(ctx context.Context, group []*traveler, s sequence.Step) ([]*sequence.Why, error) {
	subjects, whys := w.subjects(group)
	return whys, w.act(ctx, subjects, s)
}

// subjects returns enrollments that are at the same node as the subjects of its step, and what becomes of it.
func (w *work) subjects(group []*traveler) (list []*subject, whys []*sequence.Why) {
	p, node := group[0].program, group[0].Node
	as := &actor{kind: "sequence", id: p.ID.String(), name: p.Name, call: "sequence.step"}
	list, whys = make([]*subject, len(group)), make([]*sequence.Why, len(group))
	for i, t := range group {
		why := &sequence.Why{Code: sequence.CarriedOut}
		whys[i] = why
		skipped := func(code, reason string) {
			why.Code, why.Reason = sequence.NotCarriedOut, code
			w.log.Warn("step of a sequence skipped", "tenant", w.tenant, "sequence", t.Sequence, "node", node, "contact", t.Contact, "reason", reason)
		}
		list[i] = &subject{
			contact: t.Contact, trigger: t.Trigger, actor: as,
			data: map[string]any{"enrollment_id": t.ID, "node_id": node}, skipped: skipped, failed: skipped,
			called: func(d id.Delivery) { why.Delivery = d },
		}
	}
	return list, whys
}

// engaged returns the enrollments whose mail was opened or clicked, for a wait until that.
func (w *work) engaged(ctx context.Context, group []*traveler, s sequence.WaitStep) (map[*traveler]bool, error) {
	found := map[*traveler]bool{}
	if s.Mode != sequence.UntilEngagement {
		return found, nil
	}
	list := make([]*sequence.Enrollment, len(group))
	for i, t := range group {
		list[i] = t.Enrollment
	}
	engaged, err := group[0].program.Engaged(ctx, w.tx, s, list)
	for _, t := range group {
		if engaged[t.ID] {
			found[t] = true
		}
	}
	return found, err
}

// mail queues the mail of a node.
func (w *work) mail(ctx context.Context, group []*traveler, s sequence.SendStep) ([]*sequence.Why, error) {
	whys := make([]*sequence.Why, len(group))
	node := group[0].Node
	mail, err := group[0].program.Mail(ctx, w.tx, w.account, node, s, w.now)
	if errors.Is(err, sequence.ErrNoMail) { // it may be missing for long: contacts do not wait for it
		w.log.Warn("mail of a sequence skipped", "tenant", w.tenant, "sequence", group[0].Sequence, "node", node, "contacts", len(group), "reason", err)
		why := &sequence.Why{Code: sequence.MailUnavailable}
		if f, ok := fault.As(err); ok {
			why.Reason = f.Code
		}
		for i := range whys {
			whys[i] = why
		}
		return whys, nil
	}
	if err != nil {
		return nil, err
	}
	addresses := make([]string, len(group))
	for i, t := range group {
		addresses[i] = w.people[t.Contact].Email
	}
	listed, err := suppression.Listed(ctx, w.tx, w.tenant, addresses)
	if err != nil {
		return nil, err
	}
	domains := make([]string, len(addresses))
	for i, a := range addresses {
		domains[i] = address.Domain(a)
	}
	known, err := w.providers.Of(ctx, domains...)
	if err != nil {
		return nil, err
	}
	var messages []outbox.Message
	// The message and the enrollment's next node commit together: killed in between, a process that
	// continues would queue the mail again, or never. A contact that may not be mailed goes on without its mail.
	for i, t := range group {
		c := w.people[t.Contact]
		due := w.now
		if s.Window != nil {
			due = s.Window.Opens(*c, w.walk.zone, w.now)
		}
		why := &sequence.Why{Code: sequence.MailRefused}
		var m outbox.Message
		if m, why.Reason = mail.Message(*c, listed[c.Email], node, t.VisitNumber(), known[domains[i]].Provider, due); why.Reason == "" {
			messages = append(messages, m)
			why.Code, why.Visit = sequence.MailQueued, t.Visits[node]
			if due.After(w.now) {
				why.Until = &due
			}
		}
		whys[i] = why
	}
	// A message that the outbox has for this contact and visit is left out: no step mails a visit twice.
	_, err = outbox.AddMessages(ctx, w.tx, w.tenant, mail.Send, sortedByContact(messages))
	return whys, err
}

// sortedByContact sorts messages in the order of their contacts.
func sortedByContact(list []outbox.Message) []outbox.Message {
	slices.SortStableFunc(list, func(a, b outbox.Message) int { return id.Compare(a.Contact, b.Contact) })
	return list
}
