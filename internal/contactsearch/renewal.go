package contactsearch

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// What the index says of a contact stays when the contact changes, and what it
// is now is added. When more is of the past than of the present, all contacts
// are indexed once more, and then what there was before goes. What it says of
// somebody who was anonymised goes at once, and everybody else in the same
// segments is indexed once more.

const (
	looked = 16               // segments between two looks at how large the index is
	slack  = 16 * segmentSize // by how many contacts it may be too large in any case
)

// inspect begins a renewal of an index that names more than twice the contacts
// there are.
func inspect(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error {
	var named, contacts, last int64
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) * $2, COALESCE(MAX(segment), 0) FROM contact_search_block WHERE tenant_id = $1`, tenant, blockSize).Scan(&named, &last)
	if err != nil || named <= slack {
		return err
	}
	err = db.QueryRow(ctx, `SELECT COUNT(*) FROM contact WHERE tenant_id = $1`, tenant).Scan(&contacts)
	if err != nil || named <= 2*contacts+slack {
		return err
	}
	_, err = db.Exec(ctx, `
		INSERT INTO contact_search_renewal (tenant_id, through_segment, after_id) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`, tenant, last, id.Contact{})
	return err
}

// renew lets the next contacts of a renewal wait, or drops the next segment that
// they were in before. It reports whether there was a renewal.
func renew(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (bool, error) {
	var there bool // asked first, so that an idle program does not write
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM contact_search_renewal WHERE tenant_id = $1)`, tenant).Scan(&there)
	if err != nil || !there {
		return false, err
	}
	return true, db.InTx(ctx, func(tx *sqldb.DB) error {
		var through int64
		var after, last id.Contact
		err := tx.QueryRow(ctx, `
			SELECT through_segment, after_id FROM contact_search_renewal WHERE tenant_id = $1`+tx.ForUpdate(), tenant).Scan(&through, &after)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `
			SELECT page.id FROM (
				SELECT id FROM contact WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3) AS page
			ORDER BY page.id DESC LIMIT 1`, tenant, after, segmentSize).Scan(&last)
		if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
			return err
		}
		if last.IsZero() {
			return drop(ctx, tx, tenant, through)
		}
		// The rows are kept: else somebody might wait with a text of the past.
		_, err = tx.Exec(ctx, `
			INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
			SELECT tenant_id, id, search_text FROM contact
			WHERE tenant_id = $1 AND id > $2 AND id <= $3
			ORDER BY id`+tx.ForUpdate()+` ON CONFLICT DO NOTHING`, tenant, after, last)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE contact_search_renewal SET after_id = $2 WHERE tenant_id = $1`, tenant, last)
		return err
	})
}

// drop drops a tenant's first segment, unless it was made in the renewal, which
// has then come to its end.
func drop(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, through int64) error {
	var first int64
	err := tx.QueryRow(ctx, `
		SELECT COALESCE(MIN(segment), 0) FROM contact_search_block WHERE tenant_id = $1 AND segment <= $2`, tenant, through).Scan(&first)
	if err != nil {
		return err
	}
	if first == 0 {
		_, err := tx.Exec(ctx, `DELETE FROM contact_search_renewal WHERE tenant_id = $1`, tenant)
		return err
	}
	return clearSegment(ctx, tx, tenant, first)
}

// clearSegment takes a segment out of the index.
func clearSegment(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment int64) error {
	t := tx.Table("bucket BIGINT")
	for b := range buckets {
		t.Add(b)
	}
	_, err := tx.Exec(ctx, `
		DELETE FROM contact_search_postings
		WHERE tenant_id = $1 AND segment = $2 AND bucket IN (SELECT v.bucket FROM `+t.As("v", 3)+`)`, t.Args(tenant, segment)...)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM contact_search_block WHERE tenant_id = $1 AND segment = $2`, tenant, segment)
	return err
}

// forgottenAtOnce is how many anonymised contacts are looked for together.
const forgottenAtOnce = 100_000

// forget dissolves the segments that anonymised contacts are in: the others
// there wait again. It reports whether there was anybody to forget.
//
// Whoever is in a stretch is left for later: a segment may be made of it at this
// moment, with what the contact was called. When the stretch is gone, that segment
// is there to be seen.
func forget(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (bool, error) {
	rows, err := db.Query(ctx, `
		SELECT f.contact_id FROM contact_search_forgotten f
		WHERE f.tenant_id = $1 AND NOT EXISTS (
			SELECT 1 FROM contact_search_stretch s WHERE s.tenant_id = $1 AND s.first_id <= f.contact_id AND s.last_id >= f.contact_id)
		LIMIT $2`, tenant, forgottenAtOnce)
	forgotten := map[id.Contact]bool{}
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) {
		err = row(&c)
		forgotten[c] = true
		return c, err
	})
	if err != nil || len(forgotten) == 0 {
		return false, err
	}
	rows, err = db.Query(ctx, `SELECT segment, contacts FROM contact_search_block WHERE tenant_id = $1`, tenant)
	touched := map[int64]bool{}
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var segment int64
		var contacts []byte
		if err := row(&segment, &contacts); err != nil {
			return err
		}
		if slices.ContainsFunc(unpack(contacts), func(c id.Contact) bool { return forgotten[c] }) {
			touched[segment] = true
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for segment := range touched {
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return dissolve(ctx, tx, tenant, segment) }); err != nil {
			return false, err
		}
	}
	_, err = db.Exec(ctx, `DELETE FROM contact_search_forgotten WHERE tenant_id = $1 AND contact_id`+db.In(2),
		tenant, sqldb.List(db, slices.Collect(maps.Keys(forgotten))))
	return true, err
}

func dissolve(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment int64) error {
	rows, err := tx.Query(ctx, `SELECT contacts FROM contact_search_block WHERE tenant_id = $1 AND segment = $2`, tenant, segment)
	var ids []id.Contact
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (contacts []byte, err error) {
		err = row(&contacts)
		ids = append(ids, unpack(contacts)...)
		return contacts, err
	})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
		SELECT tenant_id, id, search_text FROM contact
		WHERE tenant_id = $1 AND id`+tx.In(2)+`
		ORDER BY id`+tx.ForUpdate()+` ON CONFLICT DO NOTHING`, tenant, sqldb.List(tx, ids))
	if err != nil {
		return err
	}
	return clearSegment(ctx, tx, tenant, segment)
}
