package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The faults of moving a contact through its life.
var (
	ErrTransition   = fault.New(fault.Conflict, "INVALID_TRANSITION", "the contact's status does not allow this")
	ErrUnsubscribed = fault.New(fault.Conflict, "UNSUBSCRIBED", "the contact has unsubscribed; only the person can take that back")
)

// MaxMoved is how many contacts one move takes.
const MaxMoved = 1000

// Moved is what a move did to one of the contacts it was asked for.
type Moved struct {
	Contact id.Contact
	Changed bool         // it was not already as it should be
	Err     *fault.Error // why it was passed over; nil: it was not
}

// Code returns the code of what kept the contact from moving; empty: nothing did.
func (m Moved) Code() string {
	if m.Err == nil {
		return ""
	}
	return m.Err.Code
}

// effect is one thing that a step made happen.
type effect struct {
	what journal.Type
	data any
}

// step moves one contact. It returns what happened by that, nothing when there
// was nothing to do, or why it cannot be.
type step func(c *Contact) ([]effect, *fault.Error)

// applyStep takes many contacts one step, in one transaction, and says what became
// of each in the order they were asked for. A contact that cannot make the step
// does not keep the others from it. It returns the contacts as they are then.
func applyStep(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time, s step) ([]Moved, []Contact, error) {
	if len(ids) > MaxMoved {
		return nil, nil, ErrLimit.Sayf("at most %d contacts at once", MaxMoved)
	}
	now = micros(now)
	var out []Moved
	var list []Contact
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if list, err = lockedByID(ctx, tx, tenant, ids); err != nil {
			return err
		}
		became := make(map[id.Contact]Moved, len(list))
		var changed []*Contact
		var activities []saved
		var entries []journal.Entry
		for i := range list {
			c := &list[i]
			before := c.Activity
			happened, refusal := s(c)
			became[c.ID] = Moved{c.ID, len(happened) > 0, refusal}
			if refusal != nil || len(happened) == 0 {
				continue
			}
			c.UpdatedAt = now
			c.evaluate(c.Status, now)
			changed = append(changed, c)
			if c.Activity != before {
				activities = append(activities, saved{c.ID, &c.Activity})
			}
			for _, h := range happened {
				entries = append(entries, journal.Entry{Tenant: tenant, Type: h.what, Contact: c.ID, At: now, Data: h.data})
			}
		}
		if err := saveStatuses(ctx, tx, tenant, changed, now); err != nil {
			return err
		}
		if err := saveActivities(ctx, tx, tenant, activities); err != nil {
			return err
		}
		out = answers(ids, became)
		return journal.Append(ctx, tx, entries...)
	})
	return out, list, err
}

// answers returns what became of contacts in the order they were asked for.
func answers(ids []id.Contact, became map[id.Contact]Moved) []Moved {
	out := make([]Moved, len(ids))
	for i, c := range ids {
		m, found := became[c]
		if !found {
			m = Moved{c, false, ErrNotFound}
		}
		out[i] = m
		m.Changed = false // when it is named again
		became[c] = m
	}
	return out
}

// saveStatuses writes what moves change of contacts' own rows.
func saveStatuses(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []*Contact, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	t := tx.Table("id UUID", "global_status TEXT", "status_before_suppress TEXT", "suppressed_at BIGINT", "unsubscribed_at BIGINT",
		"subscriptions JSONB", "category_subscriptions JSONB")
	for _, c := range list {
		types, err := json.Marshal(c.Subscriptions)
		if err != nil {
			return err
		}
		categories, err := json.Marshal(c.CategorySubscriptions)
		if err != nil {
			return err
		}
		t.Add(c.ID, c.Status, sqldb.Null(c.StatusBeforeSuppress), sqldb.NullMicros(c.SuppressedAt), sqldb.NullMicros(c.UnsubscribedAt),
			string(types), string(categories))
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact SET global_status = v.global_status, status_before_suppress = v.status_before_suppress,
			suppressed_at = v.suppressed_at, unsubscribed_at = v.unsubscribed_at,
			subscriptions = v.subscriptions, category_subscriptions = v.category_subscriptions, updated_at = $2
		FROM `+t.As("v", 3)+`
		WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now))...)
	if err != nil {
		return fmt.Errorf("save the standing of contacts: %w", err)
	}
	return nil
}
