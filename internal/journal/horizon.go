package journal

import (
	"context"
	"fmt"

	"packetboat/internal/sqldb"
)

// horizon is how far a process knows the order to be final: every entry up to
// there is committed, or never will be.
//
// On PostgreSQL a transaction draws its places while others draw theirs, and they
// commit in any order. Each takes a lock, shared with the others, before it draws
// the first, and holds it until it has ended and what it committed is visible. So
// when a committed entry has been seen at a place, whoever has a lower one either
// holds the lock or has ended. A process looks for the highest place first and for
// the holders afterwards: once none of those is left, that place is its horizon.
// Holders that have come since have higher places.
//
// It is kept in memory only. What was seen is durable, and so is the sequence that
// the places come from, so it stays true when the server crashes. Another server
// may have taken over that lacks some of it: then a process begins anew.
type horizon struct {
	server string          // of whom the rest is known
	at     int64           // the horizon
	last   int64           // the highest place that was seen last
	next   int64           // the horizon when all of until have ended; 0: none is tried
	until  map[string]bool // transactions
}

// reach moves the horizon as far towards last, the highest place of a committed
// entry, as can be known by now.
func (h *horizon) reach(ctx context.Context, db *sqldb.DB, last int64) error {
	if db.Dialect() == sqldb.SQLite { // writers take turns until they have committed
		h.at, h.last = last, last
		return nil
	}
	if last < h.last { // the database has lost entries
		*h = horizon{}
	}
	h.last = last
	if h.at == last {
		return nil
	}
	server, holders, err := appending(ctx, db)
	if err != nil {
		return err
	}
	if server != h.server {
		*h = horizon{server: server, last: last}
	}
	if h.next > 0 && !meet(h.until, holders) {
		h.at, h.next = h.next, 0
	}
	switch {
	case h.next > 0 || h.at == last:
	case len(holders) == 0:
		h.at = last
	default:
		h.next, h.until = last, holders
	}
	return nil
}

// behind reports whether there are committed entries beyond the horizon.
func (h *horizon) behind() bool { return h.at < h.last }

func meet(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// appending returns the transactions that may have drawn places and have not
// ended, those that hold the lock which the default of journal.pos takes, and when
// the server was started that says so.
// (PostgreSQL makes a transaction visible before it releases its locks. Of one
// that is rolled back to a savepoint it releases those taken since, together with
// the entries. We never prepare transactions for a second phase, which would
// change their names.)
func appending(ctx context.Context, db *sqldb.DB) (server string, holders map[string]bool, err error) {
	rows, err := db.Query(ctx, `
		SELECT pg_postmaster_start_time()::text, '' UNION ALL
		SELECT '', virtualtransaction FROM pg_locks
		WHERE locktype = 'advisory' AND classid = 1885430635 AND objid = 1785689458 AND objsubid = 2
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	holders = map[string]bool{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (_ struct{}, err error) {
		var started, name string
		err = scan(&started, &name)
		if name == "" {
			server = started
		} else {
			holders[name] = true
		}
		return struct{}{}, err
	})
	if err != nil {
		return "", nil, fmt.Errorf("see who appends to the journal: %w", err)
	}
	return server, holders, nil
}
