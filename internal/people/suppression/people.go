package suppression

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ResetStatus makes contacts active again that bounced, complained or unsubscribed
// (contact.ResetStatus), and removes their addresses from the list if Follower added them.
// Addresses added in other ways stay.
func ResetStatus(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]contact.Moved, error) {
	var moved []contact.Moved
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if moved, err = contact.ResetStatus(ctx, tx, tenant, ids, now); err != nil {
			return err
		}
		var active []id.Contact
		for _, m := range moved {
			if m.Err == nil {
				active = append(active, m.Contact)
			}
		}
		emails, err := contact.Emails(ctx, tx, tenant, active)
		if err != nil {
			return err
		}
		removed, err := removeAutomatic(ctx, tx, tenant, emails, now)
		if err != nil {
			return err
		}
		for i := range moved {
			if removed[emails[moved[i].Contact]] && moved[i].Err == nil {
				moved[i].Changed = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reset the status of contacts: %w", err)
	}
	return moved, nil
}

// removeAutomatic removes those addresses that are listed because of a bounce or a complaint, and
// returns them.
func removeAutomatic(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails map[id.Contact]string, now time.Time) (map[string]bool, error) {
	if len(emails) == 0 {
		return nil, nil
	}
	return removeListed(ctx, tx, tenant, slices.Collect(maps.Values(emails)), []string{HardBounce, Complaint}, now)
}

// removeListed removes those addresses that are listed for one of the reasons, and returns them.
func removeListed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails, reasons []string, now time.Time) (map[string]bool, error) {
	slices.Sort(emails) // all transactions lock rows in the same order
	rows, err := tx.Query(ctx, `
		DELETE FROM suppression WHERE tenant_id = $1 AND email`+tx.In(2)+` AND reason`+tx.In(3)+` RETURNING email`,
		tenant, sqldb.List(tx, emails), sqldb.List(tx, reasons))
	removed, err := sqldb.Collect(rows, err, func(row func(...any) error) (string, error) {
		var email string
		err := row(&email)
		return email, err
	})
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(removed))
	for _, e := range removed {
		set[e] = true
	}
	return set, moved(ctx, tx, tenant, removed, journal.SuppressionRemoved, "", now)
}

// Anonymize anonymizes contacts (contact.Anonymize). With suppress their addresses stay on the list
// without further data, so that they are never mailed again; without, they are removed from it.
// stores are the personal data of other packages.
func Anonymize(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, suppress bool, stores []contact.PersonalData, now time.Time) ([]contact.Moved, error) {
	own := contact.PersonalData{Name: "suppressions", Erase: func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
		var last, all []string
		for _, p := range people {
			last = append(last, p.Addresses[0])
			all = append(all, p.Addresses...)
		}
		if err := contactlog.Erase(ctx, tx, tenant); err != nil {
			return err
		}
		if !suppress {
			_, err := tx.Exec(ctx, `DELETE FROM suppression WHERE tenant_id = $1 AND email`+tx.In(2), tenant, sqldb.List(tx, all))
			return err
		}
		slices.Sort(last)
		return suppressAnonymized(ctx, tx, tenant, last, all, now)
	}}
	return contact.Anonymize(ctx, db, tenant, ids, append(slices.Clone(stores), own), now)
}

// suppressAnonymized adds addresses to the list, and replaces the reasons of all. It writes no journal
// entries, since these would contain the addresses.
func suppressAnonymized(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails, all []string, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE suppression SET reason = $2 WHERE tenant_id = $1 AND email`+tx.In(3),
		tenant, Anonymized, sqldb.List(tx, all))
	if err != nil {
		return err
	}
	t := tx.Table("email TEXT")
	for _, e := range emails {
		t.Add(e)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO suppression (tenant_id, email, reason, created_at)
		SELECT h.tenant_id, v.email, CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 4)+`
		WHERE true ON CONFLICT (tenant_id, email) DO NOTHING`,
		t.Args(tenant, Anonymized, sqldb.Micros(now))...)
	return err
}

// PersonalData returns the list entries about people, for exports. Erasing them is part of
// Anonymize.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{
		Name: "suppressions",
		Export: func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, who contact.Person) iter.Seq2[any, error] {
			return func(yield func(any, error) bool) {
				rows, err := db.Query(ctx, `
					SELECT email, reason, created_at FROM suppression
					WHERE tenant_id = $1 AND email`+db.In(2)+` ORDER BY email`, tenant, sqldb.List(db, who.Addresses))
				list, err := sqldb.Collect(rows, err, scan)
				if err != nil {
					yield(nil, fmt.Errorf("export suppressions: %w", err))
					return
				}
				for _, e := range list {
					if !yield(map[string]any{"email": e.Email, "reason": sqldb.Null(e.Reason), "created_at": e.AddedAt}, nil) {
						return
					}
				}
			}
		},
	}
}
