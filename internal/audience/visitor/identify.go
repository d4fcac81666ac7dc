package visitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// identify applies an identify call: it finds or creates the contact, changes it, and links
// the visitor to it. A call that cannot be applied changes nothing.
func (b *batch) identify(ctx context.Context, v *visitor, r Request) error {
	email, err := address.Normalize(r.Email)
	if err != nil {
		return nil
	}
	d, strength, err := b.draft(ctx, r, email)
	if err != nil {
		return err
	}
	if strength == Claimed {
		if full, err := b.pendingFull(ctx, email); err != nil || full {
			return err
		}
	}
	saved, err := contact.SaveAll(ctx, b.tx, b.account.ID, []contact.Draft{d}, *b.rules, r.At)
	if err != nil {
		return err
	}
	o := saved[0]
	if o.Err != nil {
		if _, is := fault.As(o.Err); is { // such as the tenant's limit of contacts
			b.engine.Log.Debug("identify call not applied", "tenant", b.account.ID, "err", o.Err)
			return nil
		}
		return o.Err
	}
	if o.Created && strength == Claimed {
		b.add.pending++
		*b.pending--
	}
	return b.link(ctx, v, o.Contact.ID, strength, r.At)
}

// draft returns the change that an identify call makes, and how far it proves who the visitor
// is. A token identifies a contact, whatever the address; an invalid token or hash counts as
// none.
func (b *batch) draft(ctx context.Context, r Request, email string) (contact.Draft, Strength, error) {
	if err := b.loadRules(ctx); err != nil {
		return contact.Draft{}, 0, err
	}
	ch := b.traits(r.Traits)
	ch.SourceIfNew = contact.FromVisitor
	d := contact.Draft{Email: email, Change: ch}
	if r.IdentityToken != "" || r.EmailHash != "" {
		signer, err := b.signer(ctx, r.At)
		if err != nil {
			return contact.Draft{}, 0, err
		}
		if c, ok := signer.VerifyToken(r.IdentityToken, r.At); ok {
			switch known, err := contact.ByID(ctx, b.tx, b.account.ID, c); {
			case err == nil && known.AnonymizedAt == nil:
				return contact.Draft{ID: c, Change: ch}, Verified, nil
			case err != nil && !errors.Is(err, contact.ErrNotFound):
				return contact.Draft{}, 0, err
			}
		}
		if r.EmailHash != "" && signer.VerifyEmailHash(r.Email, r.EmailHash) {
			return d, Verified, nil
		}
	}
	d.Change.Unverified = true
	return d, Claimed, nil
}

// signer returns the tenant's signer at the time of a request.
func (b *batch) signer(ctx context.Context, at time.Time) (auth.IdentitySigner, error) {
	minute := at.Truncate(time.Minute)
	if s, ok := b.signers[minute]; ok {
		return s, nil
	}
	s, err := auth.LoadIdentitySigner(ctx, b.tx, b.engine.Box, b.account.ID, at)
	if err != nil {
		return s, err
	}
	if b.signers == nil {
		b.signers = map[time.Time]auth.IdentitySigner{}
	}
	b.signers[minute] = s
	return s, nil
}

// loadRules reads what identify calls need to change contacts.
func (b *batch) loadRules(ctx context.Context) error {
	if b.rules != nil {
		return nil
	}
	q := b.tx.Batch()
	rules, fields := sender.QueueContactRules(q, b.account.ID), field.QueueLoad(q, b.account.ID)
	if err := q.Run(ctx); err != nil {
		return fmt.Errorf("read the rules of contacts: %w", err)
	}
	r, err := rules()
	b.rules, b.fields = &r, fields
	return err
}

// withheld are the text columns that a website may not set.
var withheld = []contact.Text{contact.ExternalID, contact.Source}

// traits returns the change of a call's traits. Traits that are unknown or not valid are
// ignored, so that one of them does not cost the others.
func (b *batch) traits(traits map[string]json.RawMessage) contact.Change {
	ch := contact.Change{Texts: map[contact.Text]*string{}, CustomFields: map[string]any{}}
	for _, name := range slices.Sorted(maps.Keys(traits)) {
		t, known := contact.ParseText(name)
		var s string
		if !known || slices.Contains(withheld, t) || json.Unmarshal(traits[name], &s) != nil || s == "" {
			continue
		}
		one := contact.Draft{Email: "a@example.com", Change: contact.Change{Texts: map[contact.Text]*string{t: &s}}}
		if one.Check() == nil {
			ch.Texts[t] = &s
		}
	}
	var fields map[string]any
	if raw := traits["custom_fields"]; len(raw) == 0 || json.Unmarshal(raw, &fields) != nil || len(fields) > maxTraits {
		return ch
	}
	for key, v := range fields {
		if f, known := b.fields[key]; !known || f.Type == field.Contact || v == nil {
			continue // references to other contacts are not for visitors to make
		}
		if _, err := b.fields.Check(map[string]any{key: v}); err == nil {
			ch.CustomFields[key] = v
		}
	}
	return ch
}
