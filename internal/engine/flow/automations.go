package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Automations carries out the runs of automations, and deletes those of automations that were deleted.
// Any number of processes may run one.
type Automations struct {
	DB    *sqldb.DB
	Now   func() time.Time
	Log   *slog.Logger
	Box   *secret.Box     // opens the headers of webhooks
	Wake  <-chan struct{} // notified when runs become due; may be nil
	Batch int             // runs in one transaction; 0 means 500
}

// Run carries out runs until ctx ends.
func (e *Automations) Run(ctx context.Context) error {
	return poll.Loop{Poll: e.Tick, Every: every, Wake: e.Wake, Log: e.Log, Failed: "carry out automations failed"}.Run(ctx)
}

// Tick carries out a batch of runs for each tenant that has some, and deletes a page of runs of deleted
// automations. It reports whether there may be more.
func (e *Automations) Tick(ctx context.Context) (more bool, err error) {
	more, err = automation.DeleteRuns(ctx, e.DB, e.batchSize(), e.Now())
	errs := []error{err}
	tenants, err := automation.DueTenants(ctx, e.DB, e.Now())
	errs = append(errs, err)
	for _, t := range tenants {
		n, err := e.batch(ctx, t)
		if err != nil {
			errs = append(errs, fmt.Errorf("tenant %s: %w", t, err))
		}
		more = more || n > 0
	}
	return more, errors.Join(errs...)
}

func (e *Automations) batchSize() int { return cmp.Or(e.Batch, 500) }

func (e *Automations) now() time.Time { return e.Now().UTC().Truncate(time.Microsecond) }

// batch carries out a batch of a tenant's runs, and returns how many it took.
func (e *Automations) batch(ctx context.Context, tenant id.Tenant) (n int, err error) {
	now := e.now()
	var list []automation.Run
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if list, err = automation.Due(ctx, tx, tenant, e.batchSize(), now); err != nil || len(list) == 0 {
			return err
		}
		return e.carryOut(ctx, tx, tenant, list, now)
	})
	if err == nil || len(list) == 0 || ctx.Err() != nil {
		return len(list), err
	}
	return e.eachAlone(ctx, tenant, list, err)
}

// eachAlone carries out runs whose common transaction failed, each in one of its own, so that one run
// does not hold up the others. Those that fail alone are postponed.
func (e *Automations) eachAlone(ctx context.Context, tenant id.Tenant, list []automation.Run, cause error) (n int, err error) {
	e.Log.Warn("runs are carried out one by one", "tenant", tenant, "runs", len(list), "err", cause)
	for _, r := range list {
		now := e.now()
		err := e.DB.InTx(ctx, func(tx *sqldb.DB) error {
			one, err := automation.DueOne(ctx, tx, tenant, r.ID, now)
			if err != nil || len(one) == 0 {
				return err
			}
			return e.carryOut(ctx, tx, tenant, one, now)
		})
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		if err != nil {
			e.Log.Error("carry out run failed", "tenant", tenant, "automation", r.Automation, "run", r.ID, "err", err)
			if err := automation.Postpone(ctx, e.DB, tenant, r.ID, now); err != nil {
				return n, err
			}
		}
		n++
	}
	return n, nil
}

// running is a run that is being carried out.
type running struct {
	automation.Run
	of      automation.Automation
	results []automation.Result
}

// carryOut carries out runs that are locked, with all their effects, and stores their results.
func (e *Automations) carryOut(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []automation.Run, now time.Time) error {
	effects, err := newEffects(ctx, tx, tenant, e.Log, e.Box, now)
	if err != nil {
		return err
	}
	var automations []id.Automation
	var contacts []id.Contact
	for _, r := range list {
		automations, contacts = append(automations, r.Automation), append(contacts, r.Contact)
	}
	loaded, err := automation.ByID(ctx, tx, tenant, unique(automations))
	if err != nil {
		return err
	}
	if err := effects.reload(ctx, unique(contacts)); err != nil {
		return err
	}
	var ended []automation.Run
	var rest []*running
	for _, r := range list {
		a, ok := loaded[r.Automation]
		c := effects.people[r.Contact]
		switch {
		case c == nil || c.AnonymizedAt != nil || c.Status == contact.Suppressed:
			ended = append(ended, r.Skip(automation.ReasonContact, now))
		case !ok || a.Status != automation.Active:
			ended = append(ended, r.Skip(automation.ReasonInactive, now))
		default:
			rest = append(rest, &running{Run: r, of: a})
		}
	}
	for _, turn := range inTurns(rest) {
		if err := effects.actAll(ctx, turn); err != nil {
			return err
		}
	}
	// These append to the journal or lock what other transactions need, so they come last.
	if err := effects.finish(ctx); err != nil {
		return err
	}
	for _, r := range rest {
		ended = append(ended, r.Carried(r.results, now))
	}
	return automation.Save(ctx, tx, tenant, ended)
}

// unique returns the ids of a list, each once, in order.
func unique[T ~[16]byte](list []T) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, id.Compare)
	return slices.Compact(list)
}

// inTurns divides runs so that a turn has at most one of each contact, and the runs of a contact are in the
// order of the list.
func inTurns(list []*running) [][]*running {
	var all [][]*running
	number := map[id.Contact]int{}
	for _, r := range list {
		n := number[r.Contact]
		number[r.Contact]++
		if n == len(all) {
			all = append(all, nil)
		}
		all[n] = append(all[n], r)
	}
	return all
}

// actAll carries out all actions of runs of different contacts. Those of the same automation are one
// operation.
func (e *effects) actAll(ctx context.Context, list []*running) error {
	byAutomation := map[id.Automation][]*running{}
	var order []id.Automation
	for _, r := range list {
		if byAutomation[r.Automation] == nil {
			order = append(order, r.Automation)
		}
		byAutomation[r.Automation] = append(byAutomation[r.Automation], r)
	}
	slices.SortFunc(order, id.Compare)
	for _, a := range order {
		group := byAutomation[a]
		for i, step := range group[0].of.Steps() {
			subjects := runSubjects(group, i)
			if step == nil {
				for _, s := range subjects {
					s.failed(noConfiguration, "the action has no valid configuration")
				}
				continue
			}
			if err := e.act(ctx, subjects, step); err != nil {
				return fmt.Errorf("action %d of automation %s: %w", i, a, err)
			}
		}
	}
	return nil
}

// runSubjects returns runs of an automation as the subjects of one of its actions, and adds the result of
// the action to the runs, which the subjects change.
func runSubjects(group []*running, action int) []*subject {
	of := group[0].of
	as := &actor{kind: "automation", id: of.ID.String(), name: of.Name, call: "automation.action"}
	list := make([]*subject, len(group))
	for i, r := range group {
		r.results = append(r.results, automation.Result{Type: of.Actions[action].Type, Status: automation.ActionDone})
		note := func(status automation.ActionStatus) func(string, string) {
			return func(_, reason string) {
				r.results[action].Status, r.results[action].Reason = status, automation.Sentence(reason)
			}
		}
		list[i] = &subject{
			contact: r.Contact, trigger: r.Trigger, actor: as, data: map[string]any{"run_id": r.ID, "action": action},
			skipped: note(automation.ActionSkipped), failed: note(automation.ActionFailed),
		}
	}
	return list
}
