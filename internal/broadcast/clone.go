package broadcast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Clone creates a draft with everything that the author of another broadcast wrote, except for the
// start time. The content is copied without rendering it again, so later changes of the template
// have no effect. References to deleted records are dropped. Without a name, the draft is named as
// a copy.
func Clone(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, name *string, by auth.Actor, now time.Time) (Broadcast, error) {
	ch := Change{Name: name}
	if err := ch.Check(); err != nil {
		return Broadcast{}, err
	}
	var b Broadcast
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		from, err := Load(ctx, tx, tenant, bid)
		if err != nil {
			return err
		}
		at := sqldb.Time(now.UnixMicro())
		b = Broadcast{
			Plan: from.Plan, Tenant: tenant, ID: id.New[id.Broadcast](), Send: id.New[id.Send](), Revision: 1, Status: Draft, Kind: Regular,
			ContentVersion: 1, CreatedBy: by, CreatedAt: at, UpdatedAt: at, Bodies: from.Bodies,
		}
		b.ScheduledAt = nil
		b.Name = copyName(from.Name)
		if ch.Name != nil {
			b.Name = *ch.Name
		}
		if err := b.forget(ctx, tx); err != nil {
			return err
		}
		return b.Insert(ctx, tx)
	})
	if err != nil {
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

// forgetLanes drops lanes that no longer exist.
func (b *Broadcast) forgetLanes(ctx context.Context, db *sqldb.DB) error {
	if len(b.Delivery.Lanes) == 0 {
		return nil
	}
	lanes, err := lane.List(ctx, db, b.Tenant)
	if err != nil {
		return err
	}
	var left []LaneShare
	for _, s := range b.Delivery.Lanes {
		if slices.ContainsFunc(lanes, func(l lane.Config) bool { return l.ID == s.Lane }) {
			left = append(left, s)
		}
	}
	b.Delivery.Lanes = left
	return nil
}

// forget drops references to records that no longer exist. If all chosen identities are gone, they
// are kept: an empty list would mean any identity, which the author did not choose.
func (b *Broadcast) forget(ctx context.Context, db *sqldb.DB) error {
	if !b.EmailType.IsZero() {
		if _, err := sender.EmailTypeByID(ctx, db, b.Tenant, b.EmailType); errors.Is(err, sender.ErrEmailTypeNotFound) {
			b.EmailType = id.EmailType{}
		} else if err != nil {
			return err
		}
	}
	if !b.MTAConfig.IsZero() {
		if _, err := lane.ByID(ctx, db, b.Tenant, b.MTAConfig); errors.Is(err, lane.ErrNotFound) {
			b.MTAConfig = id.MTAConfig{}
		} else if err != nil {
			return err
		}
	}
	if err := b.forgetLanes(ctx, db); err != nil {
		return err
	}
	found, err := segment.List(ctx, db, b.Tenant, segment.Filter{})
	if err != nil {
		return err
	}
	there := make(map[id.Segment]bool, len(found))
	for _, s := range found {
		there[s.ID] = true
	}
	gone := func(s id.Segment) bool { return !there[s] }
	b.Include, b.Exclude = slices.DeleteFunc(b.Include, gone), slices.DeleteFunc(b.Exclude, gone)
	if len(b.Identities) == 0 {
		return nil
	}
	senders, err := sender.IdentitiesByID(ctx, db, b.Tenant, b.Identities)
	if err != nil || len(senders) == 0 {
		return err
	}
	b.Identities = slices.DeleteFunc(b.Identities, func(i id.Identity) bool {
		return !slices.ContainsFunc(senders, func(s sender.Identity) bool { return s.ID == i })
	})
	return nil
}
