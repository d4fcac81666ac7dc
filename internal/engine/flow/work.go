package flow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
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
	walk      walk
	providers *maildomain.Providers
	steps     sequence.Steps
}

func newWork(ctx context.Context, tx *sqldb.DB, t id.Tenant, list []sequence.Enrollment, e *Engine, now time.Time) (*work, error) {
	effects, err := newEffects(ctx, tx, t, e.Log, e.Box, now)
	if err != nil {
		return nil, err
	}
	w := &work{effects: effects, providers: &e.providers}
	w.walk = walk{log: e.Log, zone: w.account.Location(), people: w.people, programs: map[id.Sequence]*sequence.Program{}, deeds: w}
	env, err := segment.Env(ctx, tx, t, now)
	if err != nil {
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
		w.walk.programs[s] = sequence.Compile(q, env)
	}
	if err := w.reload(ctx, contactIDs); err != nil {
		return nil, err
	}
	for i := range list {
		w.walk.all = append(w.walk.all, &traveler{Enrollment: &list[i], program: w.walk.programs[list[i].Sequence], now: now})
	}
	return w, nil
}

// run carries out steps until every enrollment waits or has ended, and stores the result.
func (w *work) run(ctx context.Context) error {
	// A change of the sequence holds from its commit on, but reaches enrollments page by page. Each follows
	// it here before it does anything, so that nothing is sent from a sequence that was paused.
	for _, t := range w.walk.all {
		behind := t.program != nil && t.program.Settle(t.Enrollment)
		switch {
		case t.ExitedAt != nil, t.Status == sequence.Waiting: // it followed a change of the sequence
			t.done = true
		case behind && !t.Arrived && t.DueAt.After(w.now):
			t.done = true
		case t.program == nil, w.people[t.Contact] == nil || w.people[t.Contact].AnonymizedAt != nil:
			t.end(sequence.Exited, sequence.ReasonDeleted)
		// Enrolled while the sequence was paused or archived by another transaction.
		case t.program.Status == sequence.Paused: // Resume makes it due
			t.Hold(w.now)
			t.done = true
		case t.program.Status != sequence.Active:
			t.end(sequence.Exited, sequence.ReasonArchived)
		}
	}
	// A loop of steps without waits would otherwise keep the transaction open until it fails; the rest of its
	// enrollments are still due, and the next Tick continues them.
	for range maxRounds {
		if more, err := w.walk.round(ctx); err != nil {
			return err
		} else if !more {
			break
		}
	}
	// Both append to the journal, so they come last: from then on, this transaction holds up all followers
	// of the tenant's group.
	if err := w.finish(ctx); err != nil {
		return err
	}
	for _, t := range w.walk.all {
		w.steps.Enrollments = append(w.steps.Enrollments, *t.Enrollment)
	}
	return sequence.SaveSteps(ctx, w.tx, w.tenant, w.steps, w.now)
}

// holding returns the enrollments for whose contacts a rule holds, by index.
func (w *work) holding(ctx context.Context, p *sequence.Program, definition json.RawMessage, list []*traveler) ([]bool, error) {
	return p.Holding(ctx, w.tx, definition, subjectsOf(list))
}

// passed counts that enrollments left a node for another.
func (w *work) passed(t *traveler, _, to string) { w.steps.Pass(t.Sequence, t.Node, to) }

// jumped counts that enrollments left a node for a goal.
func (w *work) jumped(t *traveler, goal string) { w.steps.Pass(t.Sequence, t.Node, goal) }
