// Package watch detects problems of sending: lanes that do not work, sends without a working lane,
// domains with too many bounces or complaints, and outages of providers' directories.
//
// It reads the counts of package traffic, which deliver writes. It only pauses; resuming is up to a
// user. It knows what can be paused as a list of outbox.Pausers. It runs on one process at a time.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	tickInterval    = 10 * time.Second // interval of ticks
	domainInterval  = time.Minute      // interval of checking domains and warm-ups
	pruneInterval   = 10 * time.Minute
	downBeforePause = 10 * time.Minute // how long all lanes of a send are down before it is paused
)

// Engine is the watch. Its fields must not be changed after Run was called.
type Engine struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Now          func() time.Time
	Log          *slog.Logger
	AllowPrivate bool            // lanes may have private addresses
	SESEndpoint  string          // replaces the address of SES; for tests
	Pausers      []outbox.Pauser // one for each kind of source

	domainsCheckedAt time.Time // when domains and warm-ups were last checked
	prunedAt         time.Time // when old traffic was last deleted
}

// Run calls Tick until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	return poll.Loop{Poll: e.Tick, Every: tickInterval, Log: e.Log, Failed: "watch lanes and domains failed"}.Run(ctx)
}

// Tick checks everything that is due. An error in one check does not prevent the others.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	now := e.Now()
	lanes, suspects, err := e.evaluateLanes(ctx, now)
	err = errors.Join(err, e.probeLanes(ctx, now, lanes, suspects))
	if now.Sub(e.domainsCheckedAt) >= domainInterval {
		e.domainsCheckedAt = now
		err = errors.Join(err, e.checkDomains(ctx, now), e.warn(ctx, now), e.raiseWarmups(ctx, now), e.noteDelivered(ctx, now))
	}
	err = errors.Join(err, e.pauseStuckSends(ctx, lanes, now))
	more, failed := e.checkOutages(ctx, now)
	err = errors.Join(err, failed)
	if now.Sub(e.prunedAt) >= pruneInterval {
		e.prunedAt = now
		err = errors.Join(err, traffic.Prune(ctx, e.DB, now), outage.Prune(ctx, e.DB, now))
	}
	return more, err
}

// evaluateLanes evaluates the lanes with recent attempts, and those that were unhealthy. It returns their
// health, and the suspects: lanes that may be down.
func (e *Engine) evaluateLanes(ctx context.Context, now time.Time) (known map[traffic.Lane]lane.Health, suspects map[traffic.Lane]bool, err error) {
	if known, err = lane.LoadHealth(ctx, e.DB); err != nil {
		return nil, nil, err
	}
	recent, err := traffic.Lanes(ctx, e.DB, now.Add(-lane.Window))
	if err != nil {
		return nil, nil, err
	}
	suspects = map[traffic.Lane]bool{}
	for l := range recent {
		if _, ok := known[l]; !ok {
			known[l] = lane.Health{State: lane.Healthy}
		}
	}
	for l, before := range known {
		after := before.Evaluate(recent[l], now)
		if after.State != before.State || after.LastError != before.LastError {
			if noted := e.saveHealth(ctx, l, before, after); noted != nil {
				err = errors.Join(err, noted)
				continue
			}
			known[l] = after
		}
		if after.Suspect(recent[l], now) {
			suspects[l] = true
		}
	}
	return known, suspects, err
}

// noteDelivered records which lanes need no test, because mail was delivered through them.
func (e *Engine) noteDelivered(ctx context.Context, now time.Time) error {
	recent, err := traffic.Lanes(ctx, e.DB, now.Add(-lane.Window))
	if err != nil {
		return err
	}
	return lane.NoteDelivered(ctx, e.DB, recent, now)
}

// saveHealth stores a changed health of a lane, and logs it.
func (e *Engine) saveHealth(ctx context.Context, l traffic.Lane, before, after lane.Health) error {
	if err := lane.StoreHealth(ctx, e.DB, l, before, after); err != nil {
		return err
	}
	log := e.Log.With("tenant", l.Tenant, "lane", l.Lane)
	switch {
	case before.State == after.State:
	case after.State == lane.Healthy:
		log.Info("lane recovered", "was", string(before.State))
	default:
		log.Warn("lane degraded", "state", string(after.State), "was", string(before.State))
	}
	return nil
}

// zones caches tenants' time zones during a tick.
type zones struct {
	db    *sqldb.DB
	known map[id.Tenant]*time.Location
}

func (z zones) zoneOf(ctx context.Context, t id.Tenant) (*time.Location, error) {
	if loc, ok := z.known[t]; ok {
		return loc, nil
	}
	account, err := tenant.ByID(ctx, z.db, t)
	if err != nil {
		return nil, err
	}
	z.known[t] = account.Location()
	return z.known[t], nil
}
