package broadcast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// NewClone returns a draft with everything that the author of another broadcast wrote, except for the
// start time, for the caller to insert. The content is copied without rendering it again, so later changes of
// the template have no effect. References to deleted records are dropped. Without a name, the draft is named as
// a copy.
func NewClone(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, name *string, by auth.Actor, now time.Time) (Broadcast, error) {
	ch := Change{Name: name}
	if err := ch.Check(); err != nil {
		return Broadcast{}, err
	}
	from, err := Load(ctx, db, tenant, bid)
	if err != nil {
		return Broadcast{}, fmt.Errorf("clone a broadcast: %w", err)
	}
	at := sqldb.Time(now.UnixMicro())
	b := Broadcast{
		Plan: from.Plan, Tenant: tenant, ID: id.New[id.Broadcast](), Send: id.New[id.Send](), Revision: 1, Status: Draft, Kind: Regular,
		ContentVersion: 1, CreatedBy: by, CreatedAt: at, UpdatedAt: at, Bodies: from.Bodies,
	}
	b.ScheduledAt = nil
	b.Name = copyName(from.Name)
	if ch.Name != nil {
		b.Name = *ch.Name
	}
	if err := b.dropMissingReferences(ctx, db); err != nil {
		return Broadcast{}, fmt.Errorf("clone a broadcast: %w", err)
	}
	return b, nil
}

// copyName returns the name of a copy, shortened if necessary. Names need not be unique, so copies
// are not numbered.
func copyName(name string) string {
	const suffix = " (copy)"
	runes := []rune(name)
	return strings.TrimSpace(string(runes[:min(len(runes), maxName-len(suffix))])) + suffix
}

// dropMissingReferences drops references to records that no longer exist. If all chosen identities are gone, they
// are kept: an empty list would mean any identity, which the author did not choose.
func (b *Broadcast) dropMissingReferences(ctx context.Context, db *sqldb.DB) error {
	there, err := LoadRefNames(ctx, db, b.Tenant, *b)
	if err != nil {
		return err
	}
	if _, ok := there.Types[b.EmailType]; !ok {
		b.EmailType = id.EmailType{}
	}
	if _, ok := there.Lanes[b.Lane]; !ok {
		b.Lane = id.Lane{}
	}
	b.Include, b.Exclude = existing(there.Segments, b.Include), existing(there.Segments, b.Exclude)
	if left := existing(there.Identities, b.Identities); len(left) > 0 {
		b.Identities = left
	}
	if b.SeedLists != nil {
		b.SeedLists = new(existing(there.SeedLists, slices.Clone(*b.SeedLists)))
	}
	b.Delivery.Lanes = slices.DeleteFunc(b.Delivery.Lanes, func(s LaneShare) bool { return there.Lanes[s.Lane] == "" })
	if len(b.Delivery.Lanes) == 0 {
		b.Delivery.Lanes = nil
	}
	return nil
}

// existing returns those of ids that have a name.
func existing[ID comparable](names map[ID]string, ids []ID) []ID {
	return slices.DeleteFunc(ids, func(v ID) bool { return names[v] == "" })
}
