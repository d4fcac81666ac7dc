package broadcast

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Planning is the progress of assigning due times to the messages of a send. Sends over several
// days have it, and those by lanes with a daily limit. Other messages are due as soon as they are
// in the outbox.
//
//	Collect ─► ToPlan ─► Assign ─► Planned
//	             ▲                     │
//	             └── rescheduled, or messages left over from past days
type Planning struct {
	Stage  Stage      `json:"stage"`
	Start  spread.Day `json:"start"`            // first day of the window
	Again  bool       `json:"again,omitempty"`  // not the first plan of this send
	Missed bool       `json:"missed,omitempty"` // plan only the messages left over from past days

	// State of stage Assign.
	At           time.Time        `json:"at,omitzero"` // when the plan was made
	Scope        outbox.PlanScope `json:"scope,omitzero"`
	Quotas       []spread.Quota   `json:"quotas,omitempty"`        // until slots are created from them
	HeldBack     map[string]int   `json:"held_back,omitempty"`     // by lane, number of messages without capacity on any day
	SlotsCreated bool             `json:"slots_created,omitempty"` // from the quotas
	Done         id.Contact       `json:"done,omitzero"`           // last contact whose message has its due time
}

// Stage is a stage of planning.
type Stage string

// The stages.
const (
	Collect Stage = "collect" // the audience is being added to the outbox
	ToPlan  Stage = "plan"    // the audience is complete, no plan yet
	Assign  Stage = "assign"  // there is a plan; due times are being assigned
	Planned Stage = "done"
)

// Plan stores the planning state of r and extends the lease.
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
		return fmt.Errorf("store the state of a plan: %w", err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// again returns the initial state of another plan: of all messages not sent yet, or only of those
// left over from past days.
func (r Run) again(missed bool) Planning {
	return Planning{Stage: ToPlan, Start: r.Planning.Start, Again: true, Missed: missed}
}

// replan returns a send to the stage of p and revokes the current lease. The send must not be open.
func (r Run) replan(ctx context.Context, tx *sqldb.DB, p Planning) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE broadcast_run SET plan = $3, prepared_at = NULL, lease_until = 0, owner = '', epoch = epoch + 1
		WHERE tenant_id = $1 AND broadcast_id = $2 AND ended_at IS NULL`, r.Tenant, r.Broadcast, string(doc))
	if err != nil {
		return fmt.Errorf("request a new plan: %w", err)
	}
	return nil
}

// overdue reports whether messages planned for past days of r were not sent.
func (r Run) overdue(ctx context.Context, db *sqldb.DB, today spread.Day) (bool, error) {
	if r.Planning == nil || r.Planning.Stage != Planned {
		return false, nil
	}
	return outbox.Overdue(ctx, db, r.Tenant, r.Send, today)
}

// restart continues a paused send, after planning it again if necessary.
func (r Run) restart(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	switch {
	case r.Planning != nil && r.Planning.Stage == Assign: // the plan is older than the pause
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
	if p.Phase == outbox.Done { // the send ended while the broadcast was being paused
		if ended, err := r.copiesEnded(ctx, tx, Sending); err != nil || !ended {
			return err
		}
		return r.end(ctx, tx, p, now)
	}
	return outbox.Start(ctx, tx, r.Tenant, r.Send, now)
}

// Replan moves messages left over from past days to the remaining days of a send. It does so only
// if the send may be extended; otherwise they stay due and are sent late. It reports whether there
// is something to plan.
func Replan(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, today spread.Day) (again bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		again = false
		b, err := lockBroadcast(ctx, tx, account, bid)
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
