package flow

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/suppression"
)

// step carries out the step of enrollments that are at the same node.
func (w *work) step(ctx context.Context, group []*traveler) error {
	p, node := group[0].program, group[0].Node
	switch s := p.Step(node).(type) {
	case sequence.SendStep:
		return w.send(ctx, group, s)
	case sequence.WaitStep:
		return w.hold(ctx, group, s)
	case sequence.ConditionStep:
		return w.branch(ctx, group, []sequence.BranchWay{{Label: "true", Definition: s.Definition}}, "false")
	case sequence.BranchStep:
		return w.branch(ctx, group, s.Branches, "else")
	case sequence.SplitStep:
		for _, t := range group {
			w.goTo(t, p.Way(node, s, t.Contact), &sequence.Why{Code: sequence.Chosen})
		}
		return nil
	case sequence.GoalStep:
		holds := map[*traveler]bool{}
		err := w.holding(ctx, p, s.Definition, group, func(t *traveler) { t.Converted, holds[t] = true, true })
		for _, t := range group {
			code := sequence.GoalNotMet
			if holds[t] {
				code = sequence.GoalMet
			}
			w.goTo(t, "", &sequence.Why{Code: code})
		}
		return err
	case sequence.ExitStep:
		for _, t := range group {
			if t.Converted {
				w.end(t, sequence.Exited, sequence.ReasonGoal)
			} else {
				w.end(t, sequence.Exited, sequence.ReasonExitNode)
			}
		}
		return nil
	case nil: // the graph was checked when it was stored; an error here would hold up the whole tenant for ever
		for _, t := range group {
			w.log.Warn("enrollment failed", "tenant", w.tenant, "sequence", t.Sequence, "enrollment", t.ID, "reason", errStep, "node", node)
			w.end(t, sequence.Failed, sequence.ReasonError)
		}
		return nil
	default:
		if err := w.act(ctx, w.subjects(group), s); err != nil {
			return err
		}
		for _, t := range group {
			w.goTo(t, "", t.action)
		}
		return nil
	}
}

// subjects returns enrollments that are at the same node as the subjects of its step.
func (w *work) subjects(group []*traveler) []*subject {
	p, node := group[0].program, group[0].Node
	as := &actor{kind: "sequence", id: p.ID.String(), name: p.Name, call: "sequence.step"}
	list := make([]*subject, len(group))
	for i, t := range group {
		why := &sequence.Why{Code: sequence.CarriedOut} // until the end of the transaction
		t.action = why
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
	return list
}

// branch sends each enrollment along the first way whose rule holds.
func (w *work) branch(ctx context.Context, group []*traveler, ways []sequence.BranchWay, otherwise string) error {
	chosen := map[*traveler]string{}
	rest := group
	for _, way := range ways {
		err := w.holding(ctx, group[0].program, way.Definition, rest, func(t *traveler) { chosen[t] = way.Label })
		if err != nil {
			return err
		}
		var left []*traveler
		for _, t := range rest {
			if _, ok := chosen[t]; !ok {
				left = append(left, t)
			}
		}
		rest = left
	}
	for _, t := range group {
		label, ok := chosen[t]
		why := &sequence.Why{Code: sequence.ConditionMet}
		if !ok {
			label, why.Code = otherwise, sequence.ConditionNotMet
		}
		w.goTo(t, label, why)
	}
	return nil
}

// hold begins or ends waits.
func (w *work) hold(ctx context.Context, group []*traveler, s sequence.WaitStep) error {
	met, timeout, ended := "met", "timeout", sequence.TimedOut
	if !s.Conditional() {
		met, timeout, ended = "", "", sequence.Waited
	}
	inSegment := map[*traveler]bool{}
	if s.Mode == sequence.UntilSegment {
		err := w.holding(ctx, group[0].program, group[0].program.SegmentRule(s.Segment, s.State == "in"), group, func(t *traveler) { inSegment[t] = true })
		if err != nil {
			return err
		}
	}
	engaged, err := w.engaged(ctx, group, s)
	if err != nil {
		return err
	}
	// A wait is looked at when it begins, when something may have met it, and when its timer ends. Only the
	// first of these sets the timer: it would never end if each look set it again.
	for _, t := range group {
		first := !t.Arrived
		if first {
			end := t.program.Ends(s, *w.people[t.Contact], w.zone, w.now)
			t.TimerAt = new(end.UTC().Truncate(time.Microsecond))
			t.Arrived = true
			if s.Mode == sequence.UntilEvent {
				t.WaitEvent = s.Event
			}
		}
		switch {
		case t.Met || inSegment[t] || engaged[t]:
			w.goTo(t, met, &sequence.Why{Code: sequence.Met, Until: t.TimerAt})
		case !t.TimerAt.After(w.now):
			w.goTo(t, timeout, &sequence.Why{Code: ended, Until: t.TimerAt})
		default:
			t.DueAt, t.done = new(*t.TimerAt), true
		}
	}
	return nil
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

// send queues the mail of a node.
func (w *work) send(ctx context.Context, group []*traveler, s sequence.SendStep) error {
	node := group[0].Node
	mail, err := group[0].program.Mail(ctx, w.tx, w.account, node, s, w.now)
	if errors.Is(err, sequence.ErrNoMail) { // it may be missing for long: contacts do not wait for it
		w.log.Warn("mail of a sequence skipped", "tenant", w.tenant, "sequence", group[0].Sequence, "node", node, "contacts", len(group), "reason", err)
		why := &sequence.Why{Code: sequence.MailUnavailable}
		if f, ok := fault.As(err); ok {
			why.Reason = f.Code
		}
		for _, t := range group {
			w.goTo(t, "", why)
		}
		return nil
	}
	if err != nil {
		return err
	}
	addresses := make([]string, len(group))
	for i, t := range group {
		addresses[i] = w.people[t.Contact].Email
	}
	listed, err := suppression.Listed(ctx, w.tx, w.tenant, addresses)
	if err != nil {
		return err
	}
	domains := make([]string, len(addresses))
	for i, a := range addresses {
		domains[i] = address.Domain(a)
	}
	known, err := w.providers.Of(ctx, domains...)
	if err != nil {
		return err
	}
	var messages []outbox.Message
	// The message and the enrollment's next node commit together: killed in between, a process that
	// continues would queue the mail again, or never. VisitNumber belongs to the node that goTo leaves,
	// so the message is made first. A contact that may not be mailed goes on without its mail.
	for i, t := range group {
		c := w.people[t.Contact]
		due := w.now
		if s.Window != nil {
			due = s.Window.Opens(*c, w.zone, w.now)
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
		w.goTo(t, "", why)
	}
	// A message that the outbox has for this contact and visit is left out: no step mails a visit twice.
	_, err = outbox.AddMessages(ctx, w.tx, w.tenant, mail.Send, sortedByContact(messages))
	return err
}

// sortedByContact sorts messages in the order of their contacts.
func sortedByContact(list []outbox.Message) []outbox.Message {
	slices.SortStableFunc(list, func(a, b outbox.Message) int { return id.Compare(a.Contact, b.Contact) })
	return list
}
