// Package deliver moves messages from the outbox to the servers that take them.
//
//	feeder (one per open send)       workers (as many per lane as connections)
//	  claim a batch                      build: render, rewrite, compose, sign
//	  look at each contact again    ──►  commit: last result + this intent
//	  skip, hold, or hand to its lane    send
//
// What a worker has learned of one message and that it begins the next go into
// one group commit, for which it waits: so no connection ever has more than one
// message whose end is not written down. Whether a contact may
// still be mailed is asked when its message is claimed, moments before it leaves,
// and again when those moments turn out to be many.
//
// What cannot leave now but may later is held: its tenant or domain is paused,
// its sender or lane switched off, or the lane rests because it could not be
// reached. Held messages are put back, and nobody looks at them for a while.
//
// The node renews a lease while it works. When it cannot, it stops beginning
// attempts well before others take its messages for abandoned.
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

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/letter"
	"github.com/packetboat/packetboat/internal/maildomain"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/pace"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// lookEvery is how often the engine looks for messages that are due.
const lookEvery = 500 * time.Millisecond

// leaseFor is how long the lease of a node lasts unless it is said. It is renewed
// nine times in that time, and no attempt begins in its last third.
const leaseFor = 45 * time.Second

// How a shutdown is bounded: attempts under way have stopWithin to end before
// their connections are cut, and then writeWithin to be written down.
const (
	stopWithin  = 20 * time.Second
	writeWithin = 5 * time.Second
)

// Engine is the loop that delivers.
type Engine struct {
	DB       *sqldb.DB
	Box      *secret.Box
	Keys     *track.Keys
	Contents *content.Cache
	Senders  *letter.Senders
	Signers  *Signers
	Letters  *letter.Renderer
	Log      *slog.Logger
	Now      func() time.Time
	Metrics  *Metrics
	Wake     <-chan struct{} // messages were put, or a send was let go
	Stored   func()          // called after results were written; may be nil

	FeedbackSender string        // the last part of Feedback-ID
	AllowPrivate   bool          // relays on loopback and private addresses
	Alone          bool          // no other process uses the database: an earlier run's messages are taken back at once
	Lease          time.Duration // how long a node that says nothing keeps its messages; 0 means 45 s
	Grace          time.Duration // how long attempts under way may take at the end; 0 means 20 s

	node       *outbox.Node
	leaseUntil atomic.Pointer[time.Time]
	commits    *sqldb.Group[*step]
	working    atomic.Int64    // workers that have a message, or a result to write
	cut        context.Context // ends when connections are cut
	abandoned  context.Context // ends when nothing more is written
	settings   settings
	lanes      lanes
	sends      sends
	feeders    feeders
	tally      stats
	fair       *fairQueue
	pacer      *pace.Pacer
	providers  maildomain.Providers
}

// Run delivers until ctx ends, then finishes the attempts under way, writes what
// became of them and puts everything else back.
func (e *Engine) Run(ctx context.Context) error {
	e.node = &outbox.Node{DB: e.DB, Owner: id.NewText()}
	e.commits = sqldb.NewGroup(maxCommit, e.commit)
	e.commits.Limit(e.commitBatch)
	e.settings.engine, e.lanes.engine, e.sends.engine = e, e, e
	e.pacer = pace.New(e.DB, e.node.Owner, e.Now)
	e.fair = newFairQueue(runtime.GOMAXPROCS(0))
	e.providers.DB, e.providers.Now = e.DB, e.Now
	e.feeders.init()
	// The writers outlive ctx: what is under way must still be written.
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var cut, giveUp context.CancelFunc
	e.cut, cut = context.WithCancel(background)
	e.abandoned, giveUp = context.WithCancel(background)
	defer cut()
	defer giveUp()
	if err := e.renew(ctx); err != nil {
		return err
	}
	if err := e.reap(ctx, e.Alone); err != nil {
		return err
	}
	var writers sync.WaitGroup
	writers.Go(func() { _ = e.commits.Run(background) })
	writers.Go(func() { e.keepLease(background) })
	writers.Go(func() { e.keepStats(background) })

	e.loop(ctx)
	grace := stopWithin
	if e.Grace > 0 {
		grace = e.Grace
	}
	defer time.AfterFunc(grace, cut).Stop()
	defer time.AfterFunc(grace+writeWithin, giveUp).Stop()
	e.feeders.wg.Wait()
	e.lanes.stop()
	e.writeStats(e.abandoned)
	err := errors.Join(e.node.Leave(e.abandoned), e.pacer.Close(e.abandoned))
	end()
	writers.Wait()
	return err
}

func (e *Engine) loop(ctx context.Context) {
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
		case <-e.feeders.again:
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
	}
}

func (e *Engine) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.lease()/9)
	defer cancel()
	until := e.Now().Add(e.lease())
	if err := e.node.Renew(ctx, until); err != nil {
		return err
	}
	e.leaseUntil.Store(&until)
	return nil
}

// leased reports whether the lease lasts long enough to begin an attempt. It
// must, by the clock on the wall and by the one that nobody sets.
func (e *Engine) leased() bool {
	until, last := e.leaseUntil.Load(), e.Now().Add(e.lease()/3)
	return until != nil && last.Before(*until) && last.Round(0).Before(until.Round(0))
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

// retryWrite calls write until it succeeds or nothing is written any more.
func (e *Engine) retryWrite(failing string, write func() error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := write()
		if err == nil || e.abandoned.Err() != nil {
			return err
		}
		e.Log.Warn(failing, "err", err)
		select {
		case <-time.After(wait):
		case <-e.abandoned.Done():
			return err
		}
	}
}

// write commits one step and reports whether its intent may go ahead.
func (e *Engine) write(s *step) (bool, error) {
	if len(s.results) == 0 && s.intent == nil {
		return false, nil
	}
	if err := e.commits.Do(context.Background(), s); err != nil {
		for _, r := range s.results {
			e.Log.Error("result lost; its message will be sent once more", "message", r.Item.ID)
		}
		return false, fmt.Errorf("write a step: %w", err)
	}
	if e.Stored != nil && len(s.results) > 0 {
		e.Stored()
	}
	return s.begun, nil
}

// deferral says that a message cannot leave now, and when to look again.
type deferral struct {
	until  time.Time
	reason string
	down   time.Time // since when its lane cannot be reached; zero for other reasons
}

func (h *deferral) Error() string { return h.reason }
