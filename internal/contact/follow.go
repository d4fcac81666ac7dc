package contact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower keeps contacts' activity, bounces and deliverability up with what
// the journal says happened to their mail. Entries say more in
// their data:
//
//	email_delivered  {"after_sent": true} where an email_sent came before it;
//	                 otherwise it counts as the sending too
//	email_bounced    {"class": "hard" | "soft" | "block"}
//	email_complained nothing: who says so is believed
//	email_opened,    {"classification": "human" | "privacy" | "bot", "first": true}
//	email_clicked    first: the message's first verified one; without a
//	                 classification the event is noted as not yet classified.
//	                 {"withdrawn": true}: the verdicts on all of the message's
//	                 changed, so it does not count any more
//
// The address of a hard bounce or a complaint is put on the suppression list by
// that package's own follower.
func Follower() journal.Follower {
	return journal.Follower{Name: "contact", Types: followed[:], Follow: follow}
}

// followed are the entries that tell of mail.
var followed = [...]journal.Type{
	journal.EmailSent, journal.EmailDelivered, journal.EmailBounced, journal.EmailComplained, journal.EmailOpened, journal.EmailClicked,
}

// entryData is the data of the entries that are followed.
type entryData struct {
	Class          string `json:"class"`
	Classification string `json:"classification"`
	First          bool   `json:"first"`
	Withdrawn      bool   `json:"withdrawn"`
	AfterSent      bool   `json:"after_sent"`
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	byTenant := map[id.Tenant][]journal.Entry{}
	for _, e := range entries {
		if !e.Contact.IsZero() && slices.Contains(followed[:], e.Type) {
			byTenant[e.Tenant] = append(byTenant[e.Tenant], e)
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
		if err := followTenant(ctx, tx, tenant, byTenant[tenant]); err != nil {
			return fmt.Errorf("follow mail of contacts: %w", err)
		}
	}
	return nil
}

func followTenant(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry) error {
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
		if to := s.happened(e.Type, d, e.At); to != "" {
			raised[to] = append(raised[to], e.Contact)
			if to.rank() > s.status.rank() {
				s.status = to
			}
		}
		if e.At.After(now) {
			now = e.At
		}
	}
	changes := make([]saved, 0, len(list))
	for _, s := range list {
		s.evaluate(s.status, now)
		changes = append(changes, saved{s.contact, &s.Activity})
	}
	if err := saveActivities(ctx, tx, tenant, changes); err != nil {
		return err
	}
	for _, to := range []Status{Bounced, Complained} {
		if err := escalate(ctx, tx, tenant, raised[to], to, now); err != nil {
			return err
		}
	}
	return nil
}

// escalate gives contacts a status where precedence allows. Their rows may have
// changed since they were read: the statement asks again. A deleted contact
// remembers for its restoration.
func escalate(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, to Status, now time.Time) error {
	if len(contacts) == 0 {
		return nil
	}
	var over []Status
	for _, s := range Statuses() {
		if s.rank() < to.rank() {
			over = append(over, s)
		}
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact SET
			global_status = CASE WHEN global_status = 'suppressed' THEN global_status ELSE $3 END,
			status_before_suppress = CASE WHEN global_status = 'suppressed' THEN $3 END,
			updated_at = $2
		WHERE tenant_id = $1 AND anonymized_at IS NULL AND CASE WHEN global_status = 'suppressed'
			THEN status_before_suppress ELSE global_status END`+tx.In(4)+` AND id`+tx.In(5),
		tenant, sqldb.Micros(now), to, sqldb.List(tx, over), sqldb.List(tx, contacts))
	return err
}

// countSent takes into account, in one statement, the mails of contacts to whom
// nothing else happened and whose deliverability that cannot change, which is
// nearly everybody while a broadcast is sent. It returns the other entries.
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
		RETURNING contact_activity.contact_id`, t.Args(tenant, manySends, tooManySends)...)
	done, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
		var c id.Contact
		return c, row(&c)
	})
	if err != nil {
		return nil, err
	}
	for _, c := range done {
		delete(sums, c)
	}
	t = tx.Table("contact_id UUID", "sent BIGINT", "at BIGINT")
	for _, c := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		if s := sums[c]; s.plain && s.sent < manySends {
			t.Add(c, s.sent, s.at.UnixMicro())
		}
	}
	begun, err := beginSent(ctx, tx, tenant, t)
	if err != nil {
		return nil, err
	}
	for _, c := range begun {
		delete(sums, c)
	}
	return slices.DeleteFunc(entries, func(e journal.Entry) bool { return sums[e.Contact] == nil }), nil
}

// beginSent makes the activities of contacts whose first mails these are.
func beginSent(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, t *sqldb.Table) ([]id.Contact, error) {
	if t.Len() == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO contact_activity (tenant_id, contact_id, total_emails_sent, last_email_sent_at, deliverability_updated_at)
		SELECT c.tenant_id, c.id, v.sent, v.at, c.created_at
		FROM `+t.As("v", 2)+` JOIN contact c ON c.tenant_id = $1 AND c.id = v.contact_id
		WHERE c.global_status = 'active' ORDER BY c.id ON CONFLICT DO NOTHING RETURNING contact_id`, t.Args(tenant)...)
	begun, err := sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) { return c, row(&c) })
	if err != nil {
		return nil, fmt.Errorf("begin contact activity: %w", err)
	}
	return begun, nil
}

// When soft bounces in a row make a contact bounced.
const (
	softLimit = 5
	softSpan  = 7 * day
)

// happened takes one event into account and returns the status that the contact
// is to have because of it; empty: none.
func (a *Activity) happened(t journal.Type, d entryData, at time.Time) Status {
	switch t {
	case journal.EmailSent:
		a.TotalEmailsSent++
		later(&a.LastEmailSentAt, at)
	case journal.EmailDelivered:
		if !d.AfterSent {
			a.TotalEmailsSent++
			later(&a.LastEmailSentAt, at)
		}
		a.BounceType, a.softRun, a.softSince = "", 0, nil
	case journal.EmailBounced:
		if a.bounce(d.Class, at) {
			return Bounced
		}
	case journal.EmailComplained:
		return Complained
	case journal.EmailOpened, journal.EmailClicked:
		a.engaged(t, d, at)
	}
	return ""
}

// bounce reports whether the contact is to be taken for bounced.
func (a *Activity) bounce(class string, at time.Time) bool {
	if class == BounceHard {
		a.BounceType = BounceHard
		return true
	}
	a.BounceType = BounceSoft
	later(&a.lastSoftAt, at)
	if class != BounceSoft { // a block is no sign that the mailbox fails
		return false
	}
	a.softRun++
	if a.softSince == nil {
		a.softSince = new(micros(at))
	}
	return a.softRun >= softLimit && at.Sub(*a.softSince) >= softSpan
}

func (a *Activity) engaged(t journal.Type, d entryData, at time.Time) {
	settle := func() {
		if a.LastActivityPending && !after(a.LastActivityAt, micros(at)) {
			a.LastActivityAt, a.LastActivityPending = a.settledAt, false
		}
	}
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
		if !after(a.LastActivityAt, at) {
			a.LastActivityAt, a.LastActivityPending = new(micros(at)), true
		}
		return
	case "bot":
		settle()
		return
	}
	if t == journal.EmailOpened {
		later(&a.LastEmailOpenedAt, at)
		if d.First {
			a.TotalEmailsOpened++
		}
	} else {
		later(&a.LastEmailClickedAt, at)
		if d.First {
			a.TotalEmailsClicked++
		}
	}
	if d.Classification == "human" { // a proxy's prefetch is nobody's activity
		later(&a.settledAt, at)
	}
	settle()
	if !a.LastActivityPending && a.settledAt != nil {
		later(&a.LastActivityAt, *a.settledAt)
	}
}
