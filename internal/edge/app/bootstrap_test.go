package app_test

import (
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestBootstrapCreatesOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := app.Bootstrap{
			TenantSlug: "acme", AdminEmail: "ann@example.org", AdminPassword: "purple otter skates home",
			APIKey: "pbk_8fk2m9qwz1xa_" + strings.Repeat("a", 43),
		}
		passwords := auth.NewPasswords()
		for range 2 {
			if err := b.Apply(t.Context(), db, passwords, noon); err != nil {
				t.Fatal(err)
			}
		}
		acme, err := tenant.BySlug(t.Context(), db, "acme")
		if err != nil {
			t.Fatal(err)
		}
		members, err := auth.Members(t.Context(), db, acme.ID)
		if err != nil || len(members) != 1 || members[0].Role != auth.Owner || members[0].Email != "ann@example.org" {
			t.Errorf("members = %+v, %v; want the owner", members, err)
		}
		keys, err := auth.Keys(t.Context(), db, acme.ID, noon)
		if err != nil || len(keys) != 1 || len(keys[0].Scopes) != len(auth.Scopes()) {
			t.Errorf("keys = %+v, %v; want one with every scope", keys, err)
		}
		ring := &auth.Keyring{DB: db, Log: slog.New(slog.DiscardHandler)}
		if _, err := ring.Find(t.Context(), acme.ID, b.APIKey, noon); err != nil {
			t.Errorf("the key: %v", err)
		}
		b.TenantSlug = "other"
		if err := b.Apply(t.Context(), db, passwords, noon); err == nil {
			t.Error("one key was given to two tenants")
		}
	})
}

// A login for the operator's address that another tenant created and that is not proven does not
// keep its password.
func TestBootstrapTakesOverALoginThatWasOnlyClaimed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		base, err := url.Parse("https://mail.example.org")
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		passwords := auth.NewPasswords()
		login := &auth.Login{DB: db, Passwords: passwords, Limits: ratelimit.New(db), SignupEnabled: true, BaseURL: base, Log: log}
		if _, err := auth.CreateUser(t.Context(), db, "first@example.org", "First", "", noon); err != nil {
			t.Fatal(err)
		}
		const claimed = "seven violet tractors"
		e, err := login.SignUp(t.Context(), auth.SignUp{
			TenantName: "Evil", TenantSlug: "evil", Name: "Mallory", Email: "ann@example.org", Password: claimed,
		}, auth.Client{IP: netip.MustParseAddr("192.0.2.1")}, noon)
		if err != nil {
			t.Fatal(err)
		}
		b := app.Bootstrap{TenantSlug: "acme", AdminEmail: "ann@example.org", AdminPassword: "purple otter skates home"}
		for range 2 {
			if err := b.Apply(t.Context(), db, passwords, noon); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := auth.FindSession(t.Context(), db, e.Token, noon); !errors.Is(err, auth.ErrNoSession) {
			t.Errorf("the old session: %v", err)
		}
		if _, err := login.SignIn(t.Context(), "ann@example.org", claimed, auth.Client{IP: netip.MustParseAddr("192.0.2.1")}, noon); !errors.Is(err, auth.ErrCredentials) {
			t.Errorf("the old password: %v", err)
		}
		if e, err := login.SignIn(t.Context(), "ann@example.org", b.AdminPassword, auth.Client{IP: netip.MustParseAddr("192.0.2.1")}, noon); err != nil || len(e.Memberships) != 2 {
			t.Errorf("the operator's password opens %v, %v", e.Memberships, err)
		}
	})
}
