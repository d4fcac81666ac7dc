// Package overview summarizes a tenant for its first page: which steps of the set-up are done, and what
// needs attention. It has no tables of its own.
package overview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Reader reads overviews.
type Reader struct {
	DB       *sqldb.DB
	Now      func() time.Time
	Segments *segment.Counter
}

// Counts are the numbers of contacts of a tenant.
type Counts struct {
	Contacts  int  // without deleted ones, as of now
	Sendable  *int // who could be mailed; nil: not counted yet
	CountedAt *time.Time
}

// Counts returns the numbers of contacts. CountedAt is when the older of them was counted.
func (r *Reader) Counts(ctx context.Context, t id.Tenant) (Counts, error) {
	all, err := contact.Count(ctx, r.DB, t, contact.Selector{})
	if err != nil {
		return Counts{}, err
	}
	c := Counts{Contacts: all, CountedAt: new(r.Now())}
	var at *time.Time
	if c.Sendable, at, err = r.Segments.Sendable(ctx, t); err != nil {
		return Counts{}, err
	}
	if at != nil && at.Before(*c.CountedAt) {
		c.CountedAt = at
	}
	return c, nil
}

// setting is what a tenant has set up for sending.
type setting struct {
	account    tenant.Tenant
	lanes      []lane.Config
	domains    []sender.Domain
	identities []sender.Identity
}

func (r *Reader) load(ctx context.Context, t id.Tenant) (s setting, err error) {
	if s.account, err = tenant.ByID(ctx, r.DB, t); err != nil {
		return s, err
	}
	if s.lanes, err = lane.List(ctx, r.DB, t); err != nil {
		return s, err
	}
	if s.domains, err = sender.Domains(ctx, r.DB, t); err != nil {
		return s, err
	}
	s.identities, err = sender.Identities(ctx, r.DB, t)
	return s, err
}

// Overview is the set-up of a tenant, and what needs attention.
type Overview struct {
	Setup     []Step
	Attention []Notice
}

// Load returns the overview of a tenant.
func (r *Reader) Load(ctx context.Context, t id.Tenant) (Overview, error) {
	s, err := r.load(ctx, t)
	var o Overview
	if err == nil {
		o.Setup, err = r.setup(ctx, s)
	}
	if err == nil {
		o.Attention, err = r.attention(ctx, s)
	}
	if err != nil {
		return o, fmt.Errorf("read the overview: %w", err)
	}
	slices.SortStableFunc(o.Attention, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), compareTimes(b.Since, a.Since))
	})
	o.Attention = o.Attention[:min(len(o.Attention), maxNotices)]
	return o, nil
}

func compareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}
