package broadcast

import (
	"context"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// LanesDown reports whether all lanes that could carry the remaining messages of the run are down,
// and since when. Lanes that are inactive or deleted are not considered.
func (r Run) LanesDown(ctx context.Context, db *sqldb.DB) (since time.Time, down bool, err error) {
	terms, err := outbox.LoadTerms(ctx, db, r.Tenant, r.Send)
	if err != nil {
		return time.Time{}, false, err
	}
	all, err := lane.List(ctx, db, r.Tenant)
	if err != nil {
		return time.Time{}, false, err
	}
	ours := route.Lanes(terms.Routes)
	var usable []id.Lane
	for _, c := range all {
		if slices.Contains(ours, c.ID) && c.Active {
			usable = append(usable, c.ID)
		}
	}
	states, err := lane.StatesOf(ctx, db, r.Tenant, usable)
	if err != nil {
		return time.Time{}, false, err
	}
	for _, h := range states {
		if h.State != lane.Down {
			return time.Time{}, false, nil
		}
		if h.Since.After(since) {
			since = h.Since
		}
	}
	return since, len(usable) > 0, nil
}

// DomainPaused reports whether one of the run's sending domains is paused.
func (r Run) DomainPaused(ctx context.Context, db *sqldb.DB) (bool, error) {
	terms, err := outbox.LoadTerms(ctx, db, r.Tenant, r.Send)
	if err != nil {
		return false, err
	}
	return anyDomainPaused(ctx, db, r.Tenant, terms.Routes)
}
