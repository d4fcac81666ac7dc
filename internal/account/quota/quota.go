// Package quota bounds how many bytes of some kinds a tenant stores, and counts them. A package that
// stores or deletes such bytes calls Add in the same transaction.
//
// The limits are those of the installation. They are a value of the context, since the writers are below
// engines and handlers that know nothing of them; app adds them once to the contexts of all requests and
// engines.
package quota

import (
	"cmp"
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind is what is stored.
type Kind string

// The kinds.
const (
	JobFiles      Kind = "job_files"      // what imports read, exports write, and imports refuse
	WorkingCopies Kind = "working_copies" // unfinished work of all users
)

// Limits are how many bytes a tenant may store. Zero means the default.
type Limits struct{ JobFiles, WorkingCopies int64 }

// The defaults.
const (
	DefaultJobFiles      = 1 << 30
	DefaultWorkingCopies = 200 << 20
)

// ErrFull reports that a tenant stores as many bytes as it may.
var ErrFull = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "the tenant has no room for more bytes")

type contextKey struct{}

// With returns a context in which limits apply.
func With(ctx context.Context, l Limits) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// limit returns how many bytes of a kind a tenant may store, and what they are called.
func limit(ctx context.Context, k Kind) (most int64, name string) {
	l, _ := ctx.Value(contextKey{}).(Limits)
	if k == WorkingCopies {
		return cmp.Or(l.WorkingCopies, DefaultWorkingCopies), "working copies of all users"
	}
	return cmp.Or(l.JobFiles, DefaultJobFiles), "files of imports and exports, which are deleted 7 days after their job"
}

// Add adds n bytes, or subtracts them if n is negative, in the transaction that stores or deletes them.
// The error is ErrFull if the tenant would store more than it may.
func Add(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, k Kind, n int64) error {
	if n == 0 {
		return nil
	}
	if n < 0 {
		if _, err := tx.Exec(ctx, `UPDATE quota SET bytes = bytes + $3 WHERE tenant_id = $1 AND kind = $2`, tenant, k, n); err != nil {
			return fmt.Errorf("subtract stored bytes: %w", err)
		}
		return nil
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO quota (tenant_id, kind, bytes) VALUES ($1, $2, 0) ON CONFLICT (tenant_id, kind) DO NOTHING`, tenant, k); err != nil {
		return fmt.Errorf("begin to count stored bytes: %w", err)
	}
	most, name := limit(ctx, k)
	rows, err := tx.Exec(ctx, `UPDATE quota SET bytes = bytes + $3 WHERE tenant_id = $1 AND kind = $2 AND bytes + $3 <= $4`, tenant, k, n, most)
	if err != nil {
		return fmt.Errorf("count stored bytes: %w", err)
	}
	if rows == 0 {
		return ErrFull.Sayf("the tenant may have %d MB of %s", most>>20, name)
	}
	return nil
}

// Used returns how many bytes of a kind a tenant stores.
func Used(ctx context.Context, db *sqldb.DB, tenant id.Tenant, k Kind) (n int64, err error) {
	err = db.QueryRow(ctx, `SELECT COALESCE(SUM(bytes), 0) FROM quota WHERE tenant_id = $1 AND kind = $2`, tenant, k).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read stored bytes: %w", err)
	}
	return n, nil
}

// Correct adds n to the number of bytes that a tenant is said to store, whatever its limit.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, k Kind, n int64) error {
	_, err := db.Exec(ctx, `
		INSERT INTO quota (tenant_id, kind, bytes) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id, kind) DO UPDATE SET bytes = quota.bytes + excluded.bytes`, tenant, k, n)
	if err != nil {
		return fmt.Errorf("correct the number of stored bytes: %w", err)
	}
	return nil
}
