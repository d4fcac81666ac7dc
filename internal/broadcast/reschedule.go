package broadcast

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/outbox"
	"packetboat/internal/spread"
	"packetboat/internal/sqldb"
	"packetboat/internal/tenant"
)

// The faults of rescheduling.
var (
	ErrNotSending = fault.New(fault.Conflict, "NOT_SENDING", "only a broadcast that is being sent can be rescheduled")
	ErrNoPlan     = fault.New(fault.Conflict, "NO_SPREAD_PLAN", "the broadcast is not spread over days")
	ErrSkip       = fault.New(fault.Invalid, "INVALID_SKIP", "only days to come can be skipped")
)

// Reschedule replaces the days that a send over days skips, and has what was not
// sent yet planned anew over the days that are left. What is due already leaves
// as planned. Days that have passed may stay in the list if they were in it.
func Reschedule(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, skipped []string, now time.Time) error {
	var p fault.Problems
	checkDays(&p, skipped)
	if err := p.Err(); err != nil {
		return err
	}
	days := daysOf(skipped)
	t, err := tenant.ByID(ctx, db, account)
	if err != nil {
		return err
	}
	today := spread.DayOf(now, t.Location())
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		b, err := lock(ctx, tx, account, bid)
		switch {
		case err != nil:
			return err
		case b.Status != Sending:
			return ErrNotSending.Sayf("a broadcast that is %s cannot be rescheduled", b.Status)
		case !b.Delivery.Spread():
			return ErrNoPlan
		}
		for _, d := range days {
			if d <= today && !slices.Contains(b.Delivery.Skipped, d) {
				return ErrSkip.Sayf("%s cannot be skipped any more", d)
			}
		}
		if slices.Equal(days, b.Delivery.Skipped) {
			return nil
		}
		b.Delivery.Skipped = days
		doc, err := json.Marshal(b.Delivery)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE broadcast SET revision = revision + 1, delivery = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2`,
			account, bid, string(doc), now.UnixMicro())
		if err != nil {
			return fmt.Errorf("reschedule a broadcast: %w", err)
		}
		run, err := LoadRun(ctx, tx, account, bid)
		if err != nil || run.Planning == nil || run.Planning.Stage == Collect {
			return err // it is planned later, with these days
		}
		if err := run.replan(ctx, tx, false); err != nil {
			return err
		}
		return outbox.Hold(ctx, tx, account, string(bid))
	})
}
