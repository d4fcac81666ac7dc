package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of changing contacts' status.
var (
	ErrTransition   = fault.New(fault.Conflict, "INVALID_TRANSITION", "the contact's status does not allow this")
	ErrUnsubscribed = fault.New(fault.Conflict, "UNSUBSCRIBED", "the contact has unsubscribed; only the person can take that back")
)

// MaxMoved is the maximal number of contacts of one call.
const MaxMoved = 1000

// Moved is the result for one of the contacts given to Delete, Restore, Subscribe and the
// like.
type Moved struct {
	Contact id.Contact
	Changed bool         // false: it already was as requested, or Err is set
	Err     *fault.Error // why it did not change; nil: no fault
}

// Code returns the code of Err; empty: no fault.
func (m Moved) Code() string {
	if m.Err == nil {
		return ""
	}
	return m.Err.Code
}

// effect is a journal entry that follows from a step.
type effect struct {
	what    journal.Type
	data    any
	send    id.Send    // of the mail that caused it; zero: none
	message id.Message // likewise
}

// step changes one contact. It returns the effects, none if nothing changed, or a fault.
type step func(c *Contact) ([]effect, *fault.Error)

// applyStep applies a step to many contacts in one transaction. It returns a result for
// each id, in the order of ids, and the changed contacts. A fault of one contact does not
// affect the others.
func applyStep(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time, s step) ([]Moved, []Contact, error) {
	if len(ids) > MaxMoved {
		return nil, nil, ErrLimit.Sayf("at most %d contacts at once", MaxMoved)
	}
	now = micros(now)
	var out []Moved
	var list []Contact
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if list, err = lockByID(ctx, tx, tenant, ids); err != nil {
			return err
		}
		if err := compareRevisions(ctx, list); err != nil {
			return err
		}
		results := make(map[id.Contact]Moved, len(list))
		var changed []*Contact
		var activities []savedActivity
		var entries []journal.Entry
		var moved ByStatus
		for i := range list {
			c := &list[i]
			before, from := c.Activity, c.Status
			happened, refusal := s(c)
			results[c.ID] = Moved{c.ID, len(happened) > 0, refusal}
			if refusal != nil || len(happened) == 0 {
				continue
			}
			c.UpdatedAt, c.RevisedBy = now, revision.AuthorOf(ctx)
			c.Revision++
			c.evaluate(c.Status, now)
			changed = append(changed, c)
			moved.move(from, c.Status)
			if c.Activity != before {
				activities = append(activities, savedActivity{c.ID, &c.Activity})
			}
			for _, h := range happened {
				entries = append(entries, journal.Entry{Tenant: tenant, Type: h.what, Contact: c.ID, Send: h.send, Message: h.message, At: now, Data: h.data})
			}
		}
		if err := saveStatuses(ctx, tx, tenant, changed, now); err != nil {
			return err
		}
		if err := saveActivities(ctx, tx, tenant, activities); err != nil {
			return err
		}
		out = inOrder(ids, results)
		return appendAndCount(ctx, tx, tenant, entries, moved)
	})
	return out, list, err
}

// appendAndCount appends entries to the journal, and counts the contacts whose statuses changed.
func appendAndCount(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, moved ByStatus) error {
	b := tx.Batch()
	if err := journal.QueueEntries(b, tx, entries...); err != nil {
		return err
	}
	queueCounts(b, tx, tenant, moved)
	return b.Run(ctx)
}

// compareRevisions checks the condition of ctx against the revisions of contacts whose rows are locked.
func compareRevisions(ctx context.Context, list []Contact) error {
	for i := range list {
		if err := Revisions.Compare(ctx, list[i].revision()); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns the results of contacts in the order of ids.
func inOrder(ids []id.Contact, results map[id.Contact]Moved) []Moved {
	out := make([]Moved, len(ids))
	for i, c := range ids {
		m, found := results[c]
		if !found {
			m = Moved{c, false, ErrNotFound}
		}
		out[i] = m
		m.Changed = false // if the id is repeated
		results[c] = m
	}
	return out
}

// saveStatuses writes the columns of contacts' own rows that steps change.
func saveStatuses(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []*Contact, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	t := tx.Table("id UUID", "global_status TEXT", "status_before_suppress TEXT", "suppressed_at BIGINT", "unsubscribed_at BIGINT",
		"subscriptions JSONB", "category_subscriptions JSONB", "withdrawn BOOLEAN")
	ids := make([]id.Contact, len(list))
	for i, c := range list {
		ids[i] = c.ID
		types, err := json.Marshal(c.Subscriptions)
		if err != nil {
			return err
		}
		categories, err := json.Marshal(c.CategorySubscriptions)
		if err != nil {
			return err
		}
		t.Add(c.ID, c.Status, sqldb.Null(c.StatusBeforeSuppress), sqldb.NullMicros(c.SuppressedAt), sqldb.NullMicros(c.UnsubscribedAt),
			string(types), string(categories), c.Withdrawn)
	}
	if err := contactlog.Append(ctx, tx, tenant, ids); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact SET global_status = v.global_status, status_before_suppress = v.status_before_suppress,
			suppressed_at = v.suppressed_at, unsubscribed_at = v.unsubscribed_at,
			subscriptions = v.subscriptions, category_subscriptions = v.category_subscriptions, withdrawn = v.withdrawn, updated_at = $2,
			revision = contact.revision + 1, revised_by = $3
		FROM `+t.As("v", 4)+`
		WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now), revision.By(ctx))...)
	if err != nil {
		return fmt.Errorf("save contact statuses: %w", err)
	}
	return nil
}
