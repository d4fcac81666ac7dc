package automation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxPerHour is how many runs of an automation a contact may have within an hour. It ends cycles of
// automations that fire their own triggers.
const MaxPerHour = 100

// Follower adds runs for the entries that fire the triggers of active automations.
func Follower(now func() time.Time) journal.Follower {
	return journal.Follower{
		Name: "automation", Types: trigger.EntryTypes(), Tenants: journal.TenantsWith(`EXISTS (SELECT 1 FROM automation AS a WHERE a.tenant_id = v.tenant_id AND a.status = 'active')`),
		Follow: journal.PerTenant(func(ctx context.Context, tx *sqldb.DB, t id.Tenant, entries []journal.Entry) error {
			return follow(ctx, tx, t, entries, now())
		}),
	}
}

// follow adds the runs that entries of a tenant start, in the order of the entries.
func follow(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, now time.Time) error {
	list, err := startable(ctx, tx, tenant, entries)
	if err != nil || len(list) == 0 {
		return err
	}
	env, err := segment.Env(ctx, tx, tenant, now)
	if err != nil {
		return err
	}
	starts, err := fired(ctx, tx, env, list, entries)
	if err != nil || len(starts) == 0 {
		return err
	}
	recent, err := recentRuns(ctx, tx, tenant, starts, now.Add(-time.Hour))
	if err != nil {
		return err
	}
	t := tx.Table("id UUID", "automation_id UUID", "contact_id UUID", "status TEXT", "reason TEXT", "trigger_data JSONB", "created_at BIGINT", "due_at BIGINT", "ended_at BIGINT")
	at := sqldb.Micros(now)
	for _, s := range starts {
		of := pair{s.automation, s.Contact}
		switch n := recent[of]; {
		case n < MaxPerHour:
			t.Add(id.Made[id.AutomationRun](now), s.automation, s.Contact, Pending, nil, string(s.Data), at, at, nil)
		case n == MaxPerHour: // later ones leave no trace, since there may be very many
			t.Add(id.Made[id.AutomationRun](now), s.automation, s.Contact, Skipped, ReasonTooMany, string(s.Data), at, nil, at)
		default:
			continue
		}
		recent[of]++
	}
	if t.Len() == 0 {
		return nil
	}
	if err := t.Load(ctx, tx, "automation_run", tenant); err != nil {
		return fmt.Errorf("add runs: %w", err)
	}
	tx.Notify(Wake)
	return nil
}

// startable returns the active automations whose triggers entries may fire, by id.
func startable(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry) ([]Automation, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM automation WHERE tenant_id = $1 AND status = 'active' AND trigger_key`+tx.In(2)+` ORDER BY id`,
		tenant, sqldb.List(tx, trigger.Lookups(entries)))
	list, err := sqldb.Collect(rows, err, scanAutomation(tenant))
	if err != nil {
		return nil, fmt.Errorf("find automations for events: %w", err)
	}
	return list, nil
}

// start is an automation, and what starts a run of it.
type start struct {
	automation id.Automation
	trigger.Match
	position int64
}

// fired returns the runs that entries start, in the order of the entries.
func fired(ctx context.Context, tx *sqldb.DB, env rule.Env, list []Automation, entries []journal.Entry) ([]start, error) {
	positions := map[id.Entry]int64{}
	for _, e := range entries {
		positions[e.ID] = e.Position
	}
	m := trigger.NewMatcher(tx, env, entries)
	var starts []start
	for _, a := range list {
		matches, err := m.Fired(ctx, trigger.AutomationHolder(a.ID), a.fires())
		if err != nil {
			return nil, err
		}
		for _, f := range matches {
			if p := positions[f.Entry]; p > a.activeAfter {
				starts = append(starts, start{a.ID, f, p})
			}
		}
	}
	slices.SortStableFunc(starts, func(a, b start) int { return int(min(max(a.position-b.position, -1), 1)) })
	return starts, nil
}

// pair is an automation and a contact.
type pair struct {
	automation id.Automation
	contact    id.Contact
}

// recentRuns returns how many runs contacts have had since a time.
func recentRuns(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, starts []start, since time.Time) (map[pair]int, error) {
	automations, contacts := map[id.Automation]bool{}, map[id.Contact]bool{}
	for _, s := range starts {
		automations[s.automation], contacts[s.Contact] = true, true
	}
	rows, err := tx.Query(ctx, `
		SELECT automation_id, contact_id, COUNT(*) FROM automation_run
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND automation_id`+tx.In(3)+` AND created_at > $4
		GROUP BY automation_id, contact_id`,
		tenant, sqldb.List(tx, slices.Collect(maps.Keys(contacts))), sqldb.List(tx, slices.Collect(maps.Keys(automations))), sqldb.Micros(since))
	recent := map[pair]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var of pair
		var n int
		err := scan(&of.automation, &of.contact, &n)
		recent[of] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count recent runs: %w", err)
	}
	return recent, nil
}
