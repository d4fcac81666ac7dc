package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// CookieName is the name of the session's cookie.
const CookieName = "packetboat_session"

// KeyHeader is the header that contains the API key. Keys are read from nowhere else.
const KeyHeader = "X-API-Key"

// Gate authenticates requests. It is safe for concurrent use.
type Gate struct {
	db   *sqldb.DB
	keys *Keyring
	now  func() time.Time

	tenants cache.Cache[string, id.Tenant] // by slug
}

// NewGate returns the gate of an installation.
func NewGate(db *sqldb.DB, now func() time.Time, log *slog.Logger) *Gate {
	return &Gate{db: db, keys: &Keyring{DB: db, Log: log}, now: now}
}

// Tenant returns the tenant with a slug, or tenant.ErrNotFound.
func (g *Gate) Tenant(ctx context.Context, slug string) (id.Tenant, error) {
	return g.tenants.Load(slug, g.now(), fresh, func() (id.Tenant, error) {
		t, err := tenant.BySlug(ctx, g.db, slug)
		return t.ID, err
	})
}

// ClearCache must be called after a key was changed or a tenant deleted, so that the next request reads
// it again. Other processes do so within a second.
func (g *Gate) ClearCache() {
	g.keys.ClearCache()
	g.tenants.Clear()
}

// Authenticate identifies the sender of r: the API key in its X-API-Key header or, without that
// header, the user of its session cookie. Without a tenant, only sessions are accepted.
func (g *Gate) Authenticate(ctx context.Context, t id.Tenant, slug string, r *http.Request) (Principal, error) {
	now := g.now()
	if key := r.Header.Get(KeyHeader); key != "" && t != 0 {
		k, err := g.keys.Find(ctx, t, key, now)
		if err != nil {
			return Principal{}, err
		}
		return Principal{Tenant: t, TenantSlug: slug, Kind: KindKey, KeyID: k.ID, KeyName: k.Name, Scopes: k.Scopes}, nil
	}
	cookie, err := r.Cookie(CookieName)
	if err != nil || cookie.Value == "" {
		return Principal{}, unauthorized("missing")
	}
	s, err := FindSession(ctx, g.db, cookie.Value, now)
	if errors.Is(err, ErrNoSession) {
		return Principal{}, unauthorized("expired")
	}
	if err != nil {
		return Principal{}, err
	}
	p := Principal{
		Tenant: t, TenantSlug: slug, Kind: KindSession,
		User: s.User.ID, Session: s.ID, UserName: s.User.Name, Email: s.User.Email,
	}
	if t == 0 {
		return p, nil
	}
	err = g.db.QueryRow(ctx, `
		SELECT role FROM membership WHERE tenant_id = $1 AND user_id = $2 AND status = 'active' AND NOT withheld`, t, s.User.ID).Scan(&p.Role)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Principal{}, tenant.ErrNotFound // do not reveal to non-members that the tenant exists
	}
	if err != nil {
		return Principal{}, fmt.Errorf("load role: %w", err)
	}
	return p, nil
}

// Holds reports whether p, which Authenticate has returned for a session on a path of a tenant, is still
// valid: the session has not ended, and its user is a member of the tenant with the same role. It does not
// extend the session.
func (g *Gate) Holds(ctx context.Context, p Principal) (bool, error) {
	if p.Kind != KindSession {
		return false, nil
	}
	var role Role
	err := g.db.QueryRow(ctx, `
		SELECT m.role
		FROM session s
		JOIN membership m ON m.user_id = s.user_id AND m.tenant_id = $2
		JOIN tenant t ON t.tenant_id = m.tenant_id
		WHERE s.id = $1 AND s.expires_at > $3 AND m.status = 'active' AND NOT m.withheld AND t.status <> 'deleted'`,
		p.Session, p.Tenant, g.now().UnixMicro()).Scan(&role)
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check the session: %w", err)
	}
	return role == p.Role, nil
}
