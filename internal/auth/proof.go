package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Anybody may claim an address: by signing up with it, or by inviting it and
// following the link they are shown. Such a login is not proven. It is when its
// user follows a link that was mailed to the address and shown to nobody else, or
// when the operator makes it or gives it a password.
//
// A login that is not proven opens only what its present holder was let into:
//
//   - The operator adds it to a tenant (Vouch): its sessions end, its password is
//     void, and a new link makes the password.
//   - An invitation is accepted with its password: the holder has it and the link.
//   - An invitation is accepted without it: the login is in new hands, and its
//     memberships in other tenants are withheld, until they are granted anew or
//     the login is proven.

// ConfirmEmail makes a login that is not proven the operator's own: its sessions end, the
// password is the given one or, without one, void, and the login counts as
// proven. It reports whether that was needed; a proven login stays as it is.
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

// lockUser returns the user and keeps the row.
func lockUser(ctx context.Context, tx *sqldb.DB, user id.User) (User, error) {
	return oneUser(tx.QueryRow(ctx, `
		SELECT`+userColumns+`FROM app_user WHERE id = $1`+tx.ForUpdate()+` /* all tenants: a user belongs to the installation */`, user))
}

// setProven notes that the user holds the address. What was withheld opens again.
func setProven(ctx context.Context, tx *sqldb.DB, user id.User, now time.Time) error {
	if _, err := tx.Exec(ctx, `
		UPDATE app_user SET proven_at = COALESCE(proven_at, $2)
		WHERE id = $1 /* all tenants: a user belongs to the installation */`, user, now.UnixMicro()); err != nil {
		return fmt.Errorf("note that a login is proven: %w", err)
	}
	if _, err := tx.Exec(ctx, `
		UPDATE membership SET withheld = false
		WHERE user_id = $1 AND withheld /* all tenants: a person works in several */`, user); err != nil {
		return fmt.Errorf("open memberships again: %w", err)
	}
	return nil
}

// suspendMemberships closes the memberships of a login that is in new hands, all but the
// one in the tenant that let the new holder in.
func suspendMemberships(ctx context.Context, tx *sqldb.DB, user id.User, but id.Tenant, by By, now time.Time) error {
	rows, err := tx.Query(ctx, `
		UPDATE membership SET withheld = true
		WHERE user_id = $1 AND tenant_id <> $2 AND status <> 'invited' AND NOT withheld
		RETURNING tenant_id /* all tenants: a person works in several */`, user, but)
	closed, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		return t, scan(&t)
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
