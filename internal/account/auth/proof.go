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
// mailed to the address, when the operator creates it or sets its password, or when it is that of the first
// user, who has the link from the operator's log.
//
// A login that is not proven gives access only to what its current holder was granted, and only its holder
// or a proof replaces its password:
//
//   - The operator adds it to a tenant (ConfirmEmail): its sessions end, its password is voided, and a new link sets the password.
//   - An invitation that others have seen is accepted with its password or in its session: the holder has both the login and the link.
//   - An invitation that was mailed is accepted: the link proves the login and sets its password, and older sessions end.

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

// setProven marks the login as proven. It also restores memberships that are withheld, which former versions
// did when somebody replaced the password by an invitation that others had seen.
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
	return announceUser(ctx, tx, user)
}
