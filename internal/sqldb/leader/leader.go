// Package leader elects one process among many for work that only one may do.
//
// Each name has a row, which the leader renews. A process that sees the row unchanged for the
// length of a lease takes it over:
//
//	           acquired                 renewed every 5 s
//	(no owner) ────────► owner, epoch ◄──────────────────┐
//	    ▲                │   │                           │
//	    └─── released ───┘   └── beat + 1 ───────────────┘
//	                     │
//	                     └── 15 s without a beat ──► another owner, epoch + 1
//
// Clocks of different machines are never compared. A contender measures with its own clock for how
// long it has seen the same beat, so it waits at least 15 s from the time the leader wrote it. The
// leader measures from before its write, and stops after 10 s: the difference is the time for its
// work to stop.
//
// The work should nevertheless be safe if done twice: a process that was suspended with its machine
// detects that it lost the leadership only after it has resumed.
package leader

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// terms are the intervals and timeouts of an election.
type terms struct {
	lease   time.Duration // without a beat, after which others take over
	lead    time.Duration // since the start of the last renewal, after which the work is canceled
	renew   time.Duration // between renewals
	poll    time.Duration // between polls of a contender, and retries of a failed renewal
	guard   time.Duration // between checks of the clock
	timeout time.Duration // timeout of statements
}

// defaultTerms are the terms used by Run.
var defaultTerms = terms{
	lease:   15 * time.Second,
	lead:    10 * time.Second,
	renew:   5 * time.Second,
	poll:    time.Second,
	guard:   250 * time.Millisecond,
	timeout: 4 * time.Second,
}

// Run calls work while this process is the leader for a name, and waits while another one is. Owner
// must be unique among processes and runs of them.
//
// The ctx of work ends when ctx does, and when the leadership is lost or may be lost: the database
// does not answer, or too much time has passed since the last renewal. Work is called again when
// the leadership is acquired again. When work returns by itself, the leadership is released and Run
// returns its error; the same happens when ctx ends, after work has returned. The leadership is
// held until then, so that no other process begins before work has ended.
//
// SQLite is used by one process, which is always the leader.
func Run(ctx context.Context, db *sqldb.DB, name, owner string, now func() time.Time, log *slog.Logger, work func(ctx context.Context) error) error {
	if db.Dialect() == sqldb.SQLite {
		return work(ctx)
	}
	c := &contender{db: db, name: name, owner: owner, now: now, terms: defaultTerms}
	return c.run(ctx, log.With("leader", name), work)
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
			pause(ctx, c.terms.poll)
			continue
		}
		log.Info("leadership acquired")
		lost, err := c.lead(ctx, log, work)
		if !lost {
			return err
		}
		log.Warn("leadership lost", "err", err)
	}
	return nil
}

// lead runs work and renews the leadership meanwhile. It reports whether the leadership was lost;
// if not, work has returned by itself, or because ctx ended.
func (c *contender) lead(ctx context.Context, log *slog.Logger, work func(ctx context.Context) error) (lost bool, err error) {
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
	keepers.Go(func() { c.renewLoop(keeping, log) })
	keepers.Go(func() {
		for c.isLeader() && keeping.Err() == nil {
			pause(keeping, c.terms.guard)
		}
		stop()
	})
	err = work(working)
	return working.Err() != nil && ctx.Err() == nil, err
}

// renewLoop renews the leadership until ctx ends or another process has it.
func (c *contender) renewLoop(ctx context.Context, log *slog.Logger) {
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
			wait = c.terms.poll
		default:
			wait = c.terms.renew
		}
	}
}

// pause waits, and reports false if ctx ended.
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
