package segment

import (
	"context"
	"fmt"
	"slices"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Audience returns the next contacts after one, in the order of their ids, that
// are in any of the included segments and in none of the excluded ones; each
// once. Fewer than limit means that there are no more. Whether they may be
// mailed is not asked here.
func Audience(ctx context.Context, db *sqldb.DB, tenant id.Tenant, include, exclude []id.Segment, after id.Contact, limit int) ([]id.Contact, error) {
	out := make([]id.Contact, 0, limit)
	for len(out) < limit {
		page, err := union(ctx, db, tenant, include, after, limit)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return out, nil
		}
		after = page[len(page)-1]
		kept, err := without(ctx, db, tenant, page, exclude)
		if err != nil {
			return nil, err
		}
		out = append(out, kept[:min(len(kept), limit-len(out))]...)
		if len(page) < limit {
			return out, nil
		}
	}
	return out, nil
}

// union walks the key of each list and merges the pages: the database never
// sorts a whole list.
func union(ctx context.Context, db *sqldb.DB, tenant id.Tenant, include []id.Segment, after id.Contact, limit int) ([]id.Contact, error) {
	var all []id.Contact
	for _, s := range include {
		rows, err := db.Query(ctx, `
			SELECT contact_id FROM segment_member
			WHERE tenant_id = $1 AND segment_id = $2 AND contact_id > $3
			ORDER BY contact_id LIMIT $4`, tenant, s, after, limit)
		page, err := sqldb.Collect(rows, err, contactID)
		if err != nil {
			return nil, fmt.Errorf("read an audience: %w", err)
		}
		all = append(all, page...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), limit)], nil
}

// without returns the contacts that are in none of the segments.
func without(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact, exclude []id.Segment) ([]id.Contact, error) {
	if len(exclude) == 0 {
		return contacts, nil
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT contact_id FROM segment_member
		WHERE tenant_id = $1 AND segment_id`+db.In(2)+` AND contact_id`+db.In(3),
		tenant, sqldb.List(db, exclude), sqldb.List(db, contacts))
	out, err := sqldb.Collect(rows, err, contactID)
	if err != nil {
		return nil, fmt.Errorf("exclude from an audience: %w", err)
	}
	slices.Sort(out)
	return slices.DeleteFunc(contacts, func(c id.Contact) bool {
		_, found := slices.BinarySearch(out, c)
		return found
	}), nil
}

func contactID(row func(...any) error) (id.Contact, error) {
	var c id.Contact
	return c, row(&c)
}
