package contact

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Rules are what a write must know from elsewhere.
type Rules struct {
	Types Types
	Limit *int // billable contacts the tenant may have; nil: any number
	// Listed tells which addresses are on the suppression list.
	Listed func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) (map[string]bool, error)
}

// existing are the details of ErrDuplicateEmail.
type existing struct {
	ContactID    id.Contact `json:"contact_id"`
	GlobalStatus Status     `json:"global_status"`
}

// Create makes a contact. An address that a contact has already is refused,
// unless that contact is pending: then the change is merged into it and it
// becomes active.
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time) (Contact, error) {
	o, err := saveOne(ctx, db, tenant, Draft{Email: email, Mode: Creating, Change: ch}, r, now)
	return o.Contact, err
}

// Upsert makes a contact or merges the change into the one with the address,
// and reports whether it was made. A soft-deleted contact stays deleted;
// a pending one becomes active.
func Upsert(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time) (Contact, bool, error) {
	o, err := saveOne(ctx, db, tenant, Draft{Email: email, Change: ch}, r, now)
	return o.Contact, o.Created, err
}

// Update changes the contact with an id.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, ch Change, r Rules, now time.Time) (Contact, error) {
	o, err := saveOne(ctx, db, tenant, Draft{ID: contact, Change: ch}, r, now)
	return o.Contact, err
}

func saveOne(ctx context.Context, db *sqldb.DB, tenant id.Tenant, d Draft, r Rules, now time.Time) (Outcome, error) {
	list, err := SaveAll(ctx, db, tenant, []Draft{d}, r, now)
	if err != nil {
		return Outcome{}, err
	}
	return list[0], list[0].Err
}
