package contact_test

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

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func box(t testing.TB) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(bytes.Repeat([]byte{7}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func signer(t testing.TB, db *sqldb.DB, tenant id.Tenant, now time.Time) contact.Signer {
	t.Helper()
	s, err := contact.IdentitySigner(t.Context(), db, box(t), tenant, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newSecret(t testing.TB, db *sqldb.DB, tenant id.Tenant, now time.Time) string {
	t.Helper()
	s, err := contact.NewIdentitySecret(t.Context(), db, box(t), tenant, now)
	if err != nil {
		t.Fatal(err)
	}
	return s.Secret
}

// byHand is what a tenant's own server computes.
func byHand(secret, text string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return h.Sum(nil)
}

func TestTokensAreWhatTheTenantsServerComputes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := id.New[id.Contact]()
		if off := signer(t, db, acme, noon); off.On() || off.Token(c, noon) != "" {
			t.Error("signing is on without a secret")
		}
		key := newSecret(t, db, acme, noon)
		exp := noon.Add(30 * 24 * time.Hour)
		want := fmt.Sprintf("v1.%s.%d.", c, exp.Unix()) +
			base64.RawURLEncoding.EncodeToString(byHand(key, fmt.Sprintf("v1.%s.%s.%d", acme, c, exp.Unix())))
		s := signer(t, db, acme, noon)
		if got := s.Token(c, noon); got != want {
			t.Errorf("Token = %s, want %s", got, want)
		}
		for at, valid := range map[time.Time]bool{noon: true, exp.Add(-time.Second): true, exp: false, exp.Add(time.Hour): false} {
			if got, ok := s.VerifyToken(want, at); ok != valid || ok && got != c {
				t.Errorf("VerifyToken at %v = %s, %t; want %t", at, got, ok, valid)
			}
		}
		newSecret(t, db, other, noon)
		if _, ok := signer(t, db, other, noon).VerifyToken(want, noon); ok {
			t.Error("another tenant takes the token")
		}
		for i := range want { // no change to it goes unnoticed
			for _, b := range "0aA-._" {
				bad := want[:i] + string(b) + want[i+1:]
				if _, ok := s.VerifyToken(bad, noon); ok && bad != want {
					t.Fatalf("VerifyToken takes %s for %s", bad, want)
				}
			}
		}
	})
}

func TestHashesOfAddressesVerify(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		key := newSecret(t, db, acme, noon)
		s := signer(t, db, acme, noon)
		hash := hex.EncodeToString(byHand(key, "ann@example.org"))
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
		if (contact.Signer{}).VerifyEmailHash("", hex.EncodeToString(byHand("", ""))) {
			t.Error("a signer that is off verifies")
		}
	})
}

func TestTheSecretBeforeCountsForADay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := id.New[id.Contact]()
		first := newSecret(t, db, acme, noon)
		token := signer(t, db, acme, noon).Token(c, noon)
		second := newSecret(t, db, acme, noon.Add(time.Hour))
		if first == second {
			t.Fatal("the same secret again")
		}
		for after, valid := range map[time.Duration]bool{time.Minute: true, 24*time.Hour - time.Second: true, 24 * time.Hour: false} {
			now := noon.Add(time.Hour + after)
			s := signer(t, db, acme, now)
			if _, ok := s.VerifyToken(token, now); ok != valid {
				t.Errorf("%v after the change the old token verifies: %t, want %t", after, ok, valid)
			}
			if _, ok := s.VerifyToken(s.Token(c, now), now); !ok {
				t.Errorf("%v after the change a new token does not verify", after)
			}
		}
		if err := contact.DropIdentitySecret(t.Context(), db, acme); err != nil {
			t.Fatal(err)
		}
		if s := signer(t, db, acme, noon); s.On() {
			t.Error("signing is on after it was turned off")
		}
		newSecret(t, db, acme, noon.Add(2*time.Hour))
		if _, ok := signer(t, db, acme, noon.Add(2*time.Hour)).VerifyToken(token, noon.Add(2*time.Hour)); ok {
			t.Error("a secret that was dropped verifies")
		}
		if on, err := contact.IdentitySigned(t.Context(), db, other); on || err != nil {
			t.Errorf("the other tenant signs: %t, %v", on, err)
		}
	})
}

func TestTheSecretIsSealed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		key := newSecret(t, db, acme, noon)
		var kept string
		if err := db.QueryRow(t.Context(), `SELECT secret FROM identity_secret WHERE tenant_id = $1`, acme).Scan(&kept); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(kept, key) || strings.Contains(kept, strings.TrimPrefix(key, "ids_")) {
			t.Errorf("the secret %s is kept as %s", key, kept)
		}
	})
}

func FuzzVerifyToken(f *testing.F) {
	db := dbtest.SQLite(f)
	newSecret(f, db, acme, noon)
	s := signer(f, db, acme, noon)
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
