package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// loginLinkAge is how long a link that signs a user in is valid.
const loginLinkAge = 10 * time.Minute

// LoginLinkToken creates a token that signs a user in, on behalf of the operator. It is valid once, for ten minutes,
// and until the password changes. It proves nothing about the user's address.
func LoginLinkToken(ctx context.Context, db *sqldb.DB, user id.User, now time.Time) (string, error) {
	token := newToken()
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO login_link (token_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4) /* all tenants: a user belongs to the installation */`,
			hashToken(token), user, now.UnixMicro(), now.Add(loginLinkAge).UnixMicro())
		if err != nil {
			return err
		}
		list, err := Memberships(ctx, tx, user)
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := Audit(ctx, tx, BySystem.Did(m.Tenant, "login_link.create", "user", user.String(), now)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("create a login link: %w", err)
	}
	return token, nil
}

// LoginLink returns the URL of a link that signs a user in. The token is in the fragment, so that it is in no
// request for a page, and in no log or referrer.
func LoginLink(base *url.URL, token string) string {
	u := base.JoinPath("app", "-", "login-link")
	u.Fragment = token
	return u.String()
}

// SignInByLink redeems a link and begins a session of its user.
func (d *Login) SignInByLink(ctx context.Context, token string, from Client, now time.Time) (SignedIn, error) {
	if err := d.takePermit(ctx, requestsByAddress, ratelimit.Address(from.IP), now); err != nil {
		return SignedIn{}, err
	}
	var e SignedIn
	err := d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		var user id.User
		err := tx.QueryRow(ctx, `
			DELETE FROM login_link WHERE token_hash = $1 AND expires_at > $2
			RETURNING user_id /* all tenants: the token determines which */`, hashToken(token), now.UnixMicro()).Scan(&user)
		if errors.Is(err, sqldb.ErrNoRows) {
			return ErrInvalidToken
		}
		if err != nil {
			return fmt.Errorf("redeem a login link: %w", err)
		}
		u, err := lockUser(ctx, tx, user)
		if errors.Is(err, ErrNoUser) {
			return ErrInvalidToken
		}
		if err != nil {
			return err
		}
		e, err = beginSession(ctx, tx, u, from, now)
		return err
	})
	return e, err
}

// userOfLoginLink returns the user that a link signs in.
func (d *Login) userOfLoginLink(ctx context.Context, token string, now time.Time) (User, error) {
	var user id.User
	err := d.DB.QueryRow(ctx, `
		SELECT user_id FROM login_link WHERE token_hash = $1 AND expires_at > $2 /* all tenants: the token determines which */`,
		hashToken(token), now.UnixMicro()).Scan(&user)
	if errors.Is(err, sqldb.ErrNoRows) {
		return User{}, ErrInvalidToken
	}
	if err != nil {
		return User{}, fmt.Errorf("look up a login link: %w", err)
	}
	return d.userOf(ctx, user)
}

// revokeLoginLinks deletes the links that sign a user in.
func revokeLoginLinks(ctx context.Context, tx *sqldb.DB, user id.User) error {
	_, err := tx.Exec(ctx, `DELETE FROM login_link WHERE user_id = $1 /* all tenants: a user belongs to the installation */`, user)
	if err != nil {
		return fmt.Errorf("revoke login links: %w", err)
	}
	return nil
}
