package change

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when this process has stored hints.
const Wake sqldb.Signal = "change"

// Relay stores hints of what the transactions of this process change.
type Relay struct {
	DB  *sqldb.DB
	Now func() time.Time
	Log *slog.Logger
	// Sources returns the changes that stand for sends: their broadcasts and sequences. Sends without
	// either are not in the result.
	Sources func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Change, error)

	mu      sync.Mutex
	pending map[id.Tenant]*unsent
	woken   chan struct{}
}

// unsent are the changes of a tenant that were not stored yet.
type unsent struct {
	since   time.Time
	changes Set
	sends   map[id.Send]bool // at most MaxIDs + 1
}

// Watch begins to collect changes. It is called once, before Flush and Run.
func (r *Relay) Watch() {
	r.pending, r.woken = map[id.Tenant]*unsent{}, make(chan struct{}, 1)
	params := map[string]sqldb.IDParam{}
	for name, t := range tables {
		params[name] = t.param
	}
	r.DB.WatchWrites(params, r.collect)
}

func (r *Relay) collect(list []sqldb.Write) {
	now := r.Now()
	r.mu.Lock()
	for _, w := range list {
		u := r.pending[w.Tenant]
		if u == nil {
			u = &unsent{now, Set{}, map[id.Send]bool{}}
			r.pending[w.Tenant] = u
		}
		u.add(w)
	}
	r.mu.Unlock()
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

func (u *unsent) add(w sqldb.Write) {
	c := Change{Type: tables[w.Table].typ}
	switch w.Table {
	case sends:
		if len(u.sends) <= MaxIDs {
			u.sends[id.Send(w.ID)] = true
		}
		return
	case string(Contact): // of the journal
		c.Type = Contact
	}
	if w.ID != [16]byte{} {
		c.ID = id.Source(w.ID).String()
	}
	u.changes.Add(c)
}

// Run stores hints until ctx ends: the first at once, later ones a second after those before.
func (r *Relay) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.woken:
		}
		waiting, err := r.Flush(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("store hints of changes failed", "err", err)
		}
		if waiting {
			select {
			case r.woken <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// Flush stores the hints that were collected, and reports whether some wait for a listener: one that
// another process has just begun may become visible within a second. After an error the hints are kept.
func (r *Relay) Flush(ctx context.Context) (waiting bool, err error) {
	r.mu.Lock()
	list := r.pending
	r.pending = map[id.Tenant]*unsent{}
	r.mu.Unlock()
	if len(list) == 0 {
		return false, nil
	}
	now := r.Now()
	defer func() { waiting = r.putBack(list, now, err != nil) }()
	listening, err := listeners(ctx, r.DB, now)
	if err != nil {
		return false, err
	}
	stored, err := r.storeAll(ctx, list, listening, now)
	if err != nil {
		return false, err
	}
	for tenant := range stored {
		delete(list, tenant)
	}
	if len(stored) > 0 {
		r.DB.Notify(Wake)
	}
	return false, nil
}

// putBack keeps hints that are not too old to wait for a listener, or all, and reports whether there are any.
func (r *Relay) putBack(list map[id.Tenant]*unsent, now time.Time, all bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := false
	for tenant, u := range list {
		if age := now.Sub(u.since); age >= linger && !all || age >= keep {
			continue
		}
		kept = true
		if later := r.pending[tenant]; later != nil {
			for _, c := range later.changes.List() {
				u.changes.Add(c)
			}
			for send := range later.sends {
				if len(u.sends) <= MaxIDs {
					u.sends[send] = true
				}
			}
		}
		r.pending[tenant] = u
	}
	return kept
}

// storeAll stores the hints of the tenants with listeners, and returns these tenants.
func (r *Relay) storeAll(ctx context.Context, list map[id.Tenant]*unsent, listening map[id.Tenant]bool, now time.Time) (stored map[id.Tenant]bool, err error) {
	stored = map[id.Tenant]bool{}
	each := func(db *sqldb.DB) error {
		for tenant, u := range list {
			if !listening[tenant] {
				continue
			}
			if err := r.store(ctx, db, tenant, u, now); err != nil {
				return err
			}
			stored[tenant] = true
		}
		return nil
	}
	if r.DB.Distributed() { // a transaction on several nodes would commit in two phases
		return stored, each(r.DB)
	}
	for tenant := range list {
		if listening[tenant] {
			return stored, r.DB.InTx(ctx, each)
		}
	}
	return stored, nil
}

// store stores the hints of a tenant as one row.
func (r *Relay) store(ctx context.Context, db *sqldb.DB, tenant id.Tenant, u *unsent, now time.Time) error {
	if err := r.resolve(ctx, db, tenant, u); err != nil {
		return err
	}
	changes := u.changes.List()
	if len(changes) == 0 {
		return nil
	}
	text, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, `INSERT INTO change_hint (tenant_id, at, id, changes) VALUES ($1, $2, $3, $4)`,
		tenant, now.UnixMicro(), id.New[id.Hint](), string(text))
	if err != nil {
		return fmt.Errorf("store hints of changes: %w", err)
	}
	return nil
}

// resolve replaces sends by what they belong to.
func (r *Relay) resolve(ctx context.Context, db *sqldb.DB, tenant id.Tenant, u *unsent) error {
	if len(u.sends) > MaxIDs {
		u.changes.Add(Change{Type: Broadcast})
		u.changes.Add(Change{Type: Sequence})
	} else if len(u.sends) > 0 {
		list := make([]id.Send, 0, len(u.sends))
		for send := range u.sends {
			list = append(list, send)
		}
		found, err := r.Sources(ctx, db, tenant, list)
		if err != nil {
			return err
		}
		for _, c := range found {
			u.changes.Add(c)
		}
	}
	clear(u.sends)
	return nil
}

// listeners returns the tenants with open streams.
func listeners(ctx context.Context, db *sqldb.DB, now time.Time) (map[id.Tenant]bool, error) {
	found := map[id.Tenant]bool{}
	rows, err := db.Query(ctx, `SELECT tenant_id FROM change_listener WHERE expires_at > $1 /* all tenants: those with streams */`, now.UnixMicro())
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var t id.Tenant
		err := scan(&t)
		found[t] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find tenants with streams: %w", err)
	}
	return found, nil
}

// listen has the hints of a tenant stored until a time.
func listen(ctx context.Context, db *sqldb.DB, tenant id.Tenant, until time.Time) error {
	_, err := db.Exec(ctx, `
		INSERT INTO change_listener (tenant_id, expires_at) VALUES ($1, $2)
		ON CONFLICT (tenant_id) DO UPDATE SET expires_at = excluded.expires_at WHERE change_listener.expires_at < excluded.expires_at`,
		tenant, until.UnixMicro())
	if err != nil {
		return fmt.Errorf("open a stream of changes: %w", err)
	}
	return nil
}
