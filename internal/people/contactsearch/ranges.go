package contactsearch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Many new contacts of one transaction, as of an import, are queued as one range: a row
// with the lowest and the highest id. Their texts are read from their own rows. Contacts
// that other transactions created at that time may have ids in between; they are then
// indexed twice, which does no harm.
//
// If ranges contain too few contacts for a segment and no more come for a while, their
// contacts are moved to contact_search_queue, which a search reads faster.

const (
	minRange   = 256              // contacts of a range, at minSize
	splitAfter = 10 * time.Second // age at which a range is moved to the queue
	maxRanges  = 64               // read for one segment
)

// QueueNewEntries queues contacts that the transaction inserted, as part of a batch of tx.
func QueueNewEntries(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, list []Entry) {
	if len(list) < minRange {
		QueueEntries(b, tx, tenant, list)
		return
	}
	byID := func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) }
	b.Queue(`INSERT INTO contact_search_range (tenant_id, first_id, last_id, contacts) VALUES ($1, $2, $3, $4)`,
		nil, tenant, slices.MinFunc(list, byID).Contact, slices.MaxFunc(list, byID).Contact, len(list))
}

// idRange is a row of contact_search_range.
type idRange struct{ first, last id.Contact }

// backlog is the number of contacts that wait to be indexed.
type backlog struct {
	queued   int        // in contact_search_queue, counted up to a bound
	inRanges int        // in ranges
	first    id.Contact // lowest id of the oldest range
}

func loadBacklog(ctx context.Context, db *sqldb.DB, tenant id.Tenant, most int) (w backlog, err error) {
	err = db.QueryRow(ctx, `
		SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM contact_search_queue WHERE tenant_id = $1 LIMIT $2) AS f),
			(SELECT CAST(COALESCE(SUM(contacts), 0) AS BIGINT) FROM contact_search_range WHERE tenant_id = $1),
			(SELECT first_id FROM contact_search_range WHERE tenant_id = $1 ORDER BY first_id LIMIT 1)`, tenant, most).Scan(&w.queued, &w.inRanges, &w.first)
	return w, err
}

// oldestRanges returns the oldest ranges.
func oldestRanges(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]idRange, error) {
	rows, err := db.Query(ctx, `
		SELECT first_id, last_id FROM contact_search_range
		WHERE tenant_id = $1 ORDER BY first_id LIMIT $2`, tenant, maxRanges)
	return sqldb.Collect(rows, err, func(row func(...any) error) (s idRange, err error) {
		err = row(&s.first, &s.last)
		return s, err
	})
}

// indexRanges writes a segment of the oldest ranges, as many as fit. It returns none if another
// process is indexing them or the first does not fit.
//
// The texts are read before the transaction. A contact that changes meanwhile is in
// contact_search_queue too; one that is anonymised is removed after the range is deleted
// (applyRemovals).
func indexRanges(ctx context.Context, db *sqldb.DB, tenant id.Tenant, most int) (s segment, err error) {
	oldest, err := oldestRanges(ctx, db, tenant)
	if err != nil {
		return segment{}, err
	}
	list := make([]Entry, 0, most)
	var firsts []id.Contact
	for _, r := range oldest {
		rows, err := db.Query(ctx, `
			SELECT id, search_text FROM contact
			WHERE tenant_id = $1 AND id >= $2 AND id <= $3 ORDER BY id LIMIT $4`, tenant, r.first, r.last, most+1)
		page, err := sqldb.Collect(rows, err, scanEntry)
		if err != nil {
			return segment{}, err
		}
		if len(list)+len(page) > most {
			break
		}
		list, firsts = append(list, page...), append(firsts, r.first)
	}
	if len(firsts) == 0 && len(oldest) > 0 {
		return segment{}, splitRanges(ctx, db, tenant, oldest[:1]) // with contacts of other transactions it does not fit
	}
	slices.SortFunc(list, func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) })
	list = slices.CompactFunc(list, func(a, b Entry) bool { return a.Contact == b.Contact })
	postings := encode(list)
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := deleteRanges(ctx, tx, tenant, firsts); err != nil {
			return err
		}
		s, err = writeSegment(ctx, tx, tenant, list, postings)
		return err
	})
	return unlessContended(s, err)
}

// deleteRanges deletes ranges, or returns errContended if another process has deleted or
// locked one of them.
func deleteRanges(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, firsts []id.Contact) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM contact_search_range WHERE tenant_id = $1 AND first_id IN (
			SELECT first_id FROM contact_search_range
			WHERE tenant_id = $1 AND first_id`+tx.In(2)+` ORDER BY first_id `+tx.SkipLocked()+`)
		RETURNING first_id`, tenant, sqldb.List(tx, firsts))
	dequeued, err := sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) {
		err = row(&c)
		return c, err
	})
	if err == nil && len(dequeued) < len(firsts) {
		return errContended
	}
	return err
}

// splitRanges moves the contacts of ranges to contact_search_queue.
func splitRanges(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []idRange) error {
	for _, s := range list {
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			if err := deleteRanges(ctx, tx, tenant, []id.Contact{s.first}); err != nil {
				return err
			}
			// FOR UPDATE, so that no contact is queued with an outdated text.
			_, err := tx.Exec(ctx, `
				INSERT INTO contact_search_queue (tenant_id, contact_id, search_text)
				SELECT tenant_id, id, search_text FROM contact
				WHERE tenant_id = $1 AND id >= $2 AND id <= $3
				ORDER BY id`+tx.ForUpdate()+` ON CONFLICT DO NOTHING`, tenant, s.first, s.last)
			return err
		})
		if err != nil && !errors.Is(err, errContended) {
			return err
		}
	}
	return nil
}
