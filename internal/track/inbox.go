package track

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when hits were accepted.
const Wake sqldb.Signal = "hits"

// Accept makes hits durable in the inbox, in one row for all of a tenant's: all that
// their requests wait for. An Inbox records them. Of a hit, what a request says is kept;
// what its message knows is looked up when it is recorded.
func Accept(ctx context.Context, db *sqldb.DB, hits []Hit) error {
	of := map[id.Tenant][]Hit{}
	for _, h := range hits {
		of[h.Tenant] = append(of[h.Tenant], h)
	}
	var err error
	if len(of) == 1 && !db.InTransaction() { // commits by itself, in one round trip
		err = put(ctx, db, hits)
	} else {
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			for _, tenant := range slices.Sorted(maps.Keys(of)) {
				if err := put(ctx, tx, of[tenant]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("accept hits: %w", err)
	}
	db.Notify(Wake)
	return nil
}

// put writes a row with hits of one tenant.
func put(ctx context.Context, db *sqldb.DB, hits []Hit) error {
	_, err := db.Exec(ctx, `INSERT INTO hit_inbox (tenant_id, id, n, hits) VALUES ($1, $2, $3, $4)`,
		hits[0].Tenant, id.New[id.HitPack](), len(hits), pack(hits))
	return err
}

// Inbox is the loop that records what was accepted: it takes the packs out of the inbox
// and records their hits in the same transaction, so that each hit is recorded once.
// One process at a time runs it; should two overlap, each pack is taken by one of them.
type Inbox struct {
	DB  *sqldb.DB
	Log *slog.Logger
	// Every is how often packs of other processes are looked for; 0 means inboxEvery.
	Every time.Duration
}

const (
	inboxEvery = 500 * time.Millisecond
	inboxPage  = 1000 // packs that are listed at a time
	inboxBatch = 1000 // hits of a transaction, about
)

// waiting is a pack in the inbox.
type waiting struct {
	tenant id.Tenant
	id     id.HitPack
	n      int // of hits
}

// Run records until ctx ends.
func (b *Inbox) Run(ctx context.Context) error {
	wake := b.DB.Subscribe(Wake)
	tick := time.NewTicker(cmp.Or(b.Every, inboxEvery))
	defer tick.Stop()
	for {
		if err := b.Drain(ctx); err != nil && ctx.Err() == nil {
			b.Log.Error("record accepted hits failed", "err", err)
			rest(ctx, queueStall/10)
		}
		select {
		case <-wake:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Drain records what is in the inbox when it is called. It rests after each transaction
// for as long as that took: while hits flood in, they are to be accepted first of all.
func (b *Inbox) Drain(ctx context.Context) error {
	var errs []error
	upTo := id.New[id.HitPack]()
	var after waiting
	for {
		page, err := b.page(ctx, after.id, upTo)
		if err != nil {
			return fmt.Errorf("look for accepted hits: %w", err)
		}
		for _, part := range parts(page) {
			began := time.Now()
			if err := b.take(ctx, part); err != nil {
				errs = append(errs, err)
			}
			if rest(ctx, time.Since(began)); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if len(page) < inboxPage {
			return errors.Join(errs...)
		}
		after = page[len(page)-1]
	}
}

// page lists packs in the order in which they came, behind one of them.
func (b *Inbox) page(ctx context.Context, after, upTo id.HitPack) ([]waiting, error) {
	rows, err := b.DB.Query(ctx, `
		SELECT tenant_id, id, n FROM hit_inbox WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3 /* all tenants: one inbox */`, after, upTo, inboxPage)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (w waiting, err error) {
		return w, scan(&w.tenant, &w.id, &w.n)
	})
}

// parts divides packs into transactions.
func parts(list []waiting) (parts [][]waiting) {
	for first, n, i := 0, 0, 0; i < len(list); i++ {
		if n += list[i].n; n >= inboxBatch || i == len(list)-1 {
			parts = append(parts, list[first:i+1])
			first, n = i+1, 0
		}
	}
	return parts
}

// take records the hits of some packs. Those that the database refuses for what they
// are would be refused again: packs are taken alone then, and halved, until such a hit
// is alone and can be left out.
func (b *Inbox) take(ctx context.Context, list []waiting) error {
	err := b.move(ctx, list, Record)
	switch {
	case err == nil || !sqldb.IsInvalidData(err) && !errors.Is(err, errPack):
		return err
	case len(list) > 1:
		var errs []error
		for _, w := range list {
			errs = append(errs, b.take(ctx, []waiting{w}))
		}
		return errors.Join(errs...)
	case errors.Is(err, errPack): // it stays, for a program that can
		return fmt.Errorf("pack %s of tenant %d: %w", list[0].id, list[0].tenant, err)
	case list[0].n > 1:
		return b.move(ctx, list, halve)
	}
	b.Log.Error("hit lost", "tenant", list[0].tenant, "err", err)
	return b.move(ctx, list, func(context.Context, *sqldb.DB, []Hit) error { return nil })
}

// move takes packs out of the inbox and gives their hits to do, in one transaction.
// What another process has taken meanwhile is not among them.
func (b *Inbox) move(ctx context.Context, list []waiting, do func(ctx context.Context, tx *sqldb.DB, hits []Hit) error) error {
	of := map[id.Tenant][]id.HitPack{}
	n := 0
	for _, w := range list {
		of[w.tenant] = append(of[w.tenant], w.id)
		n += w.n
	}
	return b.DB.InTx(ctx, func(tx *sqldb.DB) error {
		hits := make([]Hit, 0, n)
		for _, tenant := range slices.Sorted(maps.Keys(of)) {
			rows, err := tx.Query(ctx, `DELETE FROM hit_inbox WHERE tenant_id = $1 AND id`+tx.In(2)+` RETURNING hits`, tenant, sqldb.List(tx, of[tenant]))
			_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (none struct{}, err error) {
				var packed []byte
				if err := scan(&packed); err != nil {
					return none, err
				}
				some, err := unpack(tenant, packed)
				hits = append(hits, some...)
				return none, err
			})
			if err != nil {
				return fmt.Errorf("take accepted hits: %w", err)
			}
		}
		if len(hits) == 0 {
			return nil
		}
		return do(ctx, tx, hits)
	})
}

// halve puts hits of a tenant back as two packs.
func halve(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	half := len(hits) / 2
	return errors.Join(put(ctx, tx, hits[:half]), put(ctx, tx, hits[half:]))
}

// rest waits, or until ctx ends.
func rest(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
