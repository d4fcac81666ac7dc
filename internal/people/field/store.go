package field

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const columns = `id, name, field_key, field_type, enum_values, value_constraint, currency_code, default_value, created_at`

// standard wraps a default value, since a JSON column stores objects and arrays only.
type standard struct {
	Value any `json:"value"`
}

func scan(row func(...any) error) (Field, error) {
	var f Field
	var enum, currency, def sql.NullString
	var created int64
	if err := row(&f.ID, &f.Name, &f.Key, &f.Type, &enum, &f.Constraint, &currency, &def, &created); err != nil {
		return Field{}, err
	}
	f.CurrencyCode, f.CreatedAt = currency.String, sqldb.Time(created)
	if enum.Valid {
		if err := json.Unmarshal([]byte(enum.String), &f.EnumValues); err != nil {
			return Field{}, fmt.Errorf("values of custom field %s: %w", f.ID, err)
		}
	}
	if def.Valid {
		var d standard
		if err := json.Unmarshal([]byte(def.String), &d); err != nil {
			return Field{}, fmt.Errorf("default of custom field %s: %w", f.ID, err)
		}
		f.Default = d.Value
	}
	return f, nil
}

func encode(f Field) (enum, def any, err error) {
	if f.EnumValues != nil {
		b, err := json.Marshal(f.EnumValues)
		if err != nil {
			return nil, nil, err
		}
		enum = string(b)
	}
	if f.Default != nil {
		b, err := json.Marshal(standard{f.Default})
		if err != nil {
			return nil, nil, err
		}
		def = string(b)
	}
	return enum, def, nil
}

// List returns the tenant's fields by name.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Field, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM custom_field
		WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY `+db.SortText("name")+`, field_key`, tenant)
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("list custom fields: %w", err)
	}
	return list, nil
}

// Load returns the tenant's fields by key.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (Catalog, error) {
	b := db.Batch()
	c := QueueLoad(b, tenant)
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("load custom fields: %w", err)
	}
	return c, nil
}

// QueueLoad is Load as part of a batch, which fills the catalog that it returns.
func QueueLoad(b *sqldb.Batch, tenant id.Tenant) Catalog {
	c := Catalog{}
	b.Queue(`SELECT `+columns+` FROM custom_field WHERE tenant_id = $1 AND deleted_at IS NULL`, func(row func(...any) error) error {
		f, err := scan(row)
		c[f.Key] = f
		return err
	}, tenant)
	return c
}

// ByID returns one field.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, field id.Field) (Field, error) {
	return loadOne(ctx, db, tenant, field, " ")
}

// Lock locks a field until the transaction ends.
func Lock(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, field id.Field) error {
	_, err := loadOne(ctx, tx, tenant, field, tx.ForUpdate())
	return err
}

func loadOne(ctx context.Context, db *sqldb.DB, tenant id.Tenant, field id.Field, lock string) (Field, error) {
	f, err := scan(db.QueryRow(ctx, `
		SELECT `+columns+` FROM custom_field
		WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`+lock, tenant, field).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Field{}, ErrNotFound
	}
	if err != nil {
		return Field{}, fmt.Errorf("read a custom field: %w", err)
	}
	return f, nil
}

// Create declares a field.
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, d Draft, now time.Time) (Field, error) {
	f, err := d.field(now)
	if err != nil {
		return Field{}, err
	}
	enum, def, err := encode(f)
	if err != nil {
		return Field{}, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		have, err := lockFields(ctx, tx, tenant)
		if err != nil {
			return err
		}
		if have >= maxFields {
			return ErrLimit
		}
		moved, err := tx.Exec(ctx, `
			INSERT INTO custom_field (tenant_id, id, name, field_key, field_type, enum_values, value_constraint, currency_code, default_value, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (tenant_id, field_key) DO NOTHING`,
			tenant, f.ID, f.Name, f.Key, f.Type, enum, f.Constraint, sqldb.Null(f.CurrencyCode), def, sqldb.Micros(f.CreatedAt))
		if err != nil {
			return err
		}
		if moved == 0 {
			return ErrDuplicateKey.Sayf("a custom field with the key %s exists, or is still being erased", f.Key)
		}
		return nil
	})
	if err != nil {
		return Field{}, fmt.Errorf("declare a custom field: %w", err)
	}
	return f, nil
}

// lockFields locks the tenant's fields until the transaction ends and counts them, so that concurrent
// transactions cannot exceed the limit.
func lockFields(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) (int, error) {
	rows, err := tx.Query(ctx, `SELECT id FROM custom_field WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id`+tx.ForUpdate(), tenant)
	if _, err := sqldb.Collect(rows, err, func(row func(...any) error) (f id.Field, err error) { return f, row(&f) }); err != nil {
		return 0, err
	}
	var n int // a second statement, which sees rows committed while the first waited for locks
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM custom_field WHERE tenant_id = $1 AND deleted_at IS NULL`, tenant).Scan(&n)
	return n, err
}

// Update applies a change to a field. Stored values do not change, even if a strict field no longer
// lists them.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, field id.Field, c Change) (Field, error) {
	var f Field
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		old, err := loadOne(ctx, tx, tenant, field, tx.ForUpdate())
		if err != nil {
			return err
		}
		if f, err = old.change(c); err != nil {
			return err
		}
		enum, def, err := encode(f)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE custom_field SET name = $3, enum_values = $4, value_constraint = $5, default_value = $6
			WHERE tenant_id = $1 AND id = $2`, tenant, field, f.Name, enum, f.Constraint, def)
		return err
	})
	if err != nil {
		return Field{}, fmt.Errorf("update a custom field: %w", err)
	}
	return f, nil
}

// Delete deletes a field unless something other than contacts uses it. Package contact erases the
// values and then calls FinishErasure.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, field id.Field, finders usage.Finder, now time.Time) (Field, error) {
	var f Field
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if f, err = loadOne(ctx, tx, tenant, field, tx.ForUpdate()); err != nil {
			return err
		}
		holders, err := finders.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Field, ID: f.ID.String(), Key: f.Key})
		if err != nil {
			return err
		}
		if holders.Any() {
			return ErrInUse.With(Usage{Key: f.Key, Usage: Counts(0, holders)})
		}
		_, err = tx.Exec(ctx, `UPDATE custom_field SET deleted_at = $3 WHERE tenant_id = $1 AND id = $2`, tenant, field, sqldb.Micros(now))
		return err
	})
	if err != nil {
		return Field{}, fmt.Errorf("delete a custom field: %w", err)
	}
	return f, nil
}

// Usage is the details of ErrInUse.
type Usage struct {
	Key   string         `json:"-"`
	Usage map[string]int `json:"usage"`
}

// With returns the usage with the number of contacts that have a value.
func (u Usage) With(contacts int) Usage {
	u.Usage = maps.Clone(u.Usage)
	u.Usage["contacts"] = contacts
	return u
}

// Counts returns how often a field is used, by source.
func Counts(contacts int, h usage.Holders) map[string]int {
	counts := map[string]int{"contacts": contacts}
	for _, source := range []string{"segments", "saved_filters", "automations", "sequences", "forms"} {
		counts[source] = len(h[source])
	}
	return counts
}

// PendingErasure is a deleted field whose values are not erased completely.
type PendingErasure struct {
	Tenant id.Tenant
	ID     id.Field
	Key    string
}

// PendingErasures returns deleted fields with values to erase, oldest first.
func PendingErasures(ctx context.Context, db *sqldb.DB, limit int) ([]PendingErasure, error) {
	rows, err := db.Query(ctx, `
		SELECT tenant_id, id, field_key FROM custom_field
		WHERE deleted_at IS NOT NULL ORDER BY deleted_at, tenant_id, id LIMIT $1 /* all tenants: one queue of work */`, limit)
	return sqldb.Collect(rows, err, func(row func(...any) error) (PendingErasure, error) {
		var d PendingErasure
		err := row(&d.Tenant, &d.ID, &d.Key)
		return d, err
	})
}

// FinishErasure deletes the row of a deleted field, when no contact has a value of it.
func FinishErasure(ctx context.Context, db *sqldb.DB, tenant id.Tenant, field id.Field) error {
	_, err := db.Exec(ctx, `DELETE FROM custom_field WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NOT NULL`, tenant, field)
	if err != nil {
		return fmt.Errorf("delete a custom field's row: %w", err)
	}
	return nil
}
