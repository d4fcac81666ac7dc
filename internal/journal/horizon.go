package journal

import (
	"context"
	"fmt"
	"maps"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// horizons is what a process knows about how far the order of each group is final: every entry up
// to the horizon is committed, or never will be.
//
// On PostgreSQL concurrent transactions draw positions and commit in any order. Each takes a lock
// of the group, shared with the others, before it draws its first position, and holds it until it
// has ended and its rows are visible. So when a committed entry has been seen at a position, any
// transaction with a lower one either still holds the lock or has ended. A process therefore reads
// the highest committed position first and the lock holders second: when all of those holders have
// ended, that position is the horizon. Holders that came later have higher positions.
//
// Horizons are kept in memory only. They stay valid across a crash of the server, since entries
// seen are durable, and so is the sequence that positions come from. But after a failover the new
// server may lack some of them: then the process starts over.
type horizons struct {
	server string // identifies the server that the rest is known of
	groups map[int32]*horizon
}

// horizon is the state of one group.
type horizon struct {
	at    int64               // the horizon
	last  int64               // the highest committed position seen
	next  int64               // the horizon once all of until have ended; 0: no candidate
	until map[string]struct{} // transactions
}

// reach advances the horizons towards heads, the highest committed positions by group, as far as is
// known to be final. It reports whether the state was reset because the database is not the one
// seen before.
func (h *horizons) reach(ctx context.Context, db *sqldb.DB, heads map[int32]int64) (anew bool, err error) {
	anew = h.see(db, heads)
	if !h.behind() {
		return anew, nil
	}
	server, holders, err := appending(ctx, db)
	if err != nil {
		return anew, err
	}
	return h.advance(server, holders) || anew, nil
}

// see records the highest committed positions. It reports whether the state was reset.
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
		if db.Dialect() == sqldb.SQLite { // one writer at a time, so all positions up to the head are final
			g.at = head
		}
	}
	return anew
}

// advance advances the horizons by the transactions that held the lock after the highest positions
// were read. It reports whether the state was reset.
func (h *horizons) advance(server string, holders map[int32]map[string]struct{}) (anew bool) {
	if h.server != "" && server != h.server { // heads may be from the previous server
		*h = horizons{server: server}
		return true
	}
	h.server = server
	for group, g := range h.groups {
		g.reach(holders[group])
	}
	return false
}

// reach advances the horizon of a group by the current lock holders.
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

// behind reports whether there are committed entries after a horizon.
func (h *horizons) behind() bool {
	for _, g := range h.groups {
		if g.at < g.last {
			return true
		}
	}
	return false
}

// ends returns the highest committed positions seen.
func (h *horizons) ends() map[int32]int64 {
	m := make(map[int32]int64, len(h.groups))
	for group, g := range h.groups {
		m[group] = g.last
	}
	return m
}

// reached reports whether the horizons have reached goals, or the ends if those are lower.
func (h *horizons) reached(goals map[int32]int64) bool {
	if h.groups == nil { // the state was just reset
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

// appending returns, by group, the transactions that may have drawn positions and have not ended,
// which are the holders of the lock taken by queueDrawn, and the start time of the server, which
// identifies it.
//
// PostgreSQL makes a transaction's rows visible before it releases its locks. A rollback to a
// savepoint releases the locks taken since, and with them the entries. We do not use prepared
// transactions here, which would change the names of the holders.
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
		return "", nil, fmt.Errorf("read which transactions append to the journal: %w", err)
	}
	return server, holders, nil
}
