package wire

import (
	"context"
	"encoding/json"
	"regexp"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Audited calls do and writes an entry about it to the audit log, in one transaction.
func Audited(ctx context.Context, db *sqldb.DB, p auth.Principal, action, target string, now time.Time, do func(tx *sqldb.DB) (targetID string, err error)) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		targetID, err := do(tx)
		if err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did(target+"."+action, target, targetID, now))
	})
}

// Update is an update of a record that is written to the audit log with the fields that it changes.
type Update struct {
	Action, Target, ID string
	Table              revision.Table
	Key                any      // of the record in the table; nil: Begin takes all locks
	Secrets            []string // fields that the request sets, whose values are not told
	// Begin takes the locks that come before the record's; nil: none.
	Begin func(tx *sqldb.DB) error
	// Show returns the record as it is now, without secrets and without what follows from other fields.
	Show func(tx *sqldb.DB) (any, error)
	Do   func(tx *sqldb.DB) error
	// HideAddresses replaces email addresses, which may be those of contacts.
	HideAddresses bool
}

var addresses = regexp.MustCompile(`[^\s"@\\<>]+@[^\s"@\\<>]+`)

// lock takes the locks of the update.
func (u Update) lock(ctx context.Context, tx *sqldb.DB, p auth.Principal) error {
	if u.Begin != nil {
		if err := u.Begin(tx); err != nil {
			return err
		}
	}
	if u.Key == nil {
		return nil
	}
	return u.Table.Lock(ctx, tx, p.Tenant, u.Key)
}

// shown returns the record in JSON.
func (u Update) shown(tx *sqldb.DB) (json.RawMessage, error) {
	record, err := u.Show(tx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(record)
	if u.HideAddresses {
		text = addresses.ReplaceAll(text, []byte("…@…"))
	}
	return text, err
}

// entry returns the entry of the audit log.
func (u Update) entry(p auth.Principal, before, after any, now time.Time) (auth.AuditEntry, error) {
	entry := p.Did(u.Target+"."+u.Action, u.Target, u.ID, now)
	var err error
	entry.Changes, err = auth.Changes(before, after)
	for _, field := range u.Secrets {
		entry.Changes = append(entry.Changes, auth.AuditChange{Field: field})
	}
	return entry, err
}

// AuditedUpdate makes an update and writes an entry with the values before and after to the audit log, in one transaction.
// The record is locked before it is read, so that the values before are those that the update replaces.
func AuditedUpdate(ctx context.Context, db *sqldb.DB, p auth.Principal, u Update, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := u.lock(ctx, tx, p); err != nil {
			return err
		}
		before, err := u.shown(tx)
		if err != nil {
			return err
		}
		if err := u.Do(tx); err != nil {
			return err
		}
		after, err := u.shown(tx)
		if err != nil {
			return err
		}
		entry, err := u.entry(p, before, after, now)
		if err != nil {
			return err
		}
		return auth.Audit(ctx, tx, entry)
	})
}

// AuditRevision compares the revision of a record that an update has read with the one that it is about to store, and
// returns what writes the entry in the transaction that replaces that very revision. It is for updates that take long and
// so begin their transaction last. Of u, only what names the record is used.
func AuditRevision(p auth.Principal, u Update, before, after any, now time.Time) (func(ctx context.Context, tx *sqldb.DB) error, error) {
	entry, err := u.entry(p, before, after, now)
	return func(ctx context.Context, tx *sqldb.DB) error { return auth.Audit(ctx, tx, entry) }, err
}
