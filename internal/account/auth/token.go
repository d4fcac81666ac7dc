package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrInvalidToken refuses a link that is unknown, expired or already used.
var ErrInvalidToken = fault.New(fault.Invalid, "INVALID_TOKEN", "the link is not valid any more; ask for a new one")

// How long links are valid.
const (
	resetAge  = time.Hour
	inviteAge = 7 * 24 * time.Hour
	setupAge  = 30 * 24 * time.Hour // and only while there is no user

	// How long an expired invitation is stored, so that its link says who can send a new one.
	expiredInviteAge = 30 * 24 * time.Hour
)

// newToken returns 32 random bytes, encoded for a URL or a cookie.
func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashToken is the stored form of a token or key. With 256 random bits a fast hash is sufficient.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// purpose prevents the use of a token for another purpose.
type purpose string

const (
	forSetup  purpose = "setup"
	forReset  purpose = "reset"
	forInvite purpose = "invite"
)

// oneTime is the data of a one-time token.
type oneTime struct {
	purpose purpose
	user    id.User   // zero for setup
	tenant  id.Tenant // for invitations only
	proves  bool      // redeeming it proves that the user owns the address
}

func issueToken(ctx context.Context, db *sqldb.DB, o oneTime, age time.Duration, now time.Time) (string, error) {
	token := newToken()
	_, err := db.Exec(ctx, `
		INSERT INTO one_time_token (token_hash, purpose, user_id, tenant_id, created_at, expires_at, proves)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		hashToken(token), o.purpose, sqldb.Null(o.user), sqldb.Null(o.tenant), now.UnixMicro(), now.Add(age).UnixMicro(), o.proves)
	if err != nil {
		return "", fmt.Errorf("issue a %s token: %w", o.purpose, err)
	}
	return token, nil
}

// lookUpToken returns the data of a token without redeeming it.
func lookUpToken(ctx context.Context, db *sqldb.DB, p purpose, token string, now time.Time) (oneTime, error) {
	return scanToken(p, db.QueryRow(ctx, `
		SELECT user_id, tenant_id, proves FROM one_time_token
		WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3 AND (user_id IS NOT NULL OR purpose = 'setup') /* all tenants: the token determines which */`,
		hashToken(token), p, now.UnixMicro()))
}

// redeemToken deletes the token, so that it can be used once, and returns its data.
func redeemToken(ctx context.Context, tx *sqldb.DB, p purpose, token string, now time.Time) (oneTime, error) {
	return scanToken(p, tx.QueryRow(ctx, `
		DELETE FROM one_time_token WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3
		RETURNING user_id, tenant_id, proves /* all tenants: the token determines which */`,
		hashToken(token), p, now.UnixMicro()))
}

func scanToken(p purpose, row *sqldb.Row) (oneTime, error) {
	o := oneTime{purpose: p}
	err := row.Scan(&o.user, &o.tenant, &o.proves)
	if errors.Is(err, sqldb.ErrNoRows) {
		return oneTime{}, ErrInvalidToken
	}
	if err != nil {
		return oneTime{}, fmt.Errorf("look up a %s token: %w", p, err)
	}
	return o, nil
}

// revokeTokens deletes the user's tokens of one purpose.
func revokeTokens(ctx context.Context, tx *sqldb.DB, p purpose, user id.User) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM one_time_token WHERE user_id = $1 AND purpose = $2 /* all tenants: a user belongs to the installation */`, user, p)
	if err != nil {
		return fmt.Errorf("revoke %s tokens: %w", p, err)
	}
	return nil
}

// DeleteExpired deletes expired sessions and links, addresses of old sign-ins, and audit entries
// past their retention.
func DeleteExpired(ctx context.Context, db *sqldb.DB, now time.Time) error {
	for _, s := range []struct {
		text   string
		before time.Time
	}{
		{`DELETE FROM session WHERE expires_at <= $1 /* all tenants: by age */`, now},
		{`DELETE FROM one_time_token WHERE expires_at <= $1 AND purpose <> 'invite' /* all tenants: by age */`, now},
		{`DELETE FROM one_time_token WHERE expires_at <= $1 /* all tenants: by age */`, now.Add(-expiredInviteAge)},
		{`DELETE FROM login_link WHERE expires_at <= $1 /* all tenants: by age */`, now},
		{`DELETE FROM login_address WHERE seen_at <= $1 /* all tenants: by age */`, now.Add(-knownAge)},
		{`DELETE FROM audit WHERE created_at <= $1 /* all tenants: by age */`, now.Add(-auditAge)},
	} {
		if _, err := db.Exec(ctx, s.text, s.before.UnixMicro()); err != nil {
			return fmt.Errorf("delete expired rows: %w", err)
		}
	}
	return nil
}
