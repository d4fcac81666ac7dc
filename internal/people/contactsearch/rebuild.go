package contactsearch

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// When a contact changes, its old entry stays in the index beside the new one. When more
// entries are outdated than current, the index is rebuilt: all contacts are queued again,
// then the old segments are deleted. Entries of anonymised contacts are removed at once:
// the other contacts of their segments are queued, and the segments deleted.

const (
	minStale     = 16 * segmentSize // number of outdated entries below which the index is not rebuilt
	inspectEvery = 16 * segmentSize // entries between two comparisons with the number of contacts
)

// startRebuild starts a rebuild if the index, to which some entries were added, has more than twice as
// many as there are contacts.
func startRebuild(ctx context.Context, db *sqldb.DB, tenant id.Tenant, added int) error {
	var entries, contacts, last int64
	err := db.QueryRow(ctx, `
		SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT), COALESCE(MAX(segment), 0) FROM contact_search_segment WHERE tenant_id = $1`, tenant).Scan(&entries, &last)
	if err != nil || entries <= minStale || entries/inspectEvery == (entries-int64(added))/inspectEvery {
		return err
	}
	err = db.QueryRow(ctx, `SELECT COUNT(*) FROM contact WHERE tenant_id = $1`, tenant).Scan(&contacts)
	if err != nil || entries <= 2*contacts+minStale {
		return err
	}
	_, err = db.Exec(ctx, `
		INSERT INTO contact_search_rebuild (tenant_id, through_segment, after_id) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`, tenant, last, id.Contact{})
	return err
}

// continueRebuild queues the next page of contacts of a rebuild or, after the last page,
// deletes the next old segment. It reports whether there was a rebuild.
func continueRebuild(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (bool, error) {
	var pending bool // first, so that an idle program does not write
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM contact_search_rebuild WHERE tenant_id = $1)`, tenant).Scan(&pending)
	if err != nil || !pending {
		return false, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var through int64
		var after, last id.Contact
		err := tx.QueryRow(ctx, `
			SELECT through_segment, after_id FROM contact_search_rebuild WHERE tenant_id = $1`+tx.ForUpdate(), tenant).Scan(&through, &after)
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
			return dropOldSegment(ctx, tx, tenant, through)
		}
		// FOR UPDATE, so that no contact is queued with an outdated text.
		_, err = tx.Exec(ctx, `
			INSERT INTO contact_search_queue (tenant_id, contact_id, search_text)
			SELECT tenant_id, id, search_text FROM contact
			WHERE tenant_id = $1 AND id > $2 AND id <= $3
			ORDER BY id`+tx.ForUpdate()+` ON CONFLICT DO NOTHING`, tenant, after, last)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE contact_search_rebuild SET after_id = $2 WHERE tenant_id = $1`, tenant, last)
		return err
	})
	if errors.Is(err, errContended) {
		err = nil
	}
	return true, err
}

// dropOldSegment deletes a tenant's first segment from before the rebuild. If there is none
// left, it ends the rebuild.
func dropOldSegment(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, through int64) error {
	var first int64
	err := tx.QueryRow(ctx, `
		SELECT COALESCE(MIN(segment), 0) FROM contact_search_segment WHERE tenant_id = $1 AND segment <= $2 AND entries > 0`, tenant, through).Scan(&first)
	if err != nil {
		return err
	}
	if first == 0 {
		_, err := tx.Exec(ctx, `DELETE FROM contact_search_rebuild WHERE tenant_id = $1`, tenant)
		return err
	}
	_, err = deleteSegments(ctx, tx, tenant, []int64{first})
	return err
}

// removalsAtOnce is the number of anonymised contacts removed together.
const removalsAtOnce = 100_000

// applyRemovals deletes the segments with anonymised contacts and queues their other
// contacts. It reports whether there was anything to remove.
//
// Contacts in a range are left for later: an indexer may be writing a segment of it with
// texts from before the anonymisation, which becomes visible when the range is deleted. For the
// same reason all are, if a segment was merged with others meanwhile: its contacts are in the new one.
func applyRemovals(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (bool, error) {
	rows, err := db.Query(ctx, `
		SELECT f.contact_id FROM contact_search_removed f
		WHERE f.tenant_id = $1 AND NOT EXISTS (
			SELECT 1 FROM contact_search_range s WHERE s.tenant_id = $1 AND s.first_id <= f.contact_id AND s.last_id >= f.contact_id)
		LIMIT $2`, tenant, removalsAtOnce)
	removed := map[id.Contact]bool{}
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) {
		err = row(&c)
		removed[c] = true
		return c, err
	})
	if err != nil || len(removed) == 0 {
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
		if slices.ContainsFunc(unpackIDs(contacts), func(c id.Contact) bool { return removed[c] }) {
			touched[segment] = true
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for segment := range touched {
		err := db.InTx(ctx, func(tx *sqldb.DB) error { return requeueSegment(ctx, tx, tenant, segment) })
		if errors.Is(err, errContended) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	_, err = db.Exec(ctx, `DELETE FROM contact_search_removed WHERE tenant_id = $1 AND contact_id`+db.In(2),
		tenant, sqldb.List(db, slices.Collect(maps.Keys(removed))))
	return true, err
}

// requeueSegment deletes a segment and queues its contacts.
func requeueSegment(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment int64) error {
	ids, err := deleteSegments(ctx, tx, tenant, []int64{segment})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO contact_search_queue (tenant_id, contact_id, search_text)
		SELECT tenant_id, id, search_text FROM contact
		WHERE tenant_id = $1 AND id`+tx.In(2)+`
		ORDER BY id`+tx.ForUpdate()+` ON CONFLICT DO NOTHING`, tenant, sqldb.List(tx, ids))
	return err
}
