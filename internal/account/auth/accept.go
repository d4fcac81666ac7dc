package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Invite invites a person to become a member by following a link. If the installation has a relay,
// the link is mailed and the returned link is empty; following it then proves that the person owns
// the address. Otherwise the inviter gets the link.
//
// Each function of then is called in the transaction, with the member and the link that is returned.
func (d *Login) Invite(ctx context.Context, p Principal, email string, role Role, now time.Time, then ...func(tx *sqldb.DB, m Member, link string) error) (m Member, shown string, err error) {
	var link string
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		var token string
		if m, token, err = Invite(ctx, tx, p, email, role, d.Mail != nil, now); err != nil {
			return err
		}
		if link = InviteLink(d.BaseURL, token); d.Mail == nil {
			shown = link
		}
		for _, f := range then {
			if err := f(tx, m, shown); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Member{}, "", err
	}
	if d.Mail == nil {
		return m, shown, nil
	}
	err = d.background.run(ctx, func(ctx context.Context) {
		if err := d.Mail(ctx, m.Email, "You are invited to "+p.TenantSlug, fmt.Sprintf(
			"Hello,\n\n%s invites you to work with them in %s, as %s.\nWithin seven days, accept here:\n\n%s\n",
			p.UserName, p.TenantSlug, m.Role, link)); err != nil {
			d.Log.Error("mail invitation failed", "tenant", p.Tenant, "err", err)
		}
	})
	return m, "", err
}

// mustChoosePassword reports whether accepting an invitation sets the password: if the login is not proven, or
// has no password and the link proves it.
func (u User) mustChoosePassword(o oneTime) bool {
	return !u.Proven() || !u.HasPassword() && o.proves
}

// errNoPassword refuses a link that does not prove the login, for a proven login without a
// password.
var errNoPassword = ErrCredentials.Sayf("this login has no password yet: choose one with the link from the operator, or ask for a new link, and then accept")

// Accept redeems an invitation and begins a session.
//
// A proven login gains the membership, and its user must give their current password: the link
// alone does not suffice, since the inviter has seen it. Any other person chooses a password, and
// older sessions end; proof.go explains the effect on memberships in other tenants.
func (d *Login) Accept(ctx context.Context, token, name, password string, from Client, now time.Time) (SignedIn, error) {
	o, u, err := d.tokenHolder(ctx, forInvite, token, from.IP, now)
	if err != nil {
		return SignedIn{}, err
	}
	a := acceptance{oneTime: o, was: u, user: u, token: token, by: By{IP: from.IP}}
	switch {
	case u.mustChoosePassword(o):
		if err := d.setCredentials(ctx, &a, name, password); err != nil {
			return SignedIn{}, err
		}
	case !u.HasPassword():
		return SignedIn{}, errNoPassword
	default:
		if err := d.verify(ctx, u.Email, password, u.passwordHash, from.IP, now); err != nil {
			return SignedIn{}, err
		}
	}
	a.by.Actor = Actor{Type: "user", ID: u.ID.String(), Name: a.user.Name}
	var e SignedIn
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := a.commit(ctx, tx, now); err != nil {
			return err
		}
		e, err = beginSession(ctx, tx, a.user, from, now)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	return e, nil
}

// Join redeems an invitation for the user of a session, which takes the place of the password. The user
// must be the invited one, and one that Accept would ask for the current password.
func (d *Login) Join(ctx context.Context, p Principal, token string, now time.Time) (SignedIn, error) {
	o, u, err := d.tokenHolder(ctx, forInvite, token, p.IP, now)
	if err != nil {
		return SignedIn{}, err
	}
	switch {
	case u.ID != p.User:
		return SignedIn{}, ErrForbidden.Sayf("the invitation is for another login")
	case u.mustChoosePassword(o):
		return SignedIn{}, ErrForbidden.Sayf("this login must choose its password to accept the invitation")
	}
	a := acceptance{oneTime: o, was: u, user: u, token: token, by: By{Actor: Actor{Type: "user", ID: u.ID.String(), Name: u.Name}, IP: p.IP}}
	if err := d.DB.InTx(ctx, func(tx *sqldb.DB) error { return a.commit(ctx, tx, now) }); err != nil {
		return SignedIn{}, err
	}
	return d.Current(ctx, p)
}

// acceptance is an invitation that is being accepted.
type acceptance struct {
	oneTime
	token     string
	was, user User // the login before and after
	chosen    bool // the password was just chosen
	sameHands bool // it equals the login's previous password
	by        By
}

// setCredentials validates the name and the password of a login that sets them. A login that already had a
// password keeps its name if none is given.
func (d *Login) setCredentials(ctx context.Context, a *acceptance, name, password string) error {
	var p fault.Problems
	if name != "" || !a.was.HasPassword() {
		a.user.Name = checkPersonName(&p, "name", name)
	}
	CheckNewPassword(&p, "password", password, a.was.Email, a.user.Name)
	if err := p.Err(); err != nil {
		return err
	}
	a.chosen = true
	if a.was.HasPassword() {
		var err error
		if a.sameHands, err = d.Passwords.Check(ctx, password, a.was.passwordHash); err != nil || a.sameHands {
			return err
		}
	}
	var err error
	a.user.passwordHash, err = d.Passwords.Hash(ctx, password)
	return err
}

// commit redeems the token and activates the membership.
func (a *acceptance) commit(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	if _, err := redeemToken(ctx, tx, forInvite, a.token, now); err != nil {
		return err
	}
	u, err := lockUser(ctx, tx, a.was.ID)
	if err != nil {
		return err
	}
	if u.passwordHash != a.was.passwordHash || u.Proven() != a.was.Proven() {
		return ErrInvalidToken // the login was changed concurrently
	}
	if a.chosen {
		if err := a.storePassword(ctx, tx, now); err != nil {
			return err
		}
	}
	n, err := tx.Exec(ctx, `
		UPDATE membership SET status = 'active', withheld = false
		WHERE tenant_id = $1 AND user_id = $2 AND status = 'invited'`, a.tenant, u.ID)
	if err != nil {
		return fmt.Errorf("accept invitation: %w", err)
	}
	if n == 0 {
		return ErrInvalidToken
	}
	return Audit(ctx, tx, a.by.Did(a.tenant, "member.accept", "user", u.ID.String(), now))
}

// storePassword stores the chosen password and revokes the access of a previous holder.
func (a *acceptance) storePassword(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	if _, err := tx.Exec(ctx, `
		UPDATE app_user SET name = $2 WHERE id = $1 /* all tenants: a user belongs to the installation */`, a.user.ID, a.user.Name); err != nil {
		return fmt.Errorf("accept invitation: %w", err)
	}
	if err := setPassword(ctx, tx, a.user.ID, a.user.passwordHash, id.Session{}); err != nil {
		return err
	}
	if !a.sameHands {
		if err := forgetAddresses(ctx, tx, a.user.ID); err != nil {
			return err
		}
	}
	switch {
	case a.proves:
		if err := setProven(ctx, tx, a.user.ID, now); err != nil {
			return err
		}
		return revokeTokens(ctx, tx, forReset, a.user.ID)
	case !a.sameHands:
		return suspendMemberships(ctx, tx, a.user.ID, a.tenant, a.by, now)
	}
	return nil
}
