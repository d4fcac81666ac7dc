package auth

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrNoKey means that the tenant has no such API key.
var ErrNoKey = fault.New(fault.NotFound, "NOT_FOUND", "there is no such API key")

// ErrTooManyKeys refuses a key beyond maxKeys.
var ErrTooManyKeys = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant has at most 100 API keys; revoke one first")

// ErrKeyRevoked refuses to change a key that was revoked.
var ErrKeyRevoked = fault.New(fault.Conflict, "INVALID_TRANSITION", "the API key has been revoked")

// ErrKeyTaken refuses an imported key whose lookup part belongs to another key.
var ErrKeyTaken = fault.New(fault.Conflict, "DUPLICATE_NAME", "another API key begins with the same letters; make a new one")

// Limits of keys.
const (
	maxKeys    = 100
	maxGrace   = 24 * time.Hour
	revokedAge = 90 * 24 * time.Hour // how long revoked keys are listed
)

// KeyStatus is the status of a key.
type KeyStatus string

// The statuses of a key.
const (
	KeyActive  KeyStatus = "active"
	KeyExpired KeyStatus = "expired"
	KeyRevoked KeyStatus = "revoked"
)

// Key is an API key, without its secret.
type Key struct {
	ID         id.APIKey
	Tenant     id.Tenant
	Name       string
	Prefix     string // the public part
	Scopes     Set
	CreatedBy  Actor // empty Type: created by the operator
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Status returns the key's status at a time.
func (k Key) Status(now time.Time) KeyStatus {
	switch {
	case k.RevokedAt != nil:
		return KeyRevoked
	case k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return KeyExpired
	}
	return KeyActive
}

// A key is pbk_<12 characters for the lookup>_<43 secret characters>: Crockford's base32 in lower
// case, and 256 random bits in base62.
const (
	keyStart      = "pbk_"
	lookupLetters = "0123456789abcdefghjkmnpqrstvwxyz"
	secretLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	lookupLength  = 12
	secretLength  = 43
)

var keyFormat = regexp.MustCompile(`^pbk_([0-9a-z]{12})_[0-9A-Za-z]{43}$`)

// lookupID returns the part of a key that identifies its row.
func lookupID(key string) (string, bool) {
	if len(key) != len(keyStart)+lookupLength+1+secretLength {
		return "", false
	}
	m := keyFormat.FindStringSubmatch(key)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// KeyShaped reports whether s has the format of an API key.
func KeyShaped(s string) bool {
	_, ok := lookupID(s)
	return ok
}

func random(letters string, n int) string {
	var b strings.Builder
	most := big.NewInt(int64(len(letters)))
	for range n {
		i, err := rand.Int(rand.Reader, most)
		if err != nil {
			panic(err) // never happens (crypto/rand)
		}
		b.WriteByte(letters[i.Int64()])
	}
	return b.String()
}

func newKey(lookup string) string {
	return keyStart + lookup + "_" + random(secretLetters, secretLength)
}

// NewKey is the argument of CreateKey.
type NewKey struct {
	Name      string
	Scopes    []string
	ExpiresAt *time.Time
	Secret    string // the whole key if it is imported; else empty
}

func checkKeyName(p *fault.Problems, name string) string {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		p.Add("name", "required")
	case n > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		p.Add("name", "must be at most 100 characters on one line")
	}
	return name
}

// Check returns what is wrong with the name and the expiry of a new key.
func (n NewKey) Check(now time.Time) error {
	return KeyChange{Name: &n.Name, ExpiresAt: n.ExpiresAt}.Check(now)
}

// Check returns what is wrong with the name and the expiry.
func (c KeyChange) Check(now time.Time) error {
	var p fault.Problems
	if c.Name != nil {
		checkKeyName(&p, *c.Name)
	}
	checkExpiry(&p, c.ExpiresAt, now)
	return p.Err()
}

func checkExpiry(p *fault.Problems, at *time.Time, now time.Time) {
	if at != nil && !at.After(now) {
		p.Add("expires_at", "must be a date and time in the future, such as 2030-01-31T12:00:00Z")
	}
}

// CreateKey creates a key and returns it with its secret, of which only a hash is stored.
func CreateKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, n NewKey, by By, now time.Time) (Key, string, error) {
	var p fault.Problems
	n.Name = checkKeyName(&p, n.Name)
	checkExpiry(&p, n.ExpiresAt, now)
	if err := p.Err(); err != nil {
		return Key{}, "", err
	}
	scopes, err := NewSet(n.Scopes)
	if err != nil {
		return Key{}, "", err
	}
	secret := n.Secret
	if secret == "" {
		secret = newKey(random(lookupLetters, lookupLength))
	}
	lookup, ok := lookupID(secret)
	if !ok {
		return Key{}, "", errors.New("an API key must read pbk_, 12 lower-case letters or digits, _, 43 letters or digits")
	}
	k := Key{
		ID: id.New[id.APIKey](), Tenant: tenant, Name: n.Name, Prefix: keyStart + lookup, Scopes: scopes,
		CreatedAt: sqldb.Time(now.UnixMicro()), ExpiresAt: n.ExpiresAt,
	}
	if by.Actor.Type == "user" {
		k.CreatedBy = by.Actor
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var have int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM api_key WHERE tenant_id = $1 AND revoked_at IS NULL`, tenant).Scan(&have); err != nil {
			return fmt.Errorf("count API keys: %w", err)
		}
		if have >= maxKeys {
			return ErrTooManyKeys
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO api_key (tenant_id, id, lookup_id, key_hash, name, scopes, created_by_id, created_by_name, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			tenant, k.ID, lookup, hashToken(secret), k.Name, encodeScopes(scopes),
			sqldb.Null(id.Read[id.User](k.CreatedBy.ID)), sqldb.Null(k.CreatedBy.Name), now.UnixMicro(), sqldb.NullMicros(k.ExpiresAt)); err != nil {
			return fmt.Errorf("create API key: %w", err)
		}
		return Audit(ctx, tx, by.Did(tenant, "api_key.create", "api_key", k.ID.String(), now))
	})
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

func encodeScopes(s Set) string {
	b, _ := json.Marshal(s.Strings()) // strings always encode
	return string(b)
}

const keyColumns = ` id, tenant_id, lookup_id, name, scopes, created_by_id, created_by_name, created_at, expires_at, last_used_at, revoked_at `

func scanKey(scan func(...any) error) (Key, error) {
	k, _, err := scanKeyWith(scan)
	return k, err
}

// scanKeyWith reads a key and further columns of the query.
func scanKeyWith(scan func(...any) error, more ...any) (Key, string, error) {
	var k Key
	var lookup, scopes string
	var by id.User
	var byName sql.NullString
	var created int64
	var expires, used, revoked sql.NullInt64
	err := scan(append([]any{&k.ID, &k.Tenant, &lookup, &k.Name, &scopes, &by, &byName, &created, &expires, &used, &revoked}, more...)...)
	if err != nil {
		return Key{}, "", err
	}
	if err := json.Unmarshal([]byte(scopes), &k.Scopes); err != nil {
		return Key{}, "", fmt.Errorf("scopes of key %s: %w", k.ID, err)
	}
	if !by.IsZero() {
		k.CreatedBy = Actor{Type: "user", ID: by.String(), Name: byName.String}
	}
	k.Prefix, k.CreatedAt = keyStart+lookup, sqldb.Time(created)
	k.ExpiresAt, k.LastUsedAt, k.RevokedAt = sqldb.NullTime(expires), sqldb.NullTime(used), sqldb.NullTime(revoked)
	return k, lookup, nil
}

// Keys returns the tenant's keys, newest first; revoked ones only for 90 days.
func Keys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, now time.Time) ([]Key, error) {
	rows, err := db.Query(ctx, `
		SELECT`+keyColumns+`FROM api_key
		WHERE tenant_id = $1 AND (revoked_at IS NULL OR revoked_at > $2)
		ORDER BY created_at DESC, id DESC`, tenant, now.Add(-revokedAge).UnixMicro())
	list, err := sqldb.Collect(rows, err, scanKey)
	if err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	return list, nil
}

// KeyByID returns one key of the tenant, or ErrNoKey.
func KeyByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key id.APIKey) (Key, error) {
	return oneKey(db.QueryRow(ctx, `SELECT`+keyColumns+`FROM api_key WHERE tenant_id = $1 AND id = $2`, tenant, key))
}

func oneKey(row *sqldb.Row) (Key, error) {
	k, err := scanKey(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Key{}, ErrNoKey
	}
	if err != nil {
		return Key{}, fmt.Errorf("load API key: %w", err)
	}
	return k, nil
}

// KeyChange holds the changes to a key; nil leaves a field unchanged.
type KeyChange struct {
	Name        *string
	Scopes      *[]string
	ExpiresAt   *time.Time
	NeverExpire bool // removes the expiry
}

// ChangeKey changes a key; the change takes effect for requests within a second.
func ChangeKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key id.APIKey, c KeyChange, by By, now time.Time) (Key, error) {
	var p fault.Problems
	if c.Name != nil {
		c.Name = new(checkKeyName(&p, *c.Name))
	}
	checkExpiry(&p, c.ExpiresAt, now)
	if err := p.Err(); err != nil {
		return Key{}, err
	}
	var scopes Set
	if c.Scopes != nil {
		var err error
		if scopes, err = NewSet(*c.Scopes); err != nil {
			return Key{}, err
		}
	}
	var k Key
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if k, err = lockActiveKey(ctx, tx, tenant, key); err != nil {
			return err
		}
		before := k.auditForm()
		if c.Name != nil {
			k.Name = *c.Name
		}
		if c.Scopes != nil {
			k.Scopes = scopes
		}
		switch {
		case c.NeverExpire:
			k.ExpiresAt = nil
		case c.ExpiresAt != nil:
			k.ExpiresAt = c.ExpiresAt
		}
		if _, err := tx.Exec(ctx, `
			UPDATE api_key SET name = $3, scopes = $4, expires_at = $5 WHERE tenant_id = $1 AND id = $2`,
			tenant, key, k.Name, encodeScopes(k.Scopes), sqldb.NullMicros(k.ExpiresAt)); err != nil {
			return fmt.Errorf("change API key: %w", err)
		}
		entry := by.Did(tenant, "api_key.update", "api_key", key.String(), now)
		if entry.Changes, err = Changes(before, k.auditForm()); err != nil {
			return err
		}
		return Audit(ctx, tx, entry)
	})
	return k, err
}

// auditForm returns what users change of a key.
func (k Key) auditForm() any {
	return map[string]any{"name": k.Name, "scopes": json.RawMessage(encodeScopes(k.Scopes)), "expires_at": k.ExpiresAt}
}

// RotateKey gives a key a new secret and returns it. The current secret remains valid during the
// grace period; one from an earlier grace period ends at once.
func RotateKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key id.APIKey, grace time.Duration, by By, now time.Time) (Key, string, error) {
	if grace < 0 || grace > maxGrace {
		return Key{}, "", fault.Input(fault.Field{Path: "grace_seconds", Message: "must be between 0 and 86400"})
	}
	var k Key
	var secret string
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if k, err = lockActiveKey(ctx, tx, tenant, key); err != nil {
			return err
		}
		secret = newKey(strings.TrimPrefix(k.Prefix, keyStart))
		if _, err := tx.Exec(ctx, `
			UPDATE api_key SET key_hash = $3, previous_hash = key_hash, previous_until = $4
			WHERE tenant_id = $1 AND id = $2`,
			tenant, key, hashToken(secret), now.Add(grace).UnixMicro()); err != nil {
			return fmt.Errorf("rotate API key: %w", err)
		}
		return Audit(ctx, tx, by.Did(tenant, "api_key.rotate", "api_key", key.String(), now))
	})
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// RevokeKey revokes a key; its row remains. Revoking it again has no effect.
func RevokeKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key id.APIKey, by By, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		k, err := lockActiveKey(ctx, tx, tenant, key)
		if errors.Is(err, ErrKeyRevoked) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE api_key SET revoked_at = $3, previous_hash = NULL, previous_until = NULL
			WHERE tenant_id = $1 AND id = $2`, tenant, k.ID, now.UnixMicro()); err != nil {
			return fmt.Errorf("revoke API key: %w", err)
		}
		return Audit(ctx, tx, by.Did(tenant, "api_key.revoke", "api_key", key.String(), now))
	})
}

// lockActiveKey returns a key that is not revoked, and locks its row.
func lockActiveKey(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, key id.APIKey) (Key, error) {
	k, err := oneKey(tx.QueryRow(ctx, `SELECT`+keyColumns+`FROM api_key WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, key))
	if err != nil {
		return Key{}, err
	}
	if k.RevokedAt != nil {
		return Key{}, ErrKeyRevoked
	}
	return k, nil
}

// KeyKnown reports whether the tenant has exactly this key, revoked or not. If its lookup part
// belongs to another tenant or another secret, the error is ErrKeyTaken.
func KeyKnown(ctx context.Context, db *sqldb.DB, tenant id.Tenant, secret string) (bool, error) {
	lookup, ok := lookupID(secret)
	if !ok {
		return false, unauthorized("invalid")
	}
	var owner id.Tenant
	var current string
	err := db.QueryRow(ctx, `
		SELECT tenant_id, key_hash FROM api_key
		WHERE lookup_id = $1 /* all tenants: the key determines which */`, lookup).Scan(&owner, &current)
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up API key: %w", err)
	}
	if owner != tenant || current != hashToken(secret) {
		return false, ErrKeyTaken
	}
	return true, nil
}
