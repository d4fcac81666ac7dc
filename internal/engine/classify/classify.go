// Package classify decides whether an open or a click was made by a person.
//
// Scanners fetch every link and privacy proxies fetch every image; counted as people, they would
// make every report wrong. A hit is recorded as pending. After a time in which its neighbours can
// arrive, it is judged by a list of rules together with all other hits of its message; the first
// rule that matches decides (rules.go), and if none matches, a sum of weaker signals (score.go). A new
// hit makes the hits of the ten minutes around it be judged again, because a sweep over all links is
// visible only as a whole; so does a proof that a person read the mail (track.Proof).
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

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Interval is the default interval of full passes over the pending hits.
const Interval = 60 * time.Second

// pageSize is how many pending hits are read at a time.
const pageSize = 500

// Engine classifies hits. One process at a time runs it. If two overlap, each message is judged by
// one after the other; since a verdict depends on the hits alone, the second changes nothing.
//
// The cost grows with the number of hits, whatever the number of addresses they come from: due hits
// of a message are judged together, and rule R7 moves a window over the hits of an address once
// (fannedOut). pageSize and batchHits limit memory and transactions. The work to do is stored as
// pending hits in the database.
type Engine struct {
	DB  *sqldb.DB
	Log *slog.Logger
	Now func() time.Time
	// Live reports whether a send is sending or paused. Hits of other sends are judged at once.
	Live    func(ctx context.Context, tenant id.Tenant, send id.Send) (bool, error)
	Lists   *Lists                // nil: the bundled ones
	Domains *maildomain.Providers // of recipients' mail servers; nil: unknown
	// Every and Settle replace Interval and minimumSettle in tests of the whole program.
	Every, Settle time.Duration

	agents Agents
}

// Run makes passes until ctx ends. Between full passes there are quick ones, which judge only hits
// of sends that have ended.
func (e *Engine) Run(ctx context.Context) error {
	n := -1
	look := func(ctx context.Context) (bool, error) {
		n++
		return false, e.pass(ctx, n%quickPasses != 0)
	}
	return poll.Loop{Poll: look, Every: cmp.Or(e.Every, Interval) / quickPasses, Log: e.Log, Failed: "classify hits failed"}.Run(ctx)
}

// quickPasses is the number of passes within the interval, one of them full.
const quickPasses = 6

// pass judges the pending hits page by page, until none is due. A full pass stores its end time; a
// quick one skips the sends that are live.
func (e *Engine) pass(ctx context.Context, quick bool) error {
	e.agents.lists = e.Lists
	unrecorded := e.drain(ctx) // after an error, judge the recorded hits all the same
	var after time.Time        // of the last hit of the page before
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
	for more := true; more; {
		var err error
		if more, err = e.judgeProofs(ctx); err != nil {
			return errors.Join(unrecorded, err)
		}
	}
	if quick || unrecorded != nil {
		return unrecorded
	}
	_, err := e.DB.Exec(ctx, `
		INSERT INTO classifier_run (name, run_at) VALUES ('hits', $1)
		ON CONFLICT (name) DO UPDATE SET run_at = excluded.run_at`, e.Now().UnixMicro())
	return err
}

// LastRun returns when a full pass last ended; nil before the first.
func LastRun(ctx context.Context, db *sqldb.DB) (*time.Time, error) {
	rows, err := db.Query(ctx, `SELECT run_at FROM classifier_run WHERE name = 'hits'`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (at int64, err error) {
		err = scan(&at)
		return at, err
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return new(sqldb.Time(list[0])), nil
}

// drain records all accepted hits, so that no hit is judged without neighbours that were accepted
// before.
func (e *Engine) drain(ctx context.Context) error {
	return (&track.Inbox{DB: e.DB, Log: e.Log}).Drain(ctx)
}

// Tick judges the first page of pending hits. It reports whether there may be more.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	if err := e.drain(ctx); err != nil {
		return false, err
	}
	next, err := e.page(ctx, time.Time{}, false)
	return next != nil, err
}

// page judges the due hits among the next pageSize pending ones after a time. It returns the time of the
// last, or nil when there are no more.
func (e *Engine) page(ctx context.Context, after time.Time, quick bool) (*time.Time, error) {
	now := e.Now()
	pending, more, err := track.PendingPage(ctx, e.DB, after, now, pageSize)
	if err != nil {
		return nil, fmt.Errorf("read pending hits: %w", err)
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
	if len(due) == 0 || !more || failed != nil {
		return nil, failed
	}
	return &pending[len(pending)-1].At, nil
}

// isDue reports whether a pending hit is to be judged.
type isDue func(track.Hit) bool

// dueAt returns a function that reports whether a hit is due: its neighbours have had time to
// arrive, or its send has ended; in a quick pass only the latter. A send that cannot be read counts
// as live, and the error is added to failed.
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
				*failed, is = errors.Join(*failed, fmt.Errorf("read whether send is live: %w", err)), true
			}
			live[s] = is
		}
		return !is
	}
}
