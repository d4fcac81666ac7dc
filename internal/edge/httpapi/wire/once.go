package wire

import (
	"context"
	"encoding/json"
	"regexp"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// resource is the operations on a kind of record. On returns them on another handle.
type resource[A any] interface{ On(db *sqldb.DB) A }

// Once returns an operation that runs in one transaction, together with the storing of its response, if the
// request has an Idempotency-Key. It must change only the database, and be quick: on SQLite, no other
// transaction runs meanwhile. Other operations call endpoint.Remember in their own transactions.
func Once[A resource[A], In, Out any](api A, db *sqldb.DB, op func(A, context.Context, auth.Principal, *In) (Out, error)) func(context.Context, auth.Principal, *In) (Out, error) {
	return func(ctx context.Context, p auth.Principal, in *In) (out Out, err error) {
		if !endpoint.HasKey(ctx) {
			return op(api, ctx, p, in)
		}
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			if out, err = op(api.On(tx), ctx, p, in); err != nil {
				return err
			}
			return endpoint.Remember(ctx, tx, out)
		})
		return out, err
	}
}

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
	Key                any      // of the record in the table
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

// AuditedUpdate makes an update and writes an entry with the values before and after to the audit log, in one transaction.
// The record is locked before it is read, so that the values before are those that the update replaces.
func AuditedUpdate(ctx context.Context, db *sqldb.DB, p auth.Principal, u Update, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if u.Begin != nil {
			if err := u.Begin(tx); err != nil {
				return err
			}
		}
		if err := u.Table.Lock(ctx, tx, p.Tenant, u.Key); err != nil {
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
		entry := p.Did(u.Target+"."+u.Action, u.Target, u.ID, now)
		if entry.Changes, err = auth.Changes(before, after); err != nil {
			return err
		}
		for _, field := range u.Secrets {
			entry.Changes = append(entry.Changes, auth.AuditChange{Field: field})
		}
		return auth.Audit(ctx, tx, entry)
	})
}
