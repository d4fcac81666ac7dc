// Package leader lets one process out of many do what only one may do.
//
// Each name has a row, which the leader renews. Whoever sees the row stand still
// for the length of a lease takes the name over:
//
//	           taken                 renewed every 5 s
//	(nobody) ────────► owner, epoch ◄──────────────────┐
//	    ▲                │   │                         │
//	    └─── released ───┘   └── beat + 1 ─────────────┘
//	                     │
//	                     └── 15 s without a beat ──► another owner, epoch + 1
//
// No clock is compared with another machine's. A contender measures by its own
// how long it has seen the same beat, so it waits at least 15 s from the moment
// at which the leader wrote it. The leader counts from before it wrote, and gives
// up after 10 s: its work has the difference to come to rest.
//
// What the work writes should still be safe when done twice: a process that
// stood still (a machine that sleeps) learns of its loss when it wakes up, not
// before.
package leader

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// terms are how long things take.
type terms struct {
	lease  time.Duration // without a beat, after which others take over
	lead   time.Duration // since the last beat was begun, after which the work is ended
	renew  time.Duration // between beats
	look   time.Duration // between looks of a contender, and tries of a renewal that failed
	guard  time.Duration // between looks at the clock
	answer time.Duration // how long the database may take
}

// usual are the terms of Run.
var usual = terms{
	lease:  15 * time.Second,
	lead:   10 * time.Second,
	renew:  5 * time.Second,
	look:   time.Second,
	guard:  250 * time.Millisecond,
	answer: 4 * time.Second,
}

// Run does work while this process leads under the name, and waits for that
// while another does. Owner is unique among processes and runs of them.
//
// The ctx of work ends when ctx does, and when the lead is lost or may be by now:
// the database does not answer, or the clock says that too much time has gone by.
// Then work is called again as soon as the lead is won again. When work returns
// by itself, the lead is released and Run returns what work did; so it is when
// ctx ends, after work has returned. Until then the lead is kept, so that nobody
// begins before work has ended.
//
// SQLite is served by one process, which always leads.
func Run(ctx context.Context, db *sqldb.DB, name, owner string, now func() time.Time, log *slog.Logger, work func(ctx context.Context) error) error {
	if db.Dialect() == sqldb.SQLite {
		return work(ctx)
	}
	c := &contender{db: db, name: name, owner: owner, now: now, terms: usual}
	return c.run(ctx, log.With("lead", name), work)
}

func (c *contender) run(ctx context.Context, log *slog.Logger, work func(ctx context.Context) error) error {
	failing := false
	for ctx.Err() == nil {
		won, err := c.contend(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			log.Error("acquire leadership failed", "err", err)
		}
		failing = err != nil
		if !won {
			pause(ctx, c.terms.look)
			continue
		}
		log.Info("leadership acquired")
		lost, err := c.do(ctx, log, work)
		if !lost {
			return err
		}
		log.Warn("leadership lost", "err", err)
	}
	return nil
}

// do runs work and keeps the lead meanwhile. It reports whether the lead was
// lost; if not, work has ended by itself, or because ctx did.
func (c *contender) do(ctx context.Context, log *slog.Logger, work func(ctx context.Context) error) (lost bool, err error) {
	working, stop := context.WithCancel(ctx)
	defer stop()
	keeping, end := context.WithCancel(context.WithoutCancel(ctx))
	var keepers sync.WaitGroup
	defer func() {
		end()
		keepers.Wait()
		if err := c.release(context.WithoutCancel(ctx)); err != nil {
			log.Warn("release leadership failed; others wait until it expires", "err", err)
		}
	}()
	keepers.Go(func() { c.keep(keeping, log) })
	keepers.Go(func() {
		for c.leads() && keeping.Err() == nil {
			pause(keeping, c.terms.guard)
		}
		stop()
	})
	err = work(working)
	return working.Err() != nil && ctx.Err() == nil, err
}

// keep renews the lead until ctx ends or another has it.
func (c *contender) keep(ctx context.Context, log *slog.Logger) {
	wait := c.terms.renew
	for {
		if !pause(ctx, wait) {
			return
		}
		kept, err := c.renew(ctx)
		switch {
		case ctx.Err() != nil || err == nil && !kept:
			return
		case err != nil:
			log.Error("renew leadership failed", "err", err)
			wait = c.terms.look
		default:
			wait = c.terms.renew
		}
	}
}

// pause waits, and reports whether ctx lasted.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
