package trigger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// datePass does the next page of a watch of dates, unless another process does it.
func (e *Engine) datePass(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, h id.Holder) (did bool, err error) {
	now := e.now()
	w, err := scanDateWatch(tx.QueryRow(ctx, `SELECT `+dateWatchColumns+` FROM date_watch
		WHERE tenant_id = $1 AND holder_id = $2 AND next_at <= $3`+tx.SkipLocked(), tenant, h, sqldb.Micros(now)).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if w.state == ending {
		return true, w.end(ctx, tx, e.page())
	}
	s, err := segment.Schema(ctx, tx, tenant)
	if err != nil {
		return false, err
	}
	if w.state == ready {
		if w.zone == s.Zone.String() {
			return true, w.save(ctx, tx, now.Add(passEvery))
		}
		w.state, w.since = filling, now // the account has another time zone
	}
	if w.passed.IsZero() {
		w.zone = s.Zone.String()
	}
	end, more, err := contact.PageEnd(ctx, tx, tenant, w.passed, e.page())
	if err != nil {
		return false, err
	}
	if !more {
		end = lastID
	}
	if err := w.fill(ctx, tx, s, end, now); err != nil {
		return false, err
	}
	next := now
	if w.passed = end; !more {
		w.state, w.passed, next = ready, id.Contact{}, now.Add(passEvery)
	}
	return true, w.save(ctx, tx, next)
}

// fill computes what is to come for the contacts from the last one of the pass up to end that have a
// date.
func (w dateWatch) fill(ctx context.Context, tx *sqldb.DB, s rule.Schema, end id.Contact, now time.Time) error {
	tree, err := rule.DecodeStep(oneLeaf(map[string]any{"field": w.dates.Field, "operator": rule.IsSet}), s)
	if err != nil { // the field was deleted
		return nil
	}
	cond, err := tree.Condition(tx, rule.Env{Now: now, Schema: s})
	if err != nil {
		return err
	}
	ids, err := contact.Between(ctx, tx, w.tenant, w.passed, end, cond)
	if err != nil || len(ids) == 0 {
		return err
	}
	people, err := contact.Recipients(ctx, tx, w.tenant, ids, w.fields())
	if err != nil {
		return err
	}
	return w.reschedule(ctx, tx, s, people, func(id.Contact) time.Time { return w.since })
}

func (w dateWatch) save(ctx context.Context, tx *sqldb.DB, next time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE date_watch SET state = $3, passed = $4, since = $5, zone = $6, next_at = $7 WHERE tenant_id = $1 AND holder_id = $2`,
		w.tenant, w.holder, w.state, sqldb.Null(w.passed), sqldb.Micros(w.since), w.zone, sqldb.Micros(next))
	return err
}

// end deletes a page of what is to come for a trigger that is not active any more, and then the watch.
func (w dateWatch) end(ctx context.Context, tx *sqldb.DB, page int) error {
	n, err := tx.Exec(ctx, `
		DELETE FROM date_due WHERE tenant_id = $1 AND holder_id = $2 AND contact_id IN (
			SELECT contact_id FROM date_due WHERE tenant_id = $1 AND holder_id = $2 ORDER BY contact_id LIMIT $3)`, w.tenant, w.holder, page)
	if err != nil || n == int64(page) {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM date_watch WHERE tenant_id = $1 AND holder_id = $2`, w.tenant, w.holder)
	return err
}

const (
	// duePage is how many contacts one transaction fires triggers for.
	duePage = 500
)

// reportDates fires triggers by date that are due, a page for each tenant.
func (e *Engine) reportDates(ctx context.Context) (more bool, err error) {
	tenants, err := sqldb.TenantsDue(ctx, e.DB, "date_due", e.now())
	if err != nil {
		return false, fmt.Errorf("find tenants with dates that are due: %w", err)
	}
	var errs []error
	for _, t := range tenants {
		n := 0
		err := e.DB.InTx(ctx, func(tx *sqldb.DB) (err error) {
			n, err = e.datePage(ctx, tx, t)
			return err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("report dates of tenant %s: %w", t, err))
		}
		more = more || n == duePage
	}
	return more, errors.Join(errs...)
}

// datePage fires triggers for contacts of a tenant whose dates are due, and returns how many it has
// taken. Entries and what is to come next are one transaction, so an occurrence fires once.
func (e *Engine) datePage(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) (int, error) {
	now := e.now()
	rows, err := tx.Query(ctx, `SELECT `+dateRowColumns+` FROM date_due
		WHERE tenant_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3`+tx.SkipLocked(), tenant, sqldb.Micros(now), duePage)
	due, err := sqldb.Collect(rows, err, scanDateRow)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	rows, err = tx.Query(ctx, `SELECT `+dateWatchColumns+` FROM date_watch WHERE tenant_id = $1 AND state <> 'ending'`, tenant)
	list, err := sqldb.Collect(rows, err, scanDateWatch)
	if err != nil {
		return 0, err
	}
	watches := map[id.Holder]dateWatch{}
	var fields contact.FieldSet
	for _, w := range list {
		watches[w.holder] = w
		fields.AddSet(w.fields())
	}
	s, err := segment.Schema(ctx, tx, tenant)
	if err != nil {
		return 0, err
	}
	people, err := dueContacts(ctx, tx, tenant, due, fields)
	if err != nil {
		return 0, err
	}
	var entries []journal.Entry
	for i := range due {
		r := &due[i]
		w, active := watches[r.holder]
		if !active { // its rows are being deleted
			r.due = nil
			continue
		}
		c := people[r.contact]
		old := *r
		r.version, r.coming = w.version, w.comes(s, c, old.current(w), w.since)
		switch {
		case r.due == nil || r.due.After(now):
		case old.version == w.version && !r.value.Equal(old.value):
			// The date has changed since. The entry about it, which is yet to be followed, says when.
			*r = old
			r.due = nil
		default:
			date, zone := DateOf(s, w.dates.Field, *c), ZoneOf(*c, s.Zone)
			entries = append(entries, r.entry(tenant, w, *date, zone, now))
			r.coming = w.dates.passed(r.coming, date, zone)
		}
	}
	slices.SortFunc(due, func(a, b dateRow) int {
		if n := id.Compare(a.holder, b.holder); n != 0 {
			return n
		}
		return id.Compare(a.contact, b.contact)
	})
	if err := saveDates(ctx, tx, tenant, due); err != nil || len(entries) == 0 {
		return len(due), err
	}
	return len(due), journal.Append(ctx, tx, entries...)
}

// dueContacts loads the contacts of rows.
func dueContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, due []dateRow, fields contact.FieldSet) (map[id.Contact]*contact.Contact, error) {
	ids := map[id.Contact]bool{}
	for _, r := range due {
		ids[r.contact] = true
	}
	list, err := contact.Recipients(ctx, tx, tenant, slices.Collect(maps.Keys(ids)), fields)
	people := make(map[id.Contact]*contact.Contact, len(list))
	for i := range list {
		people[list[i].ID] = &list[i]
	}
	return people, err
}

// entry returns the entry that the row's occurrence of a date was reached.
func (r dateRow) entry(tenant id.Tenant, w dateWatch, date calendar.Date, zone *time.Location, now time.Time) journal.Entry {
	if r.year != 0 {
		date = date.InYear(r.year, zone)
	}
	text := date.At.UTC().Format(time.DateOnly)
	if !date.Day {
		text = date.At.In(zone).Format(time.RFC3339)
	}
	return journal.Entry{
		Tenant: tenant, Type: journal.DateReached, Name: w.dates.Field, Contact: r.contact, At: now,
		Data: reached{Holder: w.holder, Version: w.version, Date: text},
	}
}
