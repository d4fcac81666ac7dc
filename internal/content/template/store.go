package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Templates and blocks are stored in the same way, in the tables template and block. The functions
// of this file take the name of the table, which also names the record in errors.

// anyChange is a Change or a BlockChange.
type anyChange interface {
	// content reports whether the content changes, so that it must be validated.
	content() bool
}

// record is a *Template or a *Block, whose changes are of type C.
type record[C anyChange] interface {
	// apply applies a change, except for the schema.
	apply(ch C) error
	// check applies the change's schema and validates the content.
	check(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, ch C, now time.Time) ([]binding.Warning, error)
	// head returns the fields that the store sets.
	head() head
	// values returns the columns that an author writes, in the order of the INSERT and UPDATE.
	values() ([]any, error)
}

// head is the part of a record that the store sets.
type head struct {
	tenant           id.Tenant
	id               fmt.Stringer
	name, slug       *string
	created, updated *time.Time
	revision         *int64
}

// Filter restricts a listing; an empty field means no restriction.
type Filter struct {
	Tags     []string // all of these
	SlotKeys []string // any of these; for blocks only
}

// where returns the conditions, and the parameters of a statement whose first is the tenant.
func (f Filter) where(db *sqldb.DB, tenant id.Tenant) (text string, args []any) {
	args = []any{tenant}
	if len(f.Tags) > 0 {
		tags, _ := json.Marshal(f.Tags) // strings always encode
		args = append(args, string(tags))
		text += ` AND ` + db.JSONContains("tags", len(args))
	}
	if len(f.SlotKeys) > 0 {
		args = append(args, sqldb.List(db, f.SlotKeys))
		text += ` AND ` + db.AnyElement("slot_keys", len(args))
	}
	return text, args
}

// listRecords returns the records of a tenant by name. dest returns the destinations of the columns.
func listRecords[R any](ctx context.Context, db *sqldb.DB, table, columns string, dest func(*R) []any, tenant id.Tenant, f Filter) ([]R, error) {
	where, args := f.where(db, tenant)
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM `+table+` WHERE tenant_id = $1`+where+` ORDER BY `+db.Bytewise("name")+`, id`, args...)
	list, err := sqldb.Collect(rows, err, scanTo(dest))
	if err != nil {
		return nil, fmt.Errorf("list %ss: %w", table, err)
	}
	return list, nil
}

// recordByRef returns the record with an id, of type ID, or a slug. If there is none, the error is
// missing.
func recordByRef[ID ~[16]byte, R any](ctx context.Context, db *sqldb.DB, table, columns string, dest func(*R) []any, tenant id.Tenant, ref string, missing error) (r R, err error) {
	where, key := `slug = $2`, any(ref)
	if u, ok := id.Parse[ID](ref); ok {
		where, key = `id = $2`, u
	}
	if unstorable(ref) {
		return r, missing
	}
	err = db.QueryRow(ctx, `SELECT `+columns+` FROM `+table+` WHERE tenant_id = $1 AND `+where, tenant, key).Scan(dest(&r)...)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		err = missing
	case err != nil:
		err = fmt.Errorf("read a %s: %w", table, err)
	}
	return r, err
}

// callEach calls functions with a new record, in the transaction that inserts it.
func callEach[R any](list []func(*sqldb.DB, R, []binding.Warning) error, tx *sqldb.DB, r R, warnings []binding.Warning) error {
	for _, f := range list {
		if err := f(tx, r, warnings); err != nil {
			return err
		}
	}
	return nil
}

// createRecord applies a change to a new record, validates and inserts it, unless the tenant has
// limit records already. If the slug is taken, a number is appended. then is called in the same transaction.
func createRecord[C anyChange](ctx context.Context, db *sqldb.DB, c *mjml.Compiler, table, insert string, limit int, r record[C], ch C, now time.Time, then func(tx *sqldb.DB, warnings []binding.Warning) error) ([]binding.Warning, error) {
	now = sqldb.Time(now.UnixMicro())
	h := r.head()
	*h.created, *h.updated, *h.revision = now, now, 1
	if err := r.apply(ch); err != nil {
		return nil, err
	}
	warnings, err := r.check(ctx, db, c, ch, now)
	if err != nil {
		return nil, err
	}
	if *h.slug == "" {
		*h.slug = slug.Derive(*h.name, '-')
	}
	values, err := r.values()
	if err != nil {
		return nil, fmt.Errorf("write a %s: %w", table, err)
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, h.tenant).Scan(&n); err != nil {
			return err
		}
		if n >= limit {
			return ErrLimit.Sayf("a tenant may have at most %d %ss", limit, table)
		}
		var err error
		*h.slug, err = slug.Free(*h.slug, '-', func(try string) (taken bool, err error) {
			if id.Valid(try) { // recordByRef would parse it as an id
				return true, nil
			}
			n, err := tx.Exec(ctx, insert, append([]any{h.tenant, h.id, try, sqldb.Micros(now), revision.By(ctx)}, values...)...)
			return n == 0, err
		})
		if err != nil {
			return err
		}
		return then(tx, warnings)
	})
	if err != nil {
		return nil, fmt.Errorf("create a %s: %w", table, err)
	}
	return warnings, nil
}

// Compare is called with a record as an update has read it and as it is about to store it. What it returns runs in
// the transaction that replaces exactly the revision that was read; nothing long belongs there.
type Compare[R any] func(before, after R) (stored func(ctx context.Context, tx *sqldb.DB) error, err error)

// compareEach calls functions with both forms of a record, and returns what runs in its transaction.
func compareEach[R any](list []Compare[R], before, after R) (func(ctx context.Context, tx *sqldb.DB) error, error) {
	var stored []func(ctx context.Context, tx *sqldb.DB) error
	for _, compare := range list {
		f, err := compare(before, after)
		if err != nil {
			return nil, err
		}
		stored = append(stored, f)
	}
	return func(ctx context.Context, tx *sqldb.DB) error {
		for _, f := range stored {
			if err := f(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// updateRecord applies a change to a record and validates the result as a whole. It is stored only
// if the row has not changed since it was read, so that schema and bodies always fit, and the condition of
// ctx applies to what is replaced; otherwise the error is revision.ErrOvertaken. What compare returns runs in the
// same transaction.
func updateRecord[C anyChange](ctx context.Context, db *sqldb.DB, c *mjml.Compiler, table, update string, r record[C], ch C, now time.Time, compare func() (func(ctx context.Context, tx *sqldb.DB) error, error)) (warnings []binding.Warning, err error) {
	h := r.head()
	if err := (revision.Table{Name: table}).Check(ctx, db, h.tenant, h.id); err != nil {
		return nil, err
	}
	if err := r.apply(ch); err != nil {
		return nil, err
	}
	if ch.content() {
		if warnings, err = r.check(ctx, db, c, ch, now); err != nil {
			return nil, err
		}
	}
	*h.updated = sqldb.Time(sqldb.Micros(now))
	values, err := r.values()
	if err != nil {
		return nil, fmt.Errorf("write a %s: %w", table, err)
	}
	stored, err := compare()
	if err != nil {
		return nil, fmt.Errorf("compare a %s: %w", table, err)
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err := tx.Exec(ctx, update, append([]any{h.tenant, h.id, *h.revision, *h.slug, sqldb.Micros(*h.updated), revision.By(ctx)}, values...)...)
		switch {
		case sqldb.IsUniqueViolation(err):
			return ErrSlug.Sayf("another %s has the slug %s", table, *h.slug)
		case err != nil:
			return fmt.Errorf("update a %s: %w", table, err)
		case n == 0:
			return revision.ErrOvertaken
		}
		return stored(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	*h.revision++
	return warnings, nil
}

// deleteRecord deletes the record whose id find returns. Unless forced, drafts and recent
// broadcasts must not use it; a nil counter finds none.
func deleteRecord(ctx context.Context, db *sqldb.DB, table string, tenant id.Tenant, find func(tx *sqldb.DB) (fmt.Stringer, error), force bool, counter usage.Counter, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		key, err := find(tx)
		if err != nil {
			return err
		}
		if err := (revision.Table{Name: table}).Check(ctx, tx, tenant, key); err != nil {
			return err
		}
		if !force && counter != nil {
			counts, err := counter.Count(ctx, tx, tenant, usage.Kind(table), key.String(), now)
			if err != nil {
				return err
			}
			if n := counts[key.String()]; n.Any() {
				return ErrInUse.With(n)
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE tenant_id = $1 AND id = $2`, tenant, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a %s: %w", table, err)
	}
	return nil
}

// scanTo returns a function that scans a row to the destinations that dest returns.
func scanTo[R any](dest func(*R) []any) func(row func(...any) error) (R, error) {
	return func(row func(...any) error) (r R, err error) {
		err = row(dest(&r)...)
		return r, err
	}
}

// encodeColumns encodes values for JSON columns.
func encodeColumns(values ...any) ([]any, error) {
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		values[i] = string(text)
	}
	return values, nil
}
