package broadcast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Schedule moves a draft to scheduled after checking every guard. The move fails if the broadcast
// was edited while the guards were checked; it is then tried again.
//
// A time in the past means at once. Without a time the broadcast is scheduled and does not start.
func Schedule(ctx context.Context, db *sqldb.DB, account id.Tenant, bid id.Broadcast, now time.Time) error {
	_, err := revision.Retry(func() (Broadcast, error) {
		b, err := Load(ctx, db, account, bid)
		if err != nil {
			return Broadcast{}, err
		}
		if err := b.compare(ctx, db); err != nil {
			return Broadcast{}, err
		}
		if !b.Can(ActionSchedule) {
			return Broadcast{}, refused(ctx, db, account, bid)
		}
		ready, err := Ready(ctx, db, b, now)
		if err != nil {
			return Broadcast{}, fmt.Errorf("check the guards: %w", err)
		}
		if err := ready.Err(); err != nil {
			return Broadcast{}, err
		}
		if err := checkWindow(ctx, db, b, now); err != nil {
			return Broadcast{}, err
		}
		return b, db.InTx(ctx, func(tx *sqldb.DB) error {
			at, err := lockBroadcast(ctx, tx, account, bid)
			if err != nil {
				return err
			}
			if at.Revision != b.Revision {
				return revision.ErrOvertaken
			}
			return transition{from: ActionSchedule.from(), to: Scheduled, entry: journal.BroadcastScheduled}.apply(ctx, tx, account, bid, now)
		})
	})
	return err
}

// checkWindow returns an error if the last day of the window is before the start of the send.
func checkWindow(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) error {
	if b.Delivery.Mode != ByDate {
		return nil
	}
	t, err := tenant.ByID(ctx, db, b.Tenant)
	if err != nil {
		return err
	}
	first, why := spread.DayOf(now, t.Location()), "today"
	if b.ScheduledAt != nil && b.ScheduledAt.After(now) {
		first, why = spread.DayOf(*b.ScheduledAt, t.Location()), "the day of scheduled_at"
	}
	var p fault.Problems
	b.Delivery.checkRequired(&p, first, why+", "+string(first))
	return p.Err()
}

// AvailableNow returns the available actions, without resuming while the cause of the pause persists.
func (b Broadcast) AvailableNow(ctx context.Context, db *sqldb.DB) ([]Action, error) {
	actions := b.Available()
	if b.Status != Paused {
		return actions, nil
	}
	persists, err := causePersists(ctx, db, b)
	if err != nil || !persists {
		return actions, err
	}
	return slices.DeleteFunc(actions, func(a Action) bool { return a == ActionResume }), nil
}

// causePersists reports whether the cause for which the platform paused b still exists.
func causePersists(ctx context.Context, tx *sqldb.DB, b Broadcast) (bool, error) {
	switch b.PauseReason {
	case TenantPaused:
		t, err := tenant.ByID(ctx, tx, b.Tenant)
		return t.Status != tenant.Active, err
	case CapacityCollapsed:
		run, err := LoadRun(ctx, tx, b.Tenant, b.ID)
		if err != nil {
			return false, err
		}
		_, down, err := run.LanesDown(ctx, tx)
		return down, err
	case DomainPaused:
		run, err := LoadRun(ctx, tx, b.Tenant, b.ID)
		if err != nil {
			return false, err
		}
		return run.DomainPaused(ctx, tx)
	}
	return false, nil
}

// anyDomainPaused reports whether one of the sending domains of the routes is paused.
func anyDomainPaused(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, routes []route.Route) (bool, error) {
	domains, err := sender.Domains(ctx, tx, tenant)
	if err != nil {
		return false, err
	}
	for _, r := range routes {
		identity, err := sender.IdentityByID(ctx, tx, tenant, r.Identity)
		if errors.Is(err, sender.ErrIdentityNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(domains, func(d sender.Domain) bool { return d.ID == identity.Domain && d.Paused }) {
			return true, nil
		}
	}
	return false, nil
}
