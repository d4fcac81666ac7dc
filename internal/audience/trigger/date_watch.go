package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// watchDates replaces the dates of contacts that a holder's trigger is about.
func watchDates(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, h Holder, t *Trigger, now time.Time) error {
	if t == nil || t.Type != Date {
		_, err := tx.Exec(ctx, `
			UPDATE date_watch SET state = 'ending', passed = NULL, next_at = $3
			WHERE tenant_id = $1 AND holder_id = $2 AND state <> 'ending'`, tenant, h.ID, sqldb.Micros(now))
		return err
	}
	d := t.dates()
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO date_watch (tenant_id, holder_id, kind, state, since, next_at, version, dates) VALUES ($1, $2, $3, 'filling', $4, $4, $5, $6)
		ON CONFLICT (tenant_id, holder_id) DO UPDATE
		SET state = 'filling', since = excluded.since, next_at = excluded.next_at, version = excluded.version, dates = excluded.dates, passed = NULL
		WHERE date_watch.state = 'ending' OR date_watch.version <> excluded.version`,
		tenant, h.ID, h.Kind, sqldb.Micros(now), d.version(), string(text))
	return err
}

// dateWatch is what has a trigger by date.
type dateWatch struct {
	tenant  id.Tenant
	holder  id.Holder
	state   state
	since   time.Time
	passed  id.Contact // while it is filling: up to which contact
	version int64
	zone    string
	dates   dates
}

const dateWatchColumns = `tenant_id, holder_id, state, since, passed, version, zone, dates`

func scanDateWatch(scan func(...any) error) (dateWatch, error) {
	var w dateWatch
	err := scan(&w.tenant, &w.holder, sqldb.ToText(&w.state), sqldb.ToTime(&w.since), &w.passed, &w.version, sqldb.ToText(&w.zone), sqldb.ToJSON(&w.dates))
	return w, err
}

// fields returns the fields of a contact that the watch reads.
func (w dateWatch) fields() contact.FieldSet {
	var set contact.FieldSet
	set.Add(w.dates.Field)
	return set
}

// comes returns what is to come for a contact, as dates.reschedule does. For a contact that was deleted,
// or is nil, it is nothing.
func (w dateWatch) comes(s rule.Schema, c *contact.Contact, old coming, after time.Time) coming {
	if c == nil || c.Status == contact.Suppressed || c.AnonymizedAt != nil {
		return w.dates.reschedule(old, nil, time.UTC, after)
	}
	return w.dates.reschedule(old, DateOf(s, w.dates.Field, *c), ZoneOf(*c, s.Zone), after)
}

// dateRow is what is to come for a contact of a watch, as stored.
type dateRow struct {
	holder  id.Holder
	contact id.Contact
	version int64
	coming
}

const dateRowColumns = `holder_id, contact_id, version, due_at, value, year, fired_value, fired_year`

func scanDateRow(scan func(...any) error) (dateRow, error) {
	var r dateRow
	var due, firedValue, firedYear *int64
	var value int64
	err := scan(&r.holder, &r.contact, &r.version, &due, &value, &r.year, &firedValue, &firedYear)
	if r.value = sqldb.Time(value); due != nil {
		at := sqldb.Time(*due)
		r.due = &at
	}
	if firedValue != nil && firedYear != nil {
		r.fired = &occurrence{sqldb.Time(*firedValue), int(*firedYear)}
	}
	return r, err
}

// current returns what is to come by the version of a watch.
func (r dateRow) current(w dateWatch) coming {
	if r.version != w.version {
		return coming{}
	}
	return r.coming
}

// saveDates stores what is to come for contacts of watches.
func saveDates(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, rows []dateRow) error {
	if len(rows) == 0 {
		return nil
	}
	t := tx.Table("holder_id UUID", "contact_id UUID", "version BIGINT", "due_at BIGINT", "value BIGINT", "year INTEGER", "fired_value BIGINT", "fired_year INTEGER")
	for _, r := range rows {
		var value, year any
		if r.fired != nil {
			value, year = sqldb.Micros(r.fired.value), r.fired.year
		}
		t.Add(r.holder, r.contact, r.version, sqldb.NullMicros(r.due), sqldb.Micros(r.value), r.year, value, year)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO date_due (tenant_id, holder_id, contact_id, version, due_at, value, year, fired_value, fired_year)
		SELECT h.tenant_id, v.holder_id, v.contact_id, v.version, v.due_at, v.value, v.year, v.fired_value, v.fired_year
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, holder_id, contact_id) DO UPDATE
		SET version = excluded.version, due_at = excluded.due_at, value = excluded.value, year = excluded.year,
			fired_value = excluded.fired_value, fired_year = excluded.fired_year`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("store when triggers by date fire: %w", err)
	}
	return nil
}

// reschedule computes anew what is to come for contacts of a watch, and stores it. After has, for each
// contact, the time after which something must be due that was not to come already.
func (w dateWatch) reschedule(ctx context.Context, tx *sqldb.DB, s rule.Schema, people []contact.Contact, after func(id.Contact) time.Time) error {
	if len(people) == 0 {
		return nil
	}
	ids := make([]id.Contact, len(people))
	for i, c := range people {
		ids[i] = c.ID
	}
	rows, err := tx.Query(ctx, `SELECT `+dateRowColumns+` FROM date_due
		WHERE tenant_id = $1 AND holder_id = $2 AND contact_id`+tx.In(3)+` ORDER BY contact_id`+tx.ForUpdate(), w.tenant, w.holder, sqldb.List(tx, ids))
	list, err := sqldb.Collect(rows, err, scanDateRow)
	if err != nil {
		return fmt.Errorf("read when a trigger by date fires: %w", err)
	}
	known := make(map[id.Contact]dateRow, len(list))
	for _, r := range list {
		known[r.contact] = r
	}
	slices.SortFunc(people, func(a, b contact.Contact) int { return id.Compare(a.ID, b.ID) })
	var changed []dateRow
	for i := range people {
		c := &people[i]
		old, stored := known[c.ID]
		from := after(c.ID)
		if from.Before(w.since) {
			from = w.since
		}
		next := w.comes(s, c, old.current(w), from)
		if stored || next.due != nil {
			changed = append(changed, dateRow{w.holder, c.ID, w.version, next})
		}
	}
	return saveDates(ctx, tx, w.tenant, changed)
}

// followDates reschedules what is to come for the contacts of a tenant's entries that may have another
// date now.
func followDates(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, schema func() (rule.Schema, error)) error {
	rows, err := tx.Query(ctx, `SELECT `+dateWatchColumns+` FROM date_watch WHERE tenant_id = $1 AND state <> 'ending' ORDER BY holder_id`+tx.ForUpdate(), tenant)
	watches, err := sqldb.Collect(rows, err, scanDateWatch)
	if err != nil {
		return fmt.Errorf("find triggers by date: %w", err)
	}
	for _, w := range watches {
		changed := dated(entries, w.dates.Field)
		if len(changed) == 0 {
			continue
		}
		s, err := schema()
		if err != nil {
			return err
		}
		people, err := contact.Recipients(ctx, tx, tenant, slices.Collect(maps.Keys(changed)), w.fields())
		if err != nil {
			return err
		}
		if err := w.reschedule(ctx, tx, s, people, func(c id.Contact) time.Time { return changed[c] }); err != nil {
			return err
		}
	}
	return nil
}

// dated returns the contacts of entries after which a trigger by a field's date may be due at another
// time, and when the last of the entries occurred that may have changed the date. If only time zones
// changed, it is the first of them.
func dated(entries []journal.Entry, field string) map[id.Contact]time.Time {
	last, zone := map[id.Contact]time.Time{}, map[id.Contact]time.Time{}
	for _, e := range entries {
		switch e.Type {
		case journal.ContactCreated, journal.ContactDeleted, journal.ContactRestored, journal.ContactAnonymized:
			last[e.Contact] = e.At
		case journal.ContactUpdated:
			if Changes(e, field) {
				last[e.Contact] = e.At
			} else if _, known := zone[e.Contact]; !known && Changes(e, "timezone") {
				zone[e.Contact] = e.At
			}
		}
	}
	for c, at := range zone {
		if _, known := last[c]; !known {
			last[c] = at
		}
	}
	return last
}

// datePasses does a page of each watch of dates that is due.
func (e *Engine) datePasses(ctx context.Context) (more bool, err error) {
	return passesOf(ctx, e, "date_watch", "holder_id", e.datePass)
}
