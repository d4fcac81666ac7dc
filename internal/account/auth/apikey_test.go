package auth_test

import (
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func makeKey(t *testing.T, db *sqldb.DB, in tenant.Tenant, n auth.NewKey) (auth.Key, string) {
	t.Helper()
	if n.Name == "" {
		n.Name = "sync"
	}
	if n.Scopes == nil {
		n.Scopes = []string{"contacts:read"}
	}
	k, secret, err := auth.CreateKey(t.Context(), db, in.ID, n, auth.BySystem, noon)
	if err != nil {
		t.Fatalf("CreateKey: %v", err)
	}
	return k, secret
}

func TestAKeyOpensItsOwnTenantOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		k, secret := makeKey(t, db, acme, auth.NewKey{})
		if !regexp.MustCompile(`^pbk_[0-9a-hjkmnp-tv-z]{12}_[0-9A-Za-z]{43}$`).MatchString(secret) || !strings.HasPrefix(secret, k.Prefix+"_") {
			t.Errorf("the key reads %q with prefix %q", secret, k.Prefix)
		}
		ring := &auth.Keyring{DB: db, Log: slog.New(slog.DiscardHandler)}
		got, err := ring.Find(t.Context(), acme.ID, secret, noon)
		if err != nil || got.ID != k.ID || !got.Scopes.Has(auth.ContactsRead) || got.Scopes.Has(auth.ContactsWrite) {
			t.Errorf("Find = %+v, %v; want the key with its scope", got, err)
		}
		last := secret[len(secret)-1]
		flipped := secret[:len(secret)-1] + string(last^1)
		for name, try := range map[string]struct {
			tenant id.Tenant
			key    string
		}{
			"another tenant":  {other.ID, secret},
			"one letter off":  {acme.ID, flipped},
			"another secret":  {acme.ID, k.Prefix + "_" + strings.Repeat("a", 43)},
			"unknown":         {acme.ID, "pbk_000000000000_" + strings.Repeat("a", 43)},
			"not a key":       {acme.ID, "hunter2"},
			"cut":             {acme.ID, secret[:40]},
			"with a new line": {acme.ID, secret + "\n"},
			"long":            {acme.ID, strings.Repeat("pbk_", 10_000)},
		} {
			_, err := ring.Find(t.Context(), try.tenant, try.key, noon)
			if !errors.Is(err, auth.ErrUnauthorized) || reasonOf(err) != "invalid" {
				t.Errorf("%s: %v (%s), want UNAUTHORIZED, invalid", name, err, reasonOf(err))
			}
		}
		var stored int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM api_key WHERE tenant_id = $1 AND (key_hash = $2 OR name = $2)`, acme.ID, secret).Scan(&stored); err != nil || stored != 0 {
			t.Errorf("the secret is stored in clear (%d rows, %v)", stored, err)
		}
	})
}

func TestARevokedKeyIsRefusedWithinASecond(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		k, secret := makeKey(t, db, acme, auth.NewKey{})
		ring := &auth.Keyring{DB: db, Log: slog.New(slog.DiscardHandler)}
		if _, err := ring.Find(t.Context(), acme.ID, secret, noon); err != nil {
			t.Fatal(err)
		}
		for range 2 { // revoking again changes nothing
			if err := auth.RevokeKey(t.Context(), db, acme.ID, k.ID, auth.BySystem, noon); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ring.Find(t.Context(), acme.ID, secret, noon.Add(time.Second)); reasonOf(err) != "revoked" {
			t.Errorf("a second later: %v, want revoked", err)
		}
		_, err := auth.ChangeKey(t.Context(), db, acme.ID, k.ID, auth.KeyChange{Name: new("x")}, auth.BySystem, noon)
		wantFault(t, "change of a revoked key", err, auth.ErrKeyRevoked)
	})
}

func TestKeysExpireAndRotateWithAGrace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		find := func(secret string, at time.Time) string {
			t.Helper()
			ring := &auth.Keyring{DB: db, Log: slog.New(slog.DiscardHandler)}
			_, err := ring.Find(t.Context(), acme.ID, secret, at)
			if err != nil && reasonOf(err) == "" {
				t.Fatal(err)
			}
			return reasonOf(err)
		}
		_, brief := makeKey(t, db, acme, auth.NewKey{ExpiresAt: new(noon.Add(time.Hour))})
		if before, after := find(brief, noon.Add(59*time.Minute)), find(brief, noon.Add(time.Hour)); before != "" || after != "expired" {
			t.Errorf("before and after its end the key is %q and %q", before, after)
		}
		k, first := makeKey(t, db, acme, auth.NewKey{})
		_, second, err := auth.RotateKey(t.Context(), db, acme.ID, k.ID, time.Hour, auth.BySystem, noon)
		if err != nil || second == first || !strings.HasPrefix(second, k.Prefix) {
			t.Fatalf("RotateKey = %q, %v", second, err)
		}
		if a, b, c := find(first, noon.Add(59*time.Minute)), find(first, noon.Add(time.Hour)), find(second, noon.Add(2*time.Hour)); a != "" || b != "expired" || c != "" {
			t.Errorf("old in grace %q, old after it %q, new %q", a, b, c)
		}
		_, third, err := auth.RotateKey(t.Context(), db, acme.ID, k.ID, 0, auth.BySystem, noon)
		if err != nil || find(second, noon) != "expired" || find(third, noon) != "" || find(first, noon) != "invalid" {
			t.Errorf("after a rotation without grace: %q %q %q, %v", find(first, noon), find(second, noon), find(third, noon), err)
		}
		for _, grace := range []time.Duration{-1, 25 * time.Hour} {
			_, _, err := auth.RotateKey(t.Context(), db, acme.ID, k.ID, grace, auth.BySystem, noon)
			wantFault(t, "grace "+grace.String(), err, fault.ErrInput)
		}
	})
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		k, secret := makeKey(t, db, acme, auth.NewKey{})
		ring := &auth.Keyring{DB: db, Log: slog.New(slog.DiscardHandler)}
		for _, tt := range []struct{ at, want time.Duration }{{0, 0}, {30 * time.Second, 0}, {59 * time.Second, 0}, {61 * time.Second, 61 * time.Second}} {
			if _, err := ring.Find(t.Context(), acme.ID, secret, noon.Add(tt.at)); err != nil {
				t.Fatal(err)
			}
			got, err := auth.KeyByID(t.Context(), db, acme.ID, k.ID)
			if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(noon.Add(tt.want)) {
				t.Errorf("used at %v, last_used_at = %v, %v; want %v", tt.at, got.LastUsedAt, err, noon.Add(tt.want))
			}
		}
	})
}

func TestAKeyIsChangedAndListedInItsTenantOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		k, _ := makeKey(t, db, acme, auth.NewKey{ExpiresAt: new(noon.Add(time.Hour))})
		foreign, _ := makeKey(t, db, other, auth.NewKey{})
		got, err := auth.ChangeKey(t.Context(), db, acme.ID, k.ID, auth.KeyChange{
			Name: new("CRM"), Scopes: &[]string{"lists:write", "lists:read"}, NeverExpire: true,
		}, auth.BySystem, noon)
		if err != nil || got.Name != "CRM" || got.ExpiresAt != nil || len(got.Scopes) != 2 || got.Scopes[0] != auth.ListsRead {
			t.Errorf("ChangeKey = %+v, %v", got, err)
		}
		_, err = auth.ChangeKey(t.Context(), db, acme.ID, k.ID, auth.KeyChange{Scopes: &[]string{}}, auth.BySystem, noon)
		wantFault(t, "no scopes", err, auth.ErrInvalidScope)
		for name, err := range map[string]error{
			"revoke": auth.RevokeKey(t.Context(), db, acme.ID, foreign.ID, auth.BySystem, noon),
			"get":    second(auth.KeyByID(t.Context(), db, acme.ID, foreign.ID)),
			"change": second(auth.ChangeKey(t.Context(), db, acme.ID, foreign.ID, auth.KeyChange{}, auth.BySystem, noon)),
		} {
			wantFault(t, name+" of a foreign key", err, auth.ErrNoKey)
		}
		if list, err := auth.Keys(t.Context(), db, acme.ID, noon); err != nil || len(list) != 1 {
			t.Errorf("Keys = %v, %v; want the tenant's one", list, err)
		}
		if err := auth.RevokeKey(t.Context(), db, acme.ID, k.ID, auth.BySystem, noon); err != nil {
			t.Fatal(err)
		}
		for after, want := range map[time.Duration]int{89 * 24 * time.Hour: 1, 91 * 24 * time.Hour: 0} {
			if list, err := auth.Keys(t.Context(), db, acme.ID, noon.Add(after)); err != nil || len(list) != want {
				t.Errorf("%v after it was revoked: %d keys, %v; want %d", after, len(list), err, want)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestATenantHasAtMostAHundredKeys(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	acme := makeTenant(t, db, "acme")
	if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		for range 100 {
			makeKey(t, tx, acme, auth.NewKey{})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, _, err := auth.CreateKey(t.Context(), db, acme.ID, auth.NewKey{Name: "x", Scopes: []string{"lists:read"}}, auth.BySystem, noon)
	wantFault(t, "key 101", err, auth.ErrTooManyKeys)
}

func FuzzKey(f *testing.F) {
	f.Add("pbk_8fk2m9qwz1xa_" + strings.Repeat("a", 43))
	f.Add("pbk_8fk2m9qwz1xa_")
	f.Add("")
	f.Add("pbk_\x00\xff")
	f.Fuzz(func(t *testing.T, s string) {
		if auth.KeyShaped(s) && (len(s) != 60 || !strings.HasPrefix(s, "pbk_") || s[16] != '_') {
			t.Errorf("%q passes for a key", s)
		}
	})
}
