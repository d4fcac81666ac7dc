package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// batch is how many entries a follower processes in one transaction; the rest of a pack may exceed
// it.
const batch = 1000

// stretch is a part of a group's journal that is read once, for all followers whose cursors are at
// its beginning.
type stretch struct {
	group     int32
	from, to  int64 // after from, up to and including to
	entries   []Entry
	full      bool // there may be more entries after it
	followers []*Follower

	tenants map[*Follower]map[id.Tenant]bool // of followers with Tenants: those they process entries of
}

// roundResult is the result of a round.
type roundResult struct {
	more    bool // poll again at once
	waiting bool // another process had locked some cursors
}

// round is Tick without the cursors in failed; it adds those that fail now.
func (e *Engine) round(ctx context.Context, failed map[cursor]bool) (roundResult, error) {
	var t roundResult
	at, err := e.poll(ctx)
	if err != nil {
		return t, err
	}
	list, err := e.readStretches(ctx, at, failed)
	if err != nil {
		return t, err
	}
	if err := e.filterTenants(ctx, list); err != nil {
		return t, err
	}
	errs := []error{e.skipUnwanted(ctx, list, failed, &t)}
	for i := range e.Followers {
		errs = append(errs, e.advanceFollower(ctx, &e.Followers[i], list, failed, &t))
	}
	return t, errors.Join(errs...)
}

// readStretches reads the entries after each position at which cursors are, and at most a batch for
// each follower.
func (e *Engine) readStretches(ctx context.Context, at map[cursor]int64, failed map[cursor]bool) ([]*stretch, error) {
	left := make(map[string]int, len(e.Followers))
	for _, f := range e.Followers {
		left[f.Name] = batch
	}
	var list []*stretch
	cut := false
	for _, s := range e.cursorStretches(at, failed) {
		limit := batch
		s.followers = slices.DeleteFunc(s.followers, func(f *Follower) bool { return left[f.Name] == 0 })
		for _, f := range s.followers {
			limit = min(limit, left[f.Name])
		}
		if len(s.followers) > 0 {
			if err := e.fill(ctx, s, limit); err != nil {
				return nil, err
			}
			list = append(list, s)
		}
		switch {
		case cut:
		case s.full: // the next round begins after this group
			e.firstGroup, cut = s.group+1, true
		case len(s.followers) == 0:
			e.firstGroup, cut = s.group, true
		}
		for _, f := range s.followers {
			left[f.Name] = max(left[f.Name]-len(s.entries), 0)
		}
	}
	return list, nil
}

// cursorStretches returns a stretch for each position of cursors before their horizon, without
// entries. It begins with the group where the last round stopped.
func (e *Engine) cursorStretches(at map[cursor]int64, failed map[cursor]bool) []*stretch {
	type stand struct {
		group int32
		pos   int64
	}
	found := map[stand]*stretch{}
	for i := range e.Followers {
		f := &e.Followers[i]
		for group := range e.horizon.groups {
			c := cursor{group, f.Name}
			pos, behind := at[c]
			if !behind || failed[c] || pos >= e.horizon.at(group) {
				continue
			}
			s := found[stand{group, pos}]
			if s == nil {
				s = &stretch{group: group, from: pos, to: e.horizon.at(group)}
				found[stand{group, pos}] = s
			}
			s.followers = append(s.followers, f)
		}
	}
	if e.firstGroup == 0 { // processes start with different groups
		groups := id.AllGroups()
		e.firstGroup = groups[rand.IntN(len(groups))]
	}
	after := func(group int32) int {
		if group < e.firstGroup {
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *stretch) int {
		return cmp.Or(cmp.Compare(after(a.group), after(b.group)), cmp.Compare(a.group, b.group), cmp.Compare(b.from, a.from))
	})
}

// fill reads the entries of a stretch: up to limit, or more if the last row is a pack. There may be
// gaps, of transactions that were rolled back.
func (e *Engine) fill(ctx context.Context, s *stretch, limit int) error {
	atMost := limit
	if n := e.perRow[s.group]; n > 1 { // expect packs again: rows beyond the limit would be read twice
		atMost = limit/n + 1
	}
	rows, err := e.DB.Query(ctx, `
		SELECT tenant_id, pos, `+columns+`, packed FROM journal
		WHERE grp = $1 AND pos > $2 AND pos <= $3 ORDER BY grp, pos LIMIT $4 /* all tenants: one order for each group */`,
		s.group, s.from, s.to, atMost)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer rows.Close()
	end, n := s.to, 0
	for len(s.entries) < limit && rows.Next() {
		var packed []byte
		one, err := scan(rows.Scan, &packed)
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		n, end = n+1, one.Position
		if packed == nil {
			s.entries = append(s.entries, one)
			continue
		}
		s.entries = unpacked(s.entries, one, packed)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if s.full = n == atMost || len(s.entries) >= limit; s.full {
		s.to = end
	}
	if e.perRow == nil {
		e.perRow = map[int32]int{}
	}
	e.perRow[s.group] = len(s.entries) / max(n, 1)
	return nil
}

// wants reports whether a follower processes an entry.
func (f *Follower) wants(e Entry) bool { return len(f.Types) == 0 || slices.Contains(f.Types, e.Type) }

// wants reports whether a follower processes an entry of the stretch.
func (s *stretch) wants(f *Follower, e Entry) bool {
	return f.wants(e) && (f.Tenants == nil || s.tenants[f][e.Tenant])
}

// idle reports whether a follower processes no entry of a stretch.
func (s *stretch) idle(f *Follower) bool {
	return !slices.ContainsFunc(s.entries, func(e Entry) bool { return s.wants(f, e) })
}

// filterTenants calls Tenants of the followers that have it, once for all stretches.
func (e *Engine) filterTenants(ctx context.Context, list []*stretch) error {
	for i := range e.Followers {
		f := &e.Followers[i]
		if f.Tenants == nil {
			continue
		}
		// After the entries were read, never before: a tenant that becomes one of Tenants in between may
		// already have entries here, and would lose them.
		present := map[id.Tenant]bool{}
		for _, s := range list {
			if !slices.Contains(s.followers, f) {
				continue
			}
			for _, one := range s.entries {
				if f.wants(one) {
					present[one.Tenant] = true
				}
			}
		}
		if len(present) == 0 {
			continue
		}
		wanted, err := f.Tenants(ctx, e.DB, slices.Sorted(maps.Keys(present)))
		if err != nil {
			return fmt.Errorf("follower %s: %w", f.Name, err)
		}
		for _, s := range list {
			if s.tenants == nil {
				s.tenants = map[*Follower]map[id.Tenant]bool{}
			}
			s.tenants[f] = wanted
		}
	}
	return nil
}

// skipUnwanted advances the cursors of followers past stretches without entries for them. If that fails, it adds them to
// failed.
func (e *Engine) skipUnwanted(ctx context.Context, list []*stretch, failed map[cursor]bool, sum *roundResult) (err error) {
	skipped := map[cursor]bool{}
	defer func() {
		if err != nil {
			maps.Copy(failed, skipped)
		}
	}()
	t := e.DB.Table("grp INTEGER", "follower TEXT", "since BIGINT", "upto BIGINT")
	full := false
	for _, s := range list {
		var idle []string
		for _, f := range s.followers {
			if s.idle(f) {
				idle = append(idle, f.Name)
				skipped[cursor{s.group, f.Name}] = true
				full = full || s.full
			}
		}
		if len(idle) == 0 {
			continue
		}
		if e.DB.Distributed() {
			n, err := e.skipUnwantedIn(ctx, s, idle)
			if err != nil {
				return fmt.Errorf("skip unwanted entries: %w", err)
			}
			sum.waiting = sum.waiting || n < int64(len(idle))
			continue
		}
		for _, f := range idle {
			t.Add(s.group, f, s.from, s.to)
		}
	}
	if t.Len() == 0 {
		sum.more = sum.more || full
		return nil
	}
	// The condition on pos, twice, is the lock here: a cursor that another process has moved or holds is
	// left alone, and never goes back.
	n, err := e.DB.Exec(ctx, `
		UPDATE journal_cursor SET pos = x.upto FROM (
			SELECT c.grp, c.follower, v.since, v.upto FROM `+t.As("v", 1)+`
			JOIN journal_cursor AS c ON c.grp = v.grp AND c.follower = v.follower AND c.pos = v.since `+e.DB.SkipLocked()+`) AS x
		WHERE journal_cursor.grp = x.grp AND journal_cursor.follower = x.follower AND journal_cursor.pos = x.since`, t.Args()...)
	if err != nil {
		return fmt.Errorf("skip unwanted entries: %w", err)
	}
	sum.more = sum.more || full // only now: a write that fails is not tried again at once
	sum.waiting = sum.waiting || n < int64(t.Len())
	return nil
}

// advanceFollower passes the stretches with entries for a follower to it.
func (e *Engine) advanceFollower(ctx context.Context, f *Follower, list []*stretch, failed map[cursor]bool, sum *roundResult) error {
	var wanted []*stretch
	for _, s := range list {
		if slices.Contains(s.followers, f) && !s.idle(f) {
			wanted = append(wanted, s)
		}
	}
	return e.advanceStretches(ctx, f, wanted, failed, sum)
}

// advanceStretches passes stretches to a follower, in one transaction. If that fails, it uses one
// transaction for each stretch, so that only the failing ones are retried later. Where the tables are
// distributed it does so at once: a transaction on one node commits faster than one across nodes.
func (e *Engine) advanceStretches(ctx context.Context, f *Follower, list []*stretch, failed map[cursor]bool, sum *roundResult) error {
	if len(list) <= 1 || !e.DB.Distributed() {
		err := advance(ctx, e.DB, f, list, sum)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("follower %s: %w", f.Name, err)
		case len(list) == 1:
			failed[cursor{list[0].group, f.Name}] = true
			return fmt.Errorf("follower %s: group %d: %w", f.Name, list[0].group, err)
		}
	}
	var errs []error
	for i := range list {
		errs = append(errs, e.advanceStretches(ctx, f, list[i:i+1], failed, sum))
	}
	return errors.Join(errs...)
}

// advance passes stretches of several groups to a follower and advances its cursors past them. It
// skips stretches whose cursor has moved or is locked by another process.
func advance(ctx context.Context, db *sqldb.DB, f *Follower, list []*stretch, sum *roundResult) error {
	if len(list) == 0 {
		return nil
	}
	var done []*stretch
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		at, err := lockCursors(ctx, tx, f, list)
		if err != nil {
			return err
		}
		// The entries were read before the cursors were locked. A cursor that has moved since belongs to
		// another process, which has applied them: they must not be applied twice.
		done = nil
		var entries []Entry
		t := tx.Table("grp INTEGER", "pos BIGINT")
		for _, s := range list {
			if pos, taken := at[s.group]; !taken || pos != s.from {
				continue
			}
			done = append(done, s)
			t.Add(s.group, s.to)
			for _, e := range s.entries {
				if s.wants(f, e) {
					entries = append(entries, e)
				}
			}
		}
		if len(done) == 0 {
			return nil
		}
		// The cursor moves in the transaction of the effects. This is why followers need not recognise
		// entries that they have seen, and why Follow must do nothing that a rollback does not undo.
		if err := f.Follow(ctx, tx, entries); err != nil {
			return err
		}
		if tx.Distributed() {
			_, err = tx.Exec(ctx, `UPDATE journal_cursor SET pos = $3 WHERE grp = $1 AND follower = $2`, list[0].group, f.Name, list[0].to)
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE journal_cursor SET pos = v.pos FROM `+t.As("v", 2)+`
			WHERE journal_cursor.follower = $1 AND journal_cursor.grp = v.grp`, t.Args(f.Name)...)
		return err
	})
	if err != nil {
		return err
	}
	sum.waiting = sum.waiting || len(done) < len(list)
	sum.more = sum.more || slices.ContainsFunc(done, func(s *stretch) bool { return s.full })
	return nil
}

// lockCursors locks a follower's cursors until the transaction ends, skipping those that another
// process has locked, and returns their positions.
func lockCursors(ctx context.Context, tx *sqldb.DB, f *Follower, list []*stretch) (map[int32]int64, error) {
	if tx.Distributed() { // one group at a time
		return lockCursorIn(ctx, tx, f, list[0].group)
	}
	t := tx.Table("grp INTEGER")
	for _, s := range list {
		t.Add(s.group)
	}
	rows, err := tx.Query(ctx, `
		SELECT c.grp, c.pos FROM `+t.As("v", 2)+`
		JOIN journal_cursor AS c ON c.follower = $1 AND c.grp = v.grp `+tx.SkipLocked(), t.Args(f.Name)...)
	at := map[int32]int64{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (pos int64, err error) {
		var group int32
		err = scan(&group, &pos)
		at[group] = pos
		return pos, err
	})
	return at, err
}
