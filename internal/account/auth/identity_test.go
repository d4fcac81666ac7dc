package auth_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	acme  = id.Tenant(101)
	other = id.Tenant(102)
)

func secretBox(t testing.TB) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(bytes.Repeat([]byte{7}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func identitySigner(t testing.TB, db *sqldb.DB, tenant id.Tenant, now time.Time) auth.IdentitySigner {
	t.Helper()
	s, err := auth.LoadIdentitySigner(t.Context(), db, secretBox(t), tenant, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newIdentitySecret(t testing.TB, db *sqldb.DB, tenant id.Tenant, now time.Time) string {
	t.Helper()
	s, err := auth.NewIdentitySecret(t.Context(), db, secretBox(t), tenant, now)
	if err != nil {
		t.Fatal(err)
	}
	return s.Secret
}

// mac returns the MAC that a tenant's own server computes.
func mac(secret, text string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return h.Sum(nil)
}

func TestIdentityTokensMatchTheDocumentedFormat(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := id.New[id.Contact]()
		if off := identitySigner(t, db, acme, noon); off.On() || off.Token(c, noon) != "" {
			t.Error("signing is on without a secret")
		}
		key := newIdentitySecret(t, db, acme, noon)
		exp := noon.Add(30 * 24 * time.Hour)
		want := fmt.Sprintf("v1.%s.%d.", c, exp.Unix()) +
			base64.RawURLEncoding.EncodeToString(mac(key, fmt.Sprintf("v1.%s.%s.%d", acme, c, exp.Unix())))
		s := identitySigner(t, db, acme, noon)
		if got := s.Token(c, noon); got != want {
			t.Errorf("Token = %s, want %s", got, want)
		}
		for at, valid := range map[time.Time]bool{noon: true, exp.Add(-time.Second): true, exp: false, exp.Add(time.Hour): false} {
			if got, ok := s.VerifyToken(want, at); ok != valid || ok && got != c {
				t.Errorf("VerifyToken at %v = %s, %t; want %t", at, got, ok, valid)
			}
		}
		newIdentitySecret(t, db, other, noon)
		if _, ok := identitySigner(t, db, other, noon).VerifyToken(want, noon); ok {
			t.Error("the token verifies for another tenant")
		}
		for i := range want { // every changed token is invalid
			for _, b := range "0aA-._" {
				bad := want[:i] + string(b) + want[i+1:]
				if _, ok := s.VerifyToken(bad, noon); ok && bad != want {
					t.Fatalf("VerifyToken accepts %s, a changed %s", bad, want)
				}
			}
		}
	})
}

func TestEmailHashesVerify(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		key := newIdentitySecret(t, db, acme, noon)
		s := identitySigner(t, db, acme, noon)
		hash := hex.EncodeToString(mac(key, "ann@example.org"))
		for _, tt := range []struct {
			email, hash string
			want        bool
		}{
			{"ann@example.org", hash, true},
			{" Ann@Example.ORG ", hash, true},
			{"ann@example.org", strings.ToUpper(hash), true},
			{"bob@example.org", hash, false},
			{"ann@example.org", hash[2:], false},
			{"ann@example.org", "", false},
			{"ann@example.org", "zz", false},
			{"", "", false},
		} {
			if got := s.VerifyEmailHash(tt.email, tt.hash); got != tt.want {
				t.Errorf("VerifyEmailHash(%q, %q) = %t, want %t", tt.email, tt.hash, got, tt.want)
			}
		}
		if (auth.IdentitySigner{}).VerifyEmailHash("", hex.EncodeToString(mac("", ""))) {
			t.Error("a signer that is off verifies")
		}
	})
}

func TestThePreviousIdentitySecretVerifiesForADay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := id.New[id.Contact]()
		first := newIdentitySecret(t, db, acme, noon)
		token := identitySigner(t, db, acme, noon).Token(c, noon)
		second := newIdentitySecret(t, db, acme, noon.Add(time.Hour))
		if first == second {
			t.Fatal("the second secret equals the first")
		}
		for after, valid := range map[time.Duration]bool{time.Minute: true, 24*time.Hour - time.Second: true, 24 * time.Hour: false} {
			now := noon.Add(time.Hour + after)
			s := identitySigner(t, db, acme, now)
			if _, ok := s.VerifyToken(token, now); ok != valid {
				t.Errorf("%v after the change the old token verifies: %t, want %t", after, ok, valid)
			}
			if _, ok := s.VerifyToken(s.Token(c, now), now); !ok {
				t.Errorf("%v after the change a new token does not verify", after)
			}
		}
		if err := auth.DropIdentitySecret(t.Context(), db, acme); err != nil {
			t.Fatal(err)
		}
		if s := identitySigner(t, db, acme, noon); s.On() {
			t.Error("signing is still on")
		}
		newIdentitySecret(t, db, acme, noon.Add(2*time.Hour))
		if _, ok := identitySigner(t, db, acme, noon.Add(2*time.Hour)).VerifyToken(token, noon.Add(2*time.Hour)); ok {
			t.Error("a dropped secret verifies")
		}
		if on, err := auth.IdentitySigned(t.Context(), db, other); on || err != nil {
			t.Errorf("IdentitySigned of the other tenant = %t, %v", on, err)
		}
	})
}

func TestTheIdentitySecretIsStoredSealed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		key := newIdentitySecret(t, db, acme, noon)
		var stored string
		if err := db.QueryRow(t.Context(), `SELECT secret FROM identity_secret WHERE tenant_id = $1`, acme).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stored, key) || strings.Contains(stored, strings.TrimPrefix(key, "ids_")) {
			t.Errorf("the secret %s is stored as %s", key, stored)
		}
	})
}

func FuzzVerifyIdentityToken(f *testing.F) {
	db := dbtest.SQLite(f)
	newIdentitySecret(f, db, acme, noon)
	s := identitySigner(f, db, acme, noon)
	c := id.New[id.Contact]()
	token := s.Token(c, noon)
	for _, seed := range []string{
		"", "v1", "v1...", "v2" + token[2:], token, token + ".", token + "=", strings.ToUpper(token), "v1." + c.String() + "..",
		"v1." + c.String() + ".-1.AAAA", "v1." + c.String() + ".99999999999999999999.AAAA", "v1.\x00.1.\xff",
	} {
		f.Add(seed, c.String())
	}
	f.Fuzz(func(t *testing.T, text, hash string) {
		if got, ok := s.VerifyToken(text, noon); ok && (text != token || got != c) {
			t.Errorf("VerifyToken(%q) = %s", text, got)
		}
		if s.VerifyEmailHash(text, hash) {
			t.Errorf("VerifyEmailHash(%q, %q)", text, hash)
		}
	})
}
