// Package deliver moves messages from the outbox to the servers that take them.
//
//	feeder (one per open stream)       workers (as many per lane as connections)
//	  claim a batch                      build: render, rewrite, compose, sign
//	  look at each contact again    ──►  commit: last result + this intent
//	  skip, or hand on to its lane       send
//
// What a worker has learned of one message and that it begins the next go into
// one group commit, for which it waits: so no connection ever has more than one
// message whose end is not written down (mail-notes 9.2). Whether a contact may
// still be mailed is asked when its message is claimed, moments before it leaves.
//
// The node renews a lease while it works. When it cannot, it stops beginning
// attempts well before others take its messages for abandoned.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"packetboat/internal/content"
	"packetboat/internal/id"
	"packetboat/internal/letter"
	"packetboat/internal/outbox"
	"packetboat/internal/secret"
	"packetboat/internal/sqldb"
	"packetboat/internal/track"
)

// The lease of a node: how long it lasts, how often it is renewed, and how long
// before its end no attempt begins any more (mail-notes 9.2).
const (
	leaseFor    = 45 * time.Second
	renewEvery  = 5 * time.Second
	leaseMargin = 15 * time.Second
	lookEvery   = 500 * time.Millisecond
	stopWithin  = 20 * time.Second
)

// Engine is the loop that delivers.
type Engine struct {
	DB       *sqldb.DB
	Box      *secret.Box
	Keys     *track.Keys
	Contents *content.Cache
	Senders  *letter.Senders
	Letters  *letter.Renderer
	Log      *slog.Logger
	Now      func() time.Time
	Metrics  *Metrics
	Wake     <-chan struct{} // messages were put, or a stream was let go
	Stored   func()          // called after results were written; may be nil

	FeedbackSender string // the last part of Feedback-ID
	AllowPrivate   bool   // relays on loopback and private addresses (contract B27c)
	Alone          bool   // no other process uses the database: an earlier run's messages are taken back at once

	node       *outbox.Node
	leaseUntil atomic.Int64 // microseconds
	commits    *sqldb.Group[*step]
	stopped    chan struct{} // closed when nobody waits any longer
	settings   settings
	lanes      lanes
	feeding    sync.Map // stream key -> struct{}
}

// Run delivers until ctx ends, then finishes the attempts under way, writes what
// became of them and puts everything else back.
func (e *Engine) Run(ctx context.Context) error {
	e.node = &outbox.Node{DB: e.DB, Owner: id.New[string]()}
	e.commits = sqldb.NewGroup(maxCommit, e.commit)
	e.stopped = make(chan struct{})
	e.settings.engine, e.lanes.engine = e, e
	if err := e.renew(ctx); err != nil {
		return err
	}
	if err := e.reap(ctx, e.Alone); err != nil {
		return err
	}
	// The writers outlive ctx: what is under way must still be written.
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var writers, feeders sync.WaitGroup
	writers.Go(func() { _ = e.commits.Run(background) })
	writers.Go(func() { e.keepLease(background) })

	e.loop(ctx, &feeders)
	feeders.Wait()
	timer := time.AfterFunc(stopWithin, func() { close(e.stopped) })
	e.lanes.stop()
	timer.Stop()
	err := e.node.Leave(background)
	end()
	writers.Wait()
	return err
}

func (e *Engine) loop(ctx context.Context, feeders *sync.WaitGroup) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := e.look(ctx, feeders); err != nil && ctx.Err() == nil {
			e.Log.Error("waiting messages are not looked at", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-e.Wake:
		}
	}
}

// look gives every stream that has due messages a feeder, and cancels what waits
// of cancelled ones.
func (e *Engine) look(ctx context.Context, feeders *sync.WaitGroup) error {
	ready, err := outbox.ReadyStreams(ctx, e.DB)
	if err != nil {
		return err
	}
	for _, r := range ready {
		if r.Cancelled {
			if _, err := outbox.Sweep(ctx, e.DB, r.Tenant, r.Stream); err != nil {
				return err
			}
			continue
		}
		if r.NextDue.IsZero() || r.NextDue.After(e.Now()) {
			continue
		}
		key := string(r.Tenant) + "/" + r.Stream
		if _, busy := e.feeding.LoadOrStore(key, struct{}{}); busy {
			continue
		}
		feeders.Go(func() {
			defer e.feeding.Delete(key)
			if err := e.feed(ctx, r.Tenant, r.Stream); err != nil && ctx.Err() == nil {
				e.Log.Error("a stream is not fed", "tenant", r.Tenant, "broadcast", r.Stream, "err", err)
			}
		})
	}
	return nil
}

func (e *Engine) keepLease(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := e.renew(ctx); err != nil {
			e.Log.Error("the lease is not renewed", "err", err)
			continue
		}
		if err := e.reap(ctx, false); err != nil {
			e.Log.Error("dead nodes are not cleared up", "err", err)
		}
	}
}

func (e *Engine) renew(ctx context.Context) error {
	until := e.Now().Add(leaseFor)
	if err := e.node.Renew(ctx, until); err != nil {
		return err
	}
	e.leaseUntil.Store(until.UnixMicro())
	return nil
}

// leased reports whether the lease lasts long enough to begin an attempt.
func (e *Engine) leased() bool {
	return e.Now().Add(leaseMargin).UnixMicro() < e.leaseUntil.Load()
}

func (e *Engine) reap(ctx context.Context, alone bool) error {
	requeued, uncertain, err := e.node.Reap(ctx, e.Now(), alone)
	if err != nil {
		return err
	}
	if requeued+uncertain > 0 {
		e.Metrics.Uncertain.Add(float64(uncertain))
		e.Log.Warn("messages of a dead node go on", "requeued", requeued, "uncertain", uncertain)
	}
	return nil
}

// release puts items back whose attempt has not begun.
func (e *Engine) release(items []outbox.Item) {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if err := e.node.Release(ctx, items); err != nil {
		e.Log.Warn("claimed messages are left to their lease", "messages", len(items), "err", err)
	}
}

// write commits one step and reports whether its intent may go ahead.
func (e *Engine) write(s *step) (bool, error) {
	if s.result == nil && s.intent == nil {
		return false, nil
	}
	if err := e.commits.Do(context.Background(), s); err != nil {
		return false, fmt.Errorf("write a step: %w", err)
	}
	if e.Stored != nil && s.result != nil {
		e.Stored()
	}
	return s.begun, nil
}

var errNotNow = errors.New("the lane rests after a failure")
