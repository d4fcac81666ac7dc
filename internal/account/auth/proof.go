package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Anyone can claim an address: by signing up with it, or by inviting it and following the link they
// get. Such a login is not proven. It becomes proven when its user follows a link that was only
// mailed to the address, or when the operator creates it or sets its password.
//
// A login that is not proven gives access only to what its current holder was granted:
//
//   - The operator adds it to a tenant (ConfirmEmail): its sessions end, its password is voided, and a new link sets the password.
//   - An invitation is accepted with its password: the holder has both the password and the link.
//   - An invitation is accepted without it: the login has a new holder, and its memberships in other tenants are withheld, until they are granted again or the login is proven.

// ConfirmEmail makes a login that is not proven a proven one, on behalf of the operator: its
// sessions end, and its password is replaced by the given one or, without one, voided. It reports
// whether that was necessary; a proven login is not changed.
func ConfirmEmail(ctx context.Context, db *sqldb.DB, user id.User, passwordHash string, now time.Time) (bool, error) {
	var needed bool
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		u, err := lockUser(ctx, tx, user)
		if err != nil {
			return err
		}
		if needed = !u.Proven(); !needed {
			return nil
		}
		if err := setPassword(ctx, tx, user, passwordHash, id.Session{}); err != nil {
			return err
		}
		if err := revokeTokens(ctx, tx, forReset, user); err != nil {
			return err
		}
		if err := forgetAddresses(ctx, tx, user); err != nil {
			return err
		}
		return setProven(ctx, tx, user, now)
	})
	return needed, err
}

// lockUser returns the user and locks the row.
func lockUser(ctx context.Context, tx *sqldb.DB, user id.User) (User, error) {
	return oneUser(tx.QueryRow(ctx, `
		SELECT`+userColumns+`FROM app_user WHERE id = $1`+tx.ForUpdate()+` /* all tenants: a user belongs to the installation */`, user))
}

// setProven marks the login as proven and ends the withholding of its memberships.
func setProven(ctx context.Context, tx *sqldb.DB, user id.User, now time.Time) error {
	if _, err := tx.Exec(ctx, `
		UPDATE app_user SET proven_at = COALESCE(proven_at, $2)
		WHERE id = $1 /* all tenants: a user belongs to the installation */`, user, now.UnixMicro()); err != nil {
		return fmt.Errorf("mark a login as proven: %w", err)
	}
	if _, err := tx.Exec(ctx, `
		UPDATE membership SET withheld = false
		WHERE user_id = $1 AND withheld /* all tenants: a person works in several */`, user); err != nil {
		return fmt.Errorf("restore memberships: %w", err)
	}
	return nil
}

// suspendMemberships withholds the memberships of a login with a new holder, except for the one in
// the tenant that invited the holder.
func suspendMemberships(ctx context.Context, tx *sqldb.DB, user id.User, but id.Tenant, by By, now time.Time) error {
	rows, err := tx.Query(ctx, `
		UPDATE membership SET withheld = true
		WHERE user_id = $1 AND tenant_id <> $2 AND status <> 'invited' AND NOT withheld
		RETURNING tenant_id /* all tenants: a person works in several */`, user, but)
	closed, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		err = scan(&t)
		return t, err
	})
	if err != nil {
		return fmt.Errorf("withhold memberships: %w", err)
	}
	for _, t := range closed {
		if err := Audit(ctx, tx, by.Did(t, "member.withhold", "user", user.String(), now)); err != nil {
			return err
		}
	}
	return nil
}
