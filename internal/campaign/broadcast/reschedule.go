package broadcast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of rescheduling.
var (
	ErrNotSending = fault.New(fault.Conflict, "NOT_SENDING", "only a broadcast that is being sent can be rescheduled")
	ErrNoPlan     = fault.New(fault.Conflict, "NO_SPREAD_PLAN", "the broadcast is not spread over days")
	ErrSkip       = fault.New(fault.Invalid, "INVALID_SKIP", "only days to come can be skipped")
)

// planTime is how long a call to Reschedule may take to make the plan. Counting the messages of a
// send takes some seconds for millions.
const planTime = 8 * time.Second

// releaseTime is how long releasing the lease may take; otherwise it expires.
const releaseTime = 2 * time.Second

// planPollInterval is the interval at which such a call polls for a plan made by another.
const planPollInterval = 50 * time.Millisecond

// Reschedule replaces the days that a send over days skips, and plans the messages not sent yet
// over the remaining days. Messages already due are sent as planned. Past days may remain in the
// list if they were in it before.
//
// The plan is made before Reschedule returns, under the lease of the run, which the transaction
// that replaces the days takes over from an engine. An engine assigns the due times afterwards. If
// planning takes too long, or the process dies, an engine makes the plan as well.
func Reschedule(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, skipped []string, now time.Time) error {
	return reschedule(ctx, db, account, bid, skipped, now, planTime)
}

func reschedule(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, skipped []string, now time.Time, within time.Duration) error {
	var p fault.Problems
	checkDays(&p, skipped)
	if err := p.Err(); err != nil {
		return err
	}
	t, err := tenant.ByID(ctx, db, account)
	if err != nil {
		return err
	}
	var b Broadcast
	var run *Run
	err = db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		b, run, err = replaceSkipped(ctx, tx, t, bid, daysOf(skipped), now)
		return err
	})
	if err != nil || run == nil {
		return err
	}
	brief, cancel := fault.Within(ctx, within)
	defer cancel()
	err = run.MakePlan(brief, db, t, b, now)
	if e := release(ctx, db, *run); err == nil {
		err = e
	}
	if errors.Is(err, ErrLeaseLost) { // taken over by a later call, or the send was paused
		err = awaitPlan(brief, db, account, bid)
	}
	if fault.Late(brief) && !fault.Late(ctx) {
		return nil // an engine makes the plan
	}
	return err
}

// replaceSkipped replaces the days that a send skips. It returns the updated broadcast, and its run
// with a lease if it has to be planned now.
func replaceSkipped(ctx context.Context, tx *sqldb.DB, t tenant.Tenant, bid id.Broadcast, days []spread.Day, now time.Time) (Broadcast, *Run, error) {
	b, err := lockBroadcast(ctx, tx, t.ID, bid)
	if err != nil {
		return b, nil, err
	}
	if err := Revisions.Check(ctx, tx, t.ID, bid); err != nil {
		return b, nil, err
	}
	switch {
	case b.Status != Sending:
		return b, nil, ErrNotSending.Sayf("a broadcast that is %s cannot be rescheduled", b.Status)
	}
	if err := b.checkSkips(days, spread.DayOf(now, t.Location())); err != nil {
		return b, nil, err
	}
	same := slices.Equal(days, b.Delivery.Skipped)
	if !same {
		b.Delivery.Skipped = days
		doc, err := json.Marshal(b.Delivery)
		if err != nil {
			return b, nil, err
		}
		_, err = tx.Exec(ctx, `
			UPDATE broadcast SET revision = revision + 1, revised_by = $5, delivery = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2`,
			t.ID, bid, string(doc), now.UnixMicro(), revision.By(ctx))
		if err != nil {
			return b, nil, fmt.Errorf("reschedule a broadcast: %w", err)
		}
	}
	run, err := LoadRun(ctx, tx, t.ID, bid)
	if err != nil || run.Planning == nil || run.Planning.Stage == Collect || same && run.Planning.Stage != ToPlan {
		return b, nil, err // it will be planned with these days, or was already
	}
	plan := run.again(false)
	if same { // another call or an engine is making this plan: take it over
		plan = *run.Planning
	}
	if err := run.replan(ctx, tx, plan); err != nil {
		return b, nil, err
	}
	if err := outbox.LockPlan(ctx, tx, t.ID, b.Send); err != nil {
		return b, nil, err
	}
	owner := "reschedule " + id.NewText()
	run, ok, err := Lease(ctx, tx, t.ID, bid, owner, now, now.Add(PlanLease))
	if err != nil || !ok {
		return b, nil, err
	}
	return b, &run, nil
}

// release releases the lease of a run, even if the request was canceled, and wakes an engine to
// continue.
func release(ctx context.Context, db *sqldb.DB, run Run) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	err := run.Release(ctx, db)
	db.Notify(Wake)
	return err
}

// awaitPlan waits until a send has left the stage ToPlan.
func awaitPlan(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast) error {
	tick := time.NewTicker(planPollInterval)
	defer tick.Stop()
	for {
		b, err := Head(ctx, db, account, bid)
		if err != nil || b.Status != Sending {
			return err
		}
		run, err := LoadRun(ctx, db, account, bid)
		if err != nil || run.Planning == nil || run.Planning.Stage != ToPlan {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
