package activity

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// feedTypes are the types of journal entries that Feed shows.
var feedTypes = []journal.Type{
	journal.CustomEvent, journal.PageViewed, journal.FormSubmitted, journal.OptInRequested, journal.OptInConfirmed,
	journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited,
	journal.EmailBounced, journal.EmailFailed, journal.EmailComplained, journal.EmailUnsubscribed,
	journal.SubscriptionChanged, journal.TagAdded, journal.TagRemoved, journal.StageChanged,
	journal.ContactUpdated, journal.ContactDeleted, journal.ContactRestored, journal.ContactAnonymized,
}

// feedEntries is the condition of the index journal_activity.
const feedEntries = ` contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created',
	'email_opened', 'email_clicked', 'list_added', 'list_removed', 'score_changed') `

// Feed returns a page of the activity of a tenant's contacts, and the position of the next one.
//
// Unlike List it leaves out sent and delivered mails, memberships of lists and changes of scores,
// which are many for each send or import. Its cost depends on the length of a page, and not on the
// number of entries: of each type it reads the newest ones through an index.
func Feed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Query, names Names) ([]Item, *Position, error) {
	r := reader{db: db, tenant: tenant, q: q, names: names}
	for _, read := range []func(context.Context) error{r.feedEntries, r.feedHits, r.feedCreations} {
		if err := read(ctx); err != nil {
			return nil, nil, fmt.Errorf("list the activity of contacts: %w", err)
		}
	}
	return r.page(ctx)
}

// feedEntries reads the newest entries: of each type, or with one event name.
func (r *reader) feedEntries(ctx context.Context) error {
	if r.q.EventName != "" {
		if !r.wants(journal.CustomEvent) {
			return nil
		}
		at, last := r.before()
		inGroup, args := journal.InGroup(r.db, r.tenant, r.tenant, r.q.EventName, at, last, r.q.Limit+1)
		rows, err := r.db.Query(ctx, `
			SELECT `+feedColumns+` FROM journal
			WHERE tenant_id = $1`+inGroup+` AND name IS NOT NULL AND type = 'event' AND name = $2 AND contact_id IS NOT NULL`+feedBefore, args...)
		return r.addEntries(rows, err)
	}
	for _, t := range feedTypes {
		if !r.wants(t) {
			continue
		}
		at, last := r.before()
		inGroup, args := journal.InGroup(r.db, r.tenant, r.tenant, t, at, last, r.q.Limit+1)
		rows, err := r.db.Query(ctx, `
			SELECT `+feedColumns+` FROM journal
			WHERE tenant_id = $1`+inGroup+` AND type = $2 AND `+feedEntries+feedBefore, args...)
		if err := r.addEntries(rows, err); err != nil {
			return err
		}
	}
	return nil
}

const (
	feedColumns = ` id, contact_id, type, COALESCE(name, ''), send_id, message_id, occurred_at, COALESCE(data, '{}') `
	feedBefore  = ` AND occurred_at <= $3 AND (occurred_at < $3 OR id < $4) ORDER BY occurred_at DESC, id DESC LIMIT $5`
)

// addEntries adds rows of feedColumns.
func (r *reader) addEntries(rows *sqldb.Rows, err error) error {
	return sqldb.Each(rows, err, func(scan func(...any) error) error {
		var i Item
		var name, data string
		err := scan(&i.ID, &i.Contact, sqldb.ToText(&i.Type), &name, &i.send, &i.message, sqldb.ToTime(&i.At), &data)
		i.Properties = json.RawMessage(data)
		i.describe(name)
		r.found = append(r.found, i)
		return err
	})
}

// feedHits reads the newest opens and clicks.
func (r *reader) feedHits(ctx context.Context) error {
	for kind, t := range map[string]journal.Type{"open": journal.EmailOpened, "click": journal.EmailClicked} {
		if !r.wants(t) {
			continue
		}
		at, last := r.before()
		rows, err := r.db.Query(ctx, `
			SELECT `+hitColumns+` FROM hit
			WHERE tenant_id = $1 AND kind = $2 AND at <= $3 AND (at < $3 OR id < $4) ORDER BY at DESC, id DESC LIMIT $5`,
			r.tenant, kind, at, last, r.q.Limit+1)
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			i, err := scanHit(scan)
			i.Type, i.Title = t, titleOf(t)
			r.found = append(r.found, i)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// feedCreations reads the newest contacts in the order of their ids, which is that of their
// creation, to the millisecond.
func (r *reader) feedCreations(ctx context.Context) error {
	if !r.wants(journal.ContactCreated) {
		return nil
	}
	args := []any{r.tenant, r.q.Limit + 1}
	before := ""
	if r.q.After != nil {
		at, last := r.before()
		args = append(args, at, last, id.FirstAt[id.Contact](r.q.After.At.Add(time.Millisecond)))
		before = ` AND (created_at < $3 OR created_at = $3 AND id < $4) AND id < $5`
	}
	rows, err := r.db.Query(ctx, `SELECT id, created_at, COALESCE(source, '') FROM contact WHERE tenant_id = $1`+before+` ORDER BY id DESC LIMIT $2`, args...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Item, error) {
		i := Item{Type: journal.ContactCreated, Source: "account", Title: titleOf(journal.ContactCreated)}
		var source string
		err := scan(&i.Contact, sqldb.ToTime(&i.At), &source)
		i.ID, i.Properties = idOf(i.Contact), json.RawMessage("{}")
		if source != "" {
			i.Properties, _ = json.Marshal(map[string]string{"source": source})
		}
		return i, err
	})
	r.found = append(r.found, list...)
	return err
}
