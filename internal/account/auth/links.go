package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// LinkKind is what a link with a one-time token is for.
type LinkKind string

// The kinds of links.
const (
	LinkSignUp     LinkKind = "signup"
	LinkReset      LinkKind = "password_reset"
	LinkInvitation LinkKind = "invitation"
	LinkLogin      LinkKind = "login"
)

// Valid reports whether k is one of the kinds.
func (k LinkKind) Valid() bool {
	return k == LinkSignUp || k == LinkReset || k == LinkInvitation || k == LinkLogin
}

// LinkPassword is the password that a link asks for.
type LinkPassword string

// The passwords that links ask for.
const (
	PasswordNew     LinkPassword = "new"
	PasswordCurrent LinkPassword = "current"
	// PasswordEither is a new one, or the current one: of a login with a password that the link proves.
	PasswordEither LinkPassword = "either"
	PasswordNone   LinkPassword = "none"
)

// Link describes a link to the person who follows it.
type Link struct {
	Kind     LinkKind
	Expired  bool   // invitations only; other expired links are invalid
	Email    string // of the login, unless the link is for signing up
	Name     string // of the login, unless others have seen the link
	Tenant   string // the name of the tenant that an invitation is for
	Role     Role   // in it
	Password LinkPassword
	Senders  []string // names of the members who can send a new invitation, if this one is expired
}

// maxLinkSenders is how many members an expired invitation names.
const maxLinkSenders = 5

// LinkOf describes the link with a token, without redeeming it.
func (d *Login) LinkOf(ctx context.Context, kind LinkKind, token string, now time.Time) (Link, error) {
	switch kind {
	case LinkSignUp:
		return Link{Kind: kind, Password: PasswordNew}, d.maySignUp(ctx, token, now)
	case LinkReset:
		o, err := lookUpToken(ctx, d.DB, forReset, token, now)
		if err != nil {
			return Link{}, err
		}
		u, err := d.userOf(ctx, o.user)
		return Link{Kind: kind, Email: u.Email, Name: u.Name, Password: PasswordNew}, err
	case LinkInvitation:
		return d.invitationOf(ctx, token, now)
	case LinkLogin:
		u, err := d.userOfLoginLink(ctx, token, now)
		return Link{Kind: kind, Email: u.Email, Name: u.Name, Password: PasswordNone}, err
	}
	return Link{}, ErrInvalidToken
}

// maySignUp returns why sign-up with a setup token, or without one, is not possible, or nil.
func (d *Login) maySignUp(ctx context.Context, setupToken string, now time.Time) error {
	set, err := AnyUser(ctx, d.DB)
	if err != nil {
		return err
	}
	if !set {
		_, err = lookUpToken(ctx, d.DB, forSetup, setupToken, now)
		return err
	}
	if !d.SignupEnabled {
		return ErrSignupDisabled
	}
	return nil
}

func (d *Login) invitationOf(ctx context.Context, token string, now time.Time) (Link, error) {
	o, expires, err := lookUpInvitation(ctx, d.DB, token)
	if err != nil {
		return Link{}, err
	}
	u, err := d.userOf(ctx, o.user)
	if err != nil {
		return Link{}, err
	}
	m, err := MemberOf(ctx, d.DB, o.tenant, u.ID)
	if errors.Is(err, ErrNoUser) {
		err = ErrInvalidToken
	}
	if err != nil {
		return Link{}, err
	}
	t, err := tenant.ByID(ctx, d.DB, o.tenant)
	if err != nil {
		return Link{}, err
	}
	l := Link{Kind: LinkInvitation, Email: u.Email, Tenant: t.Name, Role: m.Role, Password: PasswordCurrent, Expired: !expires.After(now)}
	i, err := loadInvitation(ctx, d.DB, o, u)
	if err != nil {
		return Link{}, err
	}
	if i.proves { // otherwise the inviter sees this, and learns nothing about the login
		l.Name = u.Name
	}
	if i.setsPassword() {
		l.Password = PasswordNew
		if u.HasPassword() {
			l.Password = PasswordEither
		}
	}
	if l.Expired {
		l.Senders, err = d.inviters(ctx, o, m.Role)
	}
	return l, err
}

// lookUpInvitation returns the data of an invitation, and when it expires or expired.
func lookUpInvitation(ctx context.Context, db *sqldb.DB, token string) (oneTime, time.Time, error) {
	o := oneTime{purpose: forInvite}
	var expires int64
	err := db.QueryRow(ctx, `
		SELECT user_id, tenant_id, proves, expires_at FROM one_time_token
		WHERE token_hash = $1 AND purpose = $2 AND user_id IS NOT NULL /* all tenants: the token determines which */`,
		hashToken(token), forInvite).Scan(&o.user, &o.tenant, &o.proves, &expires)
	if errors.Is(err, sqldb.ErrNoRows) {
		return oneTime{}, time.Time{}, ErrInvalidToken
	}
	if err != nil {
		return oneTime{}, time.Time{}, fmt.Errorf("look up an invitation: %w", err)
	}
	return o, sqldb.Time(expires), nil
}

// inviters returns the names of members who may invite to a role: admins and owners, and owners only for
// owners.
func (d *Login) inviters(ctx context.Context, o oneTime, role Role) ([]string, error) {
	least := Admin
	if role == Owner {
		least = Owner
	}
	members, err := Members(ctx, d.DB, o.tenant)
	var names []string
	for _, m := range members {
		if m.Status == MemberActive && m.Role.AtLeast(least) && len(names) < maxLinkSenders {
			names = append(names, m.Name)
		}
	}
	return names, err
}
