package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Class is the class of entries that are kept equally long.
type Class string

// The classes.
const (
	ClassEngagement Class = "engagement" // entries about mails
	ClassEvents     Class = "events"     // all others
)

func (t Type) class() Class {
	if strings.HasPrefix(string(t), "email_") {
		return ClassEngagement
	}
	return ClassEvents
}

// Old selects entries to delete: those of a class, of tenants of a group that keep it equally long.
type Old struct {
	Group   int32
	Class   Class
	Days    int                // for how long the tenants keep them
	Tenants map[id.Tenant]bool // of the group
	Before  time.Time          // Days ago
	// Changed is when one of the tenants last changed the number of days. Then the search begins again.
	Changed time.Time
}

// Prune searches up to limit entries for old ones, from where the last call for the same days ended,
// and deletes them in one transaction. It returns the number of deleted entries, and whether there may be
// more. It deletes no entry that a follower has not processed yet, nor the last of the group, from whose
// position the next ones continue after a copy. Entries that were old when they were appended are
// deleted when those beside them are.
func Prune(ctx context.Context, db *sqldb.DB, o Old, followers []Follower, limit int, now time.Time) (n int, more bool, err error) {
	end, err := processed(ctx, db, o.Group, followers)
	if err != nil {
		return 0, false, fmt.Errorf("read the cursors of followers: %w", err)
	}
	from, since, err := o.position(ctx, db)
	if err != nil {
		return 0, false, fmt.Errorf("read how far the journal was pruned: %w", err)
	}
	if since.Before(o.Changed) || since.IsZero() {
		from, since = 0, now
		if since.Before(o.Changed) { // the clocks of processes differ
			since = o.Changed
		}
	}
	rows, err := db.Query(ctx, `
		SELECT tenant_id, pos, type, occurred_at FROM journal
		WHERE grp = $1 AND pos > $2 AND pos < $3 ORDER BY grp, pos LIMIT $4 /* all tenants: one order for each group */`,
		o.Group, from, end, limit)
	page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (e Entry, err error) {
		err = scan(&e.Tenant, &e.Position, sqldb.ToText(&e.Type), sqldb.ToTime(&e.At))
		return e, err
	})
	if err != nil {
		return 0, false, fmt.Errorf("read the journal: %w", err)
	}
	more = len(page) == limit
	old := map[id.Tenant][]int64{}
	to := from
	for _, e := range page {
		if !e.At.Before(o.Before) {
			more = false
			break
		}
		to = e.Position
		if e.Type.class() == o.Class && o.Tenants[e.Tenant] {
			old[e.Tenant] = append(old[e.Tenant], e.Position)
			n++
		}
	}
	if to == from {
		return 0, false, nil
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		for _, tenant := range slices.Sorted(maps.Keys(old)) {
			t := tx.Table("pos BIGINT")
			for _, pos := range old[tenant] {
				t.Add(pos)
			}
			_, err := tx.Exec(ctx, `DELETE FROM journal WHERE tenant_id = $1 AND grp = $2 AND pos IN (SELECT v.pos FROM `+t.As("v", 3)+`)`,
				t.Args(tenant, o.Group)...)
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO journal_pruned (grp, class, days, pos, since) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (grp, class, days) DO UPDATE SET pos = excluded.pos, since = excluded.since`,
			o.Group, string(o.Class), o.Days, to, since.UnixMicro())
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("delete old entries: %w", err)
	}
	return n, more, nil
}

// position returns up to where the group was searched, and since when; zero if it was not.
func (o Old) position(ctx context.Context, db *sqldb.DB) (pos int64, since time.Time, err error) {
	err = db.QueryRow(ctx, `SELECT pos, since FROM journal_pruned WHERE grp = $1 AND class = $2 AND days = $3`, o.Group, string(o.Class), o.Days).
		Scan(&pos, sqldb.ToTime(&since))
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, time.Time{}, nil
	}
	return pos, since, err
}

// processed returns the position before which all followers have processed a group: 0 if one has no
// cursor there yet.
func processed(ctx context.Context, db *sqldb.DB, group int32, followers []Follower) (int64, error) {
	rows, err := db.Query(ctx, `SELECT follower, pos FROM journal_cursor WHERE grp = $1 AND follower <> $2`, group, sequencer)
	at := map[string]int64{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var name string
		var pos int64
		err := scan(&name, &pos)
		at[name] = pos
		return err
	})
	if err != nil || len(at) == 0 {
		return 0, err
	}
	end := int64(1<<63 - 1)
	for _, f := range followers {
		if _, ok := at[f.Name]; !ok {
			return 0, nil
		}
	}
	for _, pos := range at {
		end = min(end, pos)
	}
	return end, nil
}
