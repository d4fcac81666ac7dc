package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// UnsubscribeScope is what a contact unsubscribes from: everything, or the category of an
// email type, or the type if it has no category.
type UnsubscribeScope struct {
	Everything bool
	TypeKey    string
	Category   id.Category // empty: the type is in no category

	Send    id.Send // of the mail by which the contact unsubscribes; zero: none
	Message id.Message
}

// Unsubscribe unsubscribes a contact. A second call has no effect. A contact that is
// bounced, complained or deleted keeps that status, but its unsubscription is stored too.
func Unsubscribe(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, l UnsubscribeScope, now time.Time) error {
	moved, err := UnsubscribeMany(ctx, db, tenant, []id.Contact{contact}, l, now)
	if err != nil {
		return err
	}
	if moved[0].Err != nil {
		return fmt.Errorf("unsubscribe a contact: %w", moved[0].Err)
	}
	return nil
}

// UnsubscribeMany is Unsubscribe of many contacts.
func UnsubscribeMany(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, l UnsubscribeScope, now time.Time) ([]Moved, error) {
	moved, _, err := applyStep(ctx, db, tenant, ids, now, l.unsubscribeStep(micros(now)))
	if err != nil {
		return nil, fmt.Errorf("unsubscribe contacts: %w", err)
	}
	return moved, nil
}

// unsubscribeStep returns the step that unsubscribes a contact from l.
func (l UnsubscribeScope) unsubscribeStep(now time.Time) step {
	return func(c *Contact) ([]effect, *fault.Error) {
		if c.AnonymizedAt != nil { // it gets no mail, and no more data is stored about it
			return nil, nil
		}
		if !l.Everything {
			return l.by(subscriptionEffects(c.changeSubscriptions(l.change(false)))), nil
		}
		if !c.unsubscribe(now) {
			return nil, nil
		}
		return l.by([]effect{{what: journal.SubscriptionChanged, data: globalChange{"global", false}}}), nil
	}
}

// by sets the mail that caused the effects.
func (l UnsubscribeScope) by(list []effect) []effect {
	for i := range list {
		list[i].send, list[i].message = l.Send, l.Message
	}
	return list
}

// globalChange is the data of a journal entry about all of a contact's mail.
type globalChange struct {
	Scope      string `json:"scope"` // "global"
	Subscribed bool   `json:"subscribed"`
}

func subscriptionEffects(list []subscriptionChange) []effect {
	out := make([]effect, len(list))
	for i, t := range list {
		out[i] = effect{what: journal.SubscriptionChanged, data: t}
	}
	return out
}

// Subscribe subscribes contacts to the type or category of l; with Everything it only ends
// an unsubscription from everything. That is allowed only byPerson: if the contact itself,
// or a user on its behalf, requests it. Otherwise Everything fails (ErrUnsubscribed) for an
// unsubscribed contact, and a subscription to a type is stored without changing its status.
// A pending contact becomes active; bounces and complaints stay.
func Subscribe(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, l UnsubscribeScope, byPerson bool, now time.Time) ([]Moved, error) {
	moved, _, err := applyStep(ctx, db, tenant, ids, now, func(c *Contact) ([]effect, *fault.Error) {
		if c.AnonymizedAt != nil {
			return nil, ErrAnonymized
		}
		if l.Everything && !byPerson && (c.Status == Unsubscribed || c.UnsubscribedAt != nil) {
			return nil, ErrUnsubscribed
		}
		var out []effect
		if !l.Everything {
			out = subscriptionEffects(c.changeSubscriptions(l.change(true)))
		}
		if byPerson && c.resubscribe() {
			out = append(out, effect{what: journal.SubscriptionChanged, data: globalChange{"global", true}})
		}
		if c.Status == Pending {
			c.Status = Active
			out = append(out, effect{what: journal.ContactUpdated, data: updatedFields("global_status")})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe contacts: %w", err)
	}
	return moved, nil
}

// updatedFields is the data of a journal entry about changed fields.
func updatedFields(fields ...string) map[string]any { return map[string]any{"fields": fields} }

// ResetStatus sets bounced, complained and unsubscribed contacts to active and clears their
// bounces. It fails for deleted contacts (ErrTransition). It does not change the
// suppression list; see suppression.ResetStatus.
func ResetStatus(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]Moved, error) {
	moved, _, err := applyStep(ctx, db, tenant, ids, now, func(c *Contact) ([]effect, *fault.Error) {
		switch c.Status {
		case Suppressed:
			return nil, ErrTransition.Sayf("the contact is deleted")
		case Active, Pending:
			return nil, nil
		}
		from := c.Status
		c.Status, c.UnsubscribedAt = Active, nil
		c.clearBounces(now)
		out := []effect{{what: journal.ContactUpdated, data: updatedFields("global_status")}}
		if from == Unsubscribed {
			out = append(out, effect{what: journal.SubscriptionChanged, data: globalChange{"global", true}})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reset the status of contacts: %w", err)
	}
	return moved, nil
}

// change returns the change that turns the subscriptions of l on or off.
func (l UnsubscribeScope) change(on bool) checked {
	ch := checked{types: map[string]*bool{}, categories: map[id.Category]*bool{}}
	if l.TypeKey != "" {
		ch.types[l.TypeKey] = &on
	}
	if !l.Category.IsZero() {
		ch.categories[l.Category] = &on
	}
	return ch
}

// unsubscribe unsubscribes the contact from everything and reports whether that changed it.
func (c *Contact) unsubscribe(now time.Time) bool {
	changed := c.raiseStatus(Unsubscribed)
	if c.UnsubscribedAt == nil || changed {
		c.UnsubscribedAt = new(now)
		changed = true
	}
	return changed
}

// raiseStatus sets the status to s if that has a higher rank, and reports whether it did.
// Of a deleted contact it sets the status to restore.
func (c *Contact) raiseStatus(s Status) bool {
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

// adopt applies a status that the contact has elsewhere, unless its own ranks higher, and reports whether
// that changed the contact, with the journal entries that say more than that it did.
func (c *Contact) adopt(s Status, now time.Time) (list []effect, changed bool) {
	switch {
	case s.rank() <= Active.rank(): // also where it would rank above the status to restore
		return nil, false
	case s == Suppressed:
		list = c.delete(now)
		return list, len(list) > 0
	case s == Unsubscribed && c.unsubscribe(now):
		return []effect{{what: journal.SubscriptionChanged, data: globalChange{"global", false}}}, true
	}
	return nil, c.raiseStatus(s)
}

// resubscribe ends an unsubscription from everything, also if the status has a higher rank,
// and reports whether there was one.
func (c *Contact) resubscribe() bool {
	at := &c.Status
	if c.Status == Suppressed {
		at = &c.StatusBeforeSuppress
	}
	changed := c.UnsubscribedAt != nil
	if *at == Unsubscribed {
		*at, changed = Active, true
	}
	c.UnsubscribedAt = nil
	return changed
}

// UnsubscribeAll unsubscribes contacts from everything and returns those that exist.
// Package suppression calls it.
func UnsubscribeAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]Contact, error) {
	_, list, err := applyStep(ctx, db, tenant, ids, now, UnsubscribeScope{Everything: true}.unsubscribeStep(micros(now)))
	if err != nil {
		return nil, fmt.Errorf("unsubscribe contacts: %w", err)
	}
	return list, nil
}

// forUpdateOfContact locks contacts' own rows, not those of joined tables.
func forUpdateOfContact(tx *sqldb.DB) string {
	if tx.Dialect() == sqldb.Postgres {
		return " FOR UPDATE OF c"
	}
	return ""
}

// lockByID reads contacts and locks their rows and activities until the transaction ends.
func lockByID(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	if err := lockOrCreateActivities(ctx, tx, tenant, ids); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT `+contactSelect+` FROM `+contactSource+`
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` ORDER BY c.id`+forUpdateOfContact(tx), tenant, sqldb.List(tx, ids))
	return sqldb.Collect(rows, err, newReader().read)
}
