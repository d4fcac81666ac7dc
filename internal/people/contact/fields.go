package contact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// CountField returns how many contacts have a value of a custom field.
func CountField(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key string) (int, error) {
	var n int
	err := db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		return db.QueryRow(ctx, `
			SELECT COUNT(*) FROM contact
			WHERE tenant_id = $1 AND custom_fields ->> CAST($2 AS TEXT) IS NOT NULL`, tenant, key).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("count contacts with a custom field: %w", err)
	}
	return n, nil
}

// CreateField declares a custom field. The default of a field of type contact must be an
// existing contact.
func CreateField(ctx context.Context, db *sqldb.DB, tenant id.Tenant, d field.Draft, now time.Time) (field.Field, error) {
	var f field.Field
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if f, err = field.Create(ctx, tx, tenant, d, now); err != nil {
			return err
		}
		return checkDefault(ctx, tx, tenant, f)
	})
	return f, err
}

// UpdateField changes a custom field; see CreateField.
func UpdateField(ctx context.Context, db *sqldb.DB, tenant id.Tenant, which id.Field, ch field.Change) (field.Field, error) {
	var f field.Field
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if f, err = field.Update(ctx, tx, tenant, which, ch); err != nil || ch.Default == nil {
			return err
		}
		return checkDefault(ctx, tx, tenant, f)
	})
	return f, err
}

func checkDefault(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, f field.Field) error {
	named, isText := f.Default.(string)
	if f.Type != field.Contact || !isText {
		return nil
	}
	found, err := Existing(ctx, tx, tenant, []id.Contact{id.Read[id.Contact](named)})
	if err != nil || found[id.Read[id.Contact](named)] {
		return err
	}
	wrong := fault.Field{Path: "default_value", Message: "must be the id of an existing contact"}
	return field.ErrInvalid.With(fault.Fields{Fields: []fault.Field{wrong}}).Sayf("%s", fault.Input(wrong).Message)
}

// erasePageSize is the number of contacts from which one transaction erases a deleted
// field's value.
const erasePageSize = 500

// DeleteField deletes a custom field that only contacts use. It erases a few pages of its
// values; Maintenance erases the others.
func DeleteField(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f id.Field, finders usage.Finder, now time.Time) error {
	gone, err := field.Delete(ctx, db, tenant, f, finders, now)
	if err != nil {
		return addContactCount(ctx, db, tenant, err)
	}
	e := erasure{PendingErasure: field.PendingErasure{Tenant: tenant, ID: gone.ID, Key: gone.Key}}
	for range 4 {
		more, err := e.erasePage(ctx, db)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// addContactCount adds the number of contacts with a value to the details of
// field.ErrInUse. Other errors are returned unchanged.
func addContactCount(ctx context.Context, db *sqldb.DB, tenant id.Tenant, err error) error {
	f, ok := fault.As(err)
	if !ok || !errors.Is(f, field.ErrInUse) {
		return err
	}
	u, ok := f.Details.(field.Usage)
	if !ok {
		return err
	}
	n, countErr := CountField(ctx, db, tenant, u.Key)
	if countErr != nil {
		return countErr
	}
	return f.With(u.With(n))
}

// erasure erases the values of a deleted field from all contacts, page by page in the order
// of their ids.
type erasure struct {
	field.PendingErasure
	after id.Contact // the last contact of the previous page
}

// erasePage erases one page, of contacts and then of their former versions, and removes the field's row after the last one. Contacts keep
// their updated_at, and nothing is written to the journal.
func (e *erasure) erasePage(ctx context.Context, db *sqldb.DB) (more bool, err error) {
	type holder struct {
		contact id.Contact
		fields  map[string]any
	}
	last := e.after
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		rows, err := tx.Query(ctx, `
			SELECT id, custom_fields FROM contact
			WHERE tenant_id = $1 AND id > $4 AND custom_fields ->> CAST($2 AS TEXT) IS NOT NULL
			ORDER BY id LIMIT $3`+tx.ForUpdate(), e.Tenant, e.Key, erasePageSize, e.after)
		page, err := sqldb.Collect(rows, err, func(row func(...any) error) (holder, error) {
			var h holder
			var text string
			if err := row(&h.contact, &text); err != nil {
				return h, err
			}
			err := json.Unmarshal([]byte(text), &h.fields)
			return h, err
		})
		if err != nil {
			return err
		}
		if more = len(page) == erasePageSize; !more {
			n, err := eraseFieldFromVersions(ctx, tx, e.Tenant, e.Key, erasePageSize)
			if err != nil {
				return err
			}
			more = n == erasePageSize
		}
		t := tx.Table("id UUID", "custom_fields JSONB")
		var changed []id.Contact
		for _, h := range page {
			delete(h.fields, e.Key)
			b, err := json.Marshal(h.fields)
			if err != nil {
				return err
			}
			t.Add(h.contact, string(b))
			last = h.contact
			changed = append(changed, h.contact)
		}
		if err := contactlog.Append(ctx, tx, e.Tenant, changed); err != nil {
			return err
		}
		if t.Len() > 0 {
			_, err := tx.Exec(ctx, `
				UPDATE contact SET custom_fields = v.custom_fields, version = contact.version + 1, revision = contact.revision + 1, revised_by = NULL
				FROM `+t.As("v", 2)+`
				WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(e.Tenant)...)
			if err != nil {
				return err
			}
		}
		if more {
			return nil
		}
		return field.FinishErasure(ctx, tx, e.Tenant, e.ID)
	})
	if err != nil {
		return false, fmt.Errorf("erase the custom field %s: %w", e.ID, err)
	}
	e.after = last
	return more, nil
}
