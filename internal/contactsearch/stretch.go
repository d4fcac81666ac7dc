package contactsearch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Contacts that are made at once, as an import makes them, wait for the index of the
// search as a stretch: one row says from which id to which they lie, and their texts
// are read from their own rows. Others who were made at that time may lie between
// them; that does no harm.
//
// When too few wait for a segment, and no more have come for a while, they wait one
// by one in contact_search_fresh, which a search reads sooner.

const (
	minStretch  = 256              // as many new contacts wait as a stretch
	settleAfter = 10 * time.Second // how long a stretch waits for more
	stretches   = 64               // are looked at for a segment
)

// AwaitNew lets contacts that were just made wait for the index of the search.
func AwaitNew(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry) error {
	if len(list) < minStretch {
		return Await(ctx, tx, tenant, list)
	}
	byID := func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) }
	_, err := tx.Exec(ctx, `INSERT INTO contact_search_stretch (tenant_id, first_id, last_id, contacts) VALUES ($1, $2, $3, $4)`,
		tenant, slices.MinFunc(list, byID).Contact, slices.MaxFunc(list, byID).Contact, len(list))
	if err != nil {
		return fmt.Errorf("tell the search index: %w", err)
	}
	return nil
}

// stretch is a row of contact_search_stretch.
type stretch struct{ first, last id.Contact }

// waiting is who waits for the index of the search.
type waiting struct {
	fresh     int        // in rows of their own, counted up to a bound
	stretched int        // in stretches
	first     id.Contact // of the oldest stretch
}

func countWaiting(ctx context.Context, db *sqldb.DB, tenant id.Tenant, most int) (w waiting, err error) {
	err = db.QueryRow(ctx, `
		SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM contact_search_fresh WHERE tenant_id = $1 LIMIT $2) AS f),
			(SELECT CAST(COALESCE(SUM(contacts), 0) AS BIGINT) FROM contact_search_stretch WHERE tenant_id = $1),
			(SELECT first_id FROM contact_search_stretch WHERE tenant_id = $1 ORDER BY first_id LIMIT 1)`, tenant, most).Scan(&w.fresh, &w.stretched, &w.first)
	return w, err
}

// oldestStretches returns the stretches that have waited longest.
func oldestStretches(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]stretch, error) {
	rows, err := db.Query(ctx, `
		SELECT first_id, last_id FROM contact_search_stretch
		WHERE tenant_id = $1 ORDER BY first_id LIMIT $2`, tenant, stretches)
	return sqldb.Collect(rows, err, func(row func(...any) error) (s stretch, err error) {
		err = row(&s.first, &s.last)
		return s, err
	})
}

// indexStretches makes a segment of the oldest stretches, as many as fit, and returns
// its number; 0: somebody else is at them, or nothing fits.
//
// The texts are read before the transaction. One that has changed since waits in
// contact_search_fresh; a contact that was anonymised is kept in mind until its
// stretch is gone (forget).
func indexStretches(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (segment int64, err error) {
	oldest, err := oldestStretches(ctx, db, tenant)
	if err != nil {
		return 0, err
	}
	list := make([]Entry, 0, segmentSize)
	var firsts []id.Contact
	for _, s := range oldest {
		rows, err := db.Query(ctx, `
			SELECT id, search_text FROM contact
			WHERE tenant_id = $1 AND id >= $2 AND id <= $3 ORDER BY id LIMIT $4`, tenant, s.first, s.last, segmentSize+1)
		page, err := sqldb.Collect(rows, err, scanEntry)
		if err != nil {
			return 0, err
		}
		if len(list)+len(page) > segmentSize {
			break
		}
		list, firsts = append(list, page...), append(firsts, s.first)
	}
	if len(firsts) == 0 && len(oldest) > 0 {
		return 0, settle(ctx, db, tenant, oldest[:1]) // more were made among them than fit
	}
	slices.SortFunc(list, func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) })
	list = slices.CompactFunc(list, func(a, b Entry) bool { return a.Contact == b.Contact })
	postings := encode(list)
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := takeStretches(ctx, tx, tenant, firsts); err != nil {
			return err
		}
		segment, err = writeSegment(ctx, tx, tenant, list, postings)
		return err
	})
	if errors.Is(err, errTaken) || sqldb.IsUniqueViolation(err) { // they, or the number
		return 0, nil
	}
	return segment, err
}

// takeStretches takes stretches away, all of them or none.
func takeStretches(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, firsts []id.Contact) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM contact_search_stretch WHERE tenant_id = $1 AND first_id IN (
			SELECT first_id FROM contact_search_stretch
			WHERE tenant_id = $1 AND first_id`+tx.In(2)+` ORDER BY first_id `+tx.SkipLocked()+`)
		RETURNING first_id`, tenant, sqldb.List(tx, firsts))
	taken, err := sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) {
		err = row(&c)
		return c, err
	})
	if err == nil && len(taken) < len(firsts) {
		return errTaken
	}
	return err
}

// settle lets the contacts of stretches wait one by one.
func settle(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []stretch) error {
	for _, s := range list {
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			if err := takeStretches(ctx, tx, tenant, []id.Contact{s.first}); err != nil {
				return err
			}
			// The rows are kept: else somebody might wait with a text of the past.
			_, err := tx.Exec(ctx, `
				INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
				SELECT tenant_id, id, search_text FROM contact
				WHERE tenant_id = $1 AND id >= $2 AND id <= $3
				ORDER BY id`+tx.ForUpdate()+` ON CONFLICT DO NOTHING`, tenant, s.first, s.last)
			return err
		})
		if err != nil && !errors.Is(err, errTaken) {
			return err
		}
	}
	return nil
}
