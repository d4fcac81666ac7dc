package contact

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Maintenance erases the values of deleted custom fields, and evaluates the deliverability
// of each contact about once a day, since it depends on the time. Any number of processes
// may run it.
type Maintenance struct {
	DB    *sqldb.DB
	Log   *slog.Logger
	Now   func() time.Time
	Every time.Duration // 0 means a minute

	next       position  // the last contact of the round through all contacts
	roundEnded time.Time // when the last round ended
	erasing    erasure   // of the deleted field that is being erased
}

// position is a contact in the order of the round.
type position struct {
	tenant  id.Tenant
	contact id.Contact
}

// evaluatePageSize is the number of contacts evaluated at a time.
const evaluatePageSize = 500

// Run works until ctx ends.
func (u *Maintenance) Run(ctx context.Context) error {
	return poll.Loop{Poll: u.Tick, Every: cmp.Or(u.Every, time.Minute), Log: u.Log, Failed: "contact maintenance failed"}.Run(ctx)
}

// Tick erases a page of values, or evaluates a page of contacts. It reports whether there
// is more work now.
func (u *Maintenance) Tick(ctx context.Context) (more bool, err error) {
	pending, err := field.PendingErasures(ctx, u.DB, 1)
	if err != nil {
		return false, err
	}
	if len(pending) > 0 {
		if u.erasing.PendingErasure != pending[0] {
			u.erasing = erasure{PendingErasure: pending[0]}
		}
		_, err := u.erasing.erasePage(ctx, u.DB)
		return true, err
	}
	now := u.Now()
	if u.next == (position{}) && now.Sub(u.roundEnded) < day {
		return false, nil
	}
	return u.evaluateNext(ctx, now)
}

// evaluateNext evaluates the next page of contacts whose deliverability can change with
// time: those with soft bounces, or with enough mails to count as inactive.
func (u *Maintenance) evaluateNext(ctx context.Context, now time.Time) (more bool, err error) {
	rows, err := u.DB.Query(ctx, `
		SELECT tenant_id, contact_id FROM contact_activity
		WHERE (tenant_id, contact_id) > ($1, $2)
			AND (total_emails_sent >= 10 OR last_soft_bounce_at IS NOT NULL)
		ORDER BY tenant_id, contact_id LIMIT $3 /* all tenants: one round through all contacts */`, u.next.tenant, u.next.contact, evaluatePageSize)
	page, err := sqldb.Collect(rows, err, func(row func(...any) error) (position, error) {
		var p position
		err := row(&p.tenant, &p.contact)
		return p, err
	})
	if err != nil {
		return false, fmt.Errorf("find contacts to evaluate: %w", err)
	}
	if len(page) == 0 {
		u.next, u.roundEnded = position{}, now
		return false, nil
	}
	for t, own := range id.ByTenant(page, func(p position) id.Tenant { return p.tenant }) {
		ids := make([]id.Contact, len(own))
		for i, p := range own {
			ids[i] = p.contact
		}
		if err := Evaluate(ctx, u.DB, t, ids, now); err != nil {
			return false, err
		}
	}
	u.next = page[len(page)-1]
	return true, nil
}

// Evaluate updates the deliverability of contacts.
func Evaluate(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := lockDeliveryStates(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		var changed []savedActivity
		for _, s := range list {
			if s.evaluate(s.status, now) {
				changed = append(changed, savedActivity{s.contact, &s.Activity})
			}
		}
		return saveActivities(ctx, tx, tenant, changed)
	})
	if err != nil {
		return fmt.Errorf("evaluate deliverability: %w", err)
	}
	return nil
}
