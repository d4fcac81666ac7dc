package sequence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// NodeCount is how often a node was entered and left. That of the node "" counts enrollments.
type NodeCount struct {
	Entered, Completed, Exited, Converted, Failed int
}

type countKey struct {
	sequence id.Sequence
	node     string
}

// counts are changes of NodeCounts.
type counts map[countKey]NodeCount

func (c counts) add(s id.Sequence, node string, n NodeCount) {
	k := countKey{s, node}
	c[k] = c[k].plus(n)
}

func (n NodeCount) plus(o NodeCount) NodeCount {
	return NodeCount{n.Entered + o.Entered, n.Completed + o.Completed, n.Exited + o.Exited, n.Converted + o.Converted, n.Failed + o.Failed}
}

// ended counts the end of an enrollment.
func (c counts) ended(e Enrollment) {
	switch {
	case e.Status == Completed:
		c.add(e.Sequence, "", NodeCount{Completed: 1})
	case e.Status == Failed:
		c.add(e.Sequence, "", NodeCount{Failed: 1})
	case e.Reason == ReasonGoal:
		c.add(e.Sequence, "", NodeCount{Exited: 1, Converted: 1})
	default:
		c.add(e.Sequence, "", NodeCount{Exited: 1})
	}
}

// write adds the changes to the stored counts, in the order of their keys, so that concurrent
// transactions do not deadlock.
func (c counts) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	if len(c) == 0 {
		return nil
	}
	keys := make([]countKey, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b countKey) int {
		if n := id.Compare(a.sequence, b.sequence); n != 0 {
			return n
		}
		return strings.Compare(a.node, b.node)
	})
	t := tx.Table("sequence_id UUID", "node_id TEXT", "entered BIGINT", "completed BIGINT", "exited BIGINT", "converted BIGINT", "failed BIGINT")
	for _, k := range keys {
		n := c[k]
		t.Add(k.sequence, k.node, n.Entered, n.Completed, n.Exited, n.Converted, n.Failed)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO sequence_count (tenant_id, sequence_id, node_id, entered, completed, exited, converted, failed)
		SELECT h.tenant_id, v.sequence_id, v.node_id, v.entered, v.completed, v.exited, v.converted, v.failed
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, sequence_id, node_id) DO UPDATE SET entered = sequence_count.entered + excluded.entered,
			completed = sequence_count.completed + excluded.completed, exited = sequence_count.exited + excluded.exited,
			converted = sequence_count.converted + excluded.converted, failed = sequence_count.failed + excluded.failed`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("count steps: %w", err)
	}
	return nil
}

// Counts returns the counts of a sequence by node; those of enrollments have the node "".
func Counts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (map[string]NodeCount, error) {
	rows, err := db.Query(ctx, `
		SELECT node_id, entered, completed, exited, converted, failed FROM sequence_count WHERE tenant_id = $1 AND sequence_id = $2`, tenant, seq)
	all := map[string]NodeCount{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var node string
		var n NodeCount
		err := scan(&node, &n.Entered, &n.Completed, &n.Exited, &n.Converted, &n.Failed)
		all[node] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the counts of a sequence: %w", err)
	}
	return all, nil
}

// Totals returns the counts of all enrollments of each sequence of a tenant. Sequences that nobody has
// entered are not in it.
func Totals(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (map[id.Sequence]NodeCount, error) {
	rows, err := db.Query(ctx, `
		SELECT sequence_id, entered, completed, exited, converted, failed FROM sequence_count WHERE tenant_id = $1 AND node_id = ''`, tenant)
	all := map[id.Sequence]NodeCount{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var seq id.Sequence
		var n NodeCount
		err := scan(&seq, &n.Entered, &n.Completed, &n.Exited, &n.Converted, &n.Failed)
		all[seq] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the counts of all sequences: %w", err)
	}
	return all, nil
}

// Inside returns how many of those who entered a sequence are in it now.
func (s Sequence) Inside(n NodeCount) int {
	if s.Status == Draft || s.Status == Archived { // they have yet to follow the end of the sequence
		return 0
	}
	return n.Entered - n.Completed - n.Exited - n.Failed
}
