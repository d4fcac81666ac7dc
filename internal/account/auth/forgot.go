package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Forgot mails a link to the user with the address, if there is one. Neither the answer nor the
// response time reveals whether there is: before the answer, only the limits are checked; the rest
// is done in the background.
func (d *Login) Forgot(ctx context.Context, email string, ip netip.Addr, now time.Time) error {
	var p fault.Problems
	email = checkEmail(&p, "email", email)
	if err := p.Err(); err != nil {
		return err
	}
	if err := d.takePermit(ctx, requestsByAddress, ratelimit.Address(ip), now); err != nil {
		return err
	}
	if err := d.takePermit(ctx, requestsByEmail, hashToken(email), now); err != nil {
		return err
	}
	if d.Mail == nil {
		return nil
	}
	return d.background.run(ctx, func(ctx context.Context) {
		if err := d.mailReset(ctx, email, now); err != nil {
			d.Log.Error("mail password reset failed", "err", err)
		}
	})
}

// mailReset creates a token and mails it. For an address without a user it also creates a token,
// which cannot be used, so that the work in the database is the same.
func (d *Login) mailReset(ctx context.Context, email string, now time.Time) error {
	u, err := UserByEmail(ctx, d.DB, email)
	if err != nil && !errors.Is(err, ErrNoUser) {
		return err
	}
	token, err := ResetToken(ctx, d.DB, u.ID, now)
	if err != nil || u.ID.IsZero() {
		return err
	}
	hello := "Hello"
	if u.Proven() { // otherwise somebody else may have chosen the name
		hello = strings.TrimSpace("Hello " + plainName(u.Name))
	}
	return d.Mail(ctx, u.Email, "Choose a new password", fmt.Sprintf(
		"%s,\n\nsomeone, hopefully you, asked for a new password for your login.\nWithin an hour, choose it here:\n\n%s\n\nIf it was not you, do nothing: your password stays as it is.\n",
		hello, ResetLink(d.BaseURL, token)))
}

// Reset redeems a link for choosing a password. All sessions end. The link was mailed, or came from
// the operator, so it proves the login.
func (d *Login) Reset(ctx context.Context, token, password string, ip netip.Addr, now time.Time) error {
	_, u, err := d.tokenHolder(ctx, forReset, token, ip, now)
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
		if _, err := redeemToken(ctx, tx, forReset, token, now); err != nil {
			return err
		}
		return SetPassword(ctx, tx, u.ID, passwordHash, now)
	})
}

// tokenHolder returns the data of a token and its user, and limits attempts.
func (d *Login) tokenHolder(ctx context.Context, p purpose, token string, ip netip.Addr, now time.Time) (oneTime, User, error) {
	if err := d.takePermit(ctx, requestsByAddress, ratelimit.Address(ip), now); err != nil {
		return oneTime{}, User{}, err
	}
	o, err := lookUpToken(ctx, d.DB, p, token, now)
	if err != nil {
		return oneTime{}, User{}, err
	}
	u, err := d.userOf(ctx, o.user)
	if err != nil {
		return oneTime{}, User{}, err
	}
	return o, u, d.takePermit(ctx, requestsByEmail, hashToken(u.Email), now)
}

// userOf returns the user of a token. A token without a user is invalid.
func (d *Login) userOf(ctx context.Context, user id.User) (User, error) {
	u, err := UserByID(ctx, d.DB, user)
	if errors.Is(err, ErrNoUser) {
		err = ErrInvalidToken
	}
	return u, err
}
