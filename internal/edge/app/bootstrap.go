package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Apply creates the tenant, its owner and its API key if they do not exist. Existing ones do not
// change, including passwords. The exception is a login of the owner's address that is not proven:
// it gets the password given here.
func (b Bootstrap) Apply(ctx context.Context, db *sqldb.DB, passwords *auth.Passwords, now time.Time) error {
	if b.TenantSlug == "" {
		return nil
	}
	var passwordHash string
	email, err := address.Normalize(b.AdminEmail)
	if b.AdminEmail != "" {
		if err != nil {
			return fmt.Errorf("bootstrap admin email: %w", err)
		}
		u, err := auth.UserByEmail(ctx, db, email)
		if err != nil && !errors.Is(err, auth.ErrNoUser) {
			return err
		}
		if !u.Proven() {
			if passwordHash, err = passwords.Hash(ctx, b.AdminPassword); err != nil {
				return err
			}
		}
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		t, err := tenant.BySlug(ctx, tx, b.TenantSlug)
		if errors.Is(err, tenant.ErrNotFound) {
			t, err = tenant.Create(ctx, tx, b.TenantSlug, b.TenantSlug, "", now, TenantSetup()...)
		}
		if err != nil {
			return err
		}
		if b.AdminEmail != "" {
			if err := b.owner(ctx, tx, t, email, passwordHash, now); err != nil {
				return err
			}
		}
		if b.APIKey == "" {
			return nil
		}
		have, err := auth.KeyKnown(ctx, tx, t.ID, b.APIKey)
		if err != nil || have {
			return err
		}
		_, _, err = auth.CreateKey(ctx, tx, t.ID, auth.NewKey{
			Name: "bootstrap", Scopes: auth.AllScopes().Strings(), Secret: b.APIKey,
		}, auth.BySystem, now)
		return err
	})
	if err != nil {
		return fmt.Errorf("bootstrap tenant %s: %w", b.TenantSlug, err)
	}
	return nil
}

// owner creates the user and the membership if they do not exist.
func (b Bootstrap) owner(ctx context.Context, tx *sqldb.DB, t tenant.Tenant, email, passwordHash string, now time.Time) error {
	u, err := auth.UserByEmail(ctx, tx, email)
	if errors.Is(err, auth.ErrNoUser) {
		u, err = auth.CreateUser(ctx, tx, email, "Admin", passwordHash, now)
	}
	if err != nil {
		return err
	}
	if _, err := auth.MemberOf(ctx, tx, t.ID, u.ID); !errors.Is(err, auth.ErrNoUser) {
		return err
	}
	if _, err := auth.ConfirmEmail(ctx, tx, u.ID, passwordHash, now); err != nil {
		return err
	}
	return auth.AddMember(ctx, tx, t.ID, u.ID, auth.Owner, auth.BySystem, now)
}

// InviteFirst logs a link for the sign-up of the first user, if there is no user.
func InviteFirst(ctx context.Context, db *sqldb.DB, base *url.URL, log *slog.Logger, now time.Time) error {
	some, err := auth.AnyUser(ctx, db)
	if err != nil || some {
		return err
	}
	token, err := auth.SetupToken(ctx, db, now)
	if err != nil {
		return err
	}
	log.Info("no login exists: sign up with this link, once, or POST its token to the signup route",
		"link", auth.SetupLink(base, token), "signup", base.JoinPath("/api/auth/signup").String())
	return nil
}

// TenantSetup returns the setups of a new tenant, in order.
func TenantSetup() []tenant.Setup {
	return []tenant.Setup{
		contact.CreateDefaultStages,
		sender.Newsletter,
		segment.BuiltIn,
	}
}
