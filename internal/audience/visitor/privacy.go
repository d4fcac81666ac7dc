package visitor

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData exports the visitors that are linked to a contact, and deletes them. Their
// page views and events are entries of the journal, which has its own export and erasure.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "website_visitors", Export: export, Erase: erase}
}

// exported is a visitor in a personal export.
type exported struct {
	FirstSeenAt time.Time `json:"first_seen_at"`
	LastSeenAt  time.Time `json:"last_seen_at"`
	LinkedBy    string    `json:"linked_by"`
	LinkedAt    time.Time `json:"linked_at,omitzero"`
	FirstTouch  *touch    `json:"first_touch"`
	LastTouch   *touch    `json:"last_touch"`
}

// String returns the name of a strength.
func (s Strength) String() string {
	switch s {
	case Claimed:
		return "entered_address"
	case Clicked:
		return "click"
	case Verified:
		return "signed_identity"
	}
	return "none"
}

// exportPage is the number of visitors that an export reads at a time.
const exportPage = 200

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		var last id.Visitor
		for {
			rows, err := db.Query(ctx, `
				SELECT `+columns+` FROM visitor
				WHERE tenant_id = $1 AND contact_id = $2 AND contact_id IS NOT NULL AND id > $3 ORDER BY id LIMIT $4`, tenant, p.ID, last, exportPage)
			page, err := sqldb.Collect(rows, err, scan)
			if err != nil {
				yield(nil, fmt.Errorf("export visitors: %w", err))
				return
			}
			for _, v := range page {
				x := exported{FirstSeenAt: v.firstSeen, LastSeenAt: v.seen, LinkedBy: v.strength.String(), FirstTouch: v.first, LastTouch: v.last}
				if v.linkedAt != nil {
					x.LinkedAt = *v.linkedAt
				}
				if !yield(x, nil) {
					return
				}
			}
			if len(page) < exportPage {
				return
			}
			last = page[len(page)-1].id
		}
	}
}

// erase deletes the visitors of people. With its next request, such a browser is a new, unknown
// visitor.
func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	rows, err := tx.Query(ctx, `DELETE FROM visitor WHERE tenant_id = $1 AND contact_id IS NOT NULL AND contact_id`+tx.In(2)+` RETURNING id`,
		tenant, sqldb.List(tx, ids))
	gone, err := sqldb.Collect(rows, err, func(scan func(...any) error) (v id.Visitor, err error) {
		err = scan(&v)
		return v, err
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	n, bytes, err := deleteKept(ctx, tx, tenant, gone)
	if err != nil {
		return err
	}
	_, err = addTotals(ctx, tx, tenant, totals{visitors: -int64(len(gone)), kept: -n, bytes: -bytes})
	return err
}
