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

// Choice is what a contact chose for an email type or a category; without both, for all mail.
type Choice struct {
	TypeKey    string
	Category   id.Category
	Subscribed bool
}

// Choose stores the choices that a contact itself made, and returns those that changed something. by
// has the mail whose link it used. A subscription ends an unsubscription from all mail, and activates a
// pending contact; bounces, complaints and the suppression list stay. The error is ErrNotFound, or
// ErrAnonymized.
func Choose(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, choices []Choice, by UnsubscribeScope, now time.Time) ([]Choice, error) {
	ch := checked{types: map[string]*bool{}, categories: map[id.Category]*bool{}}
	var all, subscribed *bool // to all mail; to anything
	for _, c := range choices {
		switch {
		case c.TypeKey != "":
			ch.types[c.TypeKey] = new(c.Subscribed)
		case !c.Category.IsZero():
			ch.categories[c.Category] = new(c.Subscribed)
		default:
			all = new(c.Subscribed)
		}
		if c.Subscribed {
			subscribed = new(true)
		}
	}
	var changed []Choice
	moved, _, err := applyStep(ctx, db, tenant, []id.Contact{contact}, now, func(c *Contact) ([]effect, *fault.Error) {
		changed = nil
		if c.AnonymizedAt != nil {
			return nil, ErrAnonymized
		}
		list := c.changeSubscriptions(ch)
		out := subscriptionEffects(list)
		for _, s := range list {
			changed = append(changed, Choice{s.TypeKey, s.Category, *s.Subscribed})
		}
		switch {
		case subscribed != nil && c.resubscribe():
			changed = append(changed, Choice{Subscribed: true})
			out = append(out, effect{what: journal.SubscriptionChanged, data: globalChange{"global", true}})
		case subscribed == nil && all != nil && c.unsubscribe(micros(now)):
			changed = append(changed, Choice{})
			out = append(out, effect{what: journal.SubscriptionChanged, data: globalChange{"global", false}})
		}
		if subscribed != nil && c.Status == Pending {
			c.Status = Active
			out = append(out, effect{what: journal.ContactUpdated, data: updatedFields("global_status")})
		}
		return by.by(out), nil
	})
	if err == nil && moved[0].Err != nil {
		err = moved[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("store what a contact chose: %w", err)
	}
	return changed, nil
}
