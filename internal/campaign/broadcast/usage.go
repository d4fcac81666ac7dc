package broadcast

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Finder finds the broadcasts that refer to a segment, an email type, an MTA config or a sending
// identity and still need it. For segments and identities these are all unfinished broadcasts; for
// email types and MTA configs only those scheduled, sending or paused, since a draft can do
// without.
func Finder() usage.Finder { return finder{usage.Func(findUses)} }

type finder struct{ usage.Func }

// FindAll looks up the messages of the library together, which their list shows with their uses.
func (f finder) FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind usage.Kind, subjects []usage.Subject) (map[string]usage.Holders, error) {
	if kind == usage.Library {
		return findMessages(ctx, db, tenant, subjects)
	}
	return f.Func.FindAll(ctx, db, tenant, kind, subjects)
}

func findUses(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s usage.Subject) (usage.Holders, error) {
	var uses func(b Broadcast, routes []route.Route) bool
	live := []Status{Scheduled, Sending, Paused}
	switch s.Kind {
	case usage.Library:
		found, err := findMessages(ctx, db, tenant, []usage.Subject{s})
		return found[s.ID], err
	case usage.Segment:
		live = append(live, Draft)
		seg := id.Read[id.Segment](s.ID)
		uses = func(b Broadcast, _ []route.Route) bool {
			return slices.Contains(b.Include, seg) || slices.Contains(b.Exclude, seg)
		}
	case usage.Identity:
		live = append(live, Draft)
		identity := id.Read[id.Identity](s.ID)
		uses = func(b Broadcast, routes []route.Route) bool {
			return slices.Contains(b.Identities, identity) || b.Status != Scheduled &&
				slices.ContainsFunc(routes, func(r route.Route) bool { return r.Identity == identity })
		}
	case usage.EmailType:
		emailType := id.Read[id.EmailType](s.ID)
		uses = func(b Broadcast, _ []route.Route) bool { return b.EmailType == emailType }
	case usage.Lane:
		config := id.Read[id.Lane](s.ID)
		uses = func(b Broadcast, routes []route.Route) bool {
			return b.Lane == config || b.Delivery.names(config) ||
				slices.ContainsFunc(b.Delivery.Lanes, func(l LaneShare) bool { return l.Lane == config }) ||
				slices.ContainsFunc(routes, func(r route.Route) bool { return r.Lane == config })
		}
	default:
		return nil, nil
	}
	rows, err := db.Query(ctx, `
		SELECT `+withoutBodies+` FROM broadcast WHERE tenant_id = $1 AND status`+db.In(2)+` ORDER BY created_at, id`,
		tenant, sqldb.List(db, live))
	list, err := sqldb.Collect(rows, err, scanBroadcast)
	if err != nil {
		return nil, fmt.Errorf("find broadcasts that use a %s: %w", s.Kind, err)
	}
	holders := []usage.Holder{}
	for _, b := range list {
		var routes []route.Route
		if s.Kind == usage.Lane || s.Kind == usage.Identity {
			if routes, err = routesInUse(ctx, db, b); err != nil {
				return nil, err
			}
		}
		if uses(b, routes) {
			holders = append(holders, usage.Holder{ID: b.ID.String(), Name: b.Name, Status: string(b.Status)})
		}
	}
	return usage.Holders{"broadcasts": holders}, nil
}

// routesInUse returns the routes of a broadcast's messages.
func routesInUse(ctx context.Context, db *sqldb.DB, b Broadcast) ([]route.Route, error) {
	switch b.Status {
	case Sending, Paused:
		terms, err := outbox.LoadTerms(ctx, db, b.Tenant, b.Send)
		return terms.Routes, err
	case Scheduled:
		f, err := LoadPreconditions(ctx, db, b)
		return f.Routes(b), err
	}
	return nil, nil
}

// Segments returns the lists and segments that unfinished broadcasts of all tenants include or
// exclude.
func Segments(ctx context.Context, db *sqldb.DB) ([]segment.Used, error) {
	rows, err := db.Query(ctx, `
		SELECT `+withoutBodies+` FROM broadcast
		WHERE status IN ('draft', 'scheduled', 'sending', 'paused') /* all tenants: their segments are counted in the background */`)
	list, err := sqldb.Collect(rows, err, scanBroadcast)
	if err != nil {
		return nil, fmt.Errorf("find the segments of broadcasts: %w", err)
	}
	seen := map[segment.Used]bool{}
	var used []segment.Used
	for _, b := range list {
		for _, s := range slices.Concat(b.Include, b.Exclude) {
			u := segment.Used{Tenant: b.Tenant, Segment: s}
			if !seen[u] {
				seen[u] = true
				used = append(used, u)
			}
		}
	}
	return used, nil
}

// findMessages returns every broadcast whose content is a version of one of the library's entries. Ended
// broadcasts are included, because their history shows the version.
func findMessages(ctx context.Context, db *sqldb.DB, tenant id.Tenant, subjects []usage.Subject) (map[string]usage.Holders, error) {
	found := make(map[string]usage.Holders, len(subjects))
	entries := make([]id.LibraryEntry, len(subjects))
	for i, s := range subjects {
		entries[i] = id.Read[id.LibraryEntry](s.ID)
		found[s.ID] = usage.Holders{"broadcasts": []usage.Holder{}}
	}
	rows, err := db.Query(ctx, `
		SELECT message_id, id, name, status, message_version FROM broadcast
		WHERE tenant_id = $1 AND message_id`+db.In(2)+` ORDER BY created_at, id`, tenant, sqldb.List(db, entries))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var entry id.LibraryEntry
		var bid id.Broadcast
		var h usage.Holder
		err := scan(&entry, &bid, &h.Name, &h.Status, &h.Version)
		h.ID = bid.String()
		if holders := found[entry.String()]; holders != nil {
			holders["broadcasts"] = append(holders["broadcasts"], h)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find broadcasts that use messages: %w", err)
	}
	return found, nil
}
