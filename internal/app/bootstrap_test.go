package app_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"packetboat/internal/app"
	"packetboat/internal/auth"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
	"packetboat/internal/tenant"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestBootstrapMakesWhatIsMissingAndOnlyThat(t *testing.T) {
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
