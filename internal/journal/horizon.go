package journal

import (
	"context"
	"fmt"
	"maps"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// horizons is how far a process knows the order of each group to be final: every
// entry up to there is committed, or never will be.
//
// On PostgreSQL a transaction draws its places while others draw theirs, and they
// commit in any order. Each takes a lock of the group, shared with the others, before
// it draws the first, and holds it until it has ended and what it committed is
// visible. So when a committed entry has been seen at a place, a transaction with a
// lower one either holds the lock or has ended. A process looks for the highest place
// first and for the holders afterwards: once none of those is left, that place is its
// horizon. Holders that have come since have higher places.
//
// It is kept in memory only. What was seen is durable, and so is the sequence that
// the places come from, so it stays true when the server crashes. Another server
// may have taken over that lacks some of it: then a process begins anew.
type horizons struct {
	server string // of which the rest is known
	groups map[int32]*horizon
}

// horizon is that of one group.
type horizon struct {
	at    int64               // the horizon
	last  int64               // the highest place that was seen last
	next  int64               // the horizon when all of until have ended; 0: none is tried
	until map[string]struct{} // transactions
}

// reach moves the horizons as far towards heads, the highest places of committed
// entries by group, as can be known by now. It reports whether it began anew,
// because the database is not what it was.
func (h *horizons) reach(ctx context.Context, db *sqldb.DB, heads map[int32]int64) (anew bool, err error) {
	anew = h.see(db, heads)
	if !h.behind() {
		return anew, nil
	}
	server, holders, err := appending(ctx, db)
	if err != nil {
		return anew, err
	}
	return h.judge(server, holders) || anew, nil
}

// see notes the highest places of committed entries. It reports whether it began
// anew.
func (h *horizons) see(db *sqldb.DB, heads map[int32]int64) (anew bool) {
	for group, g := range h.groups {
		if heads[group] < g.last { // the database has lost entries
			*h, anew = horizons{server: h.server}, true
			break
		}
	}
	if h.groups == nil {
		h.groups = map[int32]*horizon{}
	}
	for group, head := range heads {
		g := h.groups[group]
		if g == nil {
			g = &horizon{}
			h.groups[group] = g
		}
		g.last = head
		if db.Dialect() == sqldb.SQLite { // writers take turns until they have committed
			g.at = head
		}
	}
	return anew
}

// judge moves the horizons, by the transactions that were found to append after the
// highest places were seen. It reports whether it began anew.
func (h *horizons) judge(server string, holders map[int32]map[string]struct{}) (anew bool) {
	if h.server != "" && server != h.server { // and heads may be of the one before
		*h = horizons{server: server}
		return true
	}
	h.server = server
	for group, g := range h.groups {
		g.reach(holders[group])
	}
	return false
}

// reach moves the horizon of a group to which the holders append.
func (g *horizon) reach(holders map[string]struct{}) {
	if g.next > 0 && !meet(g.until, holders) {
		g.at, g.next = g.next, 0
	}
	switch {
	case g.next > 0 || g.at == g.last:
	case len(holders) == 0:
		g.at = g.last
	default:
		g.next, g.until = g.last, holders
	}
}

// at returns the horizon of a group.
func (h *horizons) at(group int32) int64 {
	if g := h.groups[group]; g != nil {
		return g.at
	}
	return 0
}

// behind reports whether there are committed entries beyond a horizon.
func (h *horizons) behind() bool {
	for _, g := range h.groups {
		if g.at < g.last {
			return true
		}
	}
	return false
}

// ends returns the highest places that were seen last.
func (h *horizons) ends() map[int32]int64 {
	m := make(map[int32]int64, len(h.groups))
	for group, g := range h.groups {
		m[group] = g.last
	}
	return m
}

// reached reports whether the horizons are at goals, or at the ends if those have
// become less.
func (h *horizons) reached(goals map[int32]int64) bool {
	if h.groups == nil { // it has just begun anew
		return false
	}
	for group, goal := range goals {
		if g := h.groups[group]; g != nil && g.at < min(goal, g.last) {
			return false
		}
	}
	return true
}

func meet(a, b map[string]struct{}) bool {
	for k := range maps.Keys(a) {
		if _, ok := b[k]; ok {
			return true
		}
	}
	return false
}

// appending returns, by group, the transactions that may have drawn places and have
// not ended, those that hold the lock which queueDrawn takes, and when the server
// was started that says so.
// (PostgreSQL makes a transaction visible before it releases its locks. Of one
// that is rolled back to a savepoint it releases those taken since, together with
// the entries. We never prepare transactions for a second phase, which would
// change their names.)
func appending(ctx context.Context, db *sqldb.DB) (server string, holders map[int32]map[string]struct{}, err error) {
	rows, err := db.Query(ctx, `
		SELECT pg_postmaster_start_time()::text, 0 UNION ALL
		SELECT virtualtransaction, objid::bigint FROM pg_locks
		WHERE locktype = 'advisory' AND classid = 1885430635 AND objsubid = 2
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	holders = map[int32]map[string]struct{}{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (_ struct{}, err error) {
		var name string
		var group int32
		err = scan(&name, &group)
		switch {
		case group == 0:
			server = name
		case holders[group] == nil:
			holders[group] = map[string]struct{}{name: {}}
		default:
			holders[group][name] = struct{}{}
		}
		return struct{}{}, err
	})
	if err != nil {
		return "", nil, fmt.Errorf("see what appends to the journal: %w", err)
	}
	return server, holders, nil
}
