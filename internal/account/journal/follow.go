package journal

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// minRoundInterval is the shortest interval between rounds that read all entries: with many small
// writes, each round then processes more of them.
const minRoundInterval = 40 * time.Millisecond

// drainInterval is how long Drain waits between polls for transactions that append.
const drainInterval = 2 * time.Millisecond

// Follower processes entries.
type Follower struct {
	Name  string // of its cursors; must never change
	Types []Type // types it processes; empty: all
	// Tenants returns those of the tenants whose entries it processes; nil: all. It is called once for
	// the entries of many tenants, after they were read and before the transaction, so entries that
	// no tenant wants cost no transaction of their own. A tenant that is included from some
	// transaction on gets all entries that were appended after it.
	Tenants func(ctx context.Context, db *sqldb.DB, tenants []id.Tenant) (map[id.Tenant]bool, error)
	// Follow applies entries within tx: those of the follower's types, each once. They may belong
	// to several groups; those of a group, and so of a tenant, are in order.
	Follow func(ctx context.Context, tx *sqldb.DB, entries []Entry) error
}

// PerTenant returns a function for Follower.Follow that calls follow for each tenant, with those of its
// entries that are about a contact.
func PerTenant(follow func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []Entry) error) func(ctx context.Context, tx *sqldb.DB, entries []Entry) error {
	return func(ctx context.Context, tx *sqldb.DB, entries []Entry) error {
		of := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Contact.IsZero() })
		for tenant, own := range id.ByTenant(of, func(e Entry) id.Tenant { return e.Tenant }) {
			if err := follow(ctx, tx, tenant, own); err != nil {
				return fmt.Errorf("follow the entries of tenant %s: %w", tenant, err)
			}
		}
		return nil
	}
}

// TenantsWith returns a function for Follower.Tenants: it returns those for which a condition on
// v.tenant_id holds.
func TenantsWith(condition string) func(ctx context.Context, db *sqldb.DB, tenants []id.Tenant) (map[id.Tenant]bool, error) {
	return func(ctx context.Context, db *sqldb.DB, tenants []id.Tenant) (map[id.Tenant]bool, error) {
		t := db.Table("tenant_id INTEGER")
		for _, one := range tenants {
			t.Add(one)
		}
		rows, err := db.Query(ctx, `
			SELECT v.tenant_id FROM `+t.As("v", 1)+` WHERE `+condition+` /* all tenants: followers read the entries of many */`, t.Args()...)
		found := map[id.Tenant]bool{}
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			var one id.Tenant
			err := scan(&one)
			found[one] = true
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find the tenants whose entries are followed: %w", err)
		}
		return found, nil
	}
}

// Engine passes entries to the followers. Its methods must not be called concurrently, but any
// number of processes may run one Engine each. They share the work through rows of journal_cursor:
// a process skips cursors that another has locked, so that different groups are processed in
// parallel.
type Engine struct {
	DB        *sqldb.DB
	Followers []Follower
	Log       *slog.Logger
	Wake      <-chan struct{} // notified when entries are appended; may be nil
	Every     time.Duration   // interval of polling; 0 means 250 ms

	horizon    horizons
	begun      map[int32]int // number of followers that have cursors, by group
	firstGroup int32         // the next round begins with this group or the one after it
	perRow     map[int32]int // entries of a row, on average of those last read, by group

	lastFullPoll time.Time      // distributed tables: when all nodes were last queried,
	unread       map[int32]bool // and which groups had entries to read at the last poll
}

// Run processes entries until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	every := e.Every
	if every == 0 {
		every = 250 * time.Millisecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	failed := map[cursor]bool{} // retried at the next tick
	for {
		sum, err := e.round(ctx, failed)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			e.Log.Error("follow journal failed", "err", err)
		}
		if sum.more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(minRoundInterval):
		}
		var again chan struct{}
		wake := e.Wake
		if err != nil && len(failed) == 0 { // the database fails: nothing wakes it before the next tick
			wake = nil
		} else if e.horizon.behind() { // also poll for entries that are committed but not final yet
			again = make(chan struct{})
			close(again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			clear(failed)
		case <-wake:
		case <-again:
		}
	}
}

// Tick has every follower process one batch of the entries that are final. It reports whether there
// are more, so that it should be called again at once. If a follower fails in a group, its cursor
// there stays where it is, and other groups and followers continue.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	sum, err := e.round(ctx, map[cursor]bool{})
	return sum.more, err
}

// Drain calls Tick until all entries committed before the call are processed, or a follower fails.
// It waits for transactions that may still commit entries before those, and for other processes
// that follow.
func (e *Engine) Drain(ctx context.Context) error {
	var goals map[int32]int64
	for {
		sum, err := e.round(ctx, map[cursor]bool{})
		if err != nil {
			return err
		}
		if goals == nil && e.horizon.groups != nil {
			goals = e.horizon.ends()
		}
		if sum.more {
			continue
		}
		if !sum.waiting && e.horizon.reached(goals) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(drainInterval):
		}
	}
}

// QueueCursor reads, as part of a batch, the position up to which a follower has processed a tenant's entries. The batch
// sets what it returns.
func QueueCursor(b *sqldb.Batch, tenant id.Tenant, follower string) *int64 {
	pos := new(int64)
	b.Queue(`SELECT pos FROM journal_cursor WHERE grp = $1 AND follower = $2`, func(scan func(...any) error) error { return scan(pos) }, tenant.Group(), follower)
	return pos
}

// QueueContactsAfter reads, as part of a batch, which of some contacts have entries of some types after a position. It looks
// at limit rows; the batch sets what it returns if there may be more. Contacts are added to found.
func QueueContactsAfter(b *sqldb.Batch, db *sqldb.DB, tenant id.Tenant, pos int64, types []Type, contacts []id.Contact, limit int, found map[id.Contact]bool) (more *bool) {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = "'" + string(t) + "'"
	}
	wanted := make(map[id.Contact]bool, len(contacts))
	for _, c := range contacts {
		wanted[c] = true
	}
	b.Queue(`
		SELECT j.type, j.contact_id, j.packed
		FROM (SELECT tenant_id, contact_id, type, packed FROM journal WHERE grp = $1 AND pos > $2 ORDER BY pos LIMIT $3) AS j
		WHERE j.tenant_id = $4 AND (j.packed IS NOT NULL OR j.contact_id`+db.In(5)+`) AND j.type IN (`+strings.Join(list, ", ")+`)`,
		func(scan func(...any) error) error {
			var e Entry
			var packed []byte
			if err := scan(sqldb.ToText(&e.Type), &e.Contact, &packed); err != nil {
				return err
			}
			entries := []Entry{e}
			if packed != nil {
				entries = unpacked(nil, e, packed)
			}
			for _, e := range entries {
				if wanted[e.Contact] {
					found[e.Contact] = true
				}
			}
			return nil
		}, tenant.Group(), pos, limit, tenant, sqldb.List(db, contacts))
	more = new(bool)
	b.Queue(`SELECT COUNT(*) FROM (SELECT 1 FROM journal WHERE grp = $1 AND pos > $2 LIMIT $3) AS j /* all tenants: those of the group share its positions */`, func(scan func(...any) error) error {
		var n int
		err := scan(&n)
		*more = n >= limit
		return err
	}, tenant.Group(), pos, limit)
	return more
}

// CaughtUp reports whether a follower has processed all entries of a tenant.
func CaughtUp(ctx context.Context, db *sqldb.DB, tenant id.Tenant, follower string) (bool, error) {
	var behind bool
	err := db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM journal WHERE grp = $1 AND tenant_id = $2
			AND pos > COALESCE((SELECT c.pos FROM journal_cursor AS c WHERE c.grp = $1 AND c.follower = $3), 0))`,
		tenant.Group(), tenant, follower).Scan(&behind)
	if err != nil {
		return false, fmt.Errorf("compare a follower with the journal: %w", err)
	}
	return !behind, nil
}
