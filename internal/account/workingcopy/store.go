package workingcopy

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const columns = `kind, record, title, base_revision, size, updated_at`

func scan(row func(...any) error, more ...any) (Copy, error) {
	var c Copy
	var base sql.NullInt64
	var updated int64
	if err := row(append([]any{&c.Kind, &c.Record, &c.Title, &base, &c.Size, &updated}, more...)...); err != nil {
		return Copy{}, err
	}
	if base.Valid {
		c.BaseRevision = &base.Int64
	}
	c.UpdatedAt = sqldb.Time(updated)
	return c, nil
}

// oldest returns the time before which copies are too old.
func oldest(now time.Time) int64 { return sqldb.Micros(now.Add(-MaxAge)) }

// List returns the copies of a user, of one kind or, if it is empty, of all, the latest first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, user id.User, kind string, now time.Time) ([]Copy, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM working_copy
		WHERE tenant_id = $1 AND user_id = $2 AND ($3 = '' OR kind = $3) AND updated_at > $4
		ORDER BY updated_at DESC, kind, record`, tenant, user, kind, oldest(now))
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (Copy, error) { return scan(row) })
	if err != nil {
		return nil, fmt.Errorf("list working copies: %w", err)
	}
	return list, nil
}

// Find returns one copy of a user with its data, or ErrNotFound.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, user id.User, key Key, now time.Time) (Copy, json.RawMessage, error) {
	var data string
	c, err := scan(db.QueryRow(ctx, `
		SELECT `+columns+`, data FROM working_copy
		WHERE tenant_id = $1 AND user_id = $2 AND kind = $3 AND record = $4 AND updated_at > $5`,
		tenant, user, key.Kind, key.Record, oldest(now)).Scan, &data)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Copy{}, nil, ErrNotFound
	}
	if err != nil {
		return Copy{}, nil, fmt.Errorf("read a working copy: %w", err)
	}
	return c, json.RawMessage(data), nil
}

// Store stores a copy of a user, in place of the one with the same key.
func Store(ctx context.Context, db *sqldb.DB, tenant id.Tenant, user id.User, key Key, in Input, now time.Time) error {
	if err := in.Check(); err != nil {
		return err
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var others int
		if err := tx.QueryRow(ctx, `
			SELECT COUNT(*) FROM working_copy
			WHERE tenant_id = $1 AND user_id = $2 AND NOT (kind = $3 AND record = $4) AND updated_at > $5`,
			tenant, user, key.Kind, key.Record, oldest(now)).Scan(&others); err != nil {
			return err
		}
		if others >= maxCopies {
			return ErrLimit.Sayf("a user may have at most %d working copies", maxCopies)
		}
		var before int64 // of the copy that is replaced
		err := tx.QueryRow(ctx, `
			SELECT size FROM working_copy WHERE tenant_id = $1 AND user_id = $2 AND kind = $3 AND record = $4`+tx.ForUpdate(),
			tenant, user, key.Kind, key.Record).Scan(&before)
		if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
			return err
		}
		if err := quota.Add(ctx, tx, tenant, quota.WorkingCopies, int64(len(in.Data))-before); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO working_copy (tenant_id, user_id, kind, record, title, base_revision, size, updated_at, data)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (tenant_id, user_id, kind, record) DO UPDATE SET title = excluded.title,
				base_revision = excluded.base_revision, size = excluded.size, updated_at = excluded.updated_at, data = excluded.data`,
			tenant, user, key.Kind, key.Record, in.Title, in.BaseRevision, len(in.Data), sqldb.Micros(now), string(in.Data))
		return err
	})
	if err != nil {
		return fmt.Errorf("store a working copy: %w", err)
	}
	return nil
}

// Delete deletes a copy of a user, or returns ErrNotFound.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, user id.User, key Key) error {
	n, err := remove(ctx, db, tenant, `user_id = $2 AND kind = $3 AND record = $4`, user, key.Kind, key.Record)
	if err != nil {
		return fmt.Errorf("delete a working copy: %w", err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}

// remove deletes the copies of a tenant for which a condition holds, whose parameters begin with $2, and
// returns how many it deleted.
func remove(ctx context.Context, db *sqldb.DB, tenant id.Tenant, condition string, args ...any) (n int, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		rows, err := tx.Query(ctx, `DELETE FROM working_copy WHERE tenant_id = $1 AND `+condition+` RETURNING size`, append([]any{tenant}, args...)...)
		var bytes int64
		n = 0
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			var size int64
			err := scan(&size)
			n, bytes = n+1, bytes+size
			return err
		})
		if err != nil {
			return err
		}
		return quota.Add(ctx, tx, tenant, quota.WorkingCopies, -bytes)
	})
	return n, err
}

// CountBytes returns how many bytes the copies of a tenant have.
func CountBytes(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (n int64, err error) {
	err = db.QueryRow(ctx, `SELECT COALESCE(SUM(size), 0) FROM working_copy WHERE tenant_id = $1 /* reads the tenant: counts it */`, tenant).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the bytes of working copies: %w", err)
	}
	return n, nil
}

// DeleteOfUser deletes all copies of a user who leaves the tenant.
func DeleteOfUser(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, user id.User) error {
	if _, err := remove(ctx, tx, tenant, `user_id = $2`, user); err != nil {
		return fmt.Errorf("delete the working copies of a user: %w", err)
	}
	return nil
}

// Erase deletes all users' copies for records that are erased.
func Erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, records []string) error {
	if _, err := remove(ctx, tx, tenant, `record`+tx.In(2), sqldb.List(tx, records)); err != nil {
		return fmt.Errorf("erase working copies: %w", err)
	}
	return nil
}

// Prune deletes up to limit copies of a tenant that were last stored before a time, oldest first, and
// returns how many it deleted.
func Prune(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (int, error) {
	n, err := remove(ctx, db, tenant, `(user_id, kind, record) IN (
			SELECT w.user_id, w.kind, w.record FROM working_copy AS w
			WHERE w.tenant_id = $1 AND w.updated_at <= $2 ORDER BY w.updated_at LIMIT $3)`,
		sqldb.Micros(before), limit)
	if err != nil {
		return 0, fmt.Errorf("delete old working copies: %w", err)
	}
	return n, nil
}
