package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// walk moves enrollments through the graphs of their sequences, those at the same node together.
type walk struct {
	log      *slog.Logger
	zone     *time.Location // of the account
	people   map[id.Contact]*contact.Contact
	programs map[id.Sequence]*sequence.Program
	all      []*traveler
	deeds    deeds
}

// deeds are what steps do and ask beside moving enrollments: work does it, simulation only counts.
type deeds interface {
	// holding returns the enrollments for whose contacts a rule holds, by index.
	holding(ctx context.Context, p *sequence.Program, definition json.RawMessage, list []*traveler) ([]bool, error)
	// engaged returns the enrollments whose mail was opened or clicked, for a wait until that.
	engaged(ctx context.Context, group []*traveler, s sequence.WaitStep) (map[*traveler]bool, error)
	// mail queues the mail of a node, and returns what has become of it, by index.
	mail(ctx context.Context, group []*traveler, s sequence.SendStep) ([]*sequence.Why, error)
	// do carries out the action of a node, and returns what has become of it, by index, which may change until its end.
	do(ctx context.Context, group []*traveler, s sequence.Step) ([]*sequence.Why, error)
	// passed is called when an enrollment leaves its node by the way out with a label, for another node or none ("").
	passed(t *traveler, label, to string)
	// jumped is called when an enrollment leaves its node for a goal.
	jumped(t *traveler, goal string)
}

// traveler is an enrollment that moves.
type traveler struct {
	*sequence.Enrollment
	program *sequence.Program
	now     time.Time
	done    bool // it waits, or has ended
}

// round carries out one step of each enrollment that has one to do, and reports whether there were any. Exits and goals are
// looked at before: the step before may have changed the contact.
func (w *walk) round(ctx context.Context) (bool, error) {
	if err := w.leave(ctx); err != nil {
		return false, err
	}
	groups := w.groups()
	for _, g := range groups {
		if err := w.step(ctx, g); err != nil {
			return false, fmt.Errorf("node %s of sequence %s: %w", g[0].Node, g[0].Sequence, err)
		}
	}
	return len(groups) > 0, nil
}

// groups returns the enrollments that have a step to do, by node.
func (w *walk) groups() [][]*traveler {
	type place struct {
		seq  id.Sequence
		node string
	}
	at := map[place]int{}
	var list [][]*traveler
	for _, t := range w.all {
		if t.done {
			continue
		}
		p := place{t.Sequence, t.Node}
		i, ok := at[p]
		if !ok {
			i = len(list)
			at[p], list = i, append(list, nil)
		}
		list[i] = append(list[i], t)
	}
	slices.SortStableFunc(list, func(a, b []*traveler) int {
		if n := id.Compare(a[0].Sequence, b[0].Sequence); n != 0 {
			return n
		}
		return strings.Compare(a[0].Node, b[0].Node)
	})
	return list
}

// end ends an enrollment.
func (t *traveler) end(status sequence.EnrollmentStatus, reason sequence.Reason) {
	t.Finish(status, reason, t.now)
	t.done = true
}

// goTo moves an enrollment from its node along the way out with a label.
func (w *walk) goTo(t *traveler, label string, why *sequence.Why) {
	to := t.program.Next(t.Node, label)
	w.deeds.passed(t, label, to)
	t.Leave(label, why)
	w.enter(t, to)
}

// enter moves an enrollment to a node; "" is the end of the path.
func (w *walk) enter(t *traveler, node string) {
	if node == "" && t.Converted {
		t.end(sequence.Exited, sequence.ReasonGoal)
		return
	}
	if node == "" {
		t.end(sequence.Completed, "")
		return
	}
	if t.Visits == nil {
		t.Visits = map[string]int{}
	}
	// VisitNumber leaves room for MaxVisits in an enrollment. One more would have the number of a visit of
	// the next enrollment, whose mail the outbox would leave out.
	if t.Visits[node] >= sequence.MaxVisits {
		w.log.Warn("enrollment failed", "tenant", t.Tenant, "sequence", t.Sequence, "enrollment", t.ID, "reason", "a node was entered too often", "node", node)
		t.end(sequence.Failed, sequence.ReasonError)
		return
	}
	t.Visits[node]++
	t.program.Enter(t.Enrollment, node, t.now)
}

// leave ends the enrollments whose exit conditions hold, and moves those whose goals are reached.
func (w *walk) leave(ctx context.Context) error {
	for _, p := range w.programs {
		var here []*traveler
		for _, t := range w.all {
			if !t.done && t.program == p {
				here = append(here, t)
			}
		}
		if len(here) == 0 {
			continue
		}
		if x := p.Exits; x != nil && len(x.Definition) > 0 {
			if err := w.holding(ctx, p, x.Definition, here, func(t *traveler) { t.end(sequence.Exited, sequence.ReasonCondition) }); err != nil {
				return err
			}
		}
		if x := p.Exits; x != nil && x.SegmentLeft != "" {
			if err := w.holding(ctx, p, p.SegmentRule(x.SegmentLeft, false), here, func(t *traveler) { t.end(sequence.Exited, sequence.ReasonCondition) }); err != nil {
				return err
			}
		}
		for _, goal := range p.Goals() {
			g, _ := p.Step(goal).(sequence.GoalStep)
			reached := func(t *traveler) {
				if !t.Converted && t.Node != goal {
					w.deeds.jumped(t, goal)
					t.Leave("", &sequence.Why{Code: sequence.GoalReached})
					w.enter(t, goal)
				}
			}
			if err := w.holding(ctx, p, g.Definition, here, reached); err != nil {
				return err
			}
		}
	}
	return nil
}

// holding calls yes for those enrollments for whose contacts a rule holds.
func (w *walk) holding(ctx context.Context, p *sequence.Program, definition json.RawMessage, list []*traveler, yes func(t *traveler)) error {
	list = slices.DeleteFunc(slices.Clone(list), func(t *traveler) bool { return t.done })
	if len(list) == 0 {
		return nil
	}
	holds, err := w.deeds.holding(ctx, p, definition, list)
	if err != nil {
		return err
	}
	for i, t := range list {
		if holds[i] {
			yes(t)
		}
	}
	return nil
}

// subjectsOf returns whom rules are evaluated for.
func subjectsOf(list []*traveler) []trigger.Subject {
	subjects := make([]trigger.Subject, len(list))
	for i, t := range list {
		subjects[i] = trigger.Subject{Contact: t.Contact, Trigger: t.Trigger}
	}
	return subjects
}

var errStep = errors.New("the step has no configuration")
