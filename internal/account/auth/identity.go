package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	identityTokenAge  = 30 * 24 * time.Hour
	previousSecretAge = 24 * time.Hour // after it was replaced
)

// IdentitySecret is the key with which a tenant's own server signs the identity of visitors
// of its website.
type IdentitySecret struct {
	Secret    string
	CreatedAt time.Time
}

func identitySecretPlace(tenant id.Tenant) string { return "identity_secret:" + tenant.String() }

// NewIdentitySecret creates a secret, which turns identity signing on. The previous secret
// verifies for one more day.
func NewIdentitySecret(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, now time.Time) (IdentitySecret, error) {
	s := IdentitySecret{"ids_" + strings.ToLower(rand.Text()+rand.Text()), now.UTC().Truncate(time.Microsecond)}
	_, err := db.Exec(ctx, `
		INSERT INTO identity_secret (tenant_id, secret, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id) DO UPDATE SET previous = identity_secret.secret, previous_until = $4,
			secret = excluded.secret, created_at = excluded.created_at`,
		tenant, box.Seal([]byte(s.Secret), identitySecretPlace(tenant)), sqldb.Micros(s.CreatedAt), sqldb.Micros(s.CreatedAt.Add(previousSecretAge)))
	if err != nil {
		return IdentitySecret{}, fmt.Errorf("store an identity secret: %w", err)
	}
	return s, nil
}

// DropIdentitySecret turns identity signing off. It invalidates all tokens and hashes.
func DropIdentitySecret(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error {
	if _, err := db.Exec(ctx, `DELETE FROM identity_secret WHERE tenant_id = $1`, tenant); err != nil {
		return fmt.Errorf("drop the identity secret: %w", err)
	}
	return nil
}

// IdentitySigned reports whether a tenant has identity signing turned on.
func IdentitySigned(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (bool, error) {
	var on bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM identity_secret WHERE tenant_id = $1)`, tenant).Scan(&on)
	if err != nil {
		return false, fmt.Errorf("find the identity secret: %w", err)
	}
	return on, nil
}

// IdentitySigner signs and verifies the identity of one tenant's contacts. The zero
// IdentitySigner does neither.
type IdentitySigner struct {
	tenant  id.Tenant
	secrets []string // the first signs; all verify
}

// LoadIdentitySigner returns a tenant's signer, the zero value if signing is off.
func LoadIdentitySigner(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, now time.Time) (IdentitySigner, error) {
	var current string
	var previous sql.NullString
	var until sql.NullInt64
	err := db.QueryRow(ctx, `
		SELECT secret, previous, previous_until FROM identity_secret WHERE tenant_id = $1`, tenant).Scan(&current, &previous, &until)
	if errors.Is(err, sqldb.ErrNoRows) {
		return IdentitySigner{}, nil
	}
	if err != nil {
		return IdentitySigner{}, fmt.Errorf("read the identity secret: %w", err)
	}
	sealed := []string{current}
	if previous.Valid && now.Before(sqldb.Time(until.Int64)) {
		sealed = append(sealed, previous.String)
	}
	s := IdentitySigner{tenant: tenant}
	for _, text := range sealed {
		plain, err := box.Open(text, identitySecretPlace(tenant))
		if err != nil {
			return IdentitySigner{}, fmt.Errorf("open the identity secret: %w", err)
		}
		s.secrets = append(s.secrets, string(plain))
	}
	return s, nil
}

// On reports whether the tenant has identity signing turned on.
func (s IdentitySigner) On() bool { return len(s.secrets) > 0 }

// Token returns a contact's identity token, valid for 30 days, or "" if signing is off.
func (s IdentitySigner) Token(contact id.Contact, now time.Time) string {
	if !s.On() {
		return ""
	}
	exp := strconv.FormatInt(now.Add(identityTokenAge).Unix(), 10)
	mac := base64.RawURLEncoding.EncodeToString(s.tokenMAC(s.secrets[0], contact.String(), exp))
	return "v1." + contact.String() + "." + exp + "." + mac
}

func (s IdentitySigner) tokenMAC(key, contact, exp string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte("v1." + s.tenant.String() + "." + contact + "." + exp))
	return h.Sum(nil)
}

// VerifyToken returns the contact of a valid token. It does not check that the contact
// exists.
func (s IdentitySigner) VerifyToken(token string, now time.Time) (id.Contact, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 4 || parts[0] != "v1" {
		return id.Contact{}, false
	}
	contact, ok := id.Parse[id.Contact](parts[1])
	mac, err := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	if !ok || err != nil || !s.matchesAny(mac, func(key string) []byte { return s.tokenMAC(key, parts[1], parts[2]) }) {
		return id.Contact{}, false
	}
	exp, err := strconv.ParseInt(parts[2], 10, 64) // a number, since we signed it
	if err != nil || now.Unix() >= exp {
		return id.Contact{}, false
	}
	return contact, true
}

// VerifyEmailHash reports whether hash, in hex, is the HMAC-SHA256 of the address in lower
// case with the secret.
func (s IdentitySigner) VerifyEmailHash(email, hash string) bool {
	mac, err := hex.DecodeString(hash)
	if err != nil {
		return false
	}
	email = strings.ToLower(strings.TrimSpace(email))
	if addr, err := address.Normalize(email); err == nil && s.matchesAny(mac, emailMAC(addr)) {
		return true
	}
	return s.matchesAny(mac, emailMAC(email))
}

func emailMAC(email string) func(key string) []byte {
	return func(key string) []byte {
		h := hmac.New(sha256.New, []byte(key))
		h.Write([]byte(email))
		return h.Sum(nil)
	}
}

// matchesAny reports whether mac is that of any of the secrets. It takes the same time in any
// case.
func (s IdentitySigner) matchesAny(mac []byte, of func(key string) []byte) bool {
	found := false
	for _, key := range s.secrets {
		found = hmac.Equal(mac, of(key)) || found
	}
	return found
}
