package event

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Limits of what is stored about the events of a tenant. Names come from visitors of websites too.
const (
	maxNames      = 1000 // of a tenant
	maxTypes      = 20   // of a name
	maxPaths      = 100  // of a name
	maxEventPaths = 200  // of one event; the remaining ones are ignored
	maxPathLength = 128  // bytes; longer paths are ignored
	maxElements   = 5    // of an array that are looked at
	maxSampled    = 100  // events of a name in a batch of the journal whose types and properties are counted
)

// trace is how often and when something was part of events.
type trace struct {
	Count  int64    `json:"count"`
	LastAt int64    `json:"last_at"`         // microseconds
	Kinds  []string `json:"kinds,omitempty"` // of values, sorted
}

// add adds events that occurred up to at.
func (t *trace) add(n, at int64, kinds ...string) {
	t.Count += n
	t.LastAt = max(t.LastAt, at)
	for _, k := range kinds {
		if i, found := slices.BinarySearch(t.Kinds, k); !found {
			t.Kinds = slices.Insert(t.Kinds, i, k)
		}
	}
}

// seen are the events of one name.
type seen struct {
	trace
	types, properties map[string]*trace
	sampled           int // number of events counted in types and properties
}

func newSeen() *seen { return &seen{types: map[string]*trace{}, properties: map[string]*trace{}} }

// merge adds all traces of other.
func (s *seen) merge(other *seen) {
	s.add(other.Count, other.LastAt)
	mergeTraces(s.types, other.types)
	mergeTraces(s.properties, other.properties)
}

func mergeTraces(into, from map[string]*trace) {
	for name, t := range from {
		traceOf(into, name).add(t.Count, t.LastAt, t.Kinds...)
	}
}

// keepMost deletes the rarest traces beyond max, of equally rare ones the oldest.
func keepMost(list map[string]*trace, max int) {
	if len(list) <= max {
		return
	}
	names := slices.SortedFunc(maps.Keys(list), func(a, b string) int {
		x, y := list[a], list[b]
		return cmp.Or(cmp.Compare(x.Count, y.Count), cmp.Compare(x.LastAt, y.LastAt), cmp.Compare(a, b))
	})
	for _, name := range names[:len(names)-max] {
		delete(list, name)
	}
}

// Follower keeps the names of events with their types and properties: how often each occurred, and
// when last. While very many events arrive, types and properties are those of a sample. Of a tenant
// with too many names, it keeps the most frequent ones. It also erases events that were recorded while
// their contact was anonymised.
func Follower() journal.Follower {
	return journal.Follower{Name: "events", Types: []journal.Type{journal.CustomEvent, journal.ContactAnonymized}, Follow: follow}
}

// eraseLate erases the properties of events that were recorded while their contacts were anonymised:
// after journal.Erase, but for contacts that were looked up before.
func eraseLate(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	for _, e := range entries {
		if e.Type != journal.ContactAnonymized {
			continue
		}
		if err := journal.Erase(ctx, tx, e.Tenant, []id.Contact{e.Contact}, nil); err != nil {
			return err
		}
	}
	return nil
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	byTenant := map[id.Tenant]map[string]*seen{}
	for _, e := range entries {
		if e.Type != journal.CustomEvent {
			continue
		}
		names := byTenant[e.Tenant]
		if names == nil {
			names = map[string]*seen{}
			byTenant[e.Tenant] = names
		}
		if names[e.Name] == nil {
			names[e.Name] = newSeen()
		}
		if err := names[e.Name].addEntry(e); err != nil {
			return err
		}
	}
	for _, t := range slices.Sorted(maps.Keys(byTenant)) {
		if err := saveSeen(ctx, tx, t, byTenant[t]); err != nil {
			return fmt.Errorf("store names of events: %w", err)
		}
	}
	return eraseLate(ctx, tx, entries)
}

// addEntry adds one event. Of very many at a time, most are only counted.
func (s *seen) addEntry(e journal.Entry) error {
	at := sqldb.Micros(e.At)
	s.add(1, at)
	if s.sampled++; s.sampled > maxSampled {
		return nil
	}
	ev, err := e.Event()
	if err != nil {
		return err
	}
	if ev.Type != "" {
		traceOf(s.types, ev.Type).add(1, at)
	}
	paths := map[string][]string{}
	addPaths(paths, "", ev.Properties)
	for path, kinds := range paths {
		traceOf(s.properties, path).add(1, at, kinds...)
	}
	return nil
}

// traceOf returns the trace of a name in list, which may be new.
func traceOf(list map[string]*trace, name string) *trace {
	t := list[name]
	if t == nil {
		t = &trace{}
		list[name] = t
	}
	return t
}

// saveSeen adds the events of a tenant, by name, to the stored ones. No other transaction does so at
// the same time, since the follower's cursor is locked.
func saveSeen(ctx context.Context, tx *sqldb.DB, t id.Tenant, names map[string]*seen) error {
	stored, err := loadSeen(ctx, tx, t, slices.Collect(maps.Keys(names)))
	if err != nil {
		return err
	}
	table := tx.Table("name TEXT", "count BIGINT", "last_at BIGINT", "types JSONB", "properties JSONB")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := names[name]
		if old := stored[name]; old != nil {
			s.merge(old)
		}
		keepMost(s.types, maxTypes)
		keepMost(s.properties, maxPaths)
		types, err := json.Marshal(s.types)
		if err != nil {
			return err
		}
		properties, err := json.Marshal(s.properties)
		if err != nil {
			return err
		}
		table.Add(name, s.Count, s.LastAt, string(types), string(properties))
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO event_seen (tenant_id, name, count, last_at, types, properties)
		SELECT h.tenant_id, v.name, v.count, v.last_at, v.types, v.properties
		FROM `+tx.Home(1)+` CROSS JOIN `+table.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, name) DO UPDATE SET
			count = excluded.count, last_at = excluded.last_at, types = excluded.types, properties = excluded.properties`, table.Args(t)...)
	if err != nil || len(stored) == len(names) {
		return err
	}
	return dropRarest(ctx, tx, t)
}

// dropRarest deletes the rarest names of a tenant beyond the limit, of equally rare ones the oldest.
func dropRarest(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM event_seen WHERE tenant_id = $1 AND name IN (
			SELECT s.name FROM event_seen AS s WHERE s.tenant_id = $1 ORDER BY s.count, s.last_at, s.name
			LIMIT (SELECT CASE WHEN COUNT(*) > $2 THEN COUNT(*) - $2 ELSE 0 END FROM event_seen AS n WHERE n.tenant_id = $1)
		) /* reads the tenant: at most a few thousand rows */`, t, maxNames)
	if err != nil {
		return fmt.Errorf("delete rare names: %w", err)
	}
	return nil
}

// loadSeen returns the stored events of some names of a tenant, or of all.
func loadSeen(ctx context.Context, db *sqldb.DB, t id.Tenant, names []string) (map[string]*seen, error) {
	only, args := "", []any{t}
	if names != nil {
		only, args = " AND name"+db.In(2), append(args, sqldb.List(db, names))
	}
	rows, err := db.Query(ctx, `SELECT name, count, last_at, types, properties FROM event_seen WHERE tenant_id = $1`+only, args...)
	list := map[string]*seen{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		s := newSeen()
		var name, types, properties string
		if err := scan(&name, &s.Count, &s.LastAt, &types, &properties); err != nil {
			return err
		}
		list[name] = s
		if err := json.Unmarshal([]byte(types), &s.types); err != nil {
			return fmt.Errorf("types of event %q: %w", name, err)
		}
		if err := json.Unmarshal([]byte(properties), &s.properties); err != nil {
			return fmt.Errorf("properties of event %q: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load names of events: %w", err)
	}
	return list, nil
}
