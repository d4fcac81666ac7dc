package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Where Citus distributes the tables (sqldb.DB.Distributed), the entries and cursors of a group are
// on the node that has the rows of its tenants, so that a follower's effects and its cursor are
// committed by a transaction on that node alone. The coordinator has the sequences, the locks of
// appending transactions, and the table journal_news with the groups that were appended to. Groups
// without news are not queried.
//
// News are only a hint. The coordinator commits them after the node has committed the entries; if
// it crashes between the two, entries exist without news. They are found when the group is next
// appended to, or when all nodes are queried.
//
// The statements here are about one group, whose node Citus determines from the parameter grp. In
// round.go and look.go one statement is about all groups: with many groups that is faster, and
// Citus could not run it on one node.

// fullPollInterval is how often all nodes are queried for the last positions of the groups.
const fullPollInterval = time.Minute

// appendDistributed inserts entries at positions drawn on the coordinator. Drawing and inserting
// are two statements, because a single one would send the rows through the coordinator.
func appendDistributed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []Entry) error {
	group := tenant.Group()
	t, names, err := entryTable(tx, entries)
	if err != nil {
		return err
	}
	drawn, err := tx.Query(ctx, `
		WITH places AS MATERIALIZED (
			SELECT CASE WHEN pg_advisory_xact_lock_shared(1885430635, $1) IS NOT NULL THEN nextval($2::regclass) END AS pos
			FROM generate_series(1, $3)
		), news AS (
			INSERT INTO journal_news (grp, pos) SELECT $1::INTEGER, MAX(pos) FROM places
		)
		SELECT pos FROM places ORDER BY pos`, group, sequence(group), t.Len())
	places, err := sqldb.Collect(drawn, err, func(scan func(...any) error) (pos int64, err error) { return pos, scan(&pos) })
	if err != nil {
		return err
	}
	t.AddNumbers("pos BIGINT", places)
	n, err := tx.Exec(ctx, `INSERT INTO journal (tenant_id, grp, pos, `+names+`)
		SELECT `+tx.Param(2, "INTEGER")+`, h.tenant_id, v.pos, `+names+` FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(group, tenant)...)
	if err == nil && int(n) != t.Len() {
		err = fmt.Errorf("%d of %d entries were written: the table home lacks the group %d", n, t.Len(), group)
	}
	return err
}

// InGroup returns a condition to add to queries for a tenant's entries, and the query's parameters
// with those of the condition. Where the tables are distributed, the condition determines the node.
// Elsewhere it is empty: PostgreSQL might use it to read all entries of a tenant by the primary key,
// in place of a narrower index.
func InGroup(db *sqldb.DB, tenant id.Tenant, args ...any) (condition string, _ []any) {
	if !db.Distributed() {
		return " ", args
	}
	args = append(args, tenant.Group())
	return fmt.Sprintf(" AND grp = $%d ", len(args)), args
}

// pollDistributed is poll for distributed tables.
func (e *Engine) pollDistributed(ctx context.Context) (map[cursor]int64, error) {
	ends, err := loadNews(ctx, e.DB)
	if err != nil {
		return nil, fmt.Errorf("read news of the journal: %w", err)
	}
	news := slices.Sorted(maps.Keys(ends))
	all := time.Since(e.lastFullPoll) >= fullPollInterval
	if all {
		heads, err := loadHeads(ctx, e.DB)
		if err != nil {
			return nil, fmt.Errorf("read the journal's ends on all nodes: %w", err)
		}
		for group, head := range heads {
			ends[group] = max(ends[group], head)
		}
	} else {
		for group, head := range e.horizon.ends() { // the ends of groups without news are known
			ends[group] = max(ends[group], head)
		}
	}
	reset := e.horizon.setHeads(e.DB, ends)
	var server string
	holders := map[int32]map[string]struct{}{}
	if e.horizon.behind() {
		if server, holders, err = loadHolders(ctx, e.DB); err != nil {
			return nil, err
		}
	}
	if all {
		news = slices.Sorted(maps.Keys(ends))
	}
	for group, head := range ends {
		if (e.unread[group] || e.horizon.at(group) < head) && !slices.Contains(news, group) {
			news = append(news, group)
		}
	}
	e.unread = map[int32]bool{}
	at := map[cursor]int64{}
	done := e.DB.Table("grp INTEGER", "pos BIGINT")
	for _, group := range news {
		if _, err := e.createCursors(ctx, group); err != nil {
			return nil, fmt.Errorf("read the journal's cursors: %w", err)
		}
		pos, prepared, err := e.cursorsIn(ctx, group)
		if err != nil {
			return nil, fmt.Errorf("read the journal's cursors: %w", err)
		}
		read := true
		for _, f := range e.Followers {
			if p, ok := pos[f.Name]; ok && p < ends[group] {
				at[cursor{group, f.Name}] = p
				read, e.unread[group] = false, true
			}
		}
		if read {
			done.Add(group, ends[group])
		}
		for _, name := range prepared {
			if holders[group] == nil {
				holders[group] = map[string]struct{}{}
			}
			holders[group][name] = struct{}{}
		}
	}
	if e.horizon.behind() && server != "" {
		reset = e.horizon.advance(server, holders) || reset
	}
	if reset {
		e.begun = nil
		e.lastFullPoll = time.Time{}
	} else if all {
		e.lastFullPoll = time.Now()
	}
	if done.Len() > 0 {
		_, err = e.DB.Exec(ctx, `DELETE FROM journal_news USING `+done.As("v", 1)+` WHERE journal_news.grp = v.grp AND journal_news.pos <= v.pos`, done.Args()...)
		if err != nil {
			return nil, fmt.Errorf("delete news of the journal: %w", err)
		}
	}
	return at, nil
}

// loadNews returns the highest positions in journal_news, by group.
func loadNews(ctx context.Context, db *sqldb.DB) (map[int32]int64, error) {
	rows, err := db.Query(ctx, `SELECT grp, MAX(pos) FROM journal_news GROUP BY grp`)
	return byGroup(rows, err)
}

// loadHeads returns the last position of each group, read from all nodes.
func loadHeads(ctx context.Context, db *sqldb.DB) (map[int32]int64, error) {
	rows, err := db.Query(ctx, `
		SELECT h.key, x.pos FROM home AS h
		CROSS JOIN LATERAL (SELECT j.pos FROM journal AS j WHERE j.grp = h.key ORDER BY j.grp DESC, j.pos DESC LIMIT 1) AS x
		/* all tenants: one order for each group */`)
	return byGroup(rows, err)
}

func byGroup(rows *sqldb.Rows, err error) (map[int32]int64, error) {
	m := map[int32]int64{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (pos int64, err error) {
		var group int32
		err = scan(&group, &pos)
		m[group] = pos
		return pos, err
	})
	return m, err
}

// cursorsIn returns the cursors of a group, and the names of transactions prepared for commit on
// its node. The coordinator may no longer hold their locks: if it cannot reach a node for the
// second phase of a commit, the transaction is committed later.
func (e *Engine) cursorsIn(ctx context.Context, group int32) (at map[string]int64, prepared []string, err error) {
	rows, err := e.DB.Query(ctx, `
		SELECT follower, pos, (SELECT string_agg(p.gid, ' ') FROM pg_prepared_xact() AS p) FROM journal_cursor WHERE grp = $1`, group)
	at = map[string]int64{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (_ struct{}, err error) {
		var follower string
		var pos int64
		var names sql.NullString
		err = scan(&follower, &pos, &names)
		at[follower], prepared = pos, strings.Fields(names.String)
		return struct{}{}, err
	})
	return at, prepared, err
}

// skipUnwantedIn advances the cursors of followers past a stretch.
func (e *Engine) skipUnwantedIn(ctx context.Context, s *stretch, followers []string) (int64, error) {
	return e.DB.Exec(ctx, `
		UPDATE journal_cursor SET pos = $3 WHERE grp = $1 AND pos = $2 AND follower IN (
			SELECT c.follower FROM journal_cursor AS c WHERE c.grp = $1 AND c.pos = $2 AND c.follower`+e.DB.In(4)+e.DB.SkipLocked()+`)`,
		s.group, s.from, s.to, sqldb.List(e.DB, followers))
}

// lockCursorIn locks the cursor of a follower in a group, unless another process has locked it, and
// returns its position.
func lockCursorIn(ctx context.Context, tx *sqldb.DB, f *Follower, group int32) (map[int32]int64, error) {
	var pos int64
	err := tx.QueryRow(ctx, `SELECT pos FROM journal_cursor WHERE grp = $1 AND follower = $2`+tx.SkipLocked(), group, f.Name).Scan(&pos)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	return map[int32]int64{group: pos}, err
}

// distributedLag is Lag for distributed tables.
func distributedLag(ctx context.Context, db *sqldb.DB) (int64, error) {
	heads, err := loadHeads(ctx, db)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `SELECT grp, MIN(pos) FROM journal_cursor GROUP BY grp`)
	at, err := byGroup(rows, err)
	var sum int64
	for group, head := range heads {
		sum += max(head-at[group], 0)
	}
	return sum, err
}

// continueDistributed is Continue for distributed tables.
func continueDistributed(ctx context.Context, db *sqldb.DB) error {
	heads, err := loadHeads(ctx, db)
	if err != nil {
		return err
	}
	for group, head := range heads {
		_, err := db.Exec(ctx, `SELECT setval($1::regclass, GREATEST($2, COALESCE(pg_sequence_last_value($1::regclass), 0)))`, sequence(group), head)
		if err != nil {
			return err
		}
	}
	return nil
}
