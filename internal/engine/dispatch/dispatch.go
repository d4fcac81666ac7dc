// Package dispatch starts broadcasts whose time has come and puts their audience
// into the outbox.
//
// To start a broadcast is one transaction: its content is frozen, its send
// begun, its status moved. Preparing it walks the audience page by page, under a
// lease, in the order of contact ids: who must not get the mail is counted by
// reason, everyone else becomes a message. A page's messages, its counts and the
// place to go on from commit together, so a crash repeats at most the reading of
// one page; and because a contact has at most one message in a send, even a
// page put twice would harm nobody. Messages begin to leave when the last page
// is in: whoever cancels earlier has mailed no one.
//
//	Due ─► begin ─► prepare, page by page ─► sealed ─► (deliver) ─► (broadcast.Follower)
//
// A send that is spread over days, or whose lanes may carry only so many a day,
// is planned between its last page and its opening: days are reserved for it in
// one transaction, and then its messages are given their times, again page by
// page. The same is done once more for what has not left when the send is
// rescheduled, or when a day has passed that did not send its part. The call that
// reschedules a send makes the plan (broadcast.Reschedule) and leaves the times to
// an Engine.
//
// Any number of processes may run an Engine on one database.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/poll"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
)

// How long the engine waits when nothing is left to do, and how
// often it looks at what is being sent.
const (
	idle = 10 * time.Second
	busy = 250 * time.Millisecond
)

// lease is how long a preparation belongs to a process that says nothing.
const lease = broadcast.PlanLease

// Engine starts broadcasts and prepares their sends.
type Engine struct {
	DB    *sqldb.DB
	Owner string // names this process in leases; unique among processes
	Now   func() time.Time
	Log   *slog.Logger
	Wake  <-chan struct{} // something was scheduled, or ended; may be nil
	Page  int             // contacts of one transaction; 0 means 2000, or 1000 that are given times
	Pages int             // pages of one broadcast in one Tick; 0 means 20

	preparing int                                // sends that are being prepared; Tick's alone
	audiences map[id.Broadcast]*segment.Audience // of those being prepared; Tick's alone
	replanned map[id.Broadcast]spread.Day        // when days of planned sends were looked at last; Tick's alone
}

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	pause := idle
	look := func(ctx context.Context) (bool, error) {
		w, err := e.tick(ctx)
		pause = idle
		if err == nil && w.open > 0 {
			pause = busy
		}
		return w.more, err
	}
	return poll.Loop{
		Look: look, Pause: func() time.Duration { return pause }, Wake: e.Wake, Log: e.Log, Failed: "dispatch broadcasts failed",
	}.Run(ctx)
}

// Tick starts what is due and takes every open send one step further. It
// reports whether it is worth calling again at once.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	w, err := e.tick(ctx)
	return w.more, err
}

// work is what a tick found.
type work struct {
	open int  // sends that have not ended
	more bool // some of them can go on at once
}

func (e *Engine) tick(ctx context.Context) (work, error) {
	tenants := tenants{db: e.DB, known: map[id.Tenant]tenant.Tenant{}}
	var w work
	var errs []error
	due, err := broadcast.Due(ctx, e.DB, e.Now())
	if err != nil {
		return w, err
	}
	for _, b := range due {
		t, err := tenants.get(ctx, b.Tenant)
		if err == nil && t.Status == tenant.Active {
			err = errors.Join(e.DB.AnalyzeStale(ctx, "contact", "contact_activity"), e.begin(ctx, t, b.ID))
		}
		errs = append(errs, e.wrapError(err, "begin", b.Tenant, b.ID))
	}
	open, err := broadcast.OpenRuns(ctx, e.DB)
	if err != nil {
		return w, errors.Join(append(errs, err)...)
	}
	w.open = len(open)
	e.preparing = 0
	for _, o := range open {
		if o.Status == broadcast.Sending && o.PreparedAt == nil {
			e.preparing++
		}
	}
	for _, o := range open {
		if ctx.Err() != nil {
			return w, nil
		}
		t, err := tenants.get(ctx, o.Tenant)
		more := false
		if err == nil {
			more, err = e.step(ctx, t, o)
		}
		w.more = w.more || more
		errs = append(errs, e.wrapError(err, "continue", o.Tenant, o.Broadcast))
	}
	return w, errors.Join(errs...)
}

// wrapError adds to an error which broadcast it is about; that another process moved
// the broadcast first is no error.
func (e *Engine) wrapError(err error, doing string, t id.Tenant, b id.Broadcast) error {
	if err == nil || broadcast.Stale(err) || errors.Is(err, broadcast.ErrLeaseLost) {
		return nil
	}
	return fmt.Errorf("%s broadcast %s of tenant %s: %w", doing, b, t, err)
}

// step takes one send further: what depends on where its broadcast stands.
func (e *Engine) step(ctx context.Context, t tenant.Tenant, o broadcast.OpenRun) (more bool, err error) {
	switch {
	case o.Status == broadcast.Sending && t.Status != tenant.Active:
		e.Log.Info("broadcast paused with its tenant", "tenant", o.Tenant, "broadcast", o.Broadcast)
		return false, broadcast.Pause(ctx, e.DB, o.Tenant, o.Broadcast, broadcast.TenantPaused, e.Now())
	case o.Status == broadcast.Sending && o.PreparedAt == nil:
		return e.prepare(ctx, t, o.Broadcast)
	case o.Status == broadcast.Sending:
		return e.replanIfOverdue(ctx, t, o.Run)
	}
	return false, nil
}

// tenants remembers tenants for the length of a tick.
type tenants struct {
	db    *sqldb.DB
	known map[id.Tenant]tenant.Tenant
}

func (ts tenants) get(ctx context.Context, t id.Tenant) (tenant.Tenant, error) {
	if known, ok := ts.known[t]; ok {
		return known, nil
	}
	found, err := tenant.ByID(ctx, ts.db, t)
	if err == nil {
		ts.known[t] = found
	}
	return found, err
}

// begin moves a scheduled broadcast to sending. What cannot be sent at all fails
// there and then.
func (e *Engine) begin(ctx context.Context, t tenant.Tenant, bid id.Broadcast) error {
	b, err := broadcast.Load(ctx, e.DB, t.ID, bid)
	if err != nil {
		return err
	}
	facts, err := broadcast.LoadPreconditions(ctx, e.DB, b)
	if err != nil {
		return err
	}
	now := e.Now()
	failure := obstacle(b, facts)
	sources := map[string]content.Source{}
	for _, arm := range b.Arms() {
		sources[arm.ID] = b.SourceFor(t, arm, facts)
		if err := content.Check(sources[arm.ID]); failure == "" && err != nil {
			if _, ok := fault.As(err); !ok {
				return err
			}
			failure = broadcast.RenderFailed
		}
	}
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if failure != "" {
			if err := broadcast.Begin(ctx, tx, b, nil, now); err != nil {
				return err
			}
			return broadcast.Fail(ctx, tx, t.ID, bid, failure, now)
		}
		frozen := make(map[string]id.Content, len(sources))
		for arm, source := range sources {
			var err error
			if frozen[arm], err = content.Freeze(ctx, tx, t.ID, source, now); err != nil {
				return err
			}
		}
		return broadcast.Begin(ctx, tx, b, frozen, now)
	})
	if err == nil && failure != "" {
		e.Log.Warn("broadcast failed", "tenant", t.ID, "broadcast", bid, "code", failure)
	} else if err == nil {
		e.Log.Info("broadcast started", "tenant", t.ID, "broadcast", bid)
	}
	return err
}
