package seedlist

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxHistory is how many updates of a list its history has.
const maxHistory = 500

// Update replaces or changes the seeds of a list. It restarts the list's rotation and adds the result
// to its history, also if no seed changes. A dry run returns the same result and writes nothing.
//
// If fewer than half of the active and paused seeds would remain, the error is ErrLargeChange with
// the result as details, unless the request allows it or is a dry run.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList, r Request, now time.Time) (Result, error) {
	var result Result
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := lock(ctx, tx, tenant, list); err != nil {
			return err
		}
		u := newUpdate(r)
		if len(u.add) > MaxSeeds || len(u.remove) > MaxSeeds {
			return ErrLimit.Sayf("an update may name at most %d addresses", MaxSeeds)
		}
		known, err := loadKnown(ctx, tx, tenant, list, u.emails())
		if err != nil {
			return err
		}
		contacts, err := contactsAmong(ctx, tx, tenant, u.emails())
		if err != nil {
			return err
		}
		inserted, changed := u.plan(list, known, contacts, sqldb.Time(now.UnixMicro()))
		result = u.result
		if present(known, inserted, changed) > MaxSeeds {
			return errTooMany
		}
		if r.DryRun {
			return nil
		}
		if result.LargeChange && !r.AllowLarge {
			return ErrLargeChange.With(result)
		}
		if err := writeSeeds(ctx, tx, tenant, inserted, changed); err != nil {
			return err
		}
		result.Applied, result.SyncID = true, new(id.New[id.SeedSync]())
		return addToHistory(ctx, tx, tenant, list, result, r.Kind, r.RequestedBy, now)
	})
	if err != nil {
		return Result{}, fmt.Errorf("update a seed list: %w", err)
	}
	return result, nil
}

// present returns how many seeds are not retired after an update.
func present(known map[string]Seed, inserted, changed []Seed) int {
	n := len(inserted)
	for _, s := range known {
		if s.Status != Retired {
			n++
		}
	}
	for _, s := range changed {
		before := known[s.Email].Status
		switch {
		case before == Retired && s.Status != Retired:
			n++
		case before != Retired && s.Status == Retired:
			n--
		}
	}
	return n
}

// loadKnown returns the seeds of a list that are not retired or have one of the addresses.
func loadKnown(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.SeedList, emails []string) (map[string]Seed, error) {
	known := map[string]Seed{}
	read := func(scan func(...any) error) error {
		s, err := scanSeed(scan)
		known[s.Email] = s
		return err
	}
	rows, err := tx.Query(ctx, `SELECT `+seedColumns+` FROM seed WHERE tenant_id = $1 AND seed_list_id = $2 AND status <> 'retired'`, tenant, list)
	if err := sqldb.Each(rows, err, read); err != nil {
		return nil, err
	}
	for page := range slices.Chunk(emails, lookupPage) {
		rows, err := tx.Query(ctx, `
			SELECT `+seedColumns+` FROM seed WHERE tenant_id = $1 AND seed_list_id = $2 AND email`+tx.In(3), tenant, list, sqldb.List(tx, page))
		if err := sqldb.Each(rows, err, read); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// writePage is how many seeds one statement writes.
const writePage = 500

func writeSeeds(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, inserted, changed []Seed) error {
	for page := range slices.Chunk(inserted, writePage) {
		t := tx.Table("id UUID", "seed_list_id UUID", "email TEXT", "provider TEXT", "status TEXT", "status_reason TEXT")
		for _, s := range page {
			t.Add(s.ID, s.List, s.Email, string(s.Provider), string(s.Status), sqldb.Null(string(s.Reason)))
		}
		if _, err := t.Insert(ctx, tx, "seed", tenant); err != nil {
			return err
		}
	}
	for page := range slices.Chunk(changed, writePage) {
		t := tx.Table("id UUID", "provider TEXT", "status TEXT", "status_reason TEXT", "retired_at BIGINT")
		for _, s := range page {
			t.Add(s.ID, string(s.Provider), string(s.Status), sqldb.Null(string(s.Reason)), sqldb.NullMicros(s.RetiredAt))
		}
		if _, err := t.Update(ctx, tx, "seed", tenant); err != nil {
			return err
		}
	}
	return nil
}

// samples returns the samples of a result by kind.
func (r *Result) samples() map[string]*Sample {
	return map[string]*Sample{
		"held_as_contact": &r.HeldAsContact, "invalid": &r.Invalid, "hand_retired": &r.HandRetired, "provider_corrections": &r.ProviderCorrections,
	}
}

// addToHistory adds an update to the history of a list, removes the oldest beyond maxHistory, and restarts
// the rotation.
func addToHistory(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.SeedList, r Result, kind Kind, by auth.Actor, now time.Time) error {
	t := tx.Table("sync_id UUID", "kind TEXT", "n INTEGER", "entry TEXT")
	for kind, s := range r.samples() {
		for n, entry := range s.Sample {
			t.Add(*r.SyncID, kind, int64(n), entry)
		}
		s.Sample = []string{}
	}
	actor, err := json.Marshal(by)
	if err != nil {
		return err
	}
	counts, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO seed_sync (tenant_id, id, seed_list_id, kind, actor, counts, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		tenant, *r.SyncID, list, kind, string(actor), string(counts), sqldb.Micros(now))
	if err != nil {
		return err
	}
	if t.Len() > 0 {
		_, err = tx.Exec(ctx, `
			INSERT INTO seed_sync_sample (tenant_id, sync_id, kind, n, entry)
			SELECT h.tenant_id, v.sync_id, v.kind, v.n, v.entry FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2), t.Args(tenant)...)
		if err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `
		DELETE FROM seed_sync WHERE tenant_id = $1 AND id IN (
			SELECT o.id FROM seed_sync AS o WHERE o.tenant_id = $1 AND o.seed_list_id = $2
			ORDER BY o.created_at DESC, o.id DESC LIMIT 1000 OFFSET $3)`, tenant, list, maxHistory)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE seed_list SET refreshed_at = $3 WHERE tenant_id = $1 AND id = $2`, tenant, list, sqldb.Micros(now))
	return err
}

// History returns the history of a list, newest first: at most its last 500 updates.
func History(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList) ([]PastUpdate, error) {
	if _, err := Find(ctx, db, tenant, list); err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT kind, actor, counts, created_at FROM seed_sync
		WHERE tenant_id = $1 AND seed_list_id = $2 ORDER BY created_at DESC, id DESC LIMIT $3`, tenant, list, maxHistory)
	updates, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s PastUpdate, err error) {
		err = scan(&s.Kind, sqldb.ToJSON(&s.Actor), sqldb.ToJSON(&s.Result), sqldb.ToTime(&s.At))
		return s, err
	})
	if err == nil {
		err = addSamples(ctx, db, tenant, updates)
	}
	if err != nil {
		return nil, fmt.Errorf("list the updates of a seed list: %w", err)
	}
	return updates, nil
}

func addSamples(ctx context.Context, db *sqldb.DB, tenant id.Tenant, updates []PastUpdate) error {
	at, ids := map[id.SeedSync]*PastUpdate{}, make([]id.SeedSync, len(updates))
	for i := range updates {
		ids[i] = *updates[i].SyncID
		at[ids[i]] = &updates[i]
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.Query(ctx, `
		SELECT sync_id, kind, entry FROM seed_sync_sample WHERE tenant_id = $1 AND sync_id`+db.In(2)+`ORDER BY sync_id, kind, n`,
		tenant, sqldb.List(db, ids))
	return sqldb.Each(rows, err, func(scan func(...any) error) error {
		var sync id.SeedSync
		var kind, entry string
		if err := scan(&sync, &kind, &entry); err != nil {
			return err
		}
		if s := at[sync].samples()[kind]; s != nil {
			s.Sample = append(s.Sample, entry)
		}
		return nil
	})
}
