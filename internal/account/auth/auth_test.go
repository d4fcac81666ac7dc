package auth_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	home = netip.MustParseAddr("192.0.2.7")
)

const testPassword = "purple otter skates home"

// passwordHash is computed once, since hashing is slow by design.
var passwordHash = sync.OnceValue(func() string {
	h, err := auth.NewPasswords().Hash(context.Background(), testPassword)
	if err != nil {
		panic(err)
	}
	return h
})

func makeTenant(t *testing.T, db *sqldb.DB, slug string) tenant.Tenant {
	t.Helper()
	made, err := tenant.Create(t.Context(), db, slug, slug, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// makeMember creates a user who can sign in with testPassword.
func makeMember(t *testing.T, db *sqldb.DB, in tenant.Tenant, name string, role auth.Role) auth.User {
	t.Helper()
	u, err := auth.CreateUser(t.Context(), db, name+"@example.org", name, passwordHash(), noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.AddMember(t.Context(), db, in.ID, u.ID, role, auth.BySystem, noon); err != nil {
		t.Fatal(err)
	}
	return u
}

func principal(in tenant.Tenant, u auth.User, role auth.Role) auth.Principal {
	return auth.Principal{
		Tenant: in.ID, TenantSlug: in.Slug, Kind: auth.KindSession,
		User: u.ID, UserName: u.Name, Email: u.Email, Role: role, IP: home,
	}
}

func newLogin(t *testing.T, db *sqldb.DB) *auth.Login {
	t.Helper()
	base, err := url.Parse("https://mail.example.org")
	if err != nil {
		t.Fatal(err)
	}
	return &auth.Login{
		DB: db, Passwords: auth.NewPasswords(), Limits: ratelimit.New(db), BaseURL: base,
		Log: slog.New(slog.DiscardHandler),
	}
}

func wantFault(t *testing.T, what string, err error, want *fault.Error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %s", what, err, want.Code)
	}
}

func reasonOf(err error) string {
	f, ok := fault.As(err)
	if !ok {
		return ""
	}
	r, _ := f.Details.(auth.Reason)
	return r.Reason
}
