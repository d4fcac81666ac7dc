package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/limit"
	"packetboat/internal/sqldb"
	"packetboat/internal/tenant"
)

// What the door answers besides field problems.
var (
	ErrCredentials    = fault.New(fault.Unauthenticated, "INVALID_CREDENTIALS", "the address or the password is wrong")
	ErrSignupDisabled = fault.New(fault.Forbidden, "SIGNUP_DISABLED", "sign-up is off; ask for an invitation")
	ErrTooOften       = fault.New(fault.Limited, "RATE_LIMITED", "too many attempts; try again later")
)

// Wait is the details of ErrTooOften.
type Wait struct {
	Seconds int `json:"retry_after"`
}

// RetryAfter says how long to wait, for the header of that name.
func (w Wait) RetryAfter() time.Duration { return time.Duration(w.Seconds) * time.Second }

// The limits of contract 3.4 on routes that nobody needs a credential for.
var (
	failuresByEmail = limit.Rule{Name: "login-email", Max: 5, Window: 15 * time.Minute}
	failuresByIP    = limit.Rule{Name: "login-ip", Max: 30, Window: 15 * time.Minute}
	requestsByEmail = limit.Rule{Name: "account-email", Max: 5, Window: time.Hour}
	requestsByIP    = limit.Rule{Name: "account-ip", Max: 20, Window: time.Hour}
)

// Door is where people come in: sign-up, sign-in, forgotten passwords and
// invitations. It is safe for concurrent use.
type Door struct {
	DB            *sqldb.DB
	Passwords     *Passwords
	Limits        *limit.Limiter
	SignupEnabled bool           // also after the first user
	Setups        []tenant.Setup // of a tenant that is made by signing up
	BaseURL       *url.URL
	Log           *slog.Logger

	// Mail sends a mail over the installation's own relay; nil without one.
	// Then whoever invites is shown the link, and resets are the operator's.
	Mail func(ctx context.Context, to, subject, text string) error

	sending sync.WaitGroup
}

// Entrance is a session that has just begun, or goes on.
type Entrance struct {
	Session     Session
	Token       string // goes into the cookie; empty for a session that goes on
	Memberships []Membership
}

// SignUp is what a person who signs up says.
type SignUp struct {
	TenantName, TenantSlug, Name, Email, Password, SetupToken string
}

// SignUp makes a tenant and its owner. The installation's first user needs the
// setup token that serve logs; after that, sign-up must be enabled.
func (d *Door) SignUp(ctx context.Context, s SignUp, ip netip.Addr, now time.Time) (Entrance, error) {
	set, err := AnyUser(ctx, d.DB)
	if err != nil {
		return Entrance{}, err
	}
	if set && !d.SignupEnabled {
		return Entrance{}, ErrSignupDisabled
	}
	var p fault.Problems
	tenant.CheckSlug(&p, "tenant_slug", s.TenantSlug)
	tenant.CheckName(&p, "tenant_name", s.TenantName)
	s.Name = checkPersonName(&p, "name", s.Name)
	s.Email = checkEmail(&p, "email", s.Email)
	CheckNewPassword(&p, "password", s.Password, s.Email, s.Name)
	if err := p.Err(); err != nil {
		return Entrance{}, err
	}
	if err := d.take(ctx, requestsByIP, ip.String(), now); err != nil {
		return Entrance{}, err
	}
	passwordHash, err := d.Passwords.Hash(ctx, s.Password)
	if err != nil {
		return Entrance{}, err
	}
	var e Entrance
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if !set {
			if _, err := redeem(ctx, tx, forSetup, s.SetupToken, now); err != nil {
				return err
			}
			// The others, so that two people with a link each cannot both be first.
			if _, err := tx.Exec(ctx, `DELETE FROM one_time_token WHERE purpose = 'setup' /* all tenants: the installation's */`); err != nil {
				return fmt.Errorf("end setup: %w", err)
			}
		}
		u, err := insertUser(ctx, tx, s.Email, s.Name, passwordHash, now)
		if err != nil {
			return err
		}
		t, err := tenant.Create(ctx, tx, s.TenantSlug, s.TenantName, "", now, d.Setups...)
		if err != nil {
			return err
		}
		by := By{Actor: Actor{Type: "user", ID: string(u.ID), Name: u.Name}, IP: ip}
		if err := AddMember(ctx, tx, t.ID, u.ID, Owner, by, now); err != nil {
			return err
		}
		e, err = enter(ctx, tx, u, ip, now)
		return err
	})
	if err != nil {
		return Entrance{}, err
	}
	return e, nil
}

// SignIn begins a session. An unknown user and a wrong password look alike.
func (d *Door) SignIn(ctx context.Context, email, password string, ip netip.Addr, now time.Time) (Entrance, error) {
	var ignored fault.Problems
	email = checkEmail(&ignored, "email", email)
	u, err := UserByEmail(ctx, d.DB, email)
	if err != nil && !errors.Is(err, ErrNoUser) {
		return Entrance{}, err
	}
	if err := d.verify(ctx, email, password, u.passwordHash, ip, now); err != nil {
		return Entrance{}, err
	}
	var e Entrance
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		e, err = enter(ctx, tx, u, ip, now)
		return err
	})
	return e, err
}

// verify checks a password under the limits on failures. A permit is taken
// before the check and given back when it succeeds, so that many guesses at
// once do not slip through.
func (d *Door) verify(ctx context.Context, email, password, passwordHash string, ip netip.Addr, now time.Time) error {
	byEmail, byIP := hash(email), ip.String()
	if err := d.take(ctx, failuresByIP, byIP, now); err != nil {
		return err
	}
	if err := d.take(ctx, failuresByEmail, byEmail, now); err != nil {
		return errors.Join(err, d.Limits.GiveBack(ctx, failuresByIP, byIP, now))
	}
	ok, err := d.Passwords.Check(ctx, password, passwordHash)
	if err != nil {
		return err
	}
	if !ok {
		return ErrCredentials
	}
	if err := d.Limits.GiveBack(ctx, failuresByIP, byIP, now); err != nil {
		return err
	}
	return d.Limits.GiveBack(ctx, failuresByEmail, byEmail, now)
}

func (d *Door) take(ctx context.Context, r limit.Rule, key string, now time.Time) error {
	s, err := d.Limits.Take(ctx, r, key, now)
	if err != nil {
		return err
	}
	if !s.Allowed {
		wait := int((s.Reset + time.Second - 1) / time.Second)
		return ErrTooOften.With(Wait{wait}).Sayf("too many attempts; try again in %d s", wait)
	}
	return nil
}

// enter begins a session and notes it in the audit log of each of the user's tenants.
func enter(ctx context.Context, tx *sqldb.DB, u User, ip netip.Addr, now time.Time) (Entrance, error) {
	s, token, err := startSession(ctx, tx, u, now)
	if err != nil {
		return Entrance{}, err
	}
	list, err := Memberships(ctx, tx, u.ID)
	if err != nil {
		return Entrance{}, err
	}
	by := By{Actor: Actor{Type: "user", ID: string(u.ID), Name: u.Name}, IP: ip}
	for _, m := range list {
		if err := Audit(ctx, tx, by.Did(m.Tenant, "login", "user", string(u.ID), now)); err != nil {
			return Entrance{}, err
		}
	}
	return Entrance{Session: s, Token: token, Memberships: list}, nil
}

// Forgot mails a link to whoever has a login at the address. It says nothing
// about whether anybody has.
func (d *Door) Forgot(ctx context.Context, email string, ip netip.Addr, now time.Time) error {
	var p fault.Problems
	email = checkEmail(&p, "email", email)
	if err := p.Err(); err != nil {
		return err
	}
	if err := d.take(ctx, requestsByIP, ip.String(), now); err != nil {
		return err
	}
	if err := d.take(ctx, requestsByEmail, hash(email), now); err != nil {
		return err
	}
	u, err := UserByEmail(ctx, d.DB, email)
	if errors.Is(err, ErrNoUser) || err == nil && d.Mail == nil {
		return nil
	}
	if err != nil {
		return err
	}
	token, err := ResetToken(ctx, d.DB, u.ID, now)
	if err != nil {
		return err
	}
	d.send(ctx, u.Email, "Choose a new password", fmt.Sprintf(
		"Hello %s,\n\nsomeone, hopefully you, asked for a new password for your login.\nWithin an hour, choose it here:\n\n%s\n\nIf it was not you, do nothing: your password stays as it is.\n",
		u.Name, ResetLink(d.BaseURL, token)))
	return nil
}

// send mails in the background, so that the time a request takes does not tell
// whether there is such a user.
func (d *Door) send(ctx context.Context, to, subject, text string) {
	ctx = context.WithoutCancel(ctx)
	d.sending.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := d.Mail(ctx, to, subject, text); err != nil {
			d.Log.Error("the system relay did not take a mail", "subject", subject, "err", err)
		}
	})
}

// Wait returns when every mail has left or failed.
func (d *Door) Wait() { d.sending.Wait() }

// Reset redeems a link by which a password may be chosen. All sessions end.
func (d *Door) Reset(ctx context.Context, token, password string, ip netip.Addr, now time.Time) error {
	u, err := d.holder(ctx, forReset, token, ip, now)
	if err != nil {
		return err
	}
	var p fault.Problems
	CheckNewPassword(&p, "password", password, u.Email, u.Name)
	if err := p.Err(); err != nil {
		return err
	}
	passwordHash, err := d.Passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	return d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := redeem(ctx, tx, forReset, token, now); err != nil {
			return err
		}
		return setPassword(ctx, tx, u.ID, passwordHash, "")
	})
}

// holder returns whose a token is, under the limits on those who try.
func (d *Door) holder(ctx context.Context, p purpose, token string, ip netip.Addr, now time.Time) (User, error) {
	if err := d.take(ctx, requestsByIP, ip.String(), now); err != nil {
		return User{}, err
	}
	var user id.User
	err := d.DB.QueryRow(ctx, `
		SELECT user_id FROM one_time_token
		WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3 /* all tenants: the token tells which */`,
		hash(token), p, now.UnixMicro()).Scan(&user)
	if errors.Is(err, sqldb.ErrNoRows) {
		return User{}, ErrInvalidToken
	}
	if err != nil {
		return User{}, fmt.Errorf("look up a %s token: %w", p, err)
	}
	u, err := UserByID(ctx, d.DB, user)
	if err != nil {
		return User{}, err
	}
	return u, d.take(ctx, requestsByEmail, hash(u.Email), now)
}

// Change replaces the password of a signed-in user; their other sessions end.
func (d *Door) Change(ctx context.Context, p Principal, current, password string, now time.Time) error {
	u, err := UserByID(ctx, d.DB, p.User)
	if err != nil {
		return err
	}
	if err := d.verify(ctx, u.Email, current, u.passwordHash, p.IP, now); err != nil {
		return err
	}
	var problems fault.Problems
	CheckNewPassword(&problems, "new_password", password, u.Email, u.Name)
	if err := problems.Err(); err != nil {
		return err
	}
	passwordHash, err := d.Passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	return d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		return setPassword(ctx, tx, u.ID, passwordHash, p.Session)
	})
}

// Invite makes somebody a member once they follow the link, which goes out by
// mail where there is a relay, and is returned for whoever invites.
func (d *Door) Invite(ctx context.Context, p Principal, email string, role Role, now time.Time) (Member, string, error) {
	m, token, err := Invite(ctx, d.DB, p, email, role, now)
	if err != nil {
		return Member{}, "", err
	}
	link := InviteLink(d.BaseURL, token)
	if d.Mail != nil {
		d.send(ctx, m.Email, "You are invited to "+p.TenantSlug, fmt.Sprintf(
			"Hello,\n\n%s invites you to work with them in %s, as %s.\nWithin seven days, accept here:\n\n%s\n",
			p.UserName, p.TenantSlug, m.Role, link))
	}
	return m, link, nil
}

// Accept redeems an invitation and begins a session. A person who is new says
// their name and chooses a password. One who has a login proves who they are
// with the password they have: the link alone must not, for it was shown to
// whoever made it.
func (d *Door) Accept(ctx context.Context, token, name, password string, ip netip.Addr, now time.Time) (Entrance, error) {
	u, err := d.holder(ctx, forInvite, token, ip, now)
	if err != nil {
		return Entrance{}, err
	}
	fresh := u.passwordHash == ""
	if fresh {
		var p fault.Problems
		name = checkPersonName(&p, "name", name)
		CheckNewPassword(&p, "password", password, u.Email, name)
		if err := p.Err(); err != nil {
			return Entrance{}, err
		}
		if u.passwordHash, err = d.Passwords.Hash(ctx, password); err != nil {
			return Entrance{}, err
		}
		u.Name = name
	} else if err := d.verify(ctx, u.Email, password, u.passwordHash, ip, now); err != nil {
		return Entrance{}, err
	}
	var e Entrance
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		o, err := redeem(ctx, tx, forInvite, token, now)
		if err != nil {
			return err
		}
		if fresh {
			n, err := tx.Exec(ctx, `
				UPDATE app_user SET name = $2, password_hash = $3
				WHERE id = $1 AND password_hash IS NULL /* all tenants: a user belongs to the installation */`, u.ID, u.Name, u.passwordHash)
			if err != nil {
				return fmt.Errorf("accept invitation: %w", err)
			}
			if n == 0 { // two invitations were accepted at once
				return ErrCredentials
			}
		}
		n, err := tx.Exec(ctx, `
			UPDATE membership SET status = 'active'
			WHERE tenant_id = $1 AND user_id = $2 AND status = 'invited'`, o.tenant, u.ID)
		if err != nil {
			return fmt.Errorf("accept invitation: %w", err)
		}
		if n == 0 {
			return ErrInvalidToken
		}
		by := By{Actor: Actor{Type: "user", ID: string(u.ID), Name: u.Name}, IP: ip}
		if err := Audit(ctx, tx, by.Did(o.tenant, "member.accept", "user", string(u.ID), now)); err != nil {
			return err
		}
		e, err = enter(ctx, tx, u, ip, now)
		return err
	})
	if err != nil {
		return Entrance{}, err
	}
	return e, nil
}

// Here returns the session that p is in.
func (d *Door) Here(ctx context.Context, p Principal) (Entrance, error) {
	var expires int64
	err := d.DB.QueryRow(ctx, `
		SELECT expires_at FROM session WHERE id = $1 /* all tenants: a session belongs to a user */`, p.Session).Scan(&expires)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Entrance{}, ErrNoSession
	}
	if err != nil {
		return Entrance{}, fmt.Errorf("load session: %w", err)
	}
	list, err := Memberships(ctx, d.DB, p.User)
	if err != nil {
		return Entrance{}, err
	}
	u := User{ID: p.User, Email: p.Email, Name: p.UserName}
	return Entrance{Session: Session{ID: p.Session, User: u, ExpiresAt: sqldb.Time(expires)}, Memberships: list}, nil
}

// SetupLink is where the first user signs up.
func SetupLink(base *url.URL, token string) string { return link(base, "signup", "setup_token", token) }

// ResetLink is where a user chooses a password.
func ResetLink(base *url.URL, token string) string {
	return link(base, "reset-password", "token", token)
}

// InviteLink is where a person accepts an invitation.
func InviteLink(base *url.URL, token string) string {
	return link(base, "accept-invitation", "token", token)
}

func link(base *url.URL, path, name, token string) string {
	u := base.JoinPath(path)
	u.RawQuery = url.Values{name: {token}}.Encode()
	return u.String()
}
