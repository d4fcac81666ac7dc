package dispatch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/route"
	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/tenant"
)

// needsPlan reports whether the messages of b are given days: when it is spread
// over some, or a lane of it may carry only so many a day, or what does not fit
// today is held back. Everything else leaves as it comes.
func needsPlan(b broadcast.Broadcast, f broadcast.Preconditions, routes []route.Route, today spread.Day) bool {
	d := b.Delivery
	return d.Spread() || d.PerHour > 0 && d.Overflow == broadcast.Holdback || slices.ContainsFunc(routes, func(r route.Route) bool {
		_, capped := f.Lanes[r.Lane].DayCap(today)
		return capped
	})
}

// ranks returns the place of each contact in the order of a planned send: who
// clicked last comes first, then who opened last, then the others by chance.
// Nobody has one in a send that is not planned.
func (e *Engine) ranks(ctx context.Context, p page, ids []id.Contact) (map[id.Contact]string, error) {
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

// rank is a text of fixed width whose order is that of the send.
func rank(b id.Broadcast, c id.Contact, e contact.Engagement) string {
	chance := sha256.Sum256([]byte(b.String() + ":" + c.String()))
	return fmt.Sprintf("%08x%08x%08x", ago(e.Clicked), ago(e.Opened), chance[:4])
}

// ago is the smaller the later a moment is, and the largest for none.
func ago(t *time.Time) uint32 {
	if t == nil {
		return math.MaxUint32
	}
	return math.MaxUint32 - uint32(min(max(t.Unix(), 1), math.MaxUint32))
}

// plan takes the planning of a send that is all in the outbox further: it makes
// the plan, and assigns the next messages their times.
func (e *Engine) plan(ctx context.Context, t tenant.Tenant, b broadcast.Broadcast, run *broadcast.Run) (more bool, err error) {
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
	for range e.pages() {
		done, err := e.assignDueTimes(ctx, b, run)
		if err != nil || done {
			return false, err
		}
	}
	return true, nil
}

// replanIfOverdue asks for a new plan when a day of a planned send has passed that did not
// send all it should. It looks once a day.
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
