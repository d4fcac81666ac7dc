package outage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Guard marks the journal entry of a bounce that takes effect by Follower.
type Guard struct {
	Directory string    `json:"site"` // whose answer it was (mx.Directory)
	Lane      id.Lane   `json:"lane"`
	Sent      time.Time `json:"sent"` // when the message was sent
}

// Data is the part of the data of a bounce's journal entry that this package reads.
type Data struct {
	Guard *Guard `json:"guard"`
}

// Follower applies guarded bounces, or holds them.
func Follower() journal.Follower {
	return journal.Follower{Name: "outage", Types: []journal.Type{journal.EmailBounced}, Follow: follow}
}

// bounce is a guarded bounce.
type bounce struct {
	journal.Entry
	Guard
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	byTenant := map[id.Tenant][]bounce{}
	for _, e := range entries {
		var d Data
		if err := e.Decode(&d); err != nil {
			return fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
		if d.Guard != nil && !e.Contact.IsZero() {
			byTenant[e.Tenant] = append(byTenant[e.Tenant], bounce{e, *d.Guard})
		}
	}
	if len(byTenant) == 0 {
		return nil
	}
	outages, err := List(ctx, tx)
	if err != nil {
		return err
	}
	var applied []journal.Entry
	for _, t := range slices.Sorted(maps.Keys(byTenant)) {
		passed, err := store(ctx, tx, t, byTenant[t], outages)
		if err != nil {
			return fmt.Errorf("store guarded bounces: %w", err)
		}
		applied = append(applied, passed...)
	}
	return journal.Append(ctx, tx, applied...)
}

// store stores guarded bounces of a tenant, and returns the entries of those that take effect.
func store(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []bounce, outages []Outage) ([]journal.Entry, error) {
	t := tx.Table("message_id UUID", "contact_id UUID", "send_id UUID", "lane_id UUID", "directory TEXT", "at BIGINT", "outage_id UUID")
	var passed []journal.Entry
	for _, b := range list {
		var o id.Outage
		if i := slices.IndexFunc(outages, func(o Outage) bool { return o.Directory == b.Directory && o.holds(b.Sent) }); i >= 0 {
			o = outages[i].ID
		}
		t.Add(b.Message, b.Contact, b.Send, b.Lane, b.Directory, b.Sent.UnixMicro(), sqldb.Null(o))
		if o.IsZero() {
			passed = append(passed, effect(journal.BounceApplied, tenant, b.Contact, b.Send, b.Message, b.At))
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO outage_bounce (tenant_id, message_id, contact_id, send_id, lane_id, directory, at, outage_id)
		SELECT h.tenant_id, v.message_id, v.contact_id, v.send_id, v.lane_id, v.directory, v.at, v.outage_id
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO NOTHING`, t.Args(tenant)...)
	return passed, err
}

// effect returns a journal entry about the effect of a bounce.
func effect(t journal.Type, tenant id.Tenant, c id.Contact, s id.Send, m id.Message, at time.Time) journal.Entry {
	return journal.Entry{Tenant: tenant, Type: t, Contact: c, Send: s, Message: m, At: at}
}
