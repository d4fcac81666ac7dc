package auth

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrUnauthorized refuses a credential; its details have the reason.
var ErrUnauthorized = fault.New(fault.Unauthenticated, "UNAUTHORIZED", "a valid API key or session is needed")

// Reason is the details of ErrUnauthorized.
type Reason struct {
	Reason string `json:"reason"` // missing, invalid, expired or revoked
}

func unauthorized(reason string) error {
	message := map[string]string{
		"missing": "send an API key in the header X-API-Key, or sign in",
		"invalid": "the credential is not valid here",
		"expired": "the credential has expired",
		"revoked": "the API key has been revoked",
	}[reason]
	return ErrUnauthorized.With(Reason{reason}).Sayf("%s", message)
}

// fresh is how long a cached row is used. It is less than a second, so that a key revoked by
// another process is refused within a second.
const fresh = 900 * time.Millisecond

// usedEvery is the shortest interval between updates of a key's last_used_at.
const usedEvery = time.Minute

// Keyring looks up API keys. It is safe for concurrent use.
type Keyring struct {
	DB  *sqldb.DB
	Log *slog.Logger

	keys cache.Cache[string, cachedKey] // by lookup id
}

type cachedKey struct {
	key           Key
	hash          string
	previous      string
	previousUntil time.Time
}

// ClearCache must be called after a key was changed, so that the next request reads it again. Changes
// are rare, so it clears the whole cache.
func (kr *Keyring) ClearCache() {
	kr.keys.Clear()
}

// Find returns the tenant's key with a secret if it is valid, or ErrUnauthorized with the reason.
func (kr *Keyring) Find(ctx context.Context, tenant id.Tenant, secret string, now time.Time) (Key, error) {
	lookup, ok := lookupID(secret)
	if !ok {
		return Key{}, unauthorized("invalid")
	}
	c, err := kr.lookUpKey(ctx, lookup, now)
	if err != nil {
		return Key{}, err
	}
	// Always compare both, in constant time.
	given := []byte(hashToken(secret))
	current := subtle.ConstantTimeCompare(given, []byte(c.hash)) == 1
	previous := subtle.ConstantTimeCompare(given, []byte(c.previous)) == 1
	switch {
	case !current && !previous, c.key.Tenant != tenant:
		return Key{}, unauthorized("invalid")
	case c.key.RevokedAt != nil:
		return Key{}, unauthorized("revoked")
	case c.key.Status(now) == KeyExpired, !current && !now.Before(c.previousUntil):
		return Key{}, unauthorized("expired")
	}
	kr.noteUse(ctx, lookup, c, now)
	return c.key, nil
}

// lookUpKey returns the key with a lookup id from the cache or the database; if there is none, the
// zero value, which no secret matches.
func (kr *Keyring) lookUpKey(ctx context.Context, lookup string, now time.Time) (cachedKey, error) {
	c, err := kr.keys.Load(lookup, now, fresh, func() (cachedKey, error) { return kr.load(ctx, lookup) })
	if errors.Is(err, sqldb.ErrNoRows) {
		return cachedKey{}, nil
	}
	return c, err
}

func (kr *Keyring) load(ctx context.Context, lookup string) (c cachedKey, err error) {
	var previous sql.NullString
	var until sql.NullInt64
	c.key, _, err = scanKeyWith(kr.DB.QueryRow(ctx, `
		SELECT`+keyColumns+`, key_hash, previous_hash, previous_until FROM api_key
		WHERE lookup_id = $1 /* all tenants: the key determines which */`, lookup).Scan, &c.hash, &previous, &until)
	if err != nil {
		return c, fmt.Errorf("look up API key: %w", err)
	}
	c.previous, c.previousUntil = previous.String, sqldb.Time(until.Int64)
	return c, nil
}

// noteUse updates last_used_at, at most once a minute. A failure is only logged and does not fail the
// request.
func (kr *Keyring) noteUse(ctx context.Context, lookup string, c cachedKey, now time.Time) {
	if last := c.key.LastUsedAt; last != nil && now.Sub(*last) < usedEvery {
		return
	}
	kr.keys.Update(lookup, func(c cachedKey) cachedKey { c.key.LastUsedAt = &now; return c })
	if _, err := kr.DB.Exec(ctx, `
		UPDATE api_key SET last_used_at = $3
		WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $4)`,
		c.key.Tenant, c.key.ID, now.UnixMicro(), now.Add(-usedEvery).UnixMicro()); err != nil && ctx.Err() == nil {
		kr.Log.Warn("note API key use failed", "tenant", c.key.Tenant, "key", c.key.ID, "err", err)
	}
}
