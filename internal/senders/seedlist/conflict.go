package seedlist

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower sets seeds to conflict when a contact gets their address, and retires seeds whose copies
// bounced.
func Follower() journal.Follower {
	return journal.Follower{
		Name: "seedlist", Types: []journal.Type{journal.ContactCreated, journal.ContactUpdated, journal.SeedBounced}, Follow: follow,
	}
}

// Bounced is the data of a journal.SeedBounced entry.
type Bounced struct {
	Seed id.Seed `json:"seed"`
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	fresh, bounced := map[id.Tenant][]id.Contact{}, map[id.Tenant][]id.Seed{}
	var now time.Time
	for _, e := range entries {
		now = e.At
		switch e.Type {
		case journal.ContactCreated:
			fresh[e.Tenant] = append(fresh[e.Tenant], e.Contact)
		case journal.ContactUpdated:
			var d struct {
				Fields []string `json:"fields"`
			}
			if err := e.Decode(&d); err != nil {
				return fmt.Errorf("journal entry %s: %w", e.ID, err)
			}
			if slices.Contains(d.Fields, "email") {
				fresh[e.Tenant] = append(fresh[e.Tenant], e.Contact)
			}
		case journal.SeedBounced:
			var d Bounced
			if err := e.Decode(&d); err != nil {
				return fmt.Errorf("journal entry %s: %w", e.ID, err)
			}
			bounced[e.Tenant] = append(bounced[e.Tenant], d.Seed)
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(fresh)) {
		if err := holdContacts(ctx, tx, tenant, fresh[tenant]); err != nil {
			return err
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(bounced)) {
		if err := retireBounced(ctx, tx, tenant, bounced[tenant], now); err != nil {
			return err
		}
	}
	return nil
}

// holdContacts sets the seeds with the addresses of contacts to conflict.
func holdContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact) error {
	var some bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM seed WHERE tenant_id = $1)`, tenant).Scan(&some); err != nil || !some {
		return err
	}
	for page := range slices.Chunk(contacts, lookupPage) {
		emails, err := contact.Emails(ctx, tx, tenant, page)
		if err != nil {
			return err
		}
		if err := setConflicts(ctx, tx, tenant, slices.Sorted(maps.Values(emails))); err != nil {
			return err
		}
	}
	return nil
}

// setConflicts sets the active and paused seeds with some addresses to conflict.
func setConflicts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string) error {
	if len(emails) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE seed SET status = 'conflict', status_reason = 'contact'
		WHERE tenant_id = $1 AND email`+tx.In(2)+`AND status IN ('active', 'paused')`, tenant, sqldb.List(tx, emails))
	if err != nil {
		return fmt.Errorf("set seeds to conflict: %w", err)
	}
	return nil
}

// releaseConflicts activates the seeds in conflict with some addresses, which no contact has any
// more.
func releaseConflicts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string) error {
	if len(emails) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE seed SET status = 'active', status_reason = NULL
		WHERE tenant_id = $1 AND email`+tx.In(2)+`AND status = 'conflict'`, tenant, sqldb.List(tx, emails))
	if err != nil {
		return fmt.Errorf("release seeds from conflict: %w", err)
	}
	return nil
}

// retireBounced retires seeds whose copies bounced.
func retireBounced(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, seeds []id.Seed, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE seed SET status = 'retired', status_reason = 'hard_bounce', retired_at = $3
		WHERE tenant_id = $1 AND id`+tx.In(2)+`AND status <> 'retired'`, tenant, sqldb.List(tx, seeds), sqldb.Micros(now))
	if err != nil {
		return fmt.Errorf("retire seeds that bounced: %w", err)
	}
	return nil
}

// Recheck goes through the seeds of all tenants about once a day: it sets those to conflict whose
// address is that of a contact, and activates those in conflict whose contact has gone. Any number
// of processes may run it.
type Recheck struct {
	DB    *sqldb.DB
	Log   *slog.Logger
	Now   func() time.Time
	Every time.Duration // 0 means a minute

	next       position  // the last seed of the round
	roundEnded time.Time // when the last round ended
}

// position is a seed in the order of the round.
type position struct {
	tenant id.Tenant
	seed   id.Seed
}

// recheckPage is how many seeds one Tick checks.
const recheckPage = 500

// Run calls Tick until ctx ends.
func (r *Recheck) Run(ctx context.Context) error {
	return poll.Loop{Poll: r.Tick, Every: cmp.Or(r.Every, time.Minute), Log: r.Log, Failed: "recheck seeds failed"}.Run(ctx)
}

// Tick checks a page of seeds. It reports whether the round continues.
func (r *Recheck) Tick(ctx context.Context) (more bool, err error) {
	now := r.Now()
	if r.next == (position{}) && now.Sub(r.roundEnded) < day {
		return false, nil
	}
	var last position
	emails := map[id.Tenant][]string{}
	n := 0
	rows, err := r.DB.Query(ctx, `
		SELECT tenant_id, id, email, status FROM seed WHERE (tenant_id, id) > ($1, $2)
		ORDER BY tenant_id, id LIMIT $3 /* all tenants: one round through all seeds */`, r.next.tenant, r.next.seed, recheckPage)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var email string
		var status Status
		err := scan(&last.tenant, &last.seed, &email, &status)
		if n++; status != Retired {
			emails[last.tenant] = append(emails[last.tenant], email)
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("find seeds to check: %w", err)
	}
	for _, tenant := range slices.Sorted(maps.Keys(emails)) {
		if err := recheck(ctx, r.DB, tenant, emails[tenant]); err != nil {
			return false, err
		}
	}
	if n < recheckPage {
		r.next, r.roundEnded = position{}, now
		return false, nil
	}
	r.next = last
	return true, nil
}

// recheck compares the seeds with some addresses to the contacts of a tenant.
func recheck(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		contacts, err := contactsAmong(ctx, tx, tenant, emails)
		if err != nil {
			return err
		}
		var held, free []string
		for _, e := range emails {
			if contacts[e] {
				held = append(held, e)
			} else {
				free = append(free, e)
			}
		}
		if err := setConflicts(ctx, tx, tenant, held); err != nil {
			return err
		}
		return releaseConflicts(ctx, tx, tenant, free)
	})
}
