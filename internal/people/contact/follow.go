package contact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FollowerName is the name of Follower, which also counts the totals of contacts.
const FollowerName = "contact"

// Follower updates contacts' activity, bounces and deliverability from journal entries
// about mail and page views. It reads from their data:
//
//	email_delivered  {"after_sent": true} where an email_sent came before it;
//	                 otherwise it counts as the sending too
//	email_bounced    {"class": "hard" | "soft" | "block"}; a soft bounce that was
//	                 reported after the acceptance has {"run": [times]}, the soft
//	                 bounces in a row up to now, the latest first. One with a
//	                 "guard" has no effect until bounce_applied (package outage)
//	bounce_applied   no data: a hard bounce
//	bounce_withdrawn no data: a hard bounce was an error of the provider
//	email_complained no data
//	email_opened,    {"classification": "human" | "privacy" | "bot", "first": true}
//	email_clicked    first: the message's first verified one; without a
//	                 classification the event is noted as not yet classified.
//	                 {"withdrawn": true}: the verdicts on all of the message's
//	                 changed, so it does not count any more
//	page_viewed      no data
//
// The follower of package suppression adds the address of a hard bounce or a complaint to
// the suppression list.
func Follower() journal.Follower {
	return journal.Follower{Name: FollowerName, Types: followedTypes[:], Follow: journal.PerTenant(follow)}
}

// followedTypes are the types of these entries.
var followedTypes = [...]journal.Type{
	journal.EmailSent, journal.EmailDelivered, journal.EmailBounced, journal.EmailComplained, journal.EmailOpened, journal.EmailClicked,
	journal.BounceApplied, journal.BounceWithdrawn, journal.PageViewed,
}

// entryData is the data of these entries.
type entryData struct {
	Class          string   `json:"class"`
	Classification string   `json:"classification"`
	First          bool     `json:"first"`
	Withdrawn      bool     `json:"withdrawn"`
	AfterSent      bool     `json:"after_sent"`
	Run            *[]int64 `json:"run"` // microseconds
	outage.Data
}

func follow(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry) error {
	entries, err := countSent(ctx, tx, tenant, entries)
	if err != nil || len(entries) == 0 {
		return err
	}
	ids := map[id.Contact]bool{}
	for _, e := range entries {
		ids[e.Contact] = true
	}
	list, err := lockDeliveryStates(ctx, tx, tenant, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return err
	}
	byID := make(map[id.Contact]*deliveryState, len(list))
	for _, s := range list {
		byID[s.contact] = s
	}
	raised := map[Status][]id.Contact{}
	withdrawn := map[id.Contact]bool{}
	var now time.Time
	for _, e := range entries {
		s, ok := byID[e.Contact]
		if !ok {
			continue
		}
		var d entryData
		if err := e.Decode(&d); err != nil {
			return fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
		if e.Type == journal.BounceWithdrawn && s.withdrawBounce() {
			withdrawn[e.Contact] = true
			raised[Bounced] = slices.DeleteFunc(raised[Bounced], func(c id.Contact) bool { return c == e.Contact })
		}
		if to := s.applyEvent(e.Type, d, e.At); to != "" {
			if to == Bounced {
				delete(withdrawn, e.Contact)
			}
			raised[to] = append(raised[to], e.Contact)
			if to.rank() > s.status.rank() {
				s.status = to
			}
		}
		if e.At.After(now) {
			now = e.At
		}
	}
	changes := make([]savedActivity, 0, len(list))
	for _, s := range list {
		s.evaluate(s.status, now)
		changes = append(changes, savedActivity{s.contact, &s.Activity})
	}
	if err := saveActivities(ctx, tx, tenant, changes); err != nil {
		return err
	}
	return changeStatuses(ctx, tx, tenant, slices.SortedFunc(maps.Keys(withdrawn), id.Compare), raised, now)
}

// changeStatuses ends the bounces of contacts, and raises the statuses of others.
func changeStatuses(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, restored []id.Contact, raised map[Status][]id.Contact, now time.Time) error {
	ids := slices.Concat(restored, raised[Bounced], raised[Complained])
	if len(ids) == 0 {
		return nil
	}
	before, after := make(map[id.Contact]Status, len(ids)), make(map[id.Contact]Status, len(ids))
	into := func(m map[id.Contact]Status) func(scan func(...any) error) error {
		return func(scan func(...any) error) error {
			var c id.Contact
			var s Status
			err := scan(&c, sqldb.ToText(&s))
			m[c] = s
			return err
		}
	}
	b := tx.Batch()
	b.Queue(`SELECT id, global_status FROM contact WHERE tenant_id = $1 AND id`+tx.In(2)+` ORDER BY id`+tx.ForUpdate(), into(before), tenant, sqldb.List(tx, ids))
	queueRestore(b, tx, tenant, restored, now, into(after))
	for _, to := range []Status{Bounced, Complained} {
		queueEscalate(b, tx, tenant, raised[to], to, now, into(after))
	}
	if err := b.Run(ctx); err != nil {
		return err
	}
	var moved ByStatus
	for c, s := range after {
		moved.move(before[c], s)
	}
	contactlog.QueueContacts(b, tenant, slices.Collect(maps.Keys(after)))
	queueCounts(b, tx, tenant, moved)
	return b.Run(ctx)
}

// queueEscalate sets the status of contacts whose present status has a lower rank. The statement
// compares again, since rows may have changed after they were read. For a deleted contact
// it sets the status to restore. read is called for the id and the status of each that it changes.
func queueEscalate(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, to Status, now time.Time, read func(scan func(...any) error) error) {
	if len(contacts) == 0 {
		return
	}
	var over []Status
	for _, s := range Statuses() {
		if s.rank() < to.rank() {
			over = append(over, s)
		}
	}
	b.Queue(`
		UPDATE contact SET
			global_status = CASE WHEN global_status = 'suppressed' THEN global_status ELSE $3 END,
			status_before_suppress = CASE WHEN global_status = 'suppressed' THEN $3 END,
			updated_at = $2
		WHERE tenant_id = $1 AND anonymized_at IS NULL AND CASE WHEN global_status = 'suppressed'
			THEN status_before_suppress ELSE global_status END`+tx.In(4)+` AND id`+tx.In(5)+` RETURNING id, global_status`,
		read, tenant, sqldb.Micros(now), to, sqldb.List(tx, over), sqldb.List(tx, contacts))
}

// withdrawBounce takes back a hard bounce, and reports whether the contact may be bounced because of it.
func (s *deliveryState) withdrawBounce() bool {
	if s.BounceType != BounceHard {
		return false
	}
	s.BounceType = ""
	if s.status == Bounced {
		s.status = Active // or unsubscribed, which does not matter for the deliverability
	}
	return true
}

// queueRestore ends the status of bounced contacts. One that unsubscribed before stays unsubscribed. For a
// deleted contact it changes the status to restore. read is called for the id and the status of each that it changes.
func queueRestore(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, now time.Time, read func(scan func(...any) error) error) {
	if len(contacts) == 0 {
		return
	}
	const before = `CASE WHEN unsubscribed_at IS NULL THEN 'active' ELSE 'unsubscribed' END`
	b.Queue(`
		UPDATE contact SET
			global_status = CASE WHEN global_status = 'bounced' THEN `+before+` ELSE global_status END,
			status_before_suppress = CASE WHEN global_status = 'bounced' THEN status_before_suppress ELSE `+before+` END,
			updated_at = $2
		WHERE tenant_id = $1 AND id`+tx.In(3)+` AND anonymized_at IS NULL
			AND CASE WHEN global_status = 'suppressed' THEN status_before_suppress ELSE global_status END = 'bounced'
		RETURNING id, global_status`, read, tenant, sqldb.Micros(now), sqldb.List(tx, contacts))
}

// countSent counts, in one statement, the mails of contacts that have no other entries and
// whose deliverability cannot change by that. During a broadcast these are nearly all
// contacts. It returns the remaining entries.
func countSent(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry) ([]journal.Entry, error) {
	type sum struct {
		sent  int64
		at    time.Time
		plain bool
	}
	sums := map[id.Contact]*sum{}
	for _, e := range entries {
		s, ok := sums[e.Contact]
		if !ok {
			s = &sum{plain: true}
			sums[e.Contact] = s
		}
		if e.Type != journal.EmailDelivered {
			s.plain = false
			continue
		}
		var d entryData
		if err := e.Decode(&d); err != nil {
			return nil, fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
		s.plain = s.plain && !d.AfterSent
		s.sent++
		if e.At.After(s.at) {
			s.at = e.At
		}
	}
	t := tx.Table("contact_id UUID", "sent BIGINT", "at BIGINT")
	for _, c := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		if s := sums[c]; s.plain {
			t.Add(c, s.sent, s.at.UnixMicro())
		}
	}
	if t.Len() == 0 {
		return entries, nil
	}
	rows, err := tx.Query(ctx, `
		UPDATE contact_activity SET total_emails_sent = total_emails_sent + v.sent,
			last_email_sent_at = `+tx.Greatest("COALESCE(last_email_sent_at, 0)", "v.at")+`
		FROM `+t.As("v", 4)+`
		WHERE contact_activity.tenant_id = $1 AND contact_activity.contact_id = v.contact_id
			AND soft_bounces = 0 AND bounce_type IS NULL
			AND (total_emails_sent >= $2 OR total_emails_sent + v.sent < $2)
			AND (total_emails_sent >= $3 OR total_emails_sent + v.sent < $3)
		RETURNING contact_activity.contact_id`, t.Args(tenant, inactiveSends, veryInactiveSends)...)
	done, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
		var c id.Contact
		err := row(&c)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range done {
		delete(sums, c)
	}
	t = tx.Table("contact_id UUID", "sent BIGINT", "at BIGINT")
	for _, c := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		if s := sums[c]; s.plain && s.sent < inactiveSends {
			t.Add(c, s.sent, s.at.UnixMicro())
		}
	}
	inserted, err := insertSent(ctx, tx, tenant, t)
	if err != nil {
		return nil, err
	}
	for _, c := range inserted {
		delete(sums, c)
	}
	return slices.DeleteFunc(entries, func(e journal.Entry) bool { return sums[e.Contact] == nil }), nil
}

// insertSent creates the activities of contacts that had none before these mails.
func insertSent(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, t *sqldb.Table) ([]id.Contact, error) {
	if t.Len() == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO contact_activity (tenant_id, contact_id, total_emails_sent, last_email_sent_at, deliverability_updated_at)
		SELECT c.tenant_id, c.id, v.sent, v.at, c.created_at
		FROM `+t.As("v", 2)+` JOIN contact c ON c.tenant_id = $1 AND c.id = v.contact_id
		WHERE c.global_status = 'active' ORDER BY c.id ON CONFLICT DO NOTHING RETURNING contact_id`, t.Args(tenant)...)
	inserted, err := sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) { return c, row(&c) })
	if err != nil {
		return nil, fmt.Errorf("create contact activity: %w", err)
	}
	return inserted, nil
}

// Soft bounces in a row, and the time between the first and the last, after which a contact
// is bounced.
const (
	softLimit = 5
	softSpan  = 7 * day
)

// applyEvent applies one event and returns the status that the contact gets from it; empty:
// none.
func (a *Activity) applyEvent(t journal.Type, d entryData, at time.Time) Status {
	switch t {
	case journal.EmailSent:
		a.TotalEmailsSent++
		advanceTime(&a.LastEmailSentAt, at)
	case journal.EmailDelivered:
		if !d.AfterSent {
			a.TotalEmailsSent++
			advanceTime(&a.LastEmailSentAt, at)
		}
		a.BounceType, a.softRun, a.softSince = "", 0, nil
	case journal.BounceApplied:
		a.BounceType = BounceHard
		return Bounced
	case journal.EmailBounced:
		if d.Guard != nil {
			return ""
		}
		if d.Class == BounceSoft && d.Run != nil {
			if a.applyRun(*d.Run, at) {
				return Bounced
			}
		} else if a.applyBounce(d.Class, at) {
			return Bounced
		}
	case journal.EmailComplained:
		return Complained
	case journal.EmailOpened, journal.EmailClicked:
		a.applyEngagement(t, d, at)
	case journal.PageViewed:
		advanceTime(&a.LastPageViewedAt, at)
		advanceTime(&a.settledAt, at)
		a.settle(at)
		a.advanceActivity()
	}
	return ""
}

// settle removes the pending event at LastActivityAt if it is not later than at: its verdict
// is known, or something later has happened.
func (a *Activity) settle(at time.Time) {
	if a.LastActivityPending && !isAfter(a.LastActivityAt, micros(at)) {
		a.LastActivityAt, a.LastActivityPending = a.settledAt, false
	}
}

// advanceActivity advances LastActivityAt to the last settled event, unless a later one is
// pending.
func (a *Activity) advanceActivity() {
	if !a.LastActivityPending && a.settledAt != nil {
		advanceTime(&a.LastActivityAt, *a.settledAt)
	}
}

// applyBounce applies a bounce and reports whether the contact becomes bounced.
func (a *Activity) applyBounce(class string, at time.Time) bool {
	if class == BounceHard {
		a.BounceType = BounceHard
		return true
	}
	a.BounceType = BounceSoft
	advanceTime(&a.lastSoftAt, at)
	if class != BounceSoft { // a block does not mean that the mailbox fails
		return false
	}
	a.softRun++
	if a.softSince == nil {
		a.softSince = new(micros(at))
	}
	return a.failsSoftly(at)
}

// applyRun applies a soft bounce that was reported after its message had been accepted, and reports
// whether the contact becomes bounced. The acceptance has ended the run that is stored, so the run is
// that of the report, without bounces before they were last forgotten. It is empty if a later message
// was delivered.
func (a *Activity) applyRun(run []int64, at time.Time) bool {
	advanceTime(&a.lastSoftAt, at)
	run = slices.DeleteFunc(run, func(t int64) bool { return a.clearedAt != nil && t <= a.clearedAt.UnixMicro() })
	if len(run) == 0 {
		return false
	}
	a.BounceType, a.softRun, a.softSince = BounceSoft, int64(len(run)), new(time.UnixMicro(slices.Min(run)).UTC())
	return a.failsSoftly(time.UnixMicro(slices.Max(run))) // reports may arrive in any order
}

// failsSoftly reports whether the soft bounces in a row, of which the last was at a time, make a contact
// bounced.
func (a *Activity) failsSoftly(last time.Time) bool {
	return a.softRun >= softLimit && last.Sub(*a.softSince) >= softSpan
}

func (a *Activity) applyEngagement(t journal.Type, d entryData, at time.Time) {
	if d.Withdrawn {
		total := &a.TotalEmailsOpened
		if t == journal.EmailClicked {
			total = &a.TotalEmailsClicked
		}
		*total = max(*total-1, 0)
		return
	}
	switch d.Classification {
	case "", "pending":
		if !isAfter(a.LastActivityAt, at) {
			a.LastActivityAt, a.LastActivityPending = new(micros(at)), true
		}
		return
	case "bot":
		a.settle(at)
		return
	}
	if t == journal.EmailOpened {
		advanceTime(&a.LastEmailOpenedAt, at)
		if d.First {
			a.TotalEmailsOpened++
		}
	} else {
		advanceTime(&a.LastEmailClickedAt, at)
		if d.First {
			a.TotalEmailsClicked++
		}
	}
	if d.Classification == "human" { // a proxy's prefetch is not activity of the person
		advanceTime(&a.settledAt, at)
	}
	a.settle(at)
	a.advanceActivity()
}
