package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Restore gives deleted contacts back the status they had, or the worse one that
// has come to them since. Contacts that are not deleted, and anonymised ones, are
// refused (ErrTransition); so are those for which the tenant's limit of billable
// contacts leaves no place.
func Restore(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, limit *int, now time.Time) ([]Moved, error) {
	var moved []Moved
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		places, err := vacancies(ctx, tx, tenant, limit)
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
				if places <= 0 {
					return nil, ErrLimit.Sayf("the account may have at most %d contacts", *limit)
				}
				places--
			}
			c.Status, c.StatusBeforeSuppress, c.SuppressedAt = to, "", nil
			return []effect{{journal.ContactRestored, map[string]any{"global_status": to}}}, nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restore contacts: %w", err)
	}
	return moved, nil
}

// vacancies returns how many billable contacts the tenant may still get, and
// keeps others from counting at the same time. Without a limit it means nothing.
func vacancies(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, limit *int) (int, error) {
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
