package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// timelinePageSize is how many entries of a contact are read at a time.
const timelinePageSize = 500

// timeline is the condition of the index journal_contact. It excludes the sending of mails, since
// there is an entry for each message, and the contact's creation. Neither contains personal data.
const timeline = ` contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created') `

// Timeline yields the entries of a contact, oldest first, except for its creation and the sending
// of mails. It reads them page by page.
func Timeline(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var last Entry
		for {
			page, err := timelinePage(ctx, db, tenant, contact, last)
			if err != nil {
				yield(Entry{}, fmt.Errorf("read a contact's journal: %w", err))
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if len(page) < timelinePageSize {
				return
			}
			last = page[len(page)-1]
		}
	}
}

func timelinePage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, last Entry) ([]Entry, error) {
	from := int64(-1 << 62)
	if !last.At.IsZero() {
		from = last.At.UnixMicro()
	}
	inGroup, args := InGroup(db, tenant, tenant, contact, from, last.ID, timelinePageSize)
	rows, err := db.Query(ctx, `
		SELECT tenant_id, pos, `+columns+`
		FROM journal WHERE tenant_id = $1`+inGroup+` AND contact_id = $2 AND `+timeline+`
			AND occurred_at >= $3 AND (occurred_at, id) > ($3, $4)
		ORDER BY occurred_at, id LIMIT $5`, args...)
	return sqldb.Collect(rows, err, func(row func(...any) error) (Entry, error) { return scan(row) })
}

// impersonal are the keys in entries' data that do not identify a person. They include all that
// followers and counts use.
var impersonal = map[Type][]string{
	CustomEvent:         {"type", "source", "deleted"},
	EmailBounced:        {"class", "category", "code", "enhanced", "run"},
	EmailFailed:         {"category", "code", "enhanced"},
	EmailDeferred:       {"category", "code", "enhanced", "next_attempt_at"},
	EmailOpened:         {"classification", "first", "withdrawn"},
	EmailClicked:        {"classification", "first", "withdrawn", "link_url"},
	ContactUpdated:      {"fields"},
	ContactRestored:     {"global_status"},
	SubscriptionChanged: {"email_type_key", "category_id", "scope", "subscribed"},
	StageChanged:        {"from", "to"},
	ListAdded:           {"segment_id", "segment_key"},
	FormSubmitted:       {"form_id", "form_name", "submission_id"},
	OptInRequested:      {"form_id", "form_name", "submission_id"},
	OptInConfirmed:      {"form_id", "form_name", "submission_id"},
	ListRemoved:         {"segment_id", "segment_key"},
	SegmentEntered:      {"segment_id", "holder_id"},
	SegmentLeft:         {"segment_id"},
	DateReached:         {"holder_id", "version"},
}

// named are the types whose name is that of an object, and contains no personal data.
var named = map[Type]bool{CustomEvent: true, FormSubmitted: true, OptInRequested: true, OptInConfirmed: true, SegmentEntered: true, SegmentLeft: true, DateReached: true, SequenceEnrolled: true, SequenceCompleted: true, SequenceExited: true}

// strip returns e without personal data, and whether it had any.
func strip(e Entry) (Entry, bool, error) {
	var have map[string]json.RawMessage
	if err := e.Decode(&have); err != nil {
		return e, false, fmt.Errorf("journal entry %s: %w", e.ID, err)
	}
	kept := make(map[string]json.RawMessage, len(have))
	for _, k := range impersonal[e.Type] {
		if v, ok := have[k]; ok {
			kept[k] = v
		}
	}
	changed := len(kept) < len(have)
	e.Data = kept
	if e.Name != "" && !named[e.Type] {
		e.Name, changed = "", true
	}
	return e, changed, nil
}

// Erase erases personal data from the entries of contacts, and of addresses. The entries themselves
// remain, so no count changes.
func Erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, addresses []string) error {
	for _, c := range contacts {
		if err := eraseContact(ctx, tx, tenant, c); err != nil {
			return fmt.Errorf("erase a contact's journal: %w", err)
		}
	}
	inGroup, args := InGroup(tx, tenant, tenant, sqldb.List(tx, addresses))
	_, err := tx.Exec(ctx, `
		UPDATE journal SET data = NULL
		WHERE tenant_id = $1`+inGroup+` AND type IN ('suppression_added', 'suppression_removed') AND data ->> 'email' `+tx.In(2), args...)
	if err != nil {
		return fmt.Errorf("erase addresses from the journal: %w", err)
	}
	return nil
}

func eraseContact(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contact id.Contact) error {
	var last Entry
	for {
		page, err := timelinePage(ctx, tx, tenant, contact, last)
		if err != nil {
			return err
		}
		t := tx.Table("pos BIGINT", "name TEXT", "data JSONB")
		for _, e := range page {
			e, changed, err := strip(e)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			data, err := encodeData(e.Data)
			if err != nil {
				return err
			}
			t.Add(e.Position, sqldb.Null(e.Name), data)
		}
		if t.Len() > 0 {
			_, err := tx.Exec(ctx, `
				UPDATE journal SET name = v.name, data = v.data FROM `+t.As("v", 3)+`
				WHERE journal.tenant_id = $1 AND journal.grp = $2 AND journal.pos = v.pos`, t.Args(tenant, tenant.Group())...)
			if err != nil {
				return err
			}
		}
		if len(page) < timelinePageSize {
			return nil
		}
		last = page[len(page)-1]
	}
}
