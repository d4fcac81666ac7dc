// Package watch looks after what may go wrong while mail is sent: lanes that no
// longer work, sends that no lane can carry, and domains whose mail bounces or
// is complained of.
//
// It reads the sums of package traffic, which deliver adds to, and decides by
// them. It pauses and never resumes: that is for people to do. What sends can be
// paused it learns from a list of outbox.Pausers. One process runs it at a time.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/poll"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
	"github.com/packetboat/packetboat/internal/traffic"
)

const (
	every       = 10 * time.Second // between two looks
	rarely      = time.Minute      // between two looks at domains and warm-ups
	pruneEvery  = 10 * time.Minute
	collapsedIn = 10 * time.Minute // a send all of whose lanes are down is paused
)

// Engine is the watch. Its fields are set before Run and not changed.
type Engine struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Now          func() time.Time
	Log          *slog.Logger
	AllowPrivate bool            // lanes may be at private addresses
	Pausers      []outbox.Pauser // what sends, by kind

	judged  time.Time                // when domains and warm-ups were last looked at
	pruned  time.Time                // when old traffic was last forgotten
	alarmed map[traffic.Domain]alarm // warnings that were given
}

// Run watches until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	return poll.Loop{Look: e.Tick, Every: every, Log: e.Log, Failed: "watch lanes and domains failed"}.Run(ctx)
}

// Tick looks at everything whose turn it is. What fails keeps nothing else
// from being looked at.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	now := e.Now()
	lanes, suspects, err := e.lanes(ctx, now)
	err = errors.Join(err, e.probe(ctx, now, lanes, suspects))
	if now.Sub(e.judged) >= rarely {
		e.judged = now
		err = errors.Join(err, e.domains(ctx, now), e.warmups(ctx, now))
	}
	err = errors.Join(err, e.pauseStuckSends(ctx, lanes, now))
	if now.Sub(e.pruned) >= pruneEvery {
		e.pruned = now
		err = errors.Join(err, traffic.Prune(ctx, e.DB, now))
	}
	return false, err
}

// lanes judges the lanes that tried anything of late, and those that were not
// well. It returns how all of these fare, and which of them may be down.
func (e *Engine) lanes(ctx context.Context, now time.Time) (known map[traffic.Lane]lane.Health, suspects map[traffic.Lane]bool, err error) {
	if known, err = lane.Watched(ctx, e.DB); err != nil {
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
		after := before.Judge(recent[l], now)
		if after.State != before.State {
			if noted := e.note(ctx, l, before, after); noted != nil {
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

// note stores what has become of a lane, and says so.
func (e *Engine) note(ctx context.Context, l traffic.Lane, before, after lane.Health) error {
	if err := lane.Note(ctx, e.DB, l, before, after); err != nil {
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

// zones remembers tenants' time zones for the length of a look.
type zones struct {
	db    *sqldb.DB
	known map[id.Tenant]*time.Location
}

func (z zones) of(ctx context.Context, t id.Tenant) (*time.Location, error) {
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
