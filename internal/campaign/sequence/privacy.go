package sequence

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns the enrollments of contacts. Erasing a contact removes the events that
// enrolled it; the enrollments stay, for the numbers of the sequences.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "sequences", Export: export, Erase: erase}
}

// exported is an enrollment as a personal export shows it.
type exported struct {
	Sequence  id.Sequence      `json:"sequence_id"`
	Status    EnrollmentStatus `json:"status"`
	Outcome   string           `json:"outcome"`
	EnteredAt time.Time        `json:"entered_at"`
	ExitedAt  *time.Time       `json:"exited_at"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		list, err := OfContact(ctx, db, tenant, p.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range list {
			if !yield(exported{e.Sequence, e.Status, e.Outcome(), e.EnteredAt, e.ExitedAt}, nil) {
				return
			}
		}
	}
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	_, err := tx.Exec(ctx, `
		UPDATE enrollment SET trigger_data = NULL WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND trigger_data IS NOT NULL`, tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase the trigger events of enrollments: %w", err)
	}
	return nil
}
