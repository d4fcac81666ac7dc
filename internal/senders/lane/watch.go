package lane

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// LoadHealth returns the health of all lanes that were ever unhealthy.
func LoadHealth(ctx context.Context, db *sqldb.DB) (map[traffic.Lane]Health, error) {
	all := map[traffic.Lane]Health{}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every lane */
		SELECT tenant_id, mta_config_id, state, since, last_error, probed_at FROM mta_health`)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var l traffic.Lane
		h, err := scanHealth(func(dest ...any) error { return scan(append([]any{&l.Tenant, &l.Lane}, dest...)...) })
		all[l] = h
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the health of lanes: %w", err)
	}
	return all, nil
}

// StoreHealth stores a lane's health, unless the lane was deleted meanwhile. If the lane goes down or
// recovers, it appends to the journal.
func StoreHealth(ctx context.Context, db *sqldb.DB, l traffic.Lane, before, after Health) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err := tx.Exec(ctx, `
			INSERT INTO mta_health (tenant_id, mta_config_id, state, since, last_error, probed_at)
			SELECT tenant_id, id, $3, $4, $5, $6 FROM mta_config WHERE tenant_id = $1 AND id = $2
			ON CONFLICT (tenant_id, mta_config_id) DO UPDATE SET
				state = excluded.state, since = excluded.since, last_error = excluded.last_error, probed_at = excluded.probed_at`,
			l.Tenant, l.Lane, after.State, after.Since.UnixMicro(), sqldb.Null(after.LastError), sqldb.NullMicros(after.ProbedAt))
		if err != nil || n == 0 || before.State == after.State {
			return err
		}
		entry := journal.Entry{Tenant: l.Tenant, Name: l.Lane.String(), At: after.Since}
		switch {
		case after.State == Down:
			entry.Type = journal.MTADown
		case before.State == Down:
			entry.Type = journal.MTARecovered
		default:
			return nil
		}
		return journal.Append(ctx, tx, entry)
	})
	if err != nil {
		return fmt.Errorf("store the health of a lane: %w", err)
	}
	return nil
}

// makeProbeDue makes an unhealthy lane due for a probe, because it was changed.
func makeProbeDue(ctx context.Context, tx *sqldb.DB, t id.Tenant, config id.Lane) error {
	_, err := tx.Exec(ctx, `UPDATE mta_health SET probed_at = NULL WHERE tenant_id = $1 AND mta_config_id = $2`, t, config)
	return err
}

// WarmingUp returns the lanes of all tenants that are warming up.
func WarmingUp(ctx context.Context, db *sqldb.DB) ([]Config, error) {
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every lane */
		SELECT tenant_id, `+columns+` FROM mta_config WHERE warmup->>'enabled' IS NOT NULL ORDER BY tenant_id, id`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Config, error) {
		var t id.Tenant
		c, err := scanFor(0)(func(dest ...any) error { return scan(append([]any{&t}, dest...)...) })
		c.Tenant = t
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("list lanes that warm up: %w", err)
	}
	return list, nil
}

// SetWarmup stores the state of a warm-up, unless the lane was changed since it was read, and
// reports whether it did.
func SetWarmup(ctx context.Context, db *sqldb.DB, read Config, w Warmup) (set bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		now, err := scanOne(tx.QueryRow(ctx, `SELECT `+columns+` FROM mta_config WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), read.Tenant, read.ID), read.Tenant)
		if errors.Is(err, ErrNotFound) || err == nil && !reflect.DeepEqual(now.Warmup, read.Warmup) {
			return nil
		}
		if err != nil {
			return err
		}
		set = true
		_, err = tx.Exec(ctx, `UPDATE mta_config SET warmup = $3 WHERE tenant_id = $1 AND id = $2`, read.Tenant, read.ID, encode(w))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("store the state of a warm-up: %w", err)
	}
	return set, nil
}

func scanHealth(scan func(...any) error) (h Health, err error) {
	var since int64
	var last sql.NullString
	var probed sql.NullInt64
	err = scan(&h.State, &since, &last, &probed)
	h.Since, h.LastError, h.ProbedAt = sqldb.Time(since), last.String, sqldb.NullTime(probed)
	return h, err
}
