package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxRounds is how many steps of an enrollment one transaction carries out. The enrollment then
// waits for the next.
const maxRounds = 50

// work is the steps of one transaction.
type work struct {
	*effects
	zone      *time.Location
	env       rule.Env
	providers *maildomain.Providers

	programs map[id.Sequence]*sequence.Program
	all      []*traveler
	steps    sequence.Steps
}

// traveler is an enrollment that moves.
type traveler struct {
	*sequence.Enrollment
	program *sequence.Program
	action  *sequence.Why // what has become of the action that it is at
	done    bool          // it waits, or has ended
}

func newWork(ctx context.Context, tx *sqldb.DB, t id.Tenant, list []sequence.Enrollment, e *Engine, now time.Time) (*work, error) {
	effects, err := newEffects(ctx, tx, t, e.Log, e.Box, now)
	if err != nil {
		return nil, err
	}
	w := &work{effects: effects, providers: &e.providers, programs: map[id.Sequence]*sequence.Program{}}
	w.zone = w.account.Location()
	if w.env, err = segment.Env(ctx, tx, t, now); err != nil {
		return nil, err
	}
	sequences, contacts := map[id.Sequence]bool{}, map[id.Contact]bool{}
	var seqIDs []id.Sequence
	var contactIDs []id.Contact
	for _, e := range list {
		if !sequences[e.Sequence] {
			sequences[e.Sequence] = true
			seqIDs = append(seqIDs, e.Sequence)
		}
		if !contacts[e.Contact] {
			contacts[e.Contact] = true
			contactIDs = append(contactIDs, e.Contact)
		}
	}
	loaded, err := sequence.ByID(ctx, tx, t, seqIDs)
	if err != nil {
		return nil, err
	}
	for s, q := range loaded {
		w.programs[s] = sequence.Compile(q, w.env)
	}
	if err := w.reload(ctx, contactIDs); err != nil {
		return nil, err
	}
	for i := range list {
		w.all = append(w.all, &traveler{Enrollment: &list[i], program: w.programs[list[i].Sequence]})
	}
	return w, nil
}

// run carries out steps until every enrollment waits or has ended, and stores the result.
func (w *work) run(ctx context.Context) error {
	// A change of the sequence holds from its commit on, but reaches enrollments page by page. Each follows
	// it here before it does anything, so that nothing is sent from a sequence that was paused.
	for _, t := range w.all {
		behind := t.program != nil && t.program.Settle(t.Enrollment)
		switch {
		case t.ExitedAt != nil, t.Status == sequence.Waiting: // it followed a change of the sequence
			t.done = true
		case behind && !t.Arrived && t.DueAt.After(w.now):
			t.done = true
		case t.program == nil, w.people[t.Contact] == nil || w.people[t.Contact].AnonymizedAt != nil:
			w.end(t, sequence.Exited, sequence.ReasonDeleted)
		// Enrolled while the sequence was paused or archived by another transaction.
		case t.program.Status == sequence.Paused: // Resume makes it due
			t.Hold(w.now)
			t.done = true
		case t.program.Status != sequence.Active:
			w.end(t, sequence.Exited, sequence.ReasonArchived)
		}
	}
	// Exits and goals are looked at before each step: the step before may have changed the contact. A loop
	// of steps without waits would otherwise keep the transaction open until it fails; the rest of its
	// enrollments are still due, and the next Tick continues them.
	for range maxRounds {
		if err := w.leave(ctx); err != nil {
			return err
		}
		groups := w.groups()
		if len(groups) == 0 {
			break
		}
		for _, g := range groups {
			if err := w.step(ctx, g); err != nil {
				return fmt.Errorf("node %s of sequence %s: %w", g[0].Node, g[0].Sequence, err)
			}
		}
	}
	// Both append to the journal, so they come last: from then on, this transaction holds up all followers
	// of the tenant's group.
	if err := w.finish(ctx); err != nil {
		return err
	}
	for _, t := range w.all {
		w.steps.Enrollments = append(w.steps.Enrollments, *t.Enrollment)
	}
	return sequence.SaveSteps(ctx, w.tx, w.tenant, w.steps, w.now)
}

// groups returns the enrollments that have a step to do, by node.
func (w *work) groups() [][]*traveler {
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
func (w *work) end(t *traveler, status sequence.EnrollmentStatus, reason sequence.Reason) {
	t.Finish(status, reason, w.now)
	t.done = true
}

// goTo moves an enrollment from its node along the way out with a label.
func (w *work) goTo(t *traveler, label string, why *sequence.Why) {
	from, to := t.Node, t.program.Next(t.Node, label)
	w.steps.Pass(t.Sequence, from, to)
	t.Leave(label, why)
	w.enter(t, to)
}

// enter moves an enrollment to a node; "" is the end of the path.
func (w *work) enter(t *traveler, node string) {
	if node == "" && t.Converted {
		w.end(t, sequence.Exited, sequence.ReasonGoal)
		return
	}
	if node == "" {
		w.end(t, sequence.Completed, "")
		return
	}
	if t.Visits == nil {
		t.Visits = map[string]int{}
	}
	// VisitNumber leaves room for MaxVisits in an enrollment. One more would have the number of a visit of
	// the next enrollment, whose mail the outbox would leave out.
	if t.Visits[node] >= sequence.MaxVisits {
		w.log.Warn("enrollment failed", "tenant", w.tenant, "sequence", t.Sequence, "enrollment", t.ID, "reason", "a node was entered too often", "node", node)
		w.end(t, sequence.Failed, sequence.ReasonError)
		return
	}
	t.Visits[node]++
	t.program.Enter(t.Enrollment, node, w.now)
}

// leave ends the enrollments whose exit conditions hold, and moves those whose goals are reached.
func (w *work) leave(ctx context.Context) error {
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
			if err := w.holding(ctx, p, x.Definition, here, func(t *traveler) { w.end(t, sequence.Exited, sequence.ReasonCondition) }); err != nil {
				return err
			}
		}
		if x := p.Exits; x != nil && x.SegmentLeft != "" {
			if err := w.holding(ctx, p, p.SegmentRule(x.SegmentLeft, false), here, func(t *traveler) { w.end(t, sequence.Exited, sequence.ReasonCondition) }); err != nil {
				return err
			}
		}
		for _, goal := range p.Goals() {
			g, _ := p.Step(goal).(sequence.GoalStep)
			reached := func(t *traveler) {
				if !t.Converted && t.Node != goal {
					w.steps.Pass(t.Sequence, t.Node, goal)
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
func (w *work) holding(ctx context.Context, p *sequence.Program, definition json.RawMessage, list []*traveler, yes func(t *traveler)) error {
	list = slices.DeleteFunc(slices.Clone(list), func(t *traveler) bool { return t.done })
	if len(list) == 0 {
		return nil
	}
	subjects := make([]trigger.Subject, len(list))
	for i, t := range list {
		subjects[i] = trigger.Subject{Contact: t.Contact, Trigger: t.Trigger}
	}
	holds, err := p.Holding(ctx, w.tx, definition, subjects)
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

var errStep = errors.New("the step has no configuration")
