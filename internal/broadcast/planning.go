package broadcast

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
)

// Planning is how far the messages of a send have been assigned their times. It is
// there for sends over days, and for those whose lanes may carry only so many a
// day; what else is sent leaves as soon as it is in the outbox.
//
//	Collect ─► ToPlan ─► Assign ─► Planned
//	             ▲                     │
//	             └── rescheduled, or days passed unused
type Planning struct {
	Stage  Stage      `json:"stage"`
	Start  spread.Day `json:"start"`            // the first day of the window
	Again  bool       `json:"again,omitempty"`  // not the first plan of this send
	Missed bool       `json:"missed,omitempty"` // plan only what days that have passed left over

	// What assigning goes by, and how far it has come.
	At           time.Time        `json:"at,omitzero"` // when the plan was made
	Scope        outbox.PlanScope `json:"scope,omitzero"`
	Quotas       []spread.Quota   `json:"quotas,omitempty"`        // until slots are made of them
	HeldBack     map[string]int   `json:"held_back,omitempty"`     // of each lane, how many no day has room for
	SlotsCreated bool             `json:"slots_created,omitempty"` // of the quotas
	Done         id.Contact       `json:"done,omitzero"`           // the last whose message has its time
}

// Stage is a stage of planning.
type Stage string

// The stages.
const (
	Collect Stage = "collect" // the audience is put into the outbox
	ToPlan  Stage = "plan"    // all of it is there, and waits for a plan
	Assign  Stage = "assign"  // the plan is made, messages are assigned their times
	Planned Stage = "done"
)

// Plan records how far the planning of r has come, and extends the lease.
func (r *Run) Plan(ctx context.Context, tx *sqldb.DB, p Planning, until time.Time) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `
		UPDATE broadcast_run SET plan = $4, lease_until = $5
		WHERE tenant_id = $1 AND broadcast_id = $2 AND epoch = $3 AND prepared_at IS NULL`,
		r.Tenant, r.Broadcast, r.Epoch, string(doc), until.UnixMicro())
	if err != nil {
		return fmt.Errorf("record how far a plan has come: %w", err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// again returns how a send is planned once more: all that has not left, or only
// what days that have passed did not send.
func (r Run) again(missed bool) Planning {
	return Planning{Stage: ToPlan, Start: r.Planning.Start, Again: true, Missed: missed}
}

// replan takes a send back to where its messages wait for a plan, and its lease
// from the process that has it. Its send must not be open.
func (r Run) replan(ctx context.Context, tx *sqldb.DB, p Planning) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE broadcast_run SET plan = $3, prepared_at = NULL, lease_until = 0, owner = '', epoch = epoch + 1
		WHERE tenant_id = $1 AND broadcast_id = $2 AND ended_at IS NULL`, r.Tenant, r.Broadcast, string(doc))
	if err != nil {
		return fmt.Errorf("ask for a new plan: %w", err)
	}
	return nil
}

// overdue reports whether days of the plan of r have passed that did not send
// all that was planned for them.
func (r Run) overdue(ctx context.Context, db *sqldb.DB, today spread.Day) (bool, error) {
	if r.Planning == nil || r.Planning.Stage != Planned {
		return false, nil
	}
	return outbox.Overdue(ctx, db, r.Tenant, r.Send, today)
}

// restart lets a paused send go on, once it is planned if it has to be.
func (r Run) restart(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	switch {
	case r.Planning != nil && r.Planning.Stage == Assign: // by a plan of before the pause
		return r.replan(ctx, tx, r.again(false))
	case r.PreparedAt == nil:
		return nil
	case r.Planning != nil:
		t, err := tenant.ByID(ctx, tx, r.Tenant)
		if err != nil {
			return err
		}
		late, err := r.overdue(ctx, tx, spread.DayOf(now, t.Location()))
		if err != nil {
			return err
		}
		if late {
			return r.replan(ctx, tx, r.again(true))
		}
	}
	p, err := outbox.Load(ctx, tx, r.Tenant, r.Send)
	if err != nil {
		return err
	}
	if p.Phase == outbox.Done { // it ended as the broadcast was being paused
		return r.end(ctx, tx, now)
	}
	return outbox.Start(ctx, tx, r.Tenant, r.Send, now)
}

// Replan lets the days that are left of a send take what days that have passed
// did not send. It does so for sends that may be extended: what is left of
// another leaves late rather than never. It reports whether there is something
// to plan.
func Replan(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, today spread.Day) (again bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		again = false
		b, err := lock(ctx, tx, account, bid)
		if err != nil || b.Status != Sending || b.Delivery.Overflow == Holdback {
			return err
		}
		run, err := LoadRun(ctx, tx, account, bid)
		if err != nil || run.PreparedAt == nil {
			return err
		}
		if late, err := run.overdue(ctx, tx, today); err != nil || !late {
			return err
		}
		if err := run.replan(ctx, tx, run.again(true)); err != nil {
			return err
		}
		again = true
		return outbox.LockPlan(ctx, tx, account, b.Send)
	})
	return again, err
}
