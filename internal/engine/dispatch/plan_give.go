package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
	"packetboat/internal/outbox"
	"packetboat/internal/spread"
	"packetboat/internal/sqldb"
)

// slot is a time at which so many messages of a lane leave.
type slot struct {
	day spread.Day
	due time.Time
	n   int
}

// laneTimes are the slots of lanes, in order of time.
type laneTimes map[id.MTAConfig][]slot

// of returns the slots of a lane: its quota of each day, divided over the
// batches of the day.
func (t laneTimes) of(c calendar, quotas []spread.Quota, lane id.MTAConfig) []slot {
	if slots, ok := t[lane]; ok {
		return slots
	}
	var slots []slot
	for _, q := range quotas {
		if q.Lane != string(lane) {
			continue
		}
		batches := c.batches(q.Day)
		if len(batches) == 0 { // the window was changed since the plan was made
			batches = []time.Time{c.at}
		}
		for i, n := range spread.Shares(q.N, len(batches)) {
			if n > 0 {
				slots = append(slots, slot{q.Day, batches[i], n})
			}
		}
	}
	t[lane] = slots
	return slots
}

// give gives the next messages of a planned send their times, the best engaged
// of each lane first, and opens the stream after the last. Messages that no day
// has room for are held back.
func (e *Engine) give(ctx context.Context, b broadcast.Broadcast, run *broadcast.Run, c calendar, times laneTimes) (done bool, err error) {
	p := *run.Planning
	size := cmp.Or(e.Page, 1000)
	stream := string(b.ID)
	if p.Lane == "" {
		p.Lane, err = outbox.NextLane(ctx, e.DB, b.Tenant, stream, "")
		if err != nil {
			return false, err
		}
	}
	var places []outbox.Place
	if p.Lane != "" {
		if places, err = outbox.Next(ctx, e.DB, b.Tenant, stream, p.Lane, p.Cut, p.After, size); err != nil {
			return false, err
		}
	}
	slots := assign(places, times.of(c, p.Quotas, p.Lane), p.Given)
	now := e.Now()
	p.Given += len(places)
	if len(places) > 0 {
		p.After = places[len(places)-1]
	}
	if len(places) < size && p.Lane != "" {
		next, err := outbox.NextLane(ctx, e.DB, b.Tenant, stream, p.Lane)
		if err != nil {
			return false, err
		}
		done = next == ""
		p.Lane, p.Given, p.After = next, 0, outbox.Place{}
	}
	done = done || p.Lane == ""
	if done {
		p = broadcast.Planning{Stage: broadcast.Planned, Start: p.Start, Again: p.Again, At: p.At}
	}
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := run.Hold(ctx, tx); err != nil {
			return err
		}
		if err := outbox.Give(ctx, tx, b.Tenant, stream, slots, now); err != nil {
			return err
		}
		if err := run.Plan(ctx, tx, p, now.Add(lease)); err != nil || !done {
			return err
		}
		if e.Ready != nil {
			tx.AfterCommit(e.Ready)
		}
		return run.Prepared(ctx, tx, now)
	})
	if err != nil {
		return false, err
	}
	run.Planning = &p
	if done {
		e.Log.Info("broadcast planned", "tenant", b.Tenant, "broadcast", b.ID, "again", p.Again)
	}
	return done, nil
}

// assign gives messages, of whose lane so many were given times before, the
// slots that come next.
func assign(places []outbox.Place, slots []slot, given int) []outbox.Slot {
	list := make([]outbox.Slot, len(places))
	slots = slices.Clone(slots)
	for i, p := range places {
		for len(slots) > 0 && given >= slots[0].n {
			given -= slots[0].n
			slots = slots[1:]
		}
		list[i] = outbox.Slot{Message: p.ID}
		if len(slots) > 0 {
			list[i].Day, list[i].Due = slots[0].day, slots[0].due
			given++
		}
	}
	return list
}
