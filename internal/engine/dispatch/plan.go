package dispatch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/route"
)

// needsPlan reports whether the messages of b are assigned to days: if it is spread over several, a
// lane has a daily limit, or messages beyond today's capacity are held back. All other messages are
// due at once.
func needsPlan(b broadcast.Broadcast, f broadcast.Preconditions, routes []route.Route, today spread.Day) bool {
	d := b.Delivery
	return d.Spread() || d.PerHour > 0 && d.Overflow == broadcast.Holdback || slices.ContainsFunc(routes, func(r route.Route) bool {
		_, capped := f.Lanes[r.Lane].DayCap(today)
		return capped
	})
}

// ranks returns the position of each contact in the order of a planned send: by last click, then by
// last open, then at random. It returns nil for a send that is not planned.
func (e *Engine) ranks(ctx context.Context, p preparation, ids []id.Contact) (map[id.Contact]string, error) {
	if p.run.Planning == nil {
		return nil, nil
	}
	engaged, err := contact.Engagements(ctx, e.DB, p.b.Tenant, ids)
	if err != nil {
		return nil, err
	}
	ranks := make(map[id.Contact]string, len(ids))
	for _, c := range ids {
		ranks[c] = rank(p.b.ID, c, engaged[c])
	}
	return ranks, nil
}

// rank returns a text of fixed length that sorts in the order of the send.
func rank(b id.Broadcast, c id.Contact, e contact.Engagement) string {
	chance := sha256.Sum256([]byte(b.String() + ":" + c.String()))
	return fmt.Sprintf("%08x%08x%08x", recencyRank(e.Clicked), recencyRank(e.Opened), chance[:4])
}

// recencyRank returns a number that is smaller the later t is, and the maximum for nil.
func recencyRank(t *time.Time) uint32 {
	if t == nil {
		return math.MaxUint32
	}
	return math.MaxUint32 - uint32(min(max(t.Unix(), 1), math.MaxUint32))
}

// advancePlanning advances the planning of a send whose audience is complete in the outbox: it makes the plan,
// creates its slots, or assigns due times.
func (e *Engine) advancePlanning(ctx context.Context, t tenant.Tenant, b broadcast.Broadcast, run *broadcast.Run) (more bool, err error) {
	if run.Planning.Stage == broadcast.ToPlan {
		if err := run.MakePlan(ctx, e.DB, t, b, e.Now()); err != nil {
			return false, err
		}
	}
	c := broadcast.CalendarOf(t, b, run.Planning.At)
	if !run.Planning.SlotsCreated {
		if err := e.createSlots(ctx, b, run, c); err != nil {
			return false, err
		}
	}
	for range e.pagesPerTick() {
		done, err := e.assignDueTimes(ctx, b, run)
		if err != nil || done {
			return err == nil && run.AwaitsCopies(), err
		}
	}
	return true, nil
}

// replanIfOverdue requests a new plan if messages are left over from past days of a planned send.
// It checks once a day.
func (e *Engine) replanIfOverdue(ctx context.Context, t tenant.Tenant, run broadcast.Run) (again bool, err error) {
	if run.Planning == nil {
		return false, nil
	}
	today := spread.DayOf(e.Now(), t.Location())
	if e.replanned[run.Broadcast] == today {
		return false, nil
	}
	again, err = broadcast.Replan(ctx, e.DB, run.Tenant, run.Broadcast, today)
	if err == nil {
		if e.replanned == nil || len(e.replanned) > 1000 {
			e.replanned = map[id.Broadcast]spread.Day{}
		}
		e.replanned[run.Broadcast] = today
	}
	return again, err
}
