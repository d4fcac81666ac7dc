package score

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Decay lets the scores fade of contacts with which nothing happens: for every
// stretch of days without activity, without points too, the
// settings' share goes, rounded down. Both scores fade. It goes the round of all
// tenants, and rests in between. Any number of processes may run one: a score
// that has faded is not idle any more, so no stretch is counted twice.
type Decay struct {
	DB    *sqldb.DB
	Log   *slog.Logger
	Now   func() time.Time
	Every time.Duration // between rounds; 0 means an hour

	tenant id.Tenant // whose turn it is
	on     settled   // and how far it has come
	rested time.Time // when the last round ended
}

// settled is a tenant's settings during its turn.
type settled struct {
	Settings
	after contact.Scored
}

// fadePage is how many contacts fade per transaction.
const fadePage = 500

func (d *Decay) every() time.Duration { return cmp.Or(d.Every, time.Hour) }

// Run works until ctx ends.
func (d *Decay) Run(ctx context.Context) error {
	return poll.Loop{Look: d.Tick, Every: min(d.every(), time.Minute), Log: d.Log, Failed: "decay scores failed"}.Run(ctx)
}

// Tick lets a page of scores fade, or goes on to the next tenant. It reports
// whether the round goes on.
func (d *Decay) Tick(ctx context.Context) (more bool, err error) {
	now := d.Now()
	if d.tenant == 0 && now.Sub(d.rested) < d.every() {
		return false, nil
	}
	if d.tenant != 0 && d.on.Enabled && d.on.Decay.Percent > 0 {
		more, err := d.fade(ctx, now)
		if more || err != nil {
			return more, err
		}
	}
	next, err := contact.NextTenantWithScores(ctx, d.DB, d.tenant)
	if err != nil {
		return false, err
	}
	if next == 0 {
		d.tenant, d.rested = 0, now
		return false, forget(ctx, d.DB, now)
	}
	s, err := Load(ctx, d.DB, next)
	if err != nil {
		return false, err
	}
	d.tenant, d.on = next, settled{Settings: s}
	return true, nil
}

// fade is one page of the tenant whose turn it is.
func (d *Decay) fade(ctx context.Context, now time.Time) (more bool, err error) {
	stretch := time.Duration(d.on.Decay.AfterDays) * 24 * time.Hour
	after := d.on.after
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		more = false
		list, err := contact.LockIdleScores(ctx, tx, d.tenant, now.Add(-stretch), d.on.after, fadePage)
		if err != nil || len(list) == 0 {
			return err
		}
		more, after = len(list) == fadePage, list[len(list)-1]
		var entries []journal.Entry
		for i := range list {
			c := &list[i]
			for _, score := range []struct {
				name  string
				value *float64
			}{{Prospect, &c.Prospect}, {Customer, &c.Customer}} {
				from := *score.value
				*score.value = d.on.faded(from, int64(now.Sub(c.Since)/stretch))
				if *score.value != from {
					entries = append(entries, journal.Entry{
						Tenant: d.tenant, Type: journal.ScoreChanged, Contact: c.Contact, At: now,
						Data: Moved{Score: score.name, From: from, To: *score.value, Decay: true},
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
		return false, fmt.Errorf("let scores fade: %w", err)
	}
	d.on.after = after
	return more, nil
}

// faded returns what is left of a score after some stretches without activity.
func (s Settings) faded(v float64, stretches int64) float64 {
	for ; stretches > 0 && v > 0; stretches-- {
		v = math.Floor(v * float64(100-s.Decay.Percent) / 100)
	}
	return s.clamp(v)
}
