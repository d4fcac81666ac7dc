package track

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// RecordUnsubscribe unsubscribes the contact of a message, with the proof of it if that changes
// something, and counts it for the message's send. It may be repeated.
func RecordUnsubscribe(ctx context.Context, db *sqldb.DB, m outbox.Record, scope contact.UnsubscribeScope, proof consent.Proof, now time.Time) error {
	choices := []contact.Choice{{}}
	if !scope.Everything {
		choices = choices[:0]
		if scope.TypeKey != "" {
			choices = append(choices, contact.Choice{TypeKey: scope.TypeKey})
		}
		if !scope.Category.IsZero() {
			choices = append(choices, contact.Choice{Category: scope.Category})
		}
	}
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := RecordChoices(ctx, tx, m, choices, func(contact.Choice) consent.Proof { return proof }, now)
		if errors.Is(err, contact.ErrNotFound) || errors.Is(err, contact.ErrAnonymized) { // it gets nothing anyway
			err = nil
		}
		if err != nil {
			return err
		}
		_, err = flagOnce(ctx, tx, m, Unsubscribed, journal.EmailUnsubscribed, now)
		return err
	})
}

// RecordChoices stores what the contact of a message chose by it, with the proof of each choice that
// changed something, and returns those. If it unsubscribed, that is counted for the message's send.
// The error may be contact.ErrNotFound or contact.ErrAnonymized.
func RecordChoices(ctx context.Context, db *sqldb.DB, m outbox.Record, choices []contact.Choice, proof func(contact.Choice) consent.Proof, now time.Time) ([]contact.Choice, error) {
	var changed []contact.Choice
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		changed, err = contact.Choose(ctx, tx, m.Tenant, m.Contact, choices, contact.UnsubscribeScope{Send: m.Send, Message: m.ID}, now)
		if err != nil {
			return err
		}
		left := false
		records := make([]consent.Record, len(changed))
		for i, c := range changed {
			records[i] = consent.Record{Contact: m.Contact, TypeKey: c.TypeKey, Category: c.Category, Granted: c.Subscribed, At: now, Proof: proof(c)}
			records[i].Message = m.ID
			records[i].Confirmed = c.Subscribed // the link was in a mail to the contact
			left = left || !c.Subscribed
		}
		if err := consent.Add(ctx, tx, m.Tenant, records...); err != nil || !left {
			return err
		}
		_, err = flagOnce(ctx, tx, m, Unsubscribed, journal.EmailUnsubscribed, now)
		return err
	})
	return changed, err
}

// RecordComplaint records that the contact of a message complained about it, and reports whether that is
// new. It may be repeated. The contact and the suppression list change by the journal entry.
func RecordComplaint(ctx context.Context, db *sqldb.DB, m outbox.Record, now time.Time) (fresh bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		fresh, err = flagOnce(ctx, tx, m, Complained, journal.EmailComplained, now)
		if err != nil || !fresh {
			return err
		}
		c, err := contact.ByID(ctx, tx, m.Tenant, m.Contact)
		if errors.Is(err, contact.ErrNotFound) || err == nil && c.AnonymizedAt != nil { // no more is stored about it
			return nil
		}
		if err != nil {
			return err
		}
		return consent.Add(ctx, tx, m.Tenant, consent.Record{
			Contact: m.Contact, At: now, Proof: consent.Proof{Source: consent.Complaint, Message: m.ID},
		})
	})
	return fresh && err == nil, err
}

// flagOnce sets a flag and appends its journal entry, unless the message had the flag.
func flagOnce(ctx context.Context, tx *sqldb.DB, m outbox.Record, flag Flags, entry journal.Type, now time.Time) (fresh bool, err error) {
	fresh, err = SetFlag(ctx, tx, m.Tenant, m.Send, m.ID, flag, now)
	if err != nil || !fresh {
		return false, err
	}
	return true, journal.Append(ctx, tx, journal.Entry{
		Tenant: m.Tenant, Type: entry, Contact: m.Contact, Send: m.Send, Message: m.ID, At: now,
	})
}
