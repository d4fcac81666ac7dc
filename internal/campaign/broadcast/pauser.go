package broadcast

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Pauser returns the outbox.Pauser for broadcasts.
func Pauser() outbox.Pauser { return pauser{} }

type pauser struct{}

// PauseStuck implements outbox.Pauser. A broadcast whose status was changed concurrently is
// skipped.
func (pauser) PauseStuck(ctx context.Context, db *sqldb.DB, tenants map[id.Tenant]bool, downSince, now time.Time) ([]outbox.PausedSend, error) {
	runs, err := OpenRuns(ctx, db)
	if err != nil {
		return nil, err
	}
	var paused []outbox.PausedSend
	var errs []error
	for _, r := range runs {
		if r.Status != Sending || !tenants[r.Tenant] {
			continue
		}
		why, err := r.stuck(ctx, db, downSince)
		if err == nil && why != "" {
			err = Pause(ctx, db, r.Tenant, r.Broadcast, why, now)
		}
		switch {
		case errors.Is(err, ErrTransition), errors.Is(err, ErrNotFound):
		case err != nil:
			errs = append(errs, err)
		case why != "":
			paused = append(paused, outbox.PausedSend{Tenant: r.Tenant, Kind: "broadcast", ID: r.Broadcast.String(), Reason: string(why)})
		}
	}
	return paused, errors.Join(errs...)
}

// stuck returns the reason to pause the run, or "" if there is none.
func (r Run) stuck(ctx context.Context, db *sqldb.DB, downSince time.Time) (PauseReason, error) {
	paused, err := r.DomainPaused(ctx, db)
	if err != nil {
		return "", err
	}
	if paused {
		return DomainPaused, nil
	}
	since, down, err := r.LanesDown(ctx, db)
	if err != nil || !down || since.After(downSince) {
		return "", err
	}
	return CapacityCollapsed, nil
}
