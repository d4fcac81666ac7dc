package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Faults of signing in and up, besides problems with fields.
var (
	ErrCredentials    = fault.New(fault.Unauthenticated, "INVALID_CREDENTIALS", "the address or the password is wrong")
	ErrSignupDisabled = fault.New(fault.Forbidden, "SIGNUP_DISABLED", "sign-up is off; ask for an invitation")
	ErrTooOften       = fault.New(fault.Limited, "RATE_LIMITED", "too many attempts; try again later")
)

// Wait is the details of ErrTooOften.
type Wait struct {
	Seconds int `json:"retry_after"`
}

// RetryAfter returns the duration for the Retry-After header.
func (w Wait) RetryAfter() time.Duration { return time.Duration(w.Seconds) * time.Second }

// Login implements sign-up, sign-in, password resets and invitations. It is safe for concurrent
// use.
type Login struct {
	DB            *sqldb.DB
	Passwords     *Passwords
	Limits        *ratelimit.Limiter
	SignupEnabled bool           // whether sign-up is possible after the first user
	Setups        []tenant.Setup // run for a tenant created by sign-up
	BaseURL       *url.URL
	Log           *slog.Logger

	// Mail sends a mail over the installation's relay; nil without one. Without it, inviters get
	// the link, and only the operator can reset passwords.
	Mail func(ctx context.Context, to, subject, text string) error

	background backgroundTasks
}

// Client is what sends a request for a session.
type Client struct {
	IP    netip.Addr
	Agent string // of the header User-Agent
}

// maxAgent is how many bytes of a user agent are stored.
const maxAgent = 512

// agent returns the user agent as a text that the database accepts.
func (c Client) agent() string {
	s := strings.ReplaceAll(strings.ToValidUTF8(c.Agent, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) > maxAgent {
		s = strings.ToValidUTF8(s[:maxAgent], "") // no incomplete character
	}
	return s
}

// ip returns the address as a text; empty if it is unknown.
func (c Client) ip() string {
	if !c.IP.IsValid() {
		return ""
	}
	return c.IP.Unmap().WithZone("").String()
}

// SignedIn is a session that has begun or continues.
type SignedIn struct {
	Session     Session
	Token       string // for the cookie; empty if the session continues
	Memberships []Membership
}

// SignUp is the data of a sign-up.
type SignUp struct {
	TenantName, TenantSlug, Name, Email, Password, SetupToken string
}

// SignUp creates a tenant and its owner. The first user of the installation needs the setup token
// that the command serve logs, which only the operator has seen, so it proves the login; afterwards
// sign-up must be enabled.
func (d *Login) SignUp(ctx context.Context, s SignUp, from Client, now time.Time) (SignedIn, error) {
	set, err := AnyUser(ctx, d.DB)
	if err != nil {
		return SignedIn{}, err
	}
	if set && !d.SignupEnabled {
		return SignedIn{}, ErrSignupDisabled
	}
	var p fault.Problems
	tenant.CheckSlug(&p, "tenant_slug", s.TenantSlug)
	tenant.CheckName(&p, "tenant_name", s.TenantName)
	s.Name = checkPersonName(&p, "name", s.Name)
	s.Email = checkEmail(&p, "email", s.Email)
	CheckNewPassword(&p, "password", s.Password, s.Email, s.Name)
	if err := p.Err(); err != nil {
		return SignedIn{}, err
	}
	if err := d.takePermit(ctx, requestsByAddress, ratelimit.Address(from.IP), now); err != nil {
		return SignedIn{}, err
	}
	passwordHash, err := d.Passwords.Hash(ctx, s.Password)
	if err != nil {
		return SignedIn{}, err
	}
	var e SignedIn
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if !set {
			if _, err := redeemToken(ctx, tx, forSetup, s.SetupToken, now); err != nil {
				return err
			}
			// Delete all of them, so that two people with one link each cannot both become the
			// first user.
			if _, err := tx.Exec(ctx, `DELETE FROM one_time_token WHERE purpose = 'setup' /* all tenants: the installation's */`); err != nil {
				return fmt.Errorf("end setup: %w", err)
			}
		}
		u := newUser(s.Email, s.Name, passwordHash, now)
		if !set {
			u.ProvenAt = &u.CreatedAt
		}
		if err := insertUser(ctx, tx, u); err != nil {
			return err
		}
		t, err := tenant.Create(ctx, tx, s.TenantSlug, s.TenantName, "", now, d.Setups...)
		if err != nil {
			return err
		}
		by := By{Actor: Actor{Type: "user", ID: u.ID.String(), Name: u.Name}, IP: from.IP}
		if err := addMember(ctx, tx, t.ID, u.ID, Owner, by, now); err != nil {
			return err
		}
		e, err = beginSession(ctx, tx, u, from, now)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	return e, nil
}

// SignIn begins a session. The error is the same for an unknown user and a wrong password.
func (d *Login) SignIn(ctx context.Context, email, password string, from Client, now time.Time) (SignedIn, error) {
	var ignored fault.Problems
	email = checkEmail(&ignored, "email", email)
	u, err := UserByEmail(ctx, d.DB, email)
	if err != nil && !errors.Is(err, ErrNoUser) {
		return SignedIn{}, err
	}
	if err := d.verify(ctx, email, password, u.passwordHash, from.IP, now); err != nil {
		return SignedIn{}, err
	}
	var e SignedIn
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		e, err = beginSession(ctx, tx, u, from, now)
		return err
	})
	return e, err
}

// beginSession begins a session, records it in the audit log of each of the user's tenants, and stores the
// address.
func beginSession(ctx context.Context, tx *sqldb.DB, u User, from Client, now time.Time) (SignedIn, error) {
	s, token, err := startSession(ctx, tx, u, from, now)
	if err != nil {
		return SignedIn{}, err
	}
	if err := noteAddress(ctx, tx, u.ID, from.IP, now); err != nil {
		return SignedIn{}, err
	}
	if err := announceUser(ctx, tx, u.ID); err != nil {
		return SignedIn{}, err
	}
	list, err := Memberships(ctx, tx, u.ID)
	if err != nil {
		return SignedIn{}, err
	}
	by := By{Actor: Actor{Type: "user", ID: u.ID.String(), Name: u.Name}, IP: from.IP}
	for _, m := range list {
		if err := Audit(ctx, tx, by.Did(m.Tenant, "login", "user", u.ID.String(), now)); err != nil {
			return SignedIn{}, err
		}
	}
	return SignedIn{Session: s, Token: token, Memberships: list}, nil
}

// Change replaces the password of a signed-in user and ends their other sessions.
func (d *Login) Change(ctx context.Context, p Principal, current, password string, now time.Time) error {
	u, err := UserByID(ctx, d.DB, p.User)
	if err != nil {
		return err
	}
	var problems fault.Problems
	CheckNewPassword(&problems, "new_password", password, u.Email, u.Name)
	if err := problems.Err(); err != nil {
		return err
	}
	if err := d.verify(ctx, u.Email, current, u.passwordHash, p.IP, now); err != nil {
		return err
	}
	passwordHash, err := d.Passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	return d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		locked, err := lockUser(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if locked.passwordHash != u.passwordHash { // changed concurrently, which may have ended this session
			return ErrCredentials
		}
		if err := setPassword(ctx, tx, u.ID, passwordHash, p.Session); err != nil {
			return err
		}
		return revokeTokens(ctx, tx, forReset, u.ID)
	})
}

// Current returns the session of p.
func (d *Login) Current(ctx context.Context, p Principal) (SignedIn, error) {
	var expires int64
	err := d.DB.QueryRow(ctx, `
		SELECT expires_at FROM session WHERE id = $1 /* all tenants: a session belongs to a user */`, p.Session).Scan(&expires)
	if errors.Is(err, sqldb.ErrNoRows) {
		return SignedIn{}, ErrNoSession
	}
	if err != nil {
		return SignedIn{}, fmt.Errorf("load session: %w", err)
	}
	list, err := Memberships(ctx, d.DB, p.User)
	if err != nil {
		return SignedIn{}, err
	}
	u := User{ID: p.User, Email: p.Email, Name: p.UserName}
	return SignedIn{Session: Session{ID: p.Session, User: u, ExpiresAt: sqldb.Time(expires)}, Memberships: list}, nil
}

// SetupLink returns the URL where the first user signs up.
func SetupLink(base *url.URL, token string) string {
	return accountLink(base, "signup", "setup_token", token)
}

// ResetLink returns the URL where a user chooses a password.
func ResetLink(base *url.URL, token string) string {
	return accountLink(base, "reset-password", "token", token)
}

// InviteLink returns the URL where a person accepts an invitation.
func InviteLink(base *url.URL, token string) string {
	return accountLink(base, "accept-invitation", "token", token)
}

func accountLink(base *url.URL, path, name, token string) string {
	u := base.JoinPath(path)
	u.RawQuery = url.Values{name: {token}}.Encode()
	return u.String()
}
