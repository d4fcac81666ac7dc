package contact

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Values of Activity.BounceType.
const (
	BounceHard = "hard"
	BounceSoft = "soft"
)

// Activity is the history of a contact's mails and visits, and its deliverability, which
// follows from them.
type Activity struct {
	LastActivityAt      *time.Time
	LastActivityPending bool // the event at LastActivityAt is not classified yet
	LastEmailSentAt     *time.Time
	LastEmailOpenedAt   *time.Time
	LastEmailClickedAt  *time.Time
	LastPageViewedAt    *time.Time
	TotalEmailsSent     int64
	TotalEmailsOpened   int64 // messages with a verified open
	TotalEmailsClicked  int64 // messages with a verified click
	BounceType          string

	DeliverabilityStatus    Deliverability
	DeliverabilityReason    string
	DeliverabilityUpdatedAt time.Time

	settledAt  *time.Time // LastActivityAt without events that are not classified yet
	softRun    int64      // soft bounces in a row without a delivery
	softSince  *time.Time // the first of them
	lastSoftAt *time.Time
	clearedAt  *time.Time // when the bounces were last forgotten
	listed     bool       // the address is on the suppression list
	touch      string     // encoded; see Touches
}

// Deliverability rates how well mail reaches a contact.
type Deliverability string

// The values. Only Blocked stops mail.
const (
	Healthy Deliverability = "healthy"
	Watch   Deliverability = "watch"
	AtRisk  Deliverability = "at_risk"
	Blocked Deliverability = "suppressed"
)

const day = 24 * time.Hour

// Numbers of mails after which a contact without recent opens and clicks counts as
// inactive: watched after the first, at risk after the second.
const (
	inactiveSends     = 10
	veryInactiveSends = 20
)

// evaluate derives the deliverability from the status and the activity, and reports whether
// it changed.
func (a *Activity) evaluate(s Status, now time.Time) bool {
	status, reason := a.deliverability(s, now)
	if status == a.DeliverabilityStatus && reason == a.DeliverabilityReason {
		return false
	}
	a.DeliverabilityStatus, a.DeliverabilityReason, a.DeliverabilityUpdatedAt = status, reason, micros(now)
	return true
}

func (a *Activity) deliverability(s Status, now time.Time) (Deliverability, string) {
	switch {
	case s == Suppressed:
		return Blocked, "soft_deleted"
	case s == Complained:
		return Blocked, "complaint"
	case s == Bounced && a.BounceType == BounceSoft:
		return Blocked, "soft_bounces"
	case s == Bounced:
		return Blocked, "hard_bounce"
	case a.listed:
		return Blocked, "suppression_list"
	}
	quiet := func(days time.Duration) bool {
		since := now.Add(-days * day)
		return !isAfter(a.LastEmailOpenedAt, since) && !isAfter(a.LastEmailClickedAt, since)
	}
	switch {
	case a.softRun >= 3:
		return AtRisk, "soft_bounces"
	case a.TotalEmailsSent >= veryInactiveSends && quiet(180):
		return AtRisk, "inactive"
	case isAfter(a.lastSoftAt, now.Add(-30*day)):
		return Watch, "soft_bounces"
	case a.TotalEmailsSent >= inactiveSends && quiet(90):
		return Watch, "inactive"
	}
	return Healthy, ""
}

func isAfter(t *time.Time, since time.Time) bool { return t != nil && t.After(since) }

// clearBounces resets the contact's bounce history.
func (a *Activity) clearBounces(now time.Time) {
	a.BounceType, a.softRun, a.softSince, a.lastSoftAt, a.clearedAt = "", 0, nil, nil, new(micros(now))
}

// advanceTime sets *t to at unless it is later already.
func advanceTime(t **time.Time, at time.Time) {
	if *t == nil || (*t).Before(at) {
		*t = new(micros(at))
	}
}

var activityColumnTypes = []string{
	"last_activity_at BIGINT", "last_activity_pending BOOLEAN", "settled_activity_at BIGINT", "last_email_sent_at BIGINT",
	"last_email_opened_at BIGINT", "last_email_clicked_at BIGINT", "last_page_viewed_at BIGINT", "total_emails_sent BIGINT",
	"total_emails_opened BIGINT", "total_emails_clicked BIGINT", "bounce_type TEXT", "soft_bounces BIGINT",
	"soft_bounces_since BIGINT", "last_soft_bounce_at BIGINT", "listed BOOLEAN", "deliverability_status TEXT",
	"deliverability_reason TEXT", "deliverability_updated_at BIGINT", "bounces_cleared_at BIGINT",
}

// activityNames returns the names of the columns of activityColumnTypes, each put into
// format in place of "?".
func activityNames(format, separator string) string {
	list := make([]string, len(activityColumnTypes))
	for i, c := range activityColumnTypes {
		name, _, _ := strings.Cut(c, " ")
		list[i] = strings.ReplaceAll(format, "?", name)
	}
	return strings.Join(list, separator)
}

// activityDefaults are the values of columns that are never null for a contact without a
// row in contact_activity.
var activityDefaults = map[string]string{
	"last_activity_pending": "FALSE", "total_emails_sent": "0", "total_emails_opened": "0", "total_emails_clicked": "0",
	"soft_bounces": "0", "listed": "FALSE", "deliverability_status": "'" + string(Healthy) + "'", "deliverability_updated_at": "c.created_at",
}

// newActivity returns the Activity of a new contact.
func newActivity(created time.Time) Activity {
	return Activity{DeliverabilityStatus: Healthy, DeliverabilityUpdatedAt: created}
}

// WithActivity joins the activity a of contacts c. Many contacts have no such row.
const WithActivity = ` LEFT JOIN contact_activity a ON a.tenant_id = c.tenant_id AND a.contact_id = c.id `

// ActivityColumn returns the expression of a column of contact_activity in a statement with
// WithActivity.
func ActivityColumn(name string) string {
	if v, ok := activityDefaults[name]; ok {
		return "COALESCE(a." + name + ", " + v + ")"
	}
	return "a." + name
}

// activityColumns are the columns read by Activity.dest. values has no touch, which is
// never written here.
var activityColumns = func() string {
	list := []string{}
	for _, c := range activityColumnTypes {
		name, _, _ := strings.Cut(c, " ")
		list = append(list, ActivityColumn(name))
	}
	return strings.Join(list, ", ") + ", a.touch"
}()

// dest returns the scan targets of activityColumns.
func (a *Activity) dest() []any {
	return []any{
		sqldb.ToNullTime(&a.LastActivityAt), &a.LastActivityPending, sqldb.ToNullTime(&a.settledAt), sqldb.ToNullTime(&a.LastEmailSentAt),
		sqldb.ToNullTime(&a.LastEmailOpenedAt), sqldb.ToNullTime(&a.LastEmailClickedAt), sqldb.ToNullTime(&a.LastPageViewedAt), sqldb.ToInt(&a.TotalEmailsSent),
		sqldb.ToInt(&a.TotalEmailsOpened), sqldb.ToInt(&a.TotalEmailsClicked), sqldb.ToText(&a.BounceType), sqldb.ToInt(&a.softRun),
		sqldb.ToNullTime(&a.softSince), sqldb.ToNullTime(&a.lastSoftAt), &a.listed,
		sqldb.ToText(&a.DeliverabilityStatus), sqldb.ToText(&a.DeliverabilityReason), sqldb.ToTime(&a.DeliverabilityUpdatedAt), sqldb.ToNullTime(&a.clearedAt), sqldb.ToText(&a.touch),
	}
}

func (a *Activity) values() []any {
	return []any{
		sqldb.NullMicros(a.LastActivityAt), a.LastActivityPending, sqldb.NullMicros(a.settledAt), sqldb.NullMicros(a.LastEmailSentAt),
		sqldb.NullMicros(a.LastEmailOpenedAt), sqldb.NullMicros(a.LastEmailClickedAt), sqldb.NullMicros(a.LastPageViewedAt), a.TotalEmailsSent,
		a.TotalEmailsOpened, a.TotalEmailsClicked, sqldb.Null(a.BounceType), a.softRun,
		sqldb.NullMicros(a.softSince), sqldb.NullMicros(a.lastSoftAt), a.listed, a.DeliverabilityStatus,
		sqldb.Null(a.DeliverabilityReason), sqldb.Micros(a.DeliverabilityUpdatedAt), sqldb.NullMicros(a.clearedAt),
	}
}

// savedActivity is an activity to be written.
type savedActivity struct {
	contact  id.Contact
	activity *Activity
}

// saveActivities updates activities in one statement. Their rows must have been locked
// before they were read (lockDeliveryStates).
func saveActivities(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []savedActivity) error {
	if len(list) == 0 {
		return nil
	}
	t := tx.Table(append([]string{"contact_id UUID"}, activityColumnTypes...)...)
	for _, s := range list {
		t.Add(append([]any{s.contact}, s.activity.values()...)...)
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact_activity SET `+activityNames("? = v.?", ", ")+`
		FROM `+t.As("v", 2)+`
		WHERE contact_activity.tenant_id = $1 AND contact_activity.contact_id = v.contact_id`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("save contact activity: %w", err)
	}
	return nil
}

// deliveryState is what the evaluation of a contact's deliverability depends on.
type deliveryState struct {
	contact id.Contact
	status  Status
	Activity
}

// lockDeliveryStates reads the activities of contacts and locks them until the transaction
// ends.
func lockDeliveryStates(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]*deliveryState, error) {
	if err := lockOrCreateActivities(ctx, tx, tenant, ids); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT c.id, c.global_status, `+activityColumns+` FROM `+contactSource+`
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` ORDER BY c.id`, tenant, sqldb.List(tx, ids))
	return sqldb.Collect(rows, err, func(row func(...any) error) (*deliveryState, error) {
		s := &deliveryState{}
		err := row(append([]any{&s.contact, &s.status}, s.dest()...)...)
		return s, err
	})
}

// lockOrCreateActivities locks the activities of contacts until the transaction ends, and
// creates missing rows, so that there is a row to lock. A transaction that writes an
// activity must lock it before it reads it and before it locks the contact's own row;
// otherwise it could read values that another transaction is about to replace.
func lockOrCreateActivities(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) error {
	missing := len(ids)
	if tx.Dialect() == sqldb.Postgres {
		n, err := lockActivities(ctx, tx, tenant, ids)
		if err != nil || n >= missing {
			return err
		}
		missing -= n
	}
	n, err := tx.Exec(ctx, `
		INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at)
		SELECT c.tenant_id, c.id, c.created_at FROM contact c
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` AND NOT EXISTS (
			SELECT 1 FROM contact_activity a WHERE a.tenant_id = c.tenant_id AND a.contact_id = c.id)
		ORDER BY c.id ON CONFLICT DO NOTHING`, tenant, sqldb.List(tx, ids))
	if err == nil && int(n) < missing && tx.Dialect() == sqldb.Postgres { // other transactions created them
		_, err = lockActivities(ctx, tx, tenant, ids)
	}
	if err != nil {
		return fmt.Errorf("lock contact activity: %w", err)
	}
	return nil
}

func lockActivities(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) (int, error) {
	rows, err := tx.Query(ctx, `
		SELECT contact_id FROM contact_activity
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` ORDER BY contact_id FOR UPDATE`, tenant, sqldb.List(tx, ids))
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) { return c, row(&c) })
	return len(list), err
}

// MarkListed records that addresses were added to the suppression list or removed from it,
// and evaluates their contacts. It changes no status and no subscription. Package
// suppression calls it in the transaction that changes the list.
func MarkListed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, emails []string, listed bool, now time.Time) error {
	byEmail, err := IDsByEmail(ctx, tx, tenant, emails)
	if err != nil || len(byEmail) == 0 {
		return err
	}
	ids := make([]id.Contact, 0, len(byEmail))
	for _, c := range byEmail {
		ids = append(ids, c)
	}
	list, err := lockDeliveryStates(ctx, tx, tenant, ids)
	if err != nil {
		return fmt.Errorf("mark listed contacts: %w", err)
	}
	var changed []savedActivity
	for _, s := range list {
		if s.listed == listed {
			continue
		}
		s.listed = listed
		s.evaluate(s.status, now)
		changed = append(changed, savedActivity{s.contact, &s.Activity})
	}
	return saveActivities(ctx, tx, tenant, changed)
}

// value returns a field by its name in the API.
func (a *Activity) value(name string) (value any, known bool) {
	at := func(t *time.Time) (any, bool) {
		if t == nil {
			return nil, true
		}
		return *t, true
	}
	switch name {
	case "last_activity_at":
		return at(a.LastActivityAt)
	case "last_email_sent_at":
		return at(a.LastEmailSentAt)
	case "last_email_opened_at":
		return at(a.LastEmailOpenedAt)
	case "last_email_clicked_at":
		return at(a.LastEmailClickedAt)
	case "last_page_viewed_at":
		return at(a.LastPageViewedAt)
	case "total_emails_sent":
		return a.TotalEmailsSent, true
	case "total_emails_opened":
		return a.TotalEmailsOpened, true
	case "total_emails_clicked":
		return a.TotalEmailsClicked, true
	case "deliverability_status":
		return string(a.DeliverabilityStatus), true
	}
	return nil, false
}

// Engagement is when a contact last clicked and opened; nil: never.
type Engagement struct{ Clicked, Opened *time.Time }

// Engagements returns when contacts last clicked and opened, without those that did
// neither.
func Engagements(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]Engagement, error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id, last_email_clicked_at, last_email_opened_at FROM contact_activity
		WHERE tenant_id = $1 AND contact_id`+db.In(2)+` AND (last_email_clicked_at IS NOT NULL OR last_email_opened_at IS NOT NULL)`,
		tenant, sqldb.List(db, ids))
	all := map[id.Contact]Engagement{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var clicked, opened sql.NullInt64
		err := scan(&c, &clicked, &opened)
		all[c] = Engagement{sqldb.NullTime(clicked), sqldb.NullTime(opened)}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the last engagement of contacts: %w", err)
	}
	return all, nil
}

// Familiar returns how many of the contacts accepted at least two mails, or opened one.
func Familiar(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (n int, err error) {
	err = db.QueryRow(ctx, `
		SELECT COUNT(*) FROM contact_activity WHERE tenant_id = $1 AND contact_id`+db.In(2)+`
			AND (total_emails_sent > 1 OR total_emails_opened > 0)`, tenant, sqldb.List(db, ids)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count contacts that got mail: %w", err)
	}
	return n, nil
}
