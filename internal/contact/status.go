package contact

import (
	"context"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
)

// Leaving is what an unsubscribing person turns off: everything, or the category
// of an email type where it has one, else the type.
type Leaving struct {
	Everything bool
	TypeKey    string
	Category   id.Category // empty: the type is in no category
}

// Unsubscribe takes back consent. It may be called again, to no effect. A
// contact that is bounced, complained or deleted keeps that status; that it
// unsubscribed is noted all the same.
func Unsubscribe(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, l Leaving, now time.Time) error {
	now = micros(now)
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		c, err := locked(ctx, tx, tenant, `c.id = $2`, contact)
		if err != nil {
			return err
		}
		var entries []journal.Entry
		add := func(data any) {
			entries = append(entries, journal.Entry{Tenant: tenant, Type: journal.SubscriptionChanged, Contact: c.ID, At: now, Data: data})
		}
		if l.Everything {
			if c.unsubscribe(now) {
				add(map[string]any{"scope": "global", "subscribed": false})
			}
		} else {
			for _, t := range c.turn(l.change()) {
				add(t)
			}
		}
		if len(entries) == 0 {
			return nil
		}
		c.UpdatedAt = now
		if err := c.update(ctx, tx); err != nil {
			return err
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err != nil {
		return fmt.Errorf("unsubscribe a contact: %w", err)
	}
	return nil
}

// change returns the subscriptions that l turns off.
func (l Leaving) change() checked {
	ch := checked{types: map[string]*bool{}, categories: map[id.Category]*bool{}}
	if l.TypeKey != "" {
		ch.types[l.TypeKey] = new(false)
	}
	if l.Category != "" {
		ch.categories[l.Category] = new(false)
	}
	return ch
}

// unsubscribe ends every subscription and reports whether that is news.
func (c *Contact) unsubscribe(now time.Time) bool {
	changed := c.lift(Unsubscribed)
	if c.UnsubscribedAt == nil || changed {
		c.UnsubscribedAt = new(now)
		changed = true
	}
	return changed
}

// lift raises the status to s where precedence allows, and reports whether it
// did. A deleted contact remembers the higher status for its restoration.
func (c *Contact) lift(s Status) bool {
	at := &c.Status
	if c.Status == Suppressed && s != Suppressed {
		at = &c.StatusBeforeSuppress
	}
	if s.rank() <= at.rank() {
		return false
	}
	*at = s
	return true
}

// UnsubscribeAll ends every subscription of many contacts, at most 500 at a
// time, and returns those that exist. Package suppression calls it.
func UnsubscribeAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]Contact, error) {
	now = micros(now)
	var list []Contact
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if list, err = lockedByID(ctx, tx, tenant, ids); err != nil {
			return err
		}
		t := tx.Table("id TEXT", "global_status TEXT", "status_before_suppress TEXT", "unsubscribed_at BIGINT")
		var entries []journal.Entry
		for i := range list {
			c := &list[i]
			if !c.unsubscribe(now) {
				continue
			}
			c.UpdatedAt = now
			t.Add(c.ID, c.Status, sqldb.Null(c.StatusBeforeSuppress), sqldb.NullMicros(c.UnsubscribedAt))
			entries = append(entries, journal.Entry{
				Tenant: tenant, Type: journal.SubscriptionChanged, Contact: c.ID, At: now,
				Data: map[string]any{"scope": "global", "subscribed": false},
			})
		}
		if t.Len() == 0 {
			return nil
		}
		_, err = tx.Exec(ctx, `
			UPDATE contact SET global_status = v.global_status, status_before_suppress = v.status_before_suppress,
				unsubscribed_at = v.unsubscribed_at, updated_at = $2
			FROM `+t.As("v", 3)+`
			WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now))...)
		if err != nil {
			return err
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err != nil {
		return nil, fmt.Errorf("unsubscribe contacts: %w", err)
	}
	return list, nil
}

func lockedByID(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+selected+` FROM `+source+`
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` ORDER BY c.id`+tx.ForUpdate(), tenant, sqldb.List(tx, ids))
	return sqldb.Collect(rows, err, func(row func(...any) error) (Contact, error) { return scan(row) })
}
