package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// CheckInvitation validates the address and the role of an invitation.
func CheckInvitation(email string, role Role) error {
	_, err := checkInvitation(email, role)
	return err
}

// checkInvitation is CheckInvitation, and returns the normalized address.
func checkInvitation(email string, role Role) (string, error) {
	var problems fault.Problems
	email = checkEmail(&problems, "email", email)
	if !role.Valid() {
		problems.Add("role", "must be viewer, editor, admin or owner")
	}
	return email, problems.Err()
}

// Invite makes the person with an email a member when they follow the link with the returned token.
// Inviting again creates a new link and revokes the old one. Only owners may invite owners. Mailed
// means that only the owner of the address gets the link, so that following it proves the login.
func Invite(ctx context.Context, db *sqldb.DB, p Principal, email string, role Role, mailed bool, now time.Time) (Member, string, error) {
	email, err := checkInvitation(email, role)
	if err != nil {
		return Member{}, "", err
	}
	if role == Owner && !p.Role.AtLeast(Owner) {
		return Member{}, "", ErrForbidden.Sayf("only an owner may invite owners")
	}
	var m Member
	var token string
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		u, err := UserByEmail(ctx, tx, email)
		if errors.Is(err, ErrNoUser) {
			name, _, _ := strings.Cut(email, "@") // until they choose a name
			u = newUser(email, name, "", now)
			err = insertUser(ctx, tx, u)
		}
		if err != nil {
			return err
		}
		switch was, err := MemberOf(ctx, tx, p.Tenant, u.ID); {
		case errors.Is(err, ErrNoUser):
		case err != nil:
			return err
		case was.Role == Owner && !p.Role.AtLeast(Owner):
			return ErrForbidden.Sayf("only an owner may change owners")
		case was.Status != MemberInvited:
			return ErrMember
		}
		if err := upsertMember(ctx, tx, p.Tenant, u.ID, role, MemberInvited, now); err != nil {
			return err
		}
		if err := revokeInvitations(ctx, tx, p.Tenant, u.ID); err != nil {
			return err
		}
		if token, err = issueToken(ctx, tx, oneTime{purpose: forInvite, user: u.ID, tenant: p.Tenant, proves: mailed}, inviteAge, now); err != nil {
			return err
		}
		if m, err = MemberOf(ctx, tx, p.Tenant, u.ID); err != nil {
			return err
		}
		return Audit(ctx, tx, p.Did("member.invite", "user", u.ID.String(), now))
	})
	if err != nil {
		return Member{}, "", err
	}
	return m, token, nil
}

// revokeInvitations revokes a user's invitations to a tenant.
func revokeInvitations(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, user id.User) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM one_time_token WHERE tenant_id = $1 AND user_id = $2 AND purpose = 'invite'`, tenant, user)
	if err != nil {
		return fmt.Errorf("revoke invitations: %w", err)
	}
	return nil
}
