package deliver

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/pace"
)

// waits collects why messages of sends wait, until that is written. The API shows it.
type waits struct {
	mu    sync.Mutex
	found map[sendKey]waitOf
}

// waitOf is a wait, and the number of messages it keeps back.
type waitOf struct {
	outbox.Wait
	n int
}

// addWait keeps the wait with the most messages of a send.
func (w *waits) addWait(tenant id.Tenant, send id.Send, wait outbox.Wait, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := sendKey{tenant, send}
	if n == 0 || n < w.found[key].n {
		return
	}
	if w.found == nil {
		w.found = map[sendKey]waitOf{}
	}
	wait.Tenant, wait.Send = tenant, send
	w.found[key] = waitOf{wait, n}
}

// drain returns the waits collected since the last call.
func (w *waits) drain() []outbox.Wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]outbox.Wait, 0, len(w.found))
	for _, f := range w.found {
		list = append(list, f.Wait)
	}
	w.found = nil
	slices.SortFunc(list, func(a, b outbox.Wait) int { // one order for all processes prevents deadlocks
		return sendKey{a.Tenant, a.Send}.compare(sendKey{b.Tenant, b.Send})
	})
	return list
}

// noteWaits notes why messages of a batch are deferred: what they need is paused or inactive, or
// their lane is down.
func (e *Engine) noteWaits(waiting []deferredItem) {
	for _, p := range waiting {
		w := outbox.Wait{Kind: outbox.WaitHold, Until: p.until, Reason: p.reason}
		if !p.down.IsZero() {
			w.Kind, w.Lane, w.Reason = outbox.WaitLaneDown, p.item.Lane, "the MTA config cannot be reached"
		}
		e.feeders.waits.addWait(p.item.Tenant, p.item.Send, w, 1)
	}
}

// noteGrant notes why the jobs of a group wait that got no permit.
func (e *Engine) noteGrant(g *group, l grant) {
	if len(g.jobs) == 0 {
		return
	}
	w := l.wait
	w.Until = l.denied.until
	if w.Kind != outbox.WaitSendRate {
		w.Lane = g.lane.config.ID
	}
	e.feeders.waits.addWait(g.jobs[0].item.Tenant, g.send.id, w, len(g.jobs))
}

// rateWait returns the wait for a limit.
func (c class) rateWait(l pace.Limit) outbox.Wait {
	w := outbox.Wait{Kind: outbox.WaitLaneRate, Max: l.Max, Per: l.Per, Reason: "the MTA config may not send faster"}
	switch {
	case strings.HasPrefix(l.Key, sendSpace):
		w.Kind, w.Reason = outbox.WaitSendRate, "the broadcast may not send faster"
	case c.throttle != nil && strings.HasSuffix(l.Key, ":"+c.throttle.Pattern):
		w.Kind, w.Provider, w.Reason = outbox.WaitProviderRate, c.throttle.Pattern, "the MTA config may not send faster to this provider"
	}
	return w
}

// observe writes the speed of all sends, and the waits of those that this process feeds.
func (e *Engine) observe(ctx context.Context) {
	if !e.feeders.any() {
		return
	}
	if err := outbox.RecordSamples(ctx, e.DB, e.Now()); err != nil && ctx.Err() == nil {
		e.Log.Error("record send speed failed", "err", err)
	}
	if err := outbox.SaveWaits(ctx, e.DB, e.feeders.waits.drain(), e.Now()); err != nil && ctx.Err() == nil {
		e.Log.Error("record send waits failed", "err", err)
	}
}
