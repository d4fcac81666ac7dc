package broadcast

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/route"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/usage"
)

// Finder finds the broadcasts that refer to a segment, an email type, an MTA config or a sending
// identity and still need it. For segments and identities these are all unfinished broadcasts; for
// email types and MTA configs only those scheduled, sending or paused, since a draft can do
// without.
func Finder() usage.Finder { return usage.Func(findUses) }

func findUses(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s usage.Subject) (usage.Holders, error) {
	var uses func(b Broadcast, routes []route.Route) bool
	live := []Status{Scheduled, Sending, Paused}
	switch s.Kind {
	case usage.Library:
		return findMessage(ctx, db, tenant, s.ID)
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
	case usage.MTAConfig:
		config := id.Read[id.MTAConfig](s.ID)
		uses = func(b Broadcast, routes []route.Route) bool {
			return b.MTAConfig == config || b.Delivery.names(config) ||
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
		if s.Kind == usage.MTAConfig || s.Kind == usage.Identity {
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

// findMessage returns every broadcast whose content is a version of a library entry. Ended
// broadcasts are included, because their history shows the version.
func findMessage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry string) (usage.Holders, error) {
	rows, err := db.Query(ctx, `
		SELECT id, name, status, message_version FROM broadcast
		WHERE tenant_id = $1 AND message_id = $2 ORDER BY created_at, id`, tenant, id.Read[id.LibraryEntry](entry))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (h usage.Holder, err error) {
		var bid id.Broadcast
		err = scan(&bid, &h.Name, &h.Status, &h.Version)
		h.ID = bid.String()
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("find broadcasts that use a message: %w", err)
	}
	return usage.Holders{"broadcasts": list}, nil
}
