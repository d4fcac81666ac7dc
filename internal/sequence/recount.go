package sequence

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// After returns up to limit sequences of a tenant after one of them, in the order of their ids.
func After(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Sequence, limit int) ([]id.Sequence, error) {
	rows, err := db.Query(ctx, `SELECT id FROM sequence WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`, tenant, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s id.Sequence, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sequences: %w", err)
	}
	return list, nil
}

// CountEnrollments counts the enrollments of a sequence by how they ended, as the count of the node ""
// does. How often a node was left is not stored with enrollments, so the counts of nodes cannot be
// counted again.
func CountEnrollments(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (NodeCount, error) {
	rows, err := db.Query(ctx, `
		SELECT status, exit_reason, COUNT(*) FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2 GROUP BY status, exit_reason`, tenant, seq)
	var all NodeCount
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		e := Enrollment{Sequence: seq}
		var n int
		if err := scan(sqldb.ToText(&e.Status), sqldb.ToText(&e.Reason), &n); err != nil {
			return err
		}
		all.Entered += n
		if e.Status == InProgress || e.Status == Waiting {
			return nil
		}
		one := counts{}
		one.ended(e)
		of := one[countKey{seq, ""}]
		all = all.plus(NodeCount{Completed: n * of.Completed, Exited: n * of.Exited, Converted: n * of.Converted, Failed: n * of.Failed})
		return nil
	})
	if err != nil {
		return all, fmt.Errorf("count enrollments: %w", err)
	}
	return all, nil
}

// Correct adds the difference between counted and stored numbers of enrollments to the stored ones.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, stored, counted NodeCount) error {
	c := counts{countKey{seq, ""}: {
		counted.Entered - stored.Entered, counted.Completed - stored.Completed, counted.Exited - stored.Exited,
		counted.Converted - stored.Converted, counted.Failed - stored.Failed,
	}}
	return db.InTx(ctx, func(tx *sqldb.DB) error { return c.write(ctx, tx, tenant) })
}
