// Package dispatch starts due broadcasts and puts their audience into the outbox.
//
// Starting a broadcast is one transaction: its content is frozen, its send created, its status
// changed. Preparing it reads the audience page by page, in the order of contact ids, under a
// lease. Contacts that must not get the mail are counted by reason, all others get a message. The
// messages of a page, its counts and the checkpoint commit together, so a crash repeats at most the
// reading of one page. In addition a contact can have only one message in a send (a unique key), so
// inserting a page twice would have no effect. Messages are sent only after the last page was
// inserted: a broadcast that is cancelled earlier sends nothing.
//
//	Due ─► begin ─► prepare, page by page ─► sealed ─► (deliver) ─► (broadcast.Follower)
//
// A send that is spread over days, or has lanes with a daily limit, is planned between its last
// page and its opening: capacity of days is reserved for it in one transaction, and then its
// messages get their due times, again page by page. This is repeated for messages not sent yet when
// the send is rescheduled, or when a day has passed without sending its share. The request that
// reschedules a send makes the plan (broadcast.Reschedule), and an Engine assigns the due times.
//
// When the audience of a broadcast is in the outbox, copies for seeds are added to a send of their
// own, page by page. They are due while the broadcast is sent, at most for an hour.
//
// A Forecaster computes what a send would be by the same functions, and writes nothing.
//
// Any number of processes may run an Engine on one database.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Intervals of polling without and with open sends.
const (
	idleInterval = 10 * time.Second
	busyInterval = 250 * time.Millisecond
)

// lease is how long the lease for a preparation lasts without renewal.
const lease = broadcast.PlanLease

// Engine starts broadcasts and prepares their sends.
type Engine struct {
	DB    *sqldb.DB
	Owner string // identifies this process in leases; unique among processes
	Now   func() time.Time
	Log   *slog.Logger
	Wake  <-chan struct{} // notified when a broadcast was scheduled or has ended; may be nil
	Page  int             // contacts per transaction; 0 means 2000, both for inserting and for assigning due times
	Pages int             // pages of one broadcast per Tick; 0 means 20

	Providers *maildomain.Providers // mailbox providers of recipients' domains; nil: a cache of its own

	preparing int                                // number of sends in preparation; used by Tick only
	audiences map[id.Broadcast]*segment.Audience // of the sends in preparation; used by Tick only
	replanned map[id.Broadcast]spread.Day        // last day on which a planned send was checked; used by Tick only
}

// Run calls Tick until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	pause := idleInterval
	look := func(ctx context.Context) (bool, error) {
		w, err := e.tick(ctx)
		pause = idleInterval
		if err == nil && w.open > 0 {
			pause = busyInterval
		}
		return w.more, err
	}
	return poll.Loop{
		Poll: look, Pause: func() time.Duration { return pause }, Wake: e.Wake, Log: e.Log, Failed: "dispatch broadcasts failed",
	}.Run(ctx)
}

// Tick starts due broadcasts and advances each open send by one step. It reports whether it should
// be called again at once.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	w, err := e.tick(ctx)
	return w.more, err
}

// tickResult is the result of a tick.
type tickResult struct {
	open int  // sends that have not ended
	more bool // some of them can continue at once
}

func (e *Engine) tick(ctx context.Context) (tickResult, error) {
	tenants := tenants{db: e.DB, known: map[id.Tenant]tenant.Tenant{}}
	var w tickResult
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
			more, err = e.advance(ctx, t, o)
		}
		w.more = w.more || more
		errs = append(errs, e.wrapError(err, "continue", o.Tenant, o.Broadcast))
	}
	return w, errors.Join(errs...)
}

// wrapError adds the broadcast to an error. It returns nil if another process changed the broadcast
// first.
func (e *Engine) wrapError(err error, doing string, t id.Tenant, b id.Broadcast) error {
	if err == nil || broadcast.Stale(err) || errors.Is(err, broadcast.ErrLeaseLost) {
		return nil
	}
	return fmt.Errorf("%s broadcast %s of tenant %s: %w", doing, b, t, err)
}

// advance continues one send, depending on the status of its broadcast.
func (e *Engine) advance(ctx context.Context, t tenant.Tenant, o broadcast.OpenRun) (more bool, err error) {
	switch {
	case o.Status == broadcast.Sending && t.Status != tenant.Active:
		e.Log.Info("broadcast paused with its tenant", "tenant", o.Tenant, "broadcast", o.Broadcast)
		return false, broadcast.Pause(ctx, e.DB, o.Tenant, o.Broadcast, broadcast.TenantPaused, e.Now())
	case o.Status == broadcast.Sending && o.PreparedAt == nil:
		return e.prepare(ctx, t, o.Broadcast)
	case o.Status == broadcast.Sending && o.AwaitsCopies():
		return e.addCopies(ctx, o.Run)
	case o.Status == broadcast.Sending:
		return e.replanIfOverdue(ctx, t, o.Run)
	}
	return false, nil
}

// tenants caches tenants during a tick.
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

// begin moves a scheduled broadcast to sending, or to failed if it cannot be sent.
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
	failure := beginFailure(b, facts)
	sources := map[string]content.Source{}
	for _, c := range b.VariantContents() {
		sources[c.Variant] = b.SourceFor(t, c, facts)
		if err := content.Check(sources[c.Variant]); failure == "" && err != nil {
			if _, ok := fault.As(err); !ok {
				return err
			}
			failure = broadcast.RenderFailed
		}
	}
	// All of the above was read before the transaction. Begin compares the revision of b: a broadcast that
	// was edited or paused meanwhile is read again by the next tick, and is never sent with old content.
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if failure != "" {
			if err := broadcast.Begin(ctx, tx, b, nil, now); err != nil {
				return err
			}
			return broadcast.Fail(ctx, tx, t.ID, bid, failure, now)
		}
		frozen := make(map[string]id.Content, len(sources))
		for variant, source := range sources {
			var err error
			if frozen[variant], err = content.Freeze(ctx, tx, t.ID, source, now); err != nil {
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
