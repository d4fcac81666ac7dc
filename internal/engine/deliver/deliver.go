// Package deliver sends the messages of the outbox.
//
//	feeder (one per open send)       workers (as many per lane as connections)
//	  claim a batch                      build: render, rewrite, compose, sign
//	  check each contact again      ──►  commit: last result + this intent
//	  skip, defer, or pass to its lane   send
//
// A worker commits the result of one message together with the intent to send the next, in a group
// commit, and waits for it. So no connection ever has more than one message whose result is not
// stored. Whether a contact may still be mailed is checked when its message is claimed, and again
// before the attempt if it waited longer than checkValid.
//
// A message that cannot be sent now but may be later is deferred: its tenant or domain is paused,
// its identity or lane is inactive, or its lane backs off because it cannot be reached. Deferred
// messages return to the queue, and their send is not claimed from for a while.
//
// The node renews a lease while it works. If it cannot, it begins no attempt in the last third of
// the lease, so that none is under way when other nodes take its messages back.
package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/base/turns"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/pace"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// lookEvery is how often the engine reads which sends have due messages.
const lookEvery = 500 * time.Millisecond

// leaseFor is how long the lease of a node lasts by default. It is renewed nine times in that time,
// and no attempt begins in its last third.
const leaseFor = 45 * time.Second

// How long a shutdown takes at most: attempts in flight may finish within stopWithin, before their
// connections are closed, and their results may be written within writeWithin after that.
const (
	stopWithin  = 20 * time.Second
	writeWithin = 5 * time.Second
)

// Engine sends due messages and stores their results.
type Engine struct {
	DB       *sqldb.DB
	Box      *secret.Box
	Keys     *track.Keys
	Contents *content.Cache
	Senders  *render.Senders
	Signers  *Signers
	Renderer *render.Renderer
	Log      *slog.Logger
	Now      func() time.Time
	Compare  func(ctx context.Context) error // corrects Now by the clock that all nodes share; may be nil
	Metrics  *Metrics
	Wake     <-chan struct{} // receives when messages were put, or a send was resumed
	Stored   func()          // called after results were written; may be nil

	FeedbackSender string        // the last part of Feedback-ID
	ReceivesMail   bool          // mail for return paths arrives here, unless a relay receives it: messages offer an address to unsubscribe
	AllowPrivate   bool          // relays on loopback and private addresses
	Alone          bool          // no other process uses the database: messages of an earlier run are taken back at once
	Lease          time.Duration // how long a node that does not renew keeps its messages; 0 means 45 s
	Grace          time.Duration // how long attempts in flight may take at shutdown; 0 means 20 s

	// Router finds the servers of lanes of type direct_mx. Nil means one that uses the machine's
	// resolver.
	Router *directmx.Router
	// SESEndpoint replaces the address of SES for lanes of type ses. It is for tests.
	SESEndpoint string

	routerOnce  sync.Once
	dests       dests
	node        *outbox.Node
	held        atomic.Pointer[nodeLease]
	commits     *groupcommit.Group[*step]
	working     atomic.Int64    // workers that have a message, or a result to write
	connCtx     context.Context // of connections; canceled when the grace of a shutdown is over
	writeCtx    context.Context // of writes; canceled when the engine gives up
	settings    settings
	lanes       lanes
	sends       sends
	returnPaths returnPaths
	feeders     feeders
	stats       stats
	rendering   *turns.Turns[id.Tenant] // rendering takes CPU time, however many connections a tenant uses
	pacer       *pace.Pacer
	providers   maildomain.Providers
}

// Run delivers until ctx ends. Then it finishes the attempts in flight, stores their results and
// returns all other claimed messages to the queue.
func (e *Engine) Run(ctx context.Context) error {
	e.node = &outbox.Node{DB: e.DB, Owner: id.NewText()}
	e.commits = groupcommit.New(maxCommit, e.commit)
	e.commits.Limit(e.commitBatch)
	e.settings.engine, e.lanes.engine, e.sends.engine = e, e, e
	e.pacer = pace.New(e.DB, e.node.Owner, e.Now)
	e.dests.shared, e.dests.conns = e.DB.Dialect() == sqldb.Postgres, directmx.NewDestinations()
	e.rendering = &turns.Turns[id.Tenant]{Slots: runtime.GOMAXPROCS(0)}
	e.providers.DB, e.providers.Now = e.DB, e.Now
	e.feeders.init()
	// The writers outlive ctx: results of attempts in flight must be stored.
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var cut, giveUp context.CancelFunc
	e.connCtx, cut = context.WithCancel(background)
	e.writeCtx, giveUp = context.WithCancel(background)
	defer cut()
	defer giveUp()
	if !e.prepare(ctx) {
		return nil
	}
	var writers sync.WaitGroup
	writers.Go(func() { _ = e.commits.Run(background) })
	writers.Go(func() { e.keepLease(background) })
	writers.Go(func() { e.keepStats(background) })
	writers.Go(func() { e.keepDestinations(background) })
	slotsCtx, endSlots := context.WithCancel(background)
	defer endSlots()
	var slots sync.WaitGroup
	slots.Go(func() { e.keepSlots(slotsCtx) })

	e.feedLoop(ctx)
	grace := stopWithin
	if e.Grace > 0 {
		grace = e.Grace
	}
	defer time.AfterFunc(grace, cut).Stop()
	defer time.AfterFunc(grace+writeWithin, giveUp).Stop()
	e.feeders.wg.Wait()
	e.lanes.closeAll()
	endSlots()
	slots.Wait()
	e.writeStats(e.writeCtx)
	err := errors.Join(e.exchangeDestinations(e.writeCtx), e.node.EndLease(e.writeCtx), e.pacer.Close(e.writeCtx))
	end()
	writers.Wait()
	return err
}

// prepare takes the node's lease, reclaims the messages of dead nodes, and reads what earlier
// processes found out about destinations. It repeats a step that fails, as a busy database lets it, until ctx
// ends; it then returns false.
func (e *Engine) prepare(ctx context.Context) bool {
	for _, step := range []func(context.Context) error{
		e.renew,
		func(ctx context.Context) error { return e.reap(ctx, e.Alone) },
		e.exchangeDestinations,
	} {
		for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			err := step(ctx)
			if err == nil {
				break
			}
			if ctx.Err() == nil {
				e.Log.Error("begin to send failed, will retry", "err", err)
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

func (e *Engine) feedLoop(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := e.feedReady(ctx); err != nil && ctx.Err() == nil {
			e.Log.Error("look for waiting messages failed", "err", err)
		}
		if err := e.node.FlushReleased(context.WithoutCancel(ctx)); err != nil {
			e.Log.Error("release messages failed, will retry", "err", err)
		}
		e.lanes.closeIdle()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-e.Wake:
		case <-e.feeders.seatFree:
		}
	}
}

func (e *Engine) lease() time.Duration { return cmp.Or(e.Lease, leaseFor) }

func (e *Engine) keepLease(ctx context.Context) {
	tick := time.NewTicker(e.lease() / 9)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := e.renew(ctx); err != nil {
			e.Log.Error("renew node lease failed", "err", err)
			continue
		}
		if err := e.reap(ctx, false); err != nil {
			e.Log.Error("reap dead nodes failed", "err", err)
		}
		if err := e.hasten(ctx); err != nil && ctx.Err() == nil {
			e.Log.Error("look for messages with wrong due times failed", "err", err)
		}
	}
}

func (e *Engine) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.lease()/9)
	defer cancel()
	// Leases are judged by the clocks of other machines. If this one is wrong, live nodes seem dead to it, or it to them.
	if e.Compare != nil {
		if err := e.Compare(ctx); err != nil {
			return err
		}
	}
	// The time is taken before the write: this process must think that its lease ends before others do.
	l := nodeLease{e.Now().Add(e.lease()), time.Now()}
	if err := e.node.Renew(ctx, l.until); err != nil {
		return err
	}
	e.held.Store(&l)
	return nil
}

// nodeLease is a lease that was renewed.
type nodeLease struct {
	until   time.Time // by the clock of all nodes
	renewed time.Time // with a reading of this machine's monotonic clock
}

// leased reports whether the lease lasts long enough to begin an attempt, by the wall clock and by
// the monotonic clock.
func (e *Engine) leased() bool {
	// A machine that slept has a monotonic clock that stood still, and one whose time was set has a wrong wall
	// clock. The last third is for the attempt itself and for writing its result.
	l := e.held.Load()
	return l != nil && time.Since(l.renewed) < e.lease()*2/3 && e.Now().Add(e.lease()/3).Round(0).Before(l.until.Round(0))
}

func (e *Engine) reap(ctx context.Context, alone bool) error {
	requeued, uncertain, err := e.node.Reap(ctx, e.Now(), alone)
	if err != nil {
		return err
	}
	if requeued+uncertain > 0 {
		e.Metrics.Uncertain.Add(float64(uncertain))
		e.Log.Warn("messages of dead node reclaimed", "requeued", requeued, "uncertain", uncertain)
	}
	return nil
}

// hasten makes messages due that were added while a clock was ahead.
func (e *Engine) hasten(ctx context.Context) error {
	sends, err := outbox.HastenPostdated(ctx, e.DB, e.Now())
	for _, s := range sends {
		e.Log.Warn("messages added while a clock was ahead are due now", "tenant", s.Tenant, e.sourceAttr(ctx, s.Tenant, s.Send))
	}
	return err
}

// retryWrite calls write until it succeeds or the engine gives up.
func (e *Engine) retryWrite(failing string, write func() error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := write()
		if err == nil || e.writeCtx.Err() != nil {
			return err
		}
		e.Log.Warn(failing, "err", err)
		select {
		case <-time.After(wait):
		case <-e.writeCtx.Done():
			return err
		}
	}
}

// writeStep commits one step and reports whether the attempt of its intent may begin.
func (e *Engine) writeStep(s *step) (bool, error) {
	if len(s.results) == 0 && s.intent == nil {
		return false, nil
	}
	if err := e.commits.Do(context.Background(), s); err != nil {
		for _, r := range s.results {
			e.Log.Error("result lost; its message will be sent once more", "message", r.Item.ID)
		}
		return false, fmt.Errorf("write step: %w", err)
	}
	if e.Stored != nil && len(s.results) > 0 {
		e.Stored()
	}
	return s.begun, nil
}

// deferral is an error: a message cannot be sent now, for a reason, and is tried again later.
type deferral struct {
	until  time.Time // when to try again
	reason string
	down   time.Time // since when its lane cannot be reached; zero for other reasons
	part   bool      // other messages of its send may be sent meanwhile
}

func (h *deferral) Error() string { return h.reason }
