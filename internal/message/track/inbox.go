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

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when hits were accepted.
const Wake sqldb.Signal = "hits"

// Accept stores hits durably in the inbox, in one row per tenant, after which their
// requests can be answered. An Inbox records them later. Only the data of the request is
// stored; send and contact are looked up when the hit is recorded.
func Accept(ctx context.Context, db *sqldb.DB, hits []Hit) error {
	byTenant := map[id.Tenant][]Hit{}
	for _, h := range hits {
		byTenant[h.Tenant] = append(byTenant[h.Tenant], h)
	}
	var err error
	if len(byTenant) == 1 && !db.InTransaction() { // commits by itself, in one round trip
		err = insertPack(ctx, db, hits)
	} else {
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
				if err := insertPack(ctx, tx, byTenant[tenant]); err != nil {
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

// insertPack writes a row with hits of one tenant.
func insertPack(ctx context.Context, db *sqldb.DB, hits []Hit) error {
	_, err := db.Exec(ctx, `INSERT INTO hit_inbox (tenant_id, id, n, hits) VALUES ($1, $2, $3, $4)`,
		hits[0].Tenant, id.New[id.HitPack](), len(hits), pack(hits))
	return err
}

// Inbox is the loop that records accepted hits: it deletes packs from the inbox and records
// their hits in the same transaction, so that each hit is recorded once. One process at a
// time runs it; if two overlap, only one of them gets each pack.
type Inbox struct {
	DB  *sqldb.DB
	Log *slog.Logger
	// Every is the interval at which packs of other processes are read; 0 means inboxEvery.
	Every time.Duration
}

const (
	inboxEvery = 500 * time.Millisecond
	inboxPage  = 1000 // packs listed at a time
	inboxBatch = 1000 // hits of a transaction, about

	// sqliteRest is how often the time of a transaction Drain pauses after it on SQLite, where requests
	// wait for the transaction. On PostgreSQL they only compete for processors, and it is once.
	sqliteRest = 3
)

// packRef is a pack in the inbox, without its hits.
type packRef struct {
	tenant id.Tenant
	id     id.HitPack
	n      int // number of hits
}

// Run records until ctx ends.
func (b *Inbox) Run(ctx context.Context) error {
	wake := b.DB.Subscribe(Wake)
	tick := time.NewTicker(cmp.Or(b.Every, inboxEvery))
	defer tick.Stop()
	for {
		if err := b.Drain(ctx); err != nil && ctx.Err() == nil {
			b.Log.Error("record accepted hits failed", "err", err)
			sleep(ctx, queueStall/10)
		}
		select {
		case <-wake:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Drain records the packs that are in the inbox when it is called. After each transaction
// it pauses for a multiple of the time that took, since under load accepting hits has priority.
func (b *Inbox) Drain(ctx context.Context) error {
	var errs []error
	rest := time.Duration(1)
	if b.DB.Dialect() == sqldb.SQLite {
		rest = sqliteRest
	}
	upTo := id.New[id.HitPack]()
	var after packRef
	for {
		page, err := b.page(ctx, after.id, upTo)
		if err != nil {
			return fmt.Errorf("list accepted hits: %w", err)
		}
		for _, part := range batches(page) {
			began := time.Now()
			if err := b.recordPacks(ctx, part); err != nil {
				errs = append(errs, err)
			}
			if sleep(ctx, rest*time.Since(began)); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if len(page) < inboxPage {
			return errors.Join(errs...)
		}
		after = page[len(page)-1]
	}
}

// page lists packs after one of them, oldest first.
func (b *Inbox) page(ctx context.Context, after, upTo id.HitPack) ([]packRef, error) {
	rows, err := b.DB.Query(ctx, `
		SELECT tenant_id, id, n FROM hit_inbox WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3 /* all tenants: one inbox */`, after, upTo, inboxPage)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (w packRef, err error) {
		err = scan(&w.tenant, &w.id, &w.n)
		return w, err
	})
}

// batches divides packs into transactions.
func batches(list []packRef) (parts [][]packRef) {
	for first, n, i := 0, 0, 0; i < len(list); i++ {
		if n += list[i].n; n >= inboxBatch || i == len(list)-1 {
			parts = append(parts, list[first:i+1])
			first, n = i+1, 0
		}
	}
	return parts
}

// recordPacks records the hits of some packs. If the database rejects their data, it
// processes each pack alone, and splits packs in halves, until the invalid hit is alone in
// a pack and is dropped.
func (b *Inbox) recordPacks(ctx context.Context, list []packRef) error {
	err := b.processPacks(ctx, list, Record)
	switch {
	case err == nil || !sqldb.IsInvalidData(err) && !errors.Is(err, errPack):
		return err
	// Data that the database refuses fail again each time. Packs, and then hits, are divided until one is
	// alone, so that it costs no other.
	case len(list) > 1:
		var errs []error
		for _, w := range list {
			errs = append(errs, b.recordPacks(ctx, []packRef{w}))
		}
		return errors.Join(errs...)
	case errors.Is(err, errPack): // stays for a version that can decode it
		return fmt.Errorf("pack %s of tenant %d: %w", list[0].id, list[0].tenant, err)
	case list[0].n > 1:
		return b.processPacks(ctx, list, splitPack)
	}
	b.Log.Error("hit lost", "tenant", list[0].tenant, "err", err)
	return b.processPacks(ctx, list, func(context.Context, *sqldb.DB, []Hit) error { return nil })
}

// processPacks deletes packs from the inbox and calls do with their hits, in one
// transaction. Packs that another process deleted meanwhile are skipped.
func (b *Inbox) processPacks(ctx context.Context, list []packRef, do func(ctx context.Context, tx *sqldb.DB, hits []Hit) error) error {
	byTenant := map[id.Tenant][]id.HitPack{}
	n := 0
	for _, w := range list {
		byTenant[w.tenant] = append(byTenant[w.tenant], w.id)
		n += w.n
	}
	return b.DB.InTx(ctx, func(tx *sqldb.DB) error {
		// Deleting is the claim: of two processes, one gets the rows. Killed before the commit, the packs are
		// there again, and nothing is counted.
		hits := make([]Hit, 0, n)
		for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
			rows, err := tx.Query(ctx, `DELETE FROM hit_inbox WHERE tenant_id = $1 AND id`+tx.In(2)+` RETURNING hits`, tenant, sqldb.List(tx, byTenant[tenant]))
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
				return fmt.Errorf("delete accepted hits: %w", err)
			}
		}
		if len(hits) == 0 {
			return nil
		}
		return do(ctx, tx, hits)
	})
}

// splitPack writes hits of a tenant back as two packs.
func splitPack(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	half := len(hits) / 2
	return errors.Join(insertPack(ctx, tx, hits[:half]), insertPack(ctx, tx, hits[half:]))
}

// sleep waits, at most until ctx ends.
func sleep(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
