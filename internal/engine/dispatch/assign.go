package dispatch

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// createSlots divides the order of a send into the slots of its plan. Within each lane, the most
// recently engaged recipients come first.
func (e *Engine) createSlots(ctx context.Context, b broadcast.Broadcast, run *broadcast.Run, c broadcast.Calendar) error {
	p := *run.Planning
	send := b.Send
	names := map[string]bool{}
	for _, q := range p.Quotas {
		names[q.Lane] = true
	}
	for name := range p.HeldBack {
		names[name] = true
	}
	var list []outbox.Slot
	for _, name := range slices.Sorted(maps.Keys(names)) {
		slots := c.Slots(p, name)
		// Each slot begins after the last message of the previous one.
		ends, n := make([]int, len(slots)-1), 0
		for i := range ends {
			n += slots[i].N
			ends[i] = n
		}
		places, err := outbox.Boundaries(ctx, e.DB, b.Tenant, send, id.Read[id.Lane](name), p.Scope, ends)
		if err != nil {
			return err
		}
		places = append([]outbox.Boundary{{}}, places...)
		for i, after := range places {
			list = append(list, outbox.Slot{Lane: id.Read[id.Lane](name), After: after, Due: slots[i].Due, Day: slots[i].Day})
		}
	}
	p.SlotsCreated, p.Quotas, p.HeldBack = true, nil, nil
	now := e.Now()
	err := e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := run.Hold(ctx, tx); err != nil {
			return err
		}
		if err := outbox.CreateSlots(ctx, tx, b.Tenant, send, list); err != nil {
			return err
		}
		return run.Plan(ctx, tx, p, now.Add(lease))
	})
	if err == nil {
		run.Planning = &p
	}
	return err
}

// assignBatch is how many messages get their due times in one transaction: on SQLite, about 50 ms
// in which no other transaction can write. Smaller batches cost more per message, since the slots
// are far apart in the index by due time.
const assignBatch = 2000

// assignDueTimes assigns due times to the next messages of a planned send, ordered by contact, and
// opens the send after the last.
func (e *Engine) assignDueTimes(ctx context.Context, b broadcast.Broadcast, run *broadcast.Run) (done bool, err error) {
	var p broadcast.Planning
	send := b.Send
	now := e.Now()
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := run.Hold(ctx, tx); err != nil {
			return err
		}
		p = *run.Planning
		last, more, err := outbox.AssignDueTimes(ctx, tx, b.Tenant, send, outbox.Batch{
			Scope: p.Scope, After: p.Done, Limit: cmp.Or(e.Page, assignBatch),
		}, now)
		if err != nil {
			return err
		}
		done, p.Done = !more, last
		if more {
			return run.Plan(ctx, tx, p, now.Add(lease))
		}
		p = broadcast.Planning{Stage: broadcast.Planned, Start: p.Start, Again: p.Again, At: p.At}
		if err := outbox.DropSlots(ctx, tx, b.Tenant, send); err != nil {
			return err
		}
		if err := run.Plan(ctx, tx, p, now.Add(lease)); err != nil {
			return err
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
