package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Limits on requests without a credential. Client addresses are grouped by limit.Address.
var (
	failuresByPair    = ratelimit.Rule{Name: "login-pair", Max: 5, Window: 15 * time.Minute} // for an email and an address
	failuresByAddress = ratelimit.Rule{Name: "login-ip", Max: 30, Window: 15 * time.Minute}
	failuresByEmail   = ratelimit.Rule{Name: "login-email", Max: 50, Window: time.Hour}
	requestsByEmail   = ratelimit.Rule{Name: "account-email", Max: 5, Window: time.Hour}
	requestsByAddress = ratelimit.Rule{Name: "account-ip", Max: 20, Window: time.Hour}
)

// knownAge is how long the address of a successful sign-in is stored.
const knownAge = 30 * 24 * time.Hour

// verify checks a password, limiting failures. Permits are taken before the check and returned if
// it succeeds, so that concurrent guesses cannot exceed the limit. Success also resets the failures
// of this email from this address. Failures for one email from all addresses are limited too, but
// that does not lock out its user at an address of an earlier sign-in.
func (d *Login) verify(ctx context.Context, email, password, passwordHash string, ip netip.Addr, now time.Time) error {
	address := ratelimit.Address(ip)
	taken := takenPermits{d: d, now: now}
	if err := taken.take(ctx, failuresByAddress, address); err != nil {
		return err
	}
	if err := taken.take(ctx, failuresByPair, pairKey(email, address)); err != nil {
		return errors.Join(err, taken.returnAll(ctx))
	}
	if err := taken.take(ctx, failuresByEmail, hashToken(email)); err != nil {
		known, e := d.isKnownAddress(ctx, email, address, now)
		if e != nil {
			err = e
		}
		if !known {
			return errors.Join(err, taken.returnAll(ctx))
		}
	}
	ok, err := d.Passwords.Check(ctx, password, passwordHash)
	if err != nil { // the check itself failed
		return errors.Join(err, taken.returnAll(context.WithoutCancel(ctx)))
	}
	if !ok {
		return ErrCredentials
	}
	if err := taken.returnAll(ctx); err != nil {
		return err
	}
	return d.Limits.Clear(ctx, failuresByPair, pairKey(email, address), now)
}

// pairKey is the limit key of an email at an address.
func pairKey(email, address string) string { return hashToken(email + "\n" + address) }

// takenPermits are the permits that one attempt took.
type takenPermits struct {
	d    *Login
	now  time.Time
	list []takenPermit
}

type takenPermit struct {
	rule ratelimit.Rule
	key  string
}

func (p *takenPermits) take(ctx context.Context, r ratelimit.Rule, key string) error {
	if err := p.d.takePermit(ctx, r, key, p.now); err != nil {
		return err
	}
	p.list = append(p.list, takenPermit{r, key})
	return nil
}

func (p *takenPermits) returnAll(ctx context.Context) error {
	for _, one := range p.list {
		if err := p.d.Limits.GiveBack(ctx, one.rule, one.key, p.now); err != nil {
			return err
		}
	}
	return nil
}

func (d *Login) takePermit(ctx context.Context, r ratelimit.Rule, key string, now time.Time) error {
	s, err := d.Limits.Acquire(ctx, r, key, now)
	if err != nil {
		return err
	}
	if !s.Allowed {
		wait := int((s.Reset + time.Second - 1) / time.Second)
		return ErrTooOften.With(Wait{wait}).Sayf("too many attempts; try again in %d s", wait)
	}
	return nil
}

// noteAddress stores the address of a sign-in.
func noteAddress(ctx context.Context, tx *sqldb.DB, user id.User, ip netip.Addr, now time.Time) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO login_address (user_id, address, seen_at) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, address) DO UPDATE SET seen_at = excluded.seen_at /* all tenants: a user belongs to the installation */`,
		user, ratelimit.Address(ip), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("store the address of a sign-in: %w", err)
	}
	return nil
}

func forgetAddresses(ctx context.Context, tx *sqldb.DB, user id.User) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM login_address WHERE user_id = $1 /* all tenants: a user belongs to the installation */`, user)
	if err != nil {
		return fmt.Errorf("delete addresses of sign-ins: %w", err)
	}
	return nil
}

// isKnownAddress reports whether the user with an email recently signed in from an address.
func (d *Login) isKnownAddress(ctx context.Context, email, address string, now time.Time) (bool, error) {
	var yes bool
	err := d.DB.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1 FROM app_user u JOIN login_address a ON a.user_id = u.id
			WHERE u.email = $1 AND a.address = $2 AND a.seen_at > $3) /* all tenants: a user belongs to the installation */`,
		email, address, now.Add(-knownAge).UnixMicro()).Scan(&yes)
	if err != nil {
		return false, fmt.Errorf("look for earlier sign-ins: %w", err)
	}
	return yes, nil
}
