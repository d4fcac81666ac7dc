// Package classify decides whether an open or a click was a person's.
//
// Scanners fetch every link, privacy proxies fetch every image; counted as
// people they make every report a lie. A hit comes in pending. Once its neighbours
// have had time to come in it is judged, together with everything else that is
// known of its message, by rules of which the first that matches decides; a hit
// that no rule matches is a human's. A new hit within ten
// minutes has the earlier ones judged again, because a sweep over all links shows
// only in the whole. Rule R4, the honeypot, has nothing to see until content can
// carry an invisible link.
package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// Interval is how often pending hits are gone over (classifier_interval_ms).
const Interval = 60 * time.Second

// pageSize is how many pending hits are read at a time.
const pageSize = 500

// Engine is the loop that classifies. One process at a time runs it. Should two
// overlap, each message is judged by one after the other, and a verdict depends on
// the hits alone: doing it twice changes nothing.
//
// What it costs grows with the number of hits, however few addresses they come
// from: a message's due hits are judged together, and rule R7 slides over the hits
// of an address once (fannedOut). Memory and transactions are bounded by pageSize
// and batchHits. What is still to be judged is pending in the database.
type Engine struct {
	DB  *sqldb.DB
	Log *slog.Logger
	Now func() time.Time
	// Live reports whether a send still is: sending or paused. The hits of one
	// that is not are judged at once.
	Live func(ctx context.Context, tenant id.Tenant, send id.Send) (bool, error)
	// Every and Settle replace Interval and the time a hit is left alone, for
	// tests of the whole program that cannot wait that long.
	Every, Settle time.Duration

	agents Agents
}

// Run works until ctx ends. Between the full passes it looks at the hits of
// sends that are over, which need not settle.
func (e *Engine) Run(ctx context.Context) error {
	n := -1
	look := func(ctx context.Context) (bool, error) {
		n++
		return false, e.pass(ctx, n%quickPasses != 0)
	}
	return poll.Loop{Look: look, Every: cmp.Or(e.Every, Interval) / quickPasses, Log: e.Log, Failed: "classify hits failed"}.Run(ctx)
}

// quickPasses is how many times within the interval hits are looked at.
const quickPasses = 6

// pass goes over the pending hits, page by page, until none is old enough. A full
// one notes when it ended; a quick one passes over the sends that are live.
func (e *Engine) pass(ctx context.Context, quick bool) error {
	unrecorded := e.drain(ctx) // what can be judged is, all the same
	var after track.Place
	for {
		next, err := e.page(ctx, after, quick)
		if err != nil {
			return errors.Join(unrecorded, err)
		}
		if next == nil {
			break
		}
		after = *next
	}
	if quick || unrecorded != nil {
		return unrecorded
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

// drain has what was accepted so far recorded, so that no hit is judged without the
// neighbours that came before now.
func (e *Engine) drain(ctx context.Context) error {
	return (&track.Inbox{DB: e.DB, Log: e.Log}).Drain(ctx)
}

// Tick judges the first page of pending hits. It reports whether there may be more.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	if err := e.drain(ctx); err != nil {
		return false, err
	}
	next, err := e.page(ctx, track.Place{}, false)
	return next != nil, err
}

// page judges those of the pending hits behind a place that are due, up to
// pageSize, and returns the place behind them; nil when there are no more.
func (e *Engine) page(ctx context.Context, after track.Place, quick bool) (*track.Place, error) {
	now := e.Now()
	pending, err := track.PendingPage(ctx, e.DB, after, now, pageSize)
	if err != nil {
		return nil, fmt.Errorf("find pending hits: %w", err)
	}
	var failed error
	is := e.dueAt(ctx, quick, now, &failed)
	due := map[id.Tenant][]track.Hit{}
	for _, h := range pending {
		if is(h) {
			due[h.Tenant] = append(due[h.Tenant], h)
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(due)) {
		if err := e.judge(ctx, tenant, due[tenant], is, now); err != nil {
			return nil, errors.Join(failed, err)
		}
	}
	if len(due) == 0 || len(pending) < pageSize || failed != nil {
		return nil, failed
	}
	last := pending[len(pending)-1]
	return &track.Place{At: last.At, ID: last.ID}, nil
}

// isDue reports whether a pending hit is to be judged.
type isDue func(track.Hit) bool

// dueAt returns what says of a hit that its neighbours have had time to come in,
// or that its send is over; in a quick pass only the latter. A send that cannot be
// asked about counts as live, and the error is added to failed.
func (e *Engine) dueAt(ctx context.Context, quick bool, now time.Time, failed *error) isDue {
	settle := e.Settle
	if settle == 0 {
		settle = minimumSettle
	}
	type send struct {
		tenant id.Tenant
		send   id.Send
	}
	live := map[send]bool{}
	return func(h track.Hit) bool {
		if h.At.After(now) {
			return false
		}
		if !quick && now.Sub(h.At) >= settle {
			return true
		}
		s := send{h.Tenant, h.Send}
		is, known := live[s]
		if !known {
			var err error
			if is, err = e.Live(ctx, h.Tenant, h.Send); err != nil {
				*failed, is = errors.Join(*failed, fmt.Errorf("ask whether a send is live: %w", err)), true
			}
			live[s] = is
		}
		return !is
	}
}
