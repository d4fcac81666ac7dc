package lane

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// State is the health of a lane in one word.
type State string

// The states of a lane. A lane that is down is not used while another one is up.
const (
	Healthy  State = "healthy"
	Degraded State = "degraded" // many attempts fail to connect or to log in
	Down     State = "down"     // all do
)

// Health is the recent health of a lane.
type Health struct {
	State     State
	Since     time.Time  // zero: since the lane was created
	LastError string     // of the last failed probe
	ProbedAt  *time.Time // time of the last probe
}

// StatesOf returns the health of each of the lanes.
func StatesOf(ctx context.Context, db *sqldb.DB, t id.Tenant, lanes []id.Lane) (map[id.Lane]Health, error) {
	all := make(map[id.Lane]Health, len(lanes))
	for _, l := range lanes {
		all[l] = Health{State: Healthy}
	}
	rows, err := db.Query(ctx, `
		SELECT mta_config_id, state, since, last_error, probed_at FROM mta_health
		WHERE tenant_id = $1 AND mta_config_id`+db.In(2), t, sqldb.List(db, lanes))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var l id.Lane
		h, err := scanHealth(func(dest ...any) error { return scan(append([]any{&l}, dest...)...) })
		all[l] = h
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the health of MTA configs: %w", err)
	}
	return all, nil
}

// IDs returns the ids of configs.
func IDs(list []Config) []id.Lane {
	ids := make([]id.Lane, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return ids
}

// Stats is the health of a lane and its use today.
type Stats struct {
	Health
	SentToday      int  // messages accepted or permanently refused
	RemainingToday *int // remaining attempts of the day; nil without a daily limit
	Today          spread.Day
	HeldBounces    int // bounces that wait for the operator's decision (package outage)
}

// StatsOf returns the stats of a tenant's lanes. Days are those of the account's time zone.
func StatsOf(ctx context.Context, db *sqldb.DB, t id.Tenant, lanes []Config, now time.Time) (map[id.Lane]Stats, error) {
	ids := IDs(lanes)
	states, err := StatesOf(ctx, db, t, ids)
	if err != nil {
		return nil, err
	}
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return nil, err
	}
	zone := account.Location()
	today := spread.DayOf(now, zone)
	from, to := spread.AllDay.Span(today, zone)
	carried, err := traffic.ByLane(ctx, db, t, ids, from, to)
	if err != nil {
		return nil, err
	}
	held, err := outage.HeldOf(ctx, db, t)
	if err != nil {
		return nil, err
	}
	all := make(map[id.Lane]Stats, len(lanes))
	for _, c := range lanes {
		n := carried[c.ID]
		f := Stats{Health: states[c.ID], Today: today, SentToday: n.Delivered + n.Hard + n.Block}
		if f.Since.IsZero() {
			f.Since = c.CreatedAt
		}
		if most, capped := c.DayCap(today); capped {
			f.RemainingToday = new(max(0, most-f.SentToday-n.Deferred))
		}
		for _, h := range held {
			if h.Lane == c.ID {
				f.HeldBounces += h.Count
			}
		}
		all[c.ID] = f
	}
	return all, nil
}
