package trigger

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData erases what is recorded about contacts for triggers. It exports nothing: the records
// repeat which segments a contact is in, and dates of its fields.
func PersonalData() contact.PersonalData { return contact.PersonalData{Name: "triggers", Erase: erase} }

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	_, err := tx.Exec(ctx, `DELETE FROM segment_inside WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase the members of watched segments: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM date_due WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase the dates of triggers: %w", err)
	}
	return nil
}
