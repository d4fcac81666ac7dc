package contact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Known is a contact that QueueFind found.
type Known struct {
	ID         id.Contact
	Status     Status
	Anonymized bool
}

// Found are the contacts that QueueFind found.
type Found struct {
	ByID    map[id.Contact]Known
	ByEmail map[string]Known
}

// QueueFind looks up contacts by id and by normalised address, as part of a batch of tx, which
// fills the value that it returns.
func QueueFind(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact, emails []string) *Found {
	f := &Found{ByID: make(map[id.Contact]Known, len(ids)), ByEmail: make(map[string]Known, len(emails))}
	if len(ids) > 0 {
		ids = slices.Clone(ids)
		slices.SortFunc(ids, id.Compare)
		b.Queue(`SELECT id, global_status, anonymized_at IS NOT NULL FROM contact WHERE tenant_id = $1 AND id`+tx.In(2), func(scan func(...any) error) error {
			var c Known
			err := scan(&c.ID, sqldb.ToText(&c.Status), &c.Anonymized)
			f.ByID[c.ID] = c
			return err
		}, tenant, sqldb.List(tx, slices.Compact(ids)))
	}
	if len(emails) > 0 {
		emails = slices.Clone(emails)
		slices.Sort(emails)
		b.Queue(`SELECT email, id, global_status, anonymized_at IS NOT NULL FROM contact WHERE tenant_id = $1 AND email`+tx.In(2), func(scan func(...any) error) error {
			var c Known
			var email string
			err := scan(sqldb.ToText(&email), &c.ID, sqldb.ToText(&c.Status), &c.Anonymized)
			f.ByEmail[email] = c
			return err
		}, tenant, sqldb.List(tx, slices.Compact(emails)))
	}
	return f
}

// Label is how lists show a contact.
type Label struct {
	Email string
	Name  string // empty: none
}

// Labels returns the labels of contacts.
func Labels(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]Label, error) {
	found := make(map[id.Contact]Label, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `
		SELECT id, email, COALESCE(full_name, ''), COALESCE(first_name, ''), COALESCE(last_name, '') FROM contact
		WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var l Label
		var first, last string
		err := scan(&c, &l.Email, &l.Name, &first, &last)
		l.Name = cmp.Or(l.Name, strings.TrimSpace(first+" "+last))
		found[c] = l
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load labels of contacts: %w", err)
	}
	return found, nil
}
