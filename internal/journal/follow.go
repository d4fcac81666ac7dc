package journal

import (
	"context"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// breath is the least time between two rounds that found all there was: under a
// stream of small writes, each round then has more to do.
const breath = 40 * time.Millisecond

// glance is how long Drain waits for transactions that append.
const glance = 2 * time.Millisecond

// Follower reacts to what happened.
type Follower struct {
	Name  string // of its cursors; never changes
	Types []Type // what it cares for; none: everything
	// Follow takes effect of entries inside tx: of those that the follower cares for,
	// each once. They are of several groups; those of a group, and so of a tenant, are
	// in order.
	Follow func(ctx context.Context, tx *sqldb.DB, entries []Entry) error
}

// Engine shows entries to the followers. Its methods are called one at a time, but
// any number of processes may have one. They share the work by rows of
// journal_cursor: a process passes over cursors that another one has locked, so that
// they follow different groups side by side.
type Engine struct {
	DB        *sqldb.DB
	Followers []Follower
	Log       *slog.Logger
	Wake      <-chan struct{} // something was appended; may be nil
	Every     time.Duration   // how often to look without being woken; 0 means 250 ms

	horizon horizons
	begun   map[int32]int  // groups in which so many followers have cursors
	turn    int32          // the next round begins with this group, or one after it
	packs   map[int32]bool // groups in which most rows that were read last are packs

	lookedAll time.Time      // where the tables are distributed: when all nodes were asked
	unread    map[int32]bool // and in which groups there was something to read at the last look
}

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	every := e.Every
	if every == 0 {
		every = 250 * time.Millisecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	failed := map[cursor]bool{} // these wait for the clock
	for {
		sum, err := e.round(ctx, failed)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			e.Log.Error("follow journal failed", "err", err)
		}
		if sum.more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(breath):
		}
		var again chan struct{}
		if e.horizon.behind() { // for what was committed behind a slow writer, too
			again = make(chan struct{})
			close(again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			clear(failed)
		case <-e.Wake:
		case <-again:
		}
	}
}

// Tick lets every follower read one batch of what is committed, as far as no slow
// transaction has places in it. It reports whether there was more than that
// somewhere, so that it is worth calling again at once. A follower that fails at a
// group is left behind there and does not hold up the others.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	sum, err := e.round(ctx, map[cursor]bool{})
	return sum.more, err
}

// Drain ticks until everything is followed that was committed before, or a follower
// fails. It waits for transactions whose entries come before that, and for other
// processes that follow.
func (e *Engine) Drain(ctx context.Context) error {
	var goals map[int32]int64
	for {
		sum, err := e.round(ctx, map[cursor]bool{})
		if err != nil {
			return err
		}
		if goals == nil && e.horizon.groups != nil {
			goals = e.horizon.ends()
		}
		if sum.more {
			continue
		}
		if !sum.waiting && e.horizon.reached(goals) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(glance):
		}
	}
}
