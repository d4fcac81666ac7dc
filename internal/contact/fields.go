package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"packetboat/internal/field"
	"packetboat/internal/id"
	"packetboat/internal/sqldb"
	"packetboat/internal/usage"
)

// CountField returns how many contacts hold a value of a custom field.
func CountField(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key string) (int, error) {
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) FROM contact
		WHERE tenant_id = $1 AND custom_fields ->> CAST($2 AS TEXT) IS NOT NULL`, tenant, key).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count contacts with a custom field: %w", err)
	}
	return n, nil
}

// erasePage is how many contacts lose a deleted field's value per transaction.
const erasePage = 500

// DeleteField deletes a custom field that nothing but contacts uses, and begins
// to erase its values; what a few pages do not reach is left to the Upkeep.
func DeleteField(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f id.Field, who usage.Finder, now time.Time) error {
	gone, err := field.Delete(ctx, db, tenant, f, who, now)
	if err != nil {
		return err
	}
	d := field.Doomed{Tenant: tenant, ID: gone.ID, Key: gone.Key}
	for range 4 {
		more, err := erase(ctx, db, d)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// erase takes the values of a deleted field from one page of contacts, and
// forgets the field when there was no full page. That is no change of the
// contact, so it is neither dated nor journaled.
func erase(ctx context.Context, db *sqldb.DB, d field.Doomed) (more bool, err error) {
	type holder struct {
		contact id.Contact
		fields  map[string]any
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		rows, err := tx.Query(ctx, `
			SELECT id, custom_fields FROM contact
			WHERE tenant_id = $1 AND custom_fields ->> CAST($2 AS TEXT) IS NOT NULL
			ORDER BY id LIMIT $3`+tx.ForUpdate(), d.Tenant, d.Key, erasePage)
		page, err := sqldb.Collect(rows, err, func(row func(...any) error) (holder, error) {
			var h holder
			var text string
			if err := row(&h.contact, &text); err != nil {
				return h, err
			}
			return h, json.Unmarshal([]byte(text), &h.fields)
		})
		if err != nil {
			return err
		}
		more = len(page) == erasePage
		t := tx.Table("id TEXT", "custom_fields JSONB")
		for _, h := range page {
			delete(h.fields, d.Key)
			b, err := json.Marshal(h.fields)
			if err != nil {
				return err
			}
			t.Add(h.contact, string(b))
		}
		if t.Len() > 0 {
			_, err := tx.Exec(ctx, `
				UPDATE contact SET custom_fields = v.custom_fields FROM `+t.As("v", 2)+`
				WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(d.Tenant)...)
			if err != nil {
				return err
			}
		}
		if more {
			return nil
		}
		return field.Erased(ctx, tx, d.Tenant, d.ID)
	})
	if err != nil {
		return false, fmt.Errorf("erase the custom field %s: %w", d.ID, err)
	}
	return more, nil
}
