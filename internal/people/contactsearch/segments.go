package contactsearch

import (
	"context"
	"errors"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// A search compares the queued contacts one by one, so a few hundred of them become a segment. It
// also reads rows of each segment, so small ones are merged: when they fill one of mergeFactor times
// the least size, again when these fill one of mergeFactor times that, and so on up to a full one. A
// tenant therefore has at most a few more segments than if all were full, and an entry is written
// three times at most.

const (
	minSegment  = 512
	mergeFactor = 4
)

// segment is a row of contact_search_segment. Its entries never change.
type segment struct {
	number  int64
	entries int
}

// mergeable returns the segments, of a list in the order of their numbers, that are merged next.
// Each is smaller than most, and together they have less than twice as many entries.
func mergeable(list []segment, least, most int) []segment {
	for size := least; size < most; {
		size = min(size*mergeFactor, most)
		var small []segment
		entries := 0
		for _, s := range list {
			if s.entries >= size-size/8 { // nearly: a segment of ranges is seldom quite full
				continue
			}
			small = append(small, s)
			if entries += s.entries; entries >= size {
				return small
			}
		}
	}
	return nil
}

// merge replaces small segments by one or, if they have more than most entries, two. It reports
// whether it did.
//
// The texts are read before the transaction. A contact that changes meanwhile is in
// contact_search_queue too. One that is anonymised meanwhile is in contact_search_removed until
// applyRemovals has deleted each segment that it found the contact in, which only one of the two can
// do: either the merge fails, or the contact is removed from the new segment.
func merge(ctx context.Context, db *sqldb.DB, tenant id.Tenant, least, most int) (bool, error) {
	rows, err := db.Query(ctx, `SELECT segment, entries FROM contact_search_segment WHERE tenant_id = $1 AND entries > 0 ORDER BY segment`, tenant)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (s segment, err error) {
		err = row(&s.number, &s.entries)
		return s, err
	})
	if err != nil {
		return false, err
	}
	small := mergeable(list, least, most)
	if len(small) == 0 {
		return false, nil
	}
	numbers := make([]int64, len(small))
	for i, s := range small {
		numbers[i] = s.number
	}
	t := numbersTable(db, numbers)
	rows, err = db.Query(ctx, `
		SELECT b.contacts FROM `+t.As("v", 2)+` JOIN contact_search_block b ON b.tenant_id = $1 AND b.segment = v.segment`, t.Args(tenant)...)
	ids, err := collectIDs(rows, err)
	if err != nil {
		return false, err
	}
	rows, err = db.Query(ctx, `SELECT id, search_text FROM contact WHERE tenant_id = $1 AND id`+db.In(2)+` ORDER BY id`, tenant, sqldb.List(db, ids))
	entries, err := sqldb.Collect(rows, err, scanEntry)
	if err != nil {
		return false, err
	}
	full, rest := entries[:min(len(entries), most)], entries[min(len(entries), most):]
	postings, postingsOfRest := encode(full), encode(rest)
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := deleteSegments(ctx, tx, tenant, numbers); err != nil {
			return err
		}
		if _, err := writeSegment(ctx, tx, tenant, full, postings); err != nil || len(rest) == 0 {
			return err
		}
		_, err := writeSegment(ctx, tx, tenant, rest, postingsOfRest)
		return err
	})
	if errors.Is(err, errContended) || sqldb.IsUniqueViolation(err) {
		return false, nil
	}
	return err == nil, err
}

func numbersTable(db *sqldb.DB, numbers []int64) *sqldb.Table {
	t := db.Table("segment BIGINT")
	for _, n := range numbers {
		t.Add(n)
	}
	return t
}

// collectIDs reads rows of packed ids.
func collectIDs(rows *sqldb.Rows, err error) (ids []id.Contact, _ error) {
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var contacts []byte
		err := row(&contacts)
		ids = append(ids, unpackIDs(contacts)...)
		return err
	})
	return ids, err
}

// deleteSegments deletes segments and returns their contacts, or errContended if another process has
// deleted one of them.
func deleteSegments(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, numbers []int64) ([]id.Contact, error) {
	t := numbersTable(tx, numbers)
	n, err := tx.Exec(ctx, `
		UPDATE contact_search_segment SET entries = 0
		WHERE tenant_id = $1 AND entries > 0 AND segment IN (SELECT v.segment FROM `+t.As("v", 2)+`)`, t.Args(tenant)...)
	if err == nil && n < int64(len(numbers)) {
		err = errContended
	}
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		DELETE FROM contact_search_segment
		WHERE tenant_id = $1 AND entries = 0 AND segment < (SELECT MAX(x.segment) FROM contact_search_segment x WHERE x.tenant_id = $1)`, tenant)
	if err != nil {
		return nil, err
	}
	for _, number := range numbers {
		b := tx.Table("bucket BIGINT")
		for n := range buckets {
			b.Add(n)
		}
		_, err := tx.Exec(ctx, `
			DELETE FROM contact_search_postings
			WHERE tenant_id = $1 AND segment = $2 AND bucket IN (SELECT v.bucket FROM `+b.As("v", 3)+`)`, b.Args(tenant, number)...)
		if err != nil {
			return nil, err
		}
	}
	t = numbersTable(tx, numbers)
	rows, err := tx.Query(ctx, `
		DELETE FROM contact_search_block WHERE tenant_id = $1 AND segment IN (SELECT v.segment FROM `+t.As("v", 2)+`)
		RETURNING contacts`, t.Args(tenant)...)
	return collectIDs(rows, err)
}
