package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// invitation is an invitation that is followed.
type invitation struct {
	oneTime
	login     User
	elsewhere bool // the login is an active member of another tenant
}

// setsPassword reports whether accepting the invitation sets the password. A link that was only mailed
// proves the login, so it sets the password of a login that was not proven or has none. A link that others
// have seen sets nothing but a first password, of a login that nobody has used.
func (i invitation) setsPassword() bool {
	if i.proves {
		return !i.login.Proven() || !i.login.HasPassword()
	}
	return !i.login.Proven() && !i.login.HasPassword() && !i.elsewhere
}

// followInvitation returns the invitation with a token, and limits attempts.
func (d *Login) followInvitation(ctx context.Context, token string, from Client, now time.Time) (invitation, error) {
	o, u, err := d.tokenHolder(ctx, forInvite, token, from.IP, now)
	if err != nil {
		return invitation{}, err
	}
	return loadInvitation(ctx, d.DB, o, u)
}

// loadInvitation returns the invitation of a token for a login.
func loadInvitation(ctx context.Context, db *sqldb.DB, o oneTime, u User) (invitation, error) {
	i := invitation{oneTime: o, login: u}
	err := db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM membership
			WHERE user_id = $1 AND tenant_id <> $2 AND status = 'active') /* all tenants: a person works in several */`,
		u.ID, o.tenant).Scan(&i.elsewhere)
	if err != nil {
		return invitation{}, fmt.Errorf("look for other memberships: %w", err)
	}
	return i, nil
}

// errNoPassword refuses a link that may not set the password of a login without one.
var errNoPassword = ErrCredentials.Sayf("this login has no password yet: choose one with the link from the operator, or ask for a new link, and then accept")

// Accept redeems an invitation and begins a session. The person gives the password of their login, or chooses
// one where setsPassword allows it: whoever has seen the link cannot replace a password.
//
// The name is stored only if the link proves the login. Other people set theirs in the session that begins.
func (d *Login) Accept(ctx context.Context, token, name, password string, from Client, now time.Time) (SignedIn, error) {
	i, err := d.followInvitation(ctx, token, from, now)
	if err != nil {
		return SignedIn{}, err
	}
	u := i.login
	a := acceptance{invitation: i, user: u, token: token, by: By{IP: from.IP}}
	switch {
	case i.setsPassword():
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
	i, err := d.followInvitation(ctx, token, Client{IP: p.IP}, now)
	if err != nil {
		return SignedIn{}, err
	}
	u := i.login
	switch {
	case u.ID != p.User:
		return SignedIn{}, ErrForbidden.Sayf("the invitation is for another login")
	case i.setsPassword():
		return SignedIn{}, ErrForbidden.Sayf("this login must choose its password to accept the invitation")
	}
	a := acceptance{invitation: i, user: u, token: token, by: By{Actor: Actor{Type: "user", ID: u.ID.String(), Name: u.Name}, IP: p.IP}}
	if err := d.DB.InTx(ctx, func(tx *sqldb.DB) error { return a.commit(ctx, tx, now) }); err != nil {
		return SignedIn{}, err
	}
	return d.Current(ctx, p)
}

// acceptance is an invitation that is being accepted.
type acceptance struct {
	invitation
	token     string
	user      User // the login afterwards
	chosen    bool // the password was just chosen
	sameHands bool // it equals the login's previous password
	by        By
}

// setCredentials validates the name and the password of a login that sets them. A login that already had a
// password keeps its name if none is given.
func (d *Login) setCredentials(ctx context.Context, a *acceptance, name, password string) error {
	var p fault.Problems
	if name != "" || !a.login.HasPassword() {
		if name = checkPersonName(&p, "name", name); a.proves {
			a.user.Name = name
		}
	}
	CheckNewPassword(&p, "password", password, a.login.Email, name)
	if err := p.Err(); err != nil {
		return err
	}
	a.chosen = true
	if a.login.HasPassword() {
		var err error
		if a.sameHands, err = d.Passwords.Check(ctx, password, a.login.passwordHash); err != nil || a.sameHands {
			return err
		}
	}
	var err error
	a.user.passwordHash, err = d.Passwords.Hash(ctx, password)
	return err
}

// commit redeems the token and activates the membership.
func (a *acceptance) commit(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	o, err := redeemToken(ctx, tx, forInvite, a.token, now)
	if err != nil {
		return err
	}
	u, err := lockUser(ctx, tx, a.login.ID)
	if err != nil {
		return err
	}
	i, err := loadInvitation(ctx, tx, o, u)
	if err != nil {
		return err
	}
	if u.passwordHash != a.login.passwordHash || u.Proven() != a.login.Proven() || i.setsPassword() != a.setsPassword() {
		return ErrInvalidToken // the login was changed concurrently
	}
	if a.chosen {
		if err := a.storePassword(ctx, tx, now); err != nil {
			return err
		}
	}
	n, err := tx.Exec(ctx, `
		UPDATE membership SET status = 'active', withheld = false, mail_due_at = NULL, mail_error = NULL
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
	if err := setPassword(ctx, tx, a.user.ID, a.user.passwordHash, id.Session{}); err != nil {
		return err
	}
	if !a.sameHands {
		if err := forgetAddresses(ctx, tx, a.user.ID); err != nil {
			return err
		}
	}
	if !a.proves {
		return nil
	}
	if _, err := tx.Exec(ctx, `
		UPDATE app_user SET name = $2 WHERE id = $1 /* all tenants: a user belongs to the installation */`, a.user.ID, a.user.Name); err != nil {
		return fmt.Errorf("accept invitation: %w", err)
	}
	if err := setProven(ctx, tx, a.user.ID, now); err != nil {
		return err
	}
	return revokeTokens(ctx, tx, forReset, a.user.ID)
}
