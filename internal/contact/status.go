package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// UnsubscribeScope is what an unsubscribing person turns off: everything, or the category
// of an email type where it has one, else the type.
type UnsubscribeScope struct {
	Everything bool
	TypeKey    string
	Category   id.Category // empty: the type is in no category
}

// Unsubscribe takes back consent. It may be called again, to no effect. A
// contact that is bounced, complained or deleted keeps that status; that it
// unsubscribed is noted all the same.
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

// unsubscribeStep is the step of a contact that turns off what l says.
func (l UnsubscribeScope) unsubscribeStep(now time.Time) step {
	return func(c *Contact) ([]effect, *fault.Error) {
		if c.AnonymizedAt != nil { // it gets nothing, and nothing more is to be known of it
			return nil, nil
		}
		if !l.Everything {
			return subscriptionEffects(c.subscriptionTurns(l.change(false))), nil
		}
		if !c.unsubscribe(now) {
			return nil, nil
		}
		return []effect{{journal.SubscriptionChanged, globally{"global", false}}}, nil
	}
}

// globally is the data of a journal entry about all of a contact's mail.
type globally struct {
	Scope      string `json:"scope"` // "global"
	Subscribed bool   `json:"subscribed"`
}

func subscriptionEffects(list []subscriptionTurn) []effect {
	out := make([]effect, len(list))
	for i, t := range list {
		out[i] = effect{journal.SubscriptionChanged, t}
	}
	return out
}

// Subscribe gives consent, to what l says; with Everything that is no more than
// the end of an unsubscription. A status of unsubscribed is lifted only byPerson:
// when the contact itself, or a person on its behalf, says so. Otherwise consent
// to everything is refused (ErrUnsubscribed), and consent to a type is noted
// without lifting anything. A pending contact becomes active; bounces and
// complaints stay.
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
			out = subscriptionEffects(c.subscriptionTurns(l.change(true)))
		}
		if byPerson && c.resubscribe() {
			out = append(out, effect{journal.SubscriptionChanged, globally{"global", true}})
		}
		if c.Status == Pending {
			c.Status = Active
			out = append(out, effect{journal.ContactUpdated, updatedFields("global_status")})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe contacts: %w", err)
	}
	return moved, nil
}

// updatedFields is the data of a journal entry that says which fields changed.
func updatedFields(fields ...string) map[string]any { return map[string]any{"fields": fields} }

// ResetStatus makes contacts active that bounced, complained or unsubscribed,
// and forgets their bounces. Deleted contacts are refused (ErrTransition). What
// the suppression list holds of them is package suppression's to forget.
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
		c.forgetBounces()
		out := []effect{{journal.ContactUpdated, updatedFields("global_status")}}
		if from == Unsubscribed {
			out = append(out, effect{journal.SubscriptionChanged, globally{"global", true}})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reset the status of contacts: %w", err)
	}
	return moved, nil
}

// change returns the subscriptions that l means, turned on or off.
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

// resubscribe takes back an unsubscription, which may hide behind a worse
// status, and reports whether there was one.
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

// UnsubscribeAll ends every subscription of many contacts and returns those
// that exist. Package suppression calls it.
func UnsubscribeAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]Contact, error) {
	_, list, err := applyStep(ctx, db, tenant, ids, now, UnsubscribeScope{Everything: true}.unsubscribeStep(micros(now)))
	if err != nil {
		return nil, fmt.Errorf("unsubscribe contacts: %w", err)
	}
	return list, nil
}

// keptOnly keeps contacts' own rows until the transaction ends.
func keptOnly(tx *sqldb.DB) string {
	if tx.Dialect() == sqldb.Postgres {
		return " FOR UPDATE OF c"
	}
	return ""
}

// lockedByID reads contacts and keeps their rows, and their activities, for the
// transaction.
func lockedByID(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	if err := lockOrCreateActivities(ctx, tx, tenant, ids); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT `+selected+` FROM `+source+`
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` ORDER BY c.id`+keptOnly(tx), tenant, sqldb.List(tx, ids))
	return sqldb.Collect(rows, err, newReader().read)
}
