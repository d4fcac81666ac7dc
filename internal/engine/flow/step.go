package flow

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/sequence"
)

// step carries out the step of enrollments that are at the same node.
func (w *walk) step(ctx context.Context, group []*traveler) error {
	p, node := group[0].program, group[0].Node
	switch s := p.Step(node).(type) {
	case sequence.SendStep:
		whys, err := w.deeds.mail(ctx, group, s)
		return w.goOn(group, whys, err)
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
				t.end(sequence.Exited, sequence.ReasonGoal)
			} else {
				t.end(sequence.Exited, sequence.ReasonExitNode)
			}
		}
		return nil
	case nil: // the graph was checked when it was stored; an error here would hold up the whole tenant for ever
		for _, t := range group {
			w.log.Warn("enrollment failed", "tenant", t.Tenant, "sequence", t.Sequence, "enrollment", t.ID, "reason", errStep, "node", node)
			t.end(sequence.Failed, sequence.ReasonError)
		}
		return nil
	default:
		whys, err := w.deeds.do(ctx, group, s)
		return w.goOn(group, whys, err)
	}
}

// goOn moves enrollments along the only way out of their node.
func (w *walk) goOn(group []*traveler, whys []*sequence.Why, err error) error {
	if err != nil {
		return err
	}
	for i, t := range group {
		w.goTo(t, "", whys[i])
	}
	return nil
}

// branch sends each enrollment along the first way whose rule holds.
func (w *walk) branch(ctx context.Context, group []*traveler, ways []sequence.BranchWay, otherwise string) error {
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
func (w *walk) hold(ctx context.Context, group []*traveler, s sequence.WaitStep) error {
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
	engaged, err := w.deeds.engaged(ctx, group, s)
	if err != nil {
		return err
	}
	// A wait is looked at when it begins, when something may have met it, and when its timer ends. Only the
	// first of these sets the timer: it would never end if each look set it again.
	for _, t := range group {
		first := !t.Arrived
		if first {
			end := t.program.Ends(s, *w.people[t.Contact], w.zone, t.now)
			t.TimerAt = new(end.UTC().Truncate(time.Microsecond))
			t.Arrived = true
			if s.Mode == sequence.UntilEvent {
				t.WaitEvent = s.Event
			}
		}
		switch {
		case t.Met || inSegment[t] || engaged[t]:
			w.goTo(t, met, &sequence.Why{Code: sequence.Met, Until: t.TimerAt})
		case !t.TimerAt.After(t.now):
			w.goTo(t, timeout, &sequence.Why{Code: ended, Until: t.TimerAt})
		default:
			t.DueAt, t.done = new(*t.TimerAt), true
		}
	}
	return nil
}
