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
	"fmt"
	"log/slog"
	"slices"
	"time"

	"packetboat/internal/content"
	"packetboat/internal/id"
	"packetboat/internal/outbox"
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
}

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	every := e.Every
	if every == 0 {
		every = Interval
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := e.pass(ctx); err != nil && ctx.Err() == nil {
			e.Log.Error("hits are not classified", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// pass ticks until nothing is pending that is old enough, and notes the time.
func (e *Engine) pass(ctx context.Context) error {
	for {
		more, err := e.Tick(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
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
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	settle := e.Settle
	if settle == 0 {
		settle = minimumSettle
	}
	now := e.Now()
	pending, err := track.PendingBefore(ctx, e.DB, now, batch)
	if err != nil {
		return false, fmt.Errorf("find pending hits: %w", err)
	}
	live := map[string]bool{}
	byTenant := map[id.Tenant][]id.Message{}
	for _, h := range pending {
		if now.Sub(h.At) < settle {
			is, known := live[h.Stream]
			if !known {
				if is, err = e.Live(ctx, h.Tenant, h.Stream); err != nil {
					return false, err
				}
				live[h.Stream] = is
			}
			if is {
				continue
			}
		}
		byTenant[h.Tenant] = append(byTenant[h.Tenant], h.Message)
	}
	judged := 0
	for tenant, messages := range byTenant {
		slices.Sort(messages)
		n, err := e.judge(ctx, tenant, slices.Compact(messages), now)
		if err != nil {
			return false, err
		}
		judged += n
	}
	return judged > 0 && len(pending) == batch, nil
}

func (e *Engine) judge(ctx context.Context, tenant id.Tenant, messages []id.Message, now time.Time) (int, error) {
	judged := 0
	err := e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		judged = 0
		hits, err := track.HitsOf(ctx, tx, tenant, messages)
		if err != nil {
			return err
		}
		of := map[id.Message][]track.Hit{}
		for _, h := range hits {
			of[h.Message] = append(of[h.Message], h)
		}
		var verdicts []track.Hit
		for _, m := range messages {
			changed, err := e.verdicts(ctx, tx, tenant, m, of[m])
			if err != nil {
				return err
			}
			verdicts = append(verdicts, changed...)
		}
		judged = len(verdicts)
		return track.Judge(ctx, tx, verdicts, now)
	})
	if err != nil {
		return 0, fmt.Errorf("judge hits: %w", err)
	}
	return judged, nil
}

// verdicts returns the hits of one message whose class is new.
func (e *Engine) verdicts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, m id.Message, hits []track.Hit) ([]track.Hit, error) {
	links, err := linkCount(ctx, tx, tenant, m)
	if err != nil {
		return nil, err
	}
	old := slices.Clone(hits)
	c := Case{Hits: hits, Links: links, FanOut: func(ip string, at time.Time) (int, error) {
		return track.Recipients(ctx, tx, tenant, hits[0].Stream, ip, at.Add(-fanOutWindow), at.Add(fanOutWindow))
	}}
	if err := c.Judge(); err != nil {
		return nil, err
	}
	var newest time.Time
	for _, h := range old {
		if h.Class == track.Pending && h.At.After(newest) {
			newest = h.At
		}
	}
	var changed []track.Hit
	for i, h := range c.Hits {
		settled := old[i].Class != track.Pending
		if settled && (newest.Sub(h.At) > reopenWindow || old[i].Class == h.Class) {
			continue
		}
		changed = append(changed, h)
	}
	return changed, nil
}

func linkCount(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, m id.Message) (int, error) {
	r, err := outbox.Find(ctx, tx, tenant, m)
	if err != nil {
		return 0, err
	}
	all, err := content.LinksOf(ctx, tx, tenant, []id.Content{r.Content})
	return len(all), err
}
