package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
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

// Limits on invitations. Those of an address count for the whole installation, and only if mail is sent.
var (
	invitesUnproven  = ratelimit.Rule{Name: "invite-unproven", Max: 20, Window: 24 * time.Hour} // of an inviter
	invitesProven    = ratelimit.Rule{Name: "invite-proven", Max: 100, Window: 24 * time.Hour}
	invitesHourly    = ratelimit.Rule{Name: "invite-email-hour", Max: 1, Window: time.Hour} // to an address
	invitesDaily     = ratelimit.Rule{Name: "invite-email-day", Max: 3, Window: 24 * time.Hour}
	maxInvitedPeople = 100 // of a tenant, who have not accepted
)

// ErrTooManyInvited refuses an invitation because too many people have not accepted theirs.
var ErrTooManyInvited = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("at most %d people may be invited at a time; remove those who will not accept", maxInvitedPeople))

// Invite invites a person to become a member by following a link. If the installation has a relay,
// the link is mailed and the returned link is empty; following it then proves that the person owns
// the address. Otherwise, and if the mail of the last invitation failed, the inviter gets the link.
//
// Each function of then is called in the transaction, with the member and the link that is returned.
func (d *Login) Invite(ctx context.Context, p Principal, email string, role Role, now time.Time, then ...func(tx *sqldb.DB, m Member, link string) error) (m Member, shown string, err error) {
	if email, err = checkInvitation(email, role); err != nil {
		return Member{}, "", err
	}
	mailed := d.Mail != nil
	if mailed {
		failed, err := invitationFailed(ctx, d.DB, p.Tenant, email)
		if err != nil {
			return Member{}, "", err
		}
		mailed = !failed
	}
	taken, err := d.takeInvitations(ctx, p, email, mailed, now)
	if err != nil {
		return Member{}, "", err
	}
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		var token string
		if m, err = invite(ctx, tx, p, email, role, now); err != nil {
			return err
		}
		if mailed {
			err = queueInvitation(ctx, tx, p.Tenant, m.User, p.UserName, now)
		} else if token, err = issueInvitation(ctx, tx, p.Tenant, m.User, false, now); err == nil {
			shown = InviteLink(d.BaseURL, token)
		}
		if err != nil {
			return err
		}
		for _, f := range then {
			if err := f(tx, m, shown); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Member{}, "", errors.Join(err, taken.returnAll(context.WithoutCancel(ctx)))
	}
	if !mailed {
		return m, shown, nil
	}
	err = d.background.run(ctx, func(ctx context.Context) {
		if err := d.mailInvitation(ctx, p.Tenant, m.User, now); err != nil {
			d.Log.Error("mail invitation failed", "tenant", p.Tenant, "err", err)
		}
	})
	return m, "", err
}

// takeInvitations takes the permits of one invitation.
func (d *Login) takeInvitations(ctx context.Context, p Principal, email string, mailed bool, now time.Time) (*takenPermits, error) {
	u, err := UserByID(ctx, d.DB, p.User)
	if err != nil {
		return nil, err
	}
	taken := &takenPermits{d: d, now: now}
	take := func(r ratelimit.Rule, key, text string) error {
		err := taken.take(ctx, r, key)
		if f, ok := fault.As(err); ok && errors.Is(err, ErrTooOften) {
			err = f.Sayf("%s; try again in %d s", text, f.Details.(Wait).Seconds)
		}
		if err != nil {
			return errors.Join(err, taken.returnAll(context.WithoutCancel(ctx)))
		}
		return nil
	}
	mine := invitesUnproven
	if u.Proven() {
		mine = invitesProven
	}
	if err := take(mine, u.ID.String(), fmt.Sprintf("you may invite %d people in a day", mine.Max)); err != nil || !mailed {
		return taken, err
	}
	if err := take(invitesHourly, hashToken(email), "this address was mailed an invitation in the last hour"); err != nil {
		return nil, err
	}
	return taken, take(invitesDaily, hashToken(email), fmt.Sprintf("this address was mailed %d invitations today", invitesDaily.Max))
}

// Invite makes the person with an email a member when they follow the link with the returned token.
// Inviting again creates a new link and revokes the old one. Only owners may invite owners. Mailed
// means that only the owner of the address gets the link, so that following it proves the login.
func Invite(ctx context.Context, db *sqldb.DB, p Principal, email string, role Role, mailed bool, now time.Time) (m Member, token string, err error) {
	if email, err = checkInvitation(email, role); err != nil {
		return Member{}, "", err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if m, err = invite(ctx, tx, p, email, role, now); err != nil {
			return err
		}
		token, err = issueInvitation(ctx, tx, p.Tenant, m.User, mailed, now)
		return err
	})
	if err != nil {
		return Member{}, "", err
	}
	return m, token, nil
}

// issueInvitation creates the token of an invitation.
func issueInvitation(ctx context.Context, tx *sqldb.DB, t id.Tenant, user id.User, mailed bool, now time.Time) (string, error) {
	return issueToken(ctx, tx, oneTime{purpose: forInvite, user: user, tenant: t, proves: mailed}, inviteAge, now)
}

// invite makes the person with an email an invited member, and revokes earlier links.
func invite(ctx context.Context, tx *sqldb.DB, p Principal, email string, role Role, now time.Time) (Member, error) {
	if role == Owner && !p.Role.AtLeast(Owner) {
		return Member{}, ErrForbidden.Sayf("only an owner may invite owners")
	}
	u, err := UserByEmail(ctx, tx, email)
	if errors.Is(err, ErrNoUser) {
		name, _, _ := strings.Cut(email, "@") // until they choose a name
		u = newUser(email, name, "", now)
		err = insertUser(ctx, tx, u)
	}
	if err != nil {
		return Member{}, err
	}
	switch was, err := MemberOf(ctx, tx, p.Tenant, u.ID); {
	case errors.Is(err, ErrNoUser):
		if err := checkInvited(ctx, tx, p.Tenant); err != nil {
			return Member{}, err
		}
	case err != nil:
		return Member{}, err
	case was.Role == Owner && !p.Role.AtLeast(Owner):
		return Member{}, ErrForbidden.Sayf("only an owner may change owners")
	case was.Status != MemberInvited:
		return Member{}, ErrMember
	}
	if err := upsertMember(ctx, tx, p.Tenant, u.ID, role, MemberInvited, now); err != nil {
		return Member{}, err
	}
	if err := revokeInvitations(ctx, tx, p.Tenant, u.ID); err != nil {
		return Member{}, err
	}
	m, err := MemberOf(ctx, tx, p.Tenant, u.ID)
	if err != nil {
		return Member{}, err
	}
	return m, Audit(ctx, tx, p.Did("member.invite", "user", u.ID.String(), now))
}

// checkInvited refuses another invitation if a tenant has as many as it may have. The lock keeps concurrent
// invitations from passing together.
func checkInvited(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	if _, err := lockOwners(ctx, tx, t); err != nil {
		return err
	}
	var n int
	err := tx.QueryRow(ctx, `
		SELECT COUNT(*) FROM membership WHERE tenant_id = $1 AND status = 'invited' /* reads the tenant: it has few members */`, t).Scan(&n)
	if err != nil {
		return fmt.Errorf("count invitations: %w", err)
	}
	if n >= maxInvitedPeople {
		return ErrTooManyInvited
	}
	return nil
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
