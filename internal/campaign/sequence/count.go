package sequence

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
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

type timeKey struct {
	sequence id.Sequence
	at       int64 // beginning of the interval, in microseconds
}

// counts are changes of the counts of nodes, and of those of enrollments by time.
type counts struct {
	nodes map[countKey]NodeCount
	times map[timeKey]NodeCount
}

func (c *counts) add(s id.Sequence, node string, n NodeCount) {
	if c.nodes == nil {
		c.nodes = map[countKey]NodeCount{}
	}
	k := countKey{s, node}
	c.nodes[k] = c.nodes[k].plus(n)
}

// addAt adds to the counts of enrollments, at a time.
func (c *counts) addAt(s id.Sequence, n NodeCount, at time.Time) {
	c.add(s, "", n)
	if c.times == nil {
		c.times = map[timeKey]NodeCount{}
	}
	k := timeKey{s, outbox.IntervalOf(at).UnixMicro()}
	c.times[k] = c.times[k].plus(n)
}

func (n NodeCount) plus(o NodeCount) NodeCount {
	return NodeCount{n.Entered + o.Entered, n.Completed + o.Completed, n.Exited + o.Exited, n.Converted + o.Converted, n.Failed + o.Failed}
}

func (n NodeCount) minus(o NodeCount) NodeCount {
	return NodeCount{n.Entered - o.Entered, n.Completed - o.Completed, n.Exited - o.Exited, n.Converted - o.Converted, n.Failed - o.Failed}
}

func (n NodeCount) times(k int) NodeCount {
	return NodeCount{n.Entered * k, n.Completed * k, n.Exited * k, n.Converted * k, n.Failed * k}
}

// ending returns the count of one enrollment that has ended.
func (e Enrollment) ending() NodeCount {
	switch {
	case e.Status == Completed:
		return NodeCount{Completed: 1}
	case e.Status == Failed:
		return NodeCount{Failed: 1}
	case e.Reason == ReasonGoal:
		return NodeCount{Exited: 1, Converted: 1}
	}
	return NodeCount{Exited: 1}
}

// ended counts the end of an enrollment.
func (c *counts) ended(e Enrollment) { c.addAt(e.Sequence, e.ending(), *e.ExitedAt) }

// write adds the changes to the stored counts, in the order of their keys, so that concurrent
// transactions do not deadlock.
func (c *counts) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	if err := c.writeNodes(ctx, tx, tenant); err != nil {
		return fmt.Errorf("count steps: %w", err)
	}
	if err := c.writeTimes(ctx, tx, tenant); err != nil {
		return fmt.Errorf("count enrollments by time: %w", err)
	}
	return nil
}

// countColumns are the columns of NodeCount, in the order of values.
var countColumns = [...]string{"entered", "completed", "exited", "converted", "failed"}

func (n NodeCount) values() []any {
	return []any{n.Entered, n.Completed, n.Exited, n.Converted, n.Failed}
}

// countTable returns a table of changes with a key.
func countTable(tx *sqldb.DB, key ...string) *sqldb.Table {
	for _, name := range countColumns {
		key = append(key, name+" BIGINT")
	}
	return tx.Table(key...)
}

// increase returns the assignments that add the values of a refused row to those of a stored one.
func increase(table string) string {
	set := make([]string, len(countColumns))
	for i, name := range countColumns {
		set[i] = name + " = " + table + "." + name + " + excluded." + name
	}
	return strings.Join(set, ", ")
}

func (c *counts) writeNodes(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	keys := slices.SortedFunc(maps.Keys(c.nodes), func(a, b countKey) int {
		return cmp.Or(id.Compare(a.sequence, b.sequence), cmp.Compare(a.node, b.node))
	})
	if len(keys) == 0 {
		return nil
	}
	t := countTable(tx, "sequence_id UUID", "node_id TEXT")
	for _, k := range keys {
		t.Add(append([]any{k.sequence, k.node}, c.nodes[k].values()...)...)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO sequence_count (tenant_id, sequence_id, node_id, entered, completed, exited, converted, failed)
		SELECT h.tenant_id, v.sequence_id, v.node_id, v.entered, v.completed, v.exited, v.converted, v.failed
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, sequence_id, node_id) DO UPDATE SET `+increase("sequence_count"), t.Args(tenant)...)
	return err
}

func (c *counts) writeTimes(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	keys := slices.SortedFunc(maps.Keys(c.times), func(a, b timeKey) int {
		return cmp.Or(id.Compare(a.sequence, b.sequence), cmp.Compare(a.at, b.at))
	})
	if len(keys) == 0 {
		return nil
	}
	t := countTable(tx, "sequence_id UUID", "at BIGINT")
	for _, k := range keys {
		t.Add(append([]any{k.sequence, k.at}, c.times[k].values()...)...)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO sequence_time_sum (tenant_id, sequence_id, at, entered, completed, exited, converted, failed)
		SELECT h.tenant_id, v.sequence_id, v.at, v.entered, v.completed, v.exited, v.converted, v.failed
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, sequence_id, at) DO UPDATE SET `+increase("sequence_time_sum"), t.Args(tenant)...)
	return err
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

// CountsByTime returns the counts of a sequence's enrollments from a time to before another, by the
// beginning of the interval (outbox.Interval) in which they entered, or ended.
func CountsByTime(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, from, before time.Time) (map[time.Time]NodeCount, error) {
	rows, err := db.Query(ctx, `
		SELECT at, entered, completed, exited, converted, failed FROM sequence_time_sum
		WHERE tenant_id = $1 AND sequence_id = $2 AND at >= $3 AND at < $4`, tenant, seq, from.UnixMicro(), before.UnixMicro())
	all := map[time.Time]NodeCount{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at time.Time
		var n NodeCount
		err := scan(sqldb.ToTime(&at), &n.Entered, &n.Completed, &n.Exited, &n.Converted, &n.Failed)
		all[at] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the counts of a sequence by time: %w", err)
	}
	return all, nil
}

// CountsByDay returns the counts of a sequence's enrollments by day of a time zone, from the first to the
// last day. Days on which nobody entered and nothing ended are not in it.
func CountsByDay(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, first, last spread.Day, zone *time.Location) (map[spread.Day]NodeCount, error) {
	times, err := CountsByTime(ctx, db, tenant, seq, first.Start(zone), last.Add(1).Start(zone))
	if err != nil {
		return nil, err
	}
	days := map[spread.Day]NodeCount{}
	for at, n := range times {
		day := spread.DayOf(at, zone)
		days[day] = days[day].plus(n)
	}
	return days, nil
}
