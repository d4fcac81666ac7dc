package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Delete deletes contacts softly: they keep their data and their status for Restore, and
// get no mail. Contacts that are deleted already do not change. Followers of the journal
// cancel what waits for deleted contacts in other packages.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]Moved, error) {
	at := micros(now)
	moved, _, err := applyStep(ctx, db, tenant, ids, now, func(c *Contact) ([]effect, *fault.Error) {
		return c.delete(at), nil
	})
	if err != nil {
		return nil, fmt.Errorf("delete contacts: %w", err)
	}
	return moved, nil
}

// delete deletes the contact, and returns the effects: none if it is deleted already.
func (c *Contact) delete(now time.Time) []effect {
	if c.Status == Suppressed {
		return nil
	}
	c.StatusBeforeSuppress, c.Status, c.SuppressedAt = c.Status, Suppressed, &now
	return []effect{{what: journal.ContactDeleted}}
}

// Restore restores deleted contacts with the status they had, or a later one of higher
// rank. It fails for contacts that are not deleted (ErrTransition), that are anonymised
// (ErrAnonymized), or that would exceed the tenant's limit of billable contacts (ErrLimit).
func Restore(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, limit *int, now time.Time) ([]Moved, error) {
	var moved []Moved
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		remaining, err := lockLimit(ctx, tx, tenant, limit)
		if err != nil {
			return err
		}
		moved, _, err = applyStep(ctx, tx, tenant, ids, now, func(c *Contact) ([]effect, *fault.Error) {
			switch {
			case c.AnonymizedAt != nil:
				return nil, ErrAnonymized
			case c.Status != Suppressed:
				return nil, ErrTransition.Sayf("the contact is not deleted")
			}
			to := c.StatusBeforeSuppress
			if to == "" {
				to = Active
			}
			if to != Pending && limit != nil {
				if remaining <= 0 {
					return nil, ErrLimit.Sayf("the tenant may have at most %d contacts", *limit)
				}
				remaining--
			}
			c.Status, c.StatusBeforeSuppress, c.SuppressedAt, c.Withdrawn = to, "", nil, false
			return []effect{{what: journal.ContactRestored, data: map[string]any{"global_status": to}}}, nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restore contacts: %w", err)
	}
	return moved, nil
}

// lockLimit returns how many more billable contacts the tenant may have, and keeps other
// transactions from counting until this one ends. Without a limit the result is 0 and has
// no meaning.
func lockLimit(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, limit *int) (int, error) {
	if limit == nil {
		return 0, nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_turn (tenant_id) VALUES ($1)
		ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id`, tenant)
	if err != nil {
		return 0, err
	}
	n, err := Billable(ctx, tx, tenant)
	return *limit - n, err
}
