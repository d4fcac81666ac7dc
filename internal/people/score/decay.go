package score

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Decay reduces both scores of inactive contacts: for each period of the settings without
// activity or points, by the settings' percentage, rounded down. It goes through all
// tenants in rounds. Any number of processes may run it: a score that was reduced counts as
// changed, so no period counts twice.
type Decay struct {
	DB    *sqldb.DB
	Log   *slog.Logger
	Now   func() time.Time
	Every time.Duration // between rounds; 0 means an hour

	tenant     id.Tenant  // being processed; 0: none
	state      decayState // of tenant
	roundEnded time.Time  // when the last round ended
}

// decayState is the settings of a tenant and the last contact of the previous page.
type decayState struct {
	Settings
	after contact.Scored
}

// decayPageSize is the number of contacts of one transaction.
const decayPageSize = 500

func (d *Decay) every() time.Duration { return cmp.Or(d.Every, time.Hour) }

// Run works until ctx ends.
func (d *Decay) Run(ctx context.Context) error {
	return poll.Loop{Poll: d.Tick, Every: min(d.every(), time.Minute), Log: d.Log, Failed: "decay scores failed"}.Run(ctx)
}

// Tick decays a page of scores, or goes on to the next tenant. It reports whether the round
// continues.
func (d *Decay) Tick(ctx context.Context) (more bool, err error) {
	now := d.Now()
	if d.tenant == 0 && now.Sub(d.roundEnded) < d.every() {
		return false, nil
	}
	if d.tenant != 0 && d.state.Enabled && d.state.Decay.Percent > 0 {
		more, err := d.decayPage(ctx, now)
		if more || err != nil {
			return more, err
		}
	}
	next, err := contact.NextTenantWithScores(ctx, d.DB, d.tenant)
	if err != nil {
		return false, err
	}
	if next == 0 {
		d.tenant, d.roundEnded = 0, now
		return false, deleteOldCounts(ctx, d.DB, now)
	}
	s, err := Load(ctx, d.DB, next)
	if err != nil {
		return false, err
	}
	d.tenant, d.state = next, decayState{Settings: s}
	return true, nil
}

// decayPage decays the next page of the tenant's scores.
func (d *Decay) decayPage(ctx context.Context, now time.Time) (more bool, err error) {
	period := time.Duration(d.state.Decay.AfterDays) * 24 * time.Hour
	after := d.state.after
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		more = false
		list, err := contact.LockIdleScores(ctx, tx, d.tenant, now.Add(-period), d.state.after, decayPageSize)
		if err != nil || len(list) == 0 {
			return err
		}
		more, after = len(list) == decayPageSize, list[len(list)-1]
		var entries []journal.Entry
		for i := range list {
			c := &list[i]
			for _, score := range []struct {
				name  string
				value *float64
			}{{Prospect, &c.Prospect}, {Customer, &c.Customer}} {
				from := *score.value
				*score.value = d.state.decayed(from, int64(now.Sub(c.Since)/period))
				if *score.value != from {
					entries = append(entries, journal.Entry{
						Tenant: d.tenant, Type: journal.ScoreChanged, Contact: c.Contact, At: now,
						Data: Changed{Score: score.name, From: from, To: *score.value, Decay: true},
					})
				}
			}
		}
		if err := contact.SaveScores(ctx, tx, d.tenant, list, now); err != nil {
			return err
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err != nil {
		return false, fmt.Errorf("decay scores: %w", err)
	}
	d.state.after = after
	return more, nil
}

// decayed returns a score after a number of periods without activity.
func (s Settings) decayed(v float64, periods int64) float64 {
	for ; periods > 0 && v > 0; periods-- {
		v = math.Floor(v * float64(100-s.Decay.Percent) / 100)
	}
	return s.clamp(v)
}
