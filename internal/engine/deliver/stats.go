package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/traffic"
)

// tallyEvery is how often the sums of what lanes and domains carry are written.
const tallyEvery = 5 * time.Second

// sweepEvery is how often limits that nobody needs any more are forgotten.
const sweepEvery = time.Minute

// stats gathers them in between.
type stats struct {
	mu  sync.Mutex
	new map[traffic.Key]traffic.Counts
}

func (t *stats) add(k traffic.Key, c traffic.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.new == nil {
		t.new = map[traffic.Key]traffic.Counts{}
	}
	t.new[k] = t.new[k].Plus(c)
}

// result counts what became of an attempt.
func (t *stats) result(j *job, r outbox.Result) {
	var c traffic.Counts
	switch {
	case r.State == outbox.Delivered || r.State == outbox.Sent:
		c.Delivered = 1
	case r.State == outbox.Bounced && r.BounceType == string(reply.Hard):
		c.Hard = 1
	case r.State == outbox.Bounced && r.BounceType == string(reply.Block):
		c.Block = 1
	case r.State == outbox.Queued && r.Answered:
		c.Deferred = 1
	default:
		return
	}
	t.add(traffic.Key{Tenant: j.item.Tenant, Lane: j.lane.config.ID, Domain: j.sender.Domain.ID}, c)
}

// connection counts one that was tried.
func (t *stats) connection(s *laneSettings, reached bool) {
	c := traffic.Counts{Tries: 1}
	if !reached {
		c.Unreached = 1
	}
	t.add(traffic.Key{Tenant: s.config.Tenant, Lane: s.config.ID}, c)
}

// keepStats writes the sums now and then, and tidies the limits.
func (e *Engine) keepStats(ctx context.Context) {
	tick, sweep := time.NewTicker(tallyEvery), time.NewTicker(sweepEvery)
	defer tick.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.writeStats(ctx)
			e.observe(ctx)
		case <-sweep.C:
			if err := e.pacer.Sweep(ctx); err != nil && ctx.Err() == nil {
				e.Log.Error("remove old limits failed", "err", err)
			}
		}
	}
}

// writeStats writes the sums. Those that cannot be written wait for the next time.
func (e *Engine) writeStats(ctx context.Context) {
	e.tally.mu.Lock()
	counts := e.tally.new
	e.tally.new = nil
	e.tally.mu.Unlock()
	if len(counts) == 0 {
		return
	}
	if err := traffic.Add(ctx, e.DB, e.Now(), counts); err != nil {
		e.Log.Error("write traffic failed, will retry", "err", err)
		for k, c := range counts {
			e.tally.add(k, c)
		}
	}
}
