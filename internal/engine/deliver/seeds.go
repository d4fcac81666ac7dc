package deliver

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
)

// seeds returns the addressees of seed copies, as contacts of which only the address is known. A seed
// that is not active any more has none.
func (e *Engine) seeds(ctx context.Context, tenant id.Tenant, items []outbox.Item) ([]contact.Contact, error) {
	ids := make([]id.Seed, len(items))
	for i, it := range items {
		ids[i] = outbox.SeedOf(it.Contact)
	}
	found, err := seedlist.SeedsByID(ctx, e.DB, tenant, ids)
	if err != nil {
		return nil, err
	}
	var list []contact.Contact
	for _, s := range found {
		if s.Status == seedlist.Active {
			list = append(list, contact.Contact{
				ID: outbox.ForSeed(s.ID), Tenant: tenant, Email: s.Email, EmailDomain: address.Domain(s.Email), Status: contact.Active,
				CustomFields: map[string]any{},
			})
		}
	}
	return list, nil
}

// inert reports whether the links and the pixel of a message record nothing.
func (j *job) inert() bool { return j.isTest() || j.item.Kind == outbox.KindSeedCopy }
