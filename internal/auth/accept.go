package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
)

// Invite makes a person a member once they follow a link. Where there is a relay
// the link is mailed, and the returned link is empty: then it proves that the
// person who follows it holds the address. Without a relay the inviter is shown it.
func (d *Login) Invite(ctx context.Context, p Principal, email string, role Role, now time.Time) (Member, string, error) {
	m, token, err := Invite(ctx, d.DB, p, email, role, d.Mail != nil, now)
	if err != nil {
		return Member{}, "", err
	}
	link := InviteLink(d.BaseURL, token)
	if d.Mail == nil {
		return m, link, nil
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

// Invitation is what a person is asked to accept.
type Invitation struct {
	Email, Name, Tenant string
	Role                Role
	// NewPassword says that accepting means to choose a password. Otherwise the
	// person gives the one that they have.
	NewPassword bool
	// Known says that the login has a password already. Giving that one keeps
	// the memberships in other tenants.
	Known bool
}

// InvitationOf returns what a link invites to. It changes nothing.
func (d *Login) InvitationOf(ctx context.Context, token string, now time.Time) (Invitation, error) {
	o, err := lookUp(ctx, d.DB, forInvite, token, now)
	if err != nil {
		return Invitation{}, err
	}
	u, err := d.userOf(ctx, o.user)
	if err != nil {
		return Invitation{}, err
	}
	m, err := MemberOf(ctx, d.DB, o.tenant, u.ID)
	if errors.Is(err, ErrNoUser) {
		err = ErrInvalidToken
	}
	if err != nil {
		return Invitation{}, err
	}
	t, err := tenant.ByID(ctx, d.DB, o.tenant)
	return Invitation{
		Email: u.Email, Name: u.Name, Tenant: t.Name, Role: m.Role,
		NewPassword: u.chooses(o), Known: u.HasPassword(),
	}, err
}

// chooses reports whether accepting an invitation sets the password: for logins
// that are not proven, and for those that have none when the link proves them.
func (u User) chooses(o oneTime) bool {
	return !u.Proven() || !u.HasPassword() && o.proves
}

// errNoPassword refuses a link that does not prove the login for a login that is
// proven but has no password yet.
var errNoPassword = ErrCredentials.Sayf("this login has no password yet: choose one with the link from the operator, or ask for a new link, and then accept")

// Accept redeems an invitation and begins a session.
//
// A proven login gains the membership, and its user shows who they are with the
// password they have: the link alone must not do, for it was shown to the inviter.
// Any other person chooses a password, and older sessions end; proof.go says
// what becomes of the memberships that such a login has elsewhere.
func (d *Login) Accept(ctx context.Context, token, name, password string, ip netip.Addr, now time.Time) (SignedIn, error) {
	o, u, err := d.holder(ctx, forInvite, token, ip, now)
	if err != nil {
		return SignedIn{}, err
	}
	a := acceptance{oneTime: o, was: u, user: u, token: token, by: By{IP: ip}}
	switch {
	case u.chooses(o):
		if err := d.choose(ctx, &a, name, password); err != nil {
			return SignedIn{}, err
		}
	case !u.HasPassword():
		return SignedIn{}, errNoPassword
	default:
		if err := d.verify(ctx, u.Email, password, u.passwordHash, ip, now); err != nil {
			return SignedIn{}, err
		}
	}
	a.by.Actor = Actor{Type: "user", ID: u.ID.String(), Name: a.user.Name}
	var e SignedIn
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := a.commit(ctx, tx, now); err != nil {
			return err
		}
		e, err = enter(ctx, tx, a.user, ip, now)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	return e, nil
}

// acceptance is an invitation about to be accepted.
type acceptance struct {
	oneTime
	token     string
	was, user User // the login before and after
	chosen    bool // the password was chosen just now
	sameHands bool // it is the one that the login had
	by        By
}

// choose reads the name and the password of a login that gets them now. A login
// that was used before keeps its name unless a new one is given.
func (d *Login) choose(ctx context.Context, a *acceptance, name, password string) error {
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

// commit redeems the token and makes the membership active.
func (a *acceptance) commit(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	if _, err := redeem(ctx, tx, forInvite, a.token, now); err != nil {
		return err
	}
	u, err := lockUser(ctx, tx, a.was.ID)
	if err != nil {
		return err
	}
	if u.passwordHash != a.was.passwordHash || u.Proven() != a.was.Proven() {
		return ErrInvalidToken // the login was changed at the same moment
	}
	if a.chosen {
		if err := a.handOver(ctx, tx, now); err != nil {
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

// handOver stores the chosen password and ends what an earlier holder had.
func (a *acceptance) handOver(ctx context.Context, tx *sqldb.DB, now time.Time) error {
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
