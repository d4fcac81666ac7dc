package event

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Seen is a name of events, or the path of a property.
type Seen struct {
	Value  string
	Count  int64     // events with it
	LastAt time.Time // when the latest of them occurred
	Kinds  []string  // of a property's values: array, boolean, date, number, string
}

// Names returns the names of a tenant's events that contain a text in any case, the latest first.
func Names(ctx context.Context, db *sqldb.DB, t id.Tenant, text string, limit int) ([]Seen, error) {
	all, err := loadSeen(ctx, db, t, nil)
	if err != nil {
		return nil, err
	}
	traces := make(map[string]*trace, len(all))
	for name, s := range all {
		traces[name] = &s.trace
	}
	return latest(traces, text, limit), nil
}

// Known reports whether a tenant has had an event of a name.
func Known(ctx context.Context, db *sqldb.DB, t id.Tenant, name string) (bool, error) {
	all, err := loadSeen(ctx, db, t, []string{name})
	return all[name] != nil, err
}

// Properties returns the paths of the properties of a tenant's events that contain a text in any
// case, the latest first: of events of a name, or with an empty name of all.
func Properties(ctx context.Context, db *sqldb.DB, t id.Tenant, name, text string, limit int) ([]Seen, error) {
	var names []string
	if name != "" {
		names = []string{name}
	}
	all, err := loadSeen(ctx, db, t, names)
	if err != nil {
		return nil, err
	}
	traces := map[string]*trace{}
	for _, s := range all {
		mergeTraces(traces, s.properties)
	}
	return latest(traces, text, limit), nil
}

// latest returns the traces whose names contain a text, the latest and then the most frequent first.
func latest(traces map[string]*trace, text string, limit int) []Seen {
	text = strings.ToLower(text)
	names := slices.DeleteFunc(slices.Collect(maps.Keys(traces)), func(name string) bool { return !strings.Contains(strings.ToLower(name), text) })
	slices.SortFunc(names, func(a, b string) int {
		x, y := traces[a], traces[b]
		return cmp.Or(cmp.Compare(y.LastAt, x.LastAt), cmp.Compare(y.Count, x.Count), cmp.Compare(a, b))
	})
	list := make([]Seen, 0, min(len(names), limit))
	for _, name := range names[:min(len(names), limit)] {
		t := traces[name]
		list = append(list, Seen{Value: name, Count: t.Count, LastAt: sqldb.Time(t.LastAt), Kinds: t.Kinds})
	}
	return list
}
