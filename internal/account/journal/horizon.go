package journal

import (
	"context"
	"fmt"
	"maps"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// horizons stores, in a process, how far the order of each group is final: every entry up to the
// horizon is committed, or never will be.
//
// On PostgreSQL concurrent transactions draw positions and commit in any order. Each takes a lock
// of the group, shared with the others, before it draws its first position, and has it until it has
// ended and its rows are visible. So when an entry at some position is committed, any transaction
// with a lower one either still has the lock or has ended. A process therefore reads the highest
// committed position first and the lock's holders second: when all of these holders have ended,
// that position is the horizon. Later holders have higher positions.
//
// Horizons are only in memory. They remain valid after a crash of the server, since entries that
// were read are durable, and so is the sequence of positions. But after a failover the new server
// may lack some of them: then the process starts over.
type horizons struct {
	server string // identifies the server from which groups was read
	groups map[int32]*horizon
}

// horizon is the state of one group.
type horizon struct {
	at      int64               // the horizon
	last    int64               // the highest committed position read
	next    int64               // the horizon when all of waitFor have ended; 0: none
	waitFor map[string]struct{} // transactions
}

// reach advances the horizons towards heads, the highest committed positions by group. It reports
// whether the state was reset because this is not the database read before.
func (h *horizons) reach(ctx context.Context, db *sqldb.DB, heads map[int32]int64) (reset bool, err error) {
	reset = h.setHeads(db, heads)
	if !h.behind() {
		return reset, nil
	}
	server, holders, err := loadHolders(ctx, db)
	if err != nil {
		return reset, err
	}
	return h.advance(server, holders) || reset, nil
}

// setHeads stores the highest committed positions. It reports whether the state was reset.
func (h *horizons) setHeads(db *sqldb.DB, heads map[int32]int64) (reset bool) {
	for group, g := range h.groups {
		if heads[group] < g.last { // the database has lost entries
			*h, reset = horizons{server: h.server}, true
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
	return reset
}

// advance advances the horizons by the transactions that held the lock after the highest positions
// were read. It reports whether the state was reset.
func (h *horizons) advance(server string, holders map[int32]map[string]struct{}) (reset bool) {
	if h.server != "" && server != h.server { // heads may be from the previous server
		*h = horizons{server: server}
		return true
	}
	h.server = server
	for group, g := range h.groups {
		g.advance(holders[group])
	}
	return false
}

// advance advances the horizon of a group, given the current holders of the lock.
func (g *horizon) advance(holders map[string]struct{}) {
	if g.next > 0 && !intersect(g.waitFor, holders) {
		g.at, g.next = g.next, 0
	}
	switch {
	case g.next > 0 || g.at == g.last:
	case len(holders) == 0:
		g.at = g.last
	default:
		g.next, g.waitFor = g.last, holders
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

// ends returns the highest committed positions that were read.
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

func intersect(a, b map[string]struct{}) bool {
	for k := range maps.Keys(a) {
		if _, ok := b[k]; ok {
			return true
		}
	}
	return false
}

// loadHolders returns, by group, the transactions that may have drawn positions and have not ended,
// which are the holders of the lock taken by queueWithSequence, and the start time of the server,
// which identifies it.
//
// PostgreSQL makes a transaction's rows visible before it releases its locks. A rollback to a
// savepoint releases the locks taken since, and removes the entries. Prepared transactions, which
// would change the names of the holders, are not used here.
func loadHolders(ctx context.Context, db *sqldb.DB) (server string, holders map[int32]map[string]struct{}, err error) {
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
		return "", nil, fmt.Errorf("load transactions that append to the journal: %w", err)
	}
	return server, holders, nil
}
