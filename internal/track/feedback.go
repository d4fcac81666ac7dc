package track

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// RecordUnsubscribe unsubscribes the contact of a message and counts that for its send. It may be
// repeated.
func RecordUnsubscribe(ctx context.Context, db *sqldb.DB, m outbox.Record, scope contact.UnsubscribeScope, now time.Time) error {
	scope.Send, scope.Message = m.Send, m.ID
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		err := contact.Unsubscribe(ctx, tx, m.Tenant, m.Contact, scope, now)
		if err != nil && !errors.Is(err, contact.ErrNotFound) { // a contact that is gone gets nothing anyway
			return err
		}
		return flagOnce(ctx, tx, m, Unsubscribed, journal.EmailUnsubscribed, now)
	})
}

// RecordComplaint records that the contact of a message complained about it. It may be repeated. The
// contact and the suppression list change by the journal entry.
func RecordComplaint(ctx context.Context, db *sqldb.DB, m outbox.Record, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		return flagOnce(ctx, tx, m, Complained, journal.EmailComplained, now)
	})
}

// flagOnce sets a flag and appends its journal entry, unless the message had the flag.
func flagOnce(ctx context.Context, tx *sqldb.DB, m outbox.Record, flag Flags, entry journal.Type, now time.Time) error {
	fresh, err := SetFlag(ctx, tx, m.Tenant, m.Send, m.ID, flag, now)
	if err != nil || !fresh {
		return err
	}
	return journal.Append(ctx, tx, journal.Entry{
		Tenant: m.Tenant, Type: entry, Contact: m.Contact, Send: m.Send, Message: m.ID, At: now,
	})
}
