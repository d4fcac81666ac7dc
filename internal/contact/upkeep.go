package contact

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Upkeep does what contacts need without anybody asking: it erases the values
// of deleted custom fields, and judges deliverability anew as time passes, each
// contact about once a day. Any number of processes may run one.
type Upkeep struct {
	DB    *sqldb.DB
	Log   *slog.Logger
	Now   func() time.Time
	Every time.Duration // 0 means a minute

	at      position  // how far the round through all contacts has come
	rested  time.Time // when the last round ended
	erasing erasure   // of the deleted field whose turn it is
}

// position is a contact in the order of the round.
type position struct {
	tenant  id.Tenant
	contact id.Contact
}

// judgePage is how many contacts are judged per transaction.
const judgePage = 500

// Run works until ctx ends.
func (u *Upkeep) Run(ctx context.Context) error {
	return poll.Loop{Look: u.Tick, Every: cmp.Or(u.Every, time.Minute), Log: u.Log, Failed: "contact upkeep failed"}.Run(ctx)
}

// Tick erases a page of values, or judges a page of contacts. It reports
// whether there is more to do at once.
func (u *Upkeep) Tick(ctx context.Context) (more bool, err error) {
	doomed, err := field.Unerased(ctx, u.DB, 1)
	if err != nil {
		return false, err
	}
	if len(doomed) > 0 {
		if u.erasing.Doomed != doomed[0] {
			u.erasing = erasure{Doomed: doomed[0]}
		}
		_, err := u.erasing.page(ctx, u.DB)
		return true, err
	}
	now := u.Now()
	if u.at == (position{}) && now.Sub(u.rested) < day {
		return false, nil
	}
	return u.evaluateNext(ctx, now)
}

// evaluateNext judges the next page of the contacts whose deliverability time can
// change: those with soft bounces or enough mails to be called inactive.
func (u *Upkeep) evaluateNext(ctx context.Context, now time.Time) (more bool, err error) {
	rows, err := u.DB.Query(ctx, `
		SELECT tenant_id, contact_id FROM contact_activity
		WHERE (tenant_id, contact_id) > ($1, $2)
			AND (total_emails_sent >= 10 OR last_soft_bounce_at IS NOT NULL)
		ORDER BY tenant_id, contact_id LIMIT $3 /* all tenants: one round through all contacts */`, u.at.tenant, u.at.contact, judgePage)
	page, err := sqldb.Collect(rows, err, func(row func(...any) error) (position, error) {
		var p position
		return p, row(&p.tenant, &p.contact)
	})
	if err != nil {
		return false, fmt.Errorf("find contacts to judge: %w", err)
	}
	if len(page) == 0 {
		u.at, u.rested = position{}, now
		return false, nil
	}
	byTenant := map[id.Tenant][]id.Contact{}
	for _, p := range page {
		byTenant[p.tenant] = append(byTenant[p.tenant], p.contact)
	}
	for t, ids := range byTenant {
		if err := Evaluate(ctx, u.DB, t, ids, now); err != nil {
			return false, err
		}
	}
	u.at = page[len(page)-1]
	return true, nil
}

// Evaluate brings the deliverability of contacts up to date.
func Evaluate(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := lockDeliveryStates(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		var changed []saved
		for _, s := range list {
			if s.evaluate(s.status, now) {
				changed = append(changed, saved{s.contact, &s.Activity})
			}
		}
		return saveActivities(ctx, tx, tenant, changed)
	})
	if err != nil {
		return fmt.Errorf("judge deliverability: %w", err)
	}
	return nil
}
