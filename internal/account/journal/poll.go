package journal

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// heads is a common table expression: each group that has entries, with its last position. It reads
// the primary key once for each group and once for its position.
const heads = `WITH RECURSIVE present(grp) AS (
		SELECT (SELECT j.grp FROM journal AS j ORDER BY j.grp LIMIT 1)
		UNION ALL
		SELECT (SELECT j.grp FROM journal AS j WHERE j.grp > present.grp ORDER BY j.grp LIMIT 1) FROM present WHERE present.grp IS NOT NULL
	), heads(grp, head) AS MATERIALIZED (
		SELECT grp, (SELECT j.pos FROM journal AS j WHERE j.grp = present.grp ORDER BY j.grp DESC, j.pos DESC LIMIT 1) FROM present WHERE grp IS NOT NULL
	) `

// cursor identifies the cursor of a follower in a group.
type cursor struct {
	group    int32
	follower string
}

// poll updates the horizons, and returns the positions of the cursors that are not at the end of
// their group.
func (e *Engine) poll(ctx context.Context) (map[cursor]int64, error) {
	if e.DB.Distributed() {
		return e.pollDistributed(ctx)
	}
	at, ends, err := e.cursors(ctx)
	if err == nil {
		var created bool
		if created, err = e.createCursors(ctx, slices.Sorted(maps.Keys(ends))...); err == nil && created {
			at, ends, err = e.cursors(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal's cursors: %w", err)
	}
	reset, err := e.horizon.reach(ctx, e.DB, ends)
	if reset {
		e.begun = nil
	}
	return at, err
}

// cursors returns the cursors that are not at the end of their group, and the ends.
func (e *Engine) cursors(ctx context.Context) (at map[cursor]int64, ends map[int32]int64, err error) {
	names := make([]string, len(e.Followers))
	for i, f := range e.Followers {
		names[i] = f.Name
	}
	rows, err := e.DB.Query(ctx, heads+`
		SELECT h.grp, h.head, c.follower, c.pos FROM heads AS h
		LEFT JOIN journal_cursor AS c ON c.grp = h.grp AND c.pos < h.head AND c.follower`+e.DB.In(1)+`
		/* all tenants: one order for each group */`, sqldb.List(e.DB, names))
	at, ends = map[cursor]int64{}, map[int32]int64{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (_ struct{}, err error) {
		var group int32
		var head int64
		var follower sql.NullString
		var pos sql.NullInt64
		err = scan(&group, &head, &follower, &pos)
		ends[group] = head
		if follower.Valid {
			at[cursor{group, follower.String}] = pos.Int64
		}
		return struct{}{}, err
	})
	return at, ends, err
}

// createCursors creates missing cursors of the followers in groups, at position 0, and reports whether
// any may have been missing.
func (e *Engine) createCursors(ctx context.Context, groups ...int32) (created bool, err error) {
	for _, group := range groups {
		if e.begun[group] == len(e.Followers) {
			continue
		}
		t := e.DB.Table("follower TEXT")
		for _, f := range e.Followers {
			t.Add(f.Name)
		}
		_, err := e.DB.Exec(ctx, `
			INSERT INTO journal_cursor (grp, follower, pos) SELECT h.tenant_id, v.follower, 0
			FROM `+e.DB.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true ON CONFLICT DO NOTHING`, t.Args(group)...)
		if err != nil {
			return created, err
		}
		if e.begun == nil {
			e.begun = map[int32]int{}
		}
		e.begun[group] = len(e.Followers)
		created = true
	}
	return created, nil
}

// Lag returns how many positions the slowest follower of each group is behind the last entry,
// summed over the groups.
func Lag(ctx context.Context, db *sqldb.DB) (int64, error) {
	if db.Distributed() {
		return distributedLag(ctx, db)
	}
	rows, err := db.Query(ctx, heads+`
		SELECT h.head - COALESCE((SELECT MIN(c.pos) FROM journal_cursor AS c WHERE c.grp = h.grp AND c.follower <> $1), 0)
		FROM heads AS h /* all tenants: one order for each group */`, sequencer)
	var sum int64
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (lag int64, err error) {
		err = scan(&lag)
		sum += max(lag, 0)
		return lag, err
	})
	if err != nil {
		return 0, fmt.Errorf("measure the journal's lag: %w", err)
	}
	return sum, nil
}

// Continue advances the sequences of positions past all existing entries. It is called after rows
// were copied into the journal with their positions.
func Continue(ctx context.Context, db *sqldb.DB) error {
	var err error
	if db.Dialect() == sqldb.SQLite {
		_, err = db.Exec(ctx, heads+`
			INSERT INTO journal_cursor (grp, follower, pos) SELECT grp, $1, head FROM heads WHERE true
			ON CONFLICT (grp, follower) DO UPDATE SET pos = MAX(pos, excluded.pos) /* all tenants: one order for each group */`, sequencer)
	} else if db.Distributed() {
		err = continueDistributed(ctx, db)
	} else {
		_, err = db.Exec(ctx, heads+`, places AS (SELECT head, ('journal_place_' || grp)::regclass AS seq FROM heads)
			SELECT setval(seq, GREATEST(head, COALESCE(pg_sequence_last_value(seq), 0))) FROM places /* all tenants: one order for each group */`)
	}
	if err != nil {
		return fmt.Errorf("continue the journal behind its last entries: %w", err)
	}
	return nil
}
