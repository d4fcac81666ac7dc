// Package classify decides whether an open or a click was a person's.
//
// Scanners fetch every link, privacy proxies fetch every image; counted as
// people they make every report a lie. A hit comes in pending. Once its neighbours
// have had time to come in it is judged, together with everything else that is
// known of its message, by rules of which the first that matches decides
// (contract 12.1); a hit that no rule knows is a human's. A new hit within ten
// minutes has the earlier ones judged again, because a sweep over all links shows
// only in the whole. Rule R4, the honeypot, has nothing to see until content can
// carry an invisible link.
package classify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
	"packetboat/internal/track"
)

// Interval is how often pending hits are gone over (classifier_interval_ms).
const Interval = 60 * time.Second

// batch is how many pending hits one pass takes at a time.
const batch = 500

// Engine is the loop that classifies. Any number of processes may run one: a
// verdict depends on the hits alone, so doing it twice changes nothing.
type Engine struct {
	DB  *sqldb.DB
	Log *slog.Logger
	Now func() time.Time
	// Live reports whether a send still is: sending or paused. The hits of one
	// that is not are judged at once.
	Live func(ctx context.Context, tenant id.Tenant, stream string) (bool, error)
	// Every and Settle replace Interval and the time a hit is left alone, for
	// tests of the whole program that cannot wait that long.
	Every, Settle time.Duration

	agents Agents
}

// Run works until ctx ends. Between the full passes it looks at the hits of
// sends that are over: they need not wait for anybody.
func (e *Engine) Run(ctx context.Context) error {
	every := e.Every
	if every == 0 {
		every = Interval
	}
	tick := time.NewTicker(every / quickPasses)
	defer tick.Stop()
	for n := 0; ; n++ {
		if err := e.pass(ctx, n%quickPasses != 0); err != nil && ctx.Err() == nil {
			e.Log.Error("hits are not classified", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// quickPasses is how many times within the interval hits are looked at.
const quickPasses = 6

// pass ticks until nothing is pending that is old enough. A full one notes when
// it ended; a quick one passes over the sends that are live.
func (e *Engine) pass(ctx context.Context, quick bool) error {
	for {
		more, err := e.tick(ctx, quick)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if quick {
		return nil
	}
	_, err := e.DB.Exec(ctx, `
		INSERT INTO classifier_run (name, run_at) VALUES ('hits', $1)
		ON CONFLICT (name) DO UPDATE SET run_at = excluded.run_at`, e.Now().UnixMicro())
	return err
}

// LastRun returns when a pass last ended; nil before the first.
func LastRun(ctx context.Context, db *sqldb.DB) (*time.Time, error) {
	rows, err := db.Query(ctx, `SELECT run_at FROM classifier_run WHERE name = 'hits'`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (at int64, err error) {
		return at, scan(&at)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return new(sqldb.Time(list[0])), nil
}

// Tick judges one batch of pending hits, with all other hits of their messages.
// It reports whether there may be more.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) { return e.tick(ctx, false) }

func (e *Engine) tick(ctx context.Context, quick bool) (more bool, err error) {
	now := e.Now()
	pending, err := track.PendingBefore(ctx, e.DB, now, batch)
	if err != nil {
		return false, fmt.Errorf("find pending hits: %w", err)
	}
	due, failed := e.due(ctx, pending, quick, now)
	for _, tenant := range slices.Sorted(maps.Keys(due)) {
		if err := e.judge(ctx, tenant, due[tenant], now); err != nil {
			return false, errors.Join(failed, err)
		}
	}
	return len(due) > 0 && len(pending) == batch && failed == nil, failed
}

// due returns those hits whose neighbours have had time to come in, or whose
// send is over; in a quick pass only the latter.
func (e *Engine) due(ctx context.Context, pending []track.Hit, quick bool, now time.Time) (map[id.Tenant][]track.Hit, error) {
	settle := e.Settle
	if settle == 0 {
		settle = minimumSettle
	}
	var failed error
	live := map[string]bool{}
	due := map[id.Tenant][]track.Hit{}
	for _, h := range pending {
		if quick || now.Sub(h.At) < settle {
			is, known := live[h.Stream]
			if !known {
				var err error
				if is, err = e.Live(ctx, h.Tenant, h.Stream); err != nil {
					failed, is = errors.Join(failed, fmt.Errorf("ask whether a send is live: %w", err)), true
				}
				live[h.Stream] = is
			}
			if is {
				continue
			}
		}
		due[h.Tenant] = append(due[h.Tenant], h)
	}
	return due, failed
}

// judge gives the due hits of one tenant their verdicts, and those around them
// that they re-open.
func (e *Engine) judge(ctx context.Context, tenant id.Tenant, due []track.Hit, now time.Time) error {
	for _, h := range due { // remembered from here on, not found out inside the transaction
		e.agents.Machine(h.Agent)
	}
	err := e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		b := bench{tx: tx, tenant: tenant, agents: &e.agents, due: map[id.Hit]bool{}, fans: map[fan][]track.Neighbour{}}
		messages := map[id.Message]bool{}
		for _, h := range due {
			b.due[h.ID] = true
			messages[h.Message] = true
		}
		verdicts, err := b.verdicts(ctx, slices.Sorted(maps.Keys(messages)))
		if err != nil {
			return err
		}
		others, err := b.others(ctx, due, messages)
		if err != nil {
			return err
		}
		more, err := b.verdicts(ctx, others)
		if err != nil {
			return err
		}
		return track.Judge(ctx, tx, append(verdicts, more...), now)
	})
	if err != nil {
		return fmt.Errorf("judge hits: %w", err)
	}
	return nil
}
