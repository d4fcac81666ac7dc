package demo

import (
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// account returns an Account whose credentials are in dir.
func account(t *testing.T, db *sqldb.DB, dir, host string) Account {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	compiler := mjml.New()
	t.Cleanup(compiler.Close)
	return Account{
		DB: db, Box: box, Dir: dir, TrackingHost: host, MJML: compiler,
		Setup: []tenant.Setup{contact.CreateDefaultStages, sender.Newsletter, segment.BuiltIn}, Now: noon,
	}
}

// prepare prepares the demo.
func prepare(t *testing.T, db *sqldb.DB, dir, host string) (tenant.Tenant, Access) {
	t.Helper()
	made, access, err := account(t, db, dir, host).Prepare(t.Context())
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	return made, access
}

// onlyBroadcast returns the tenant's only broadcast.
func onlyBroadcast(t *testing.T, db *sqldb.DB, made tenant.Tenant) broadcast.Broadcast {
	t.Helper()
	list, err := broadcast.List(t.Context(), db, made.ID, broadcast.Filter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("broadcasts = %d, %v; want 1", len(list), err)
	}
	b, err := broadcast.Load(t.Context(), db, made.ID, list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDemoIsReadyToSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		made, _ := prepare(t, db, t.TempDir(), "127.0.0.1:8080")
		n, err := contact.Count(t.Context(), db, made.ID, contact.Selector{})
		if err != nil || n != people {
			t.Errorf("contacts = %d, %v; want %d", n, err, people)
		}
		ready, err := broadcast.Ready(t.Context(), db, onlyBroadcast(t, db, made), time.Now())
		if err != nil || len(ready.Reasons) > 0 || len(ready.Warnings) > 0 {
			t.Errorf("readiness of the draft = %+v, %v; want no reason and no warning", ready, err)
		}
	})
}

func TestSecondRunChangesOnlyTheTrackingHost(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		dir := t.TempDir()
		made, first := prepare(t, db, dir, "127.0.0.1:8080")
		before := onlyBroadcast(t, db, made).ID
		again, second := prepare(t, db, dir, "localhost:8081")
		if after := onlyBroadcast(t, db, again).ID; after != before {
			t.Errorf("the draft is %s after a second run, was %s", after, before)
		}
		if n, err := contact.Count(t.Context(), db, again.ID, contact.Selector{}); err != nil || n != people {
			t.Errorf("contacts = %d, %v after a second run; want %d", n, err, people)
		}
		d, err := sender.DomainByName(t.Context(), db, again.ID, domain)
		if err != nil || d.TrackingHost != "localhost:8081" || !d.TrackingLive {
			t.Errorf("tracking host = %q, live %t, %v; want the address of this run", d.TrackingHost, d.TrackingLive, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("the second run has other credentials (-first +second):\n%s", diff)
		}
		info, err := os.Stat(filepath.Join(dir, File))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want it readable by its owner only", File, info.Mode(), err)
		}
	})
}

func TestLostFileLeadsToNewCredentials(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		dir := t.TempDir()
		_, first := prepare(t, db, dir, "127.0.0.1:8080")
		if err := os.Remove(filepath.Join(dir, File)); err != nil {
			t.Fatal(err)
		}
		made, second := prepare(t, db, dir, "127.0.0.1:8080")
		if first.APIKey == second.APIKey || first.Password == second.Password {
			t.Error("the new key or password equals the lost one")
		}
		if known, err := auth.KeyKnown(t.Context(), db, made.ID, second.APIKey); !known || err != nil {
			t.Errorf("the new key is known: %t, %v; want true", known, err)
		}
	})
}

func TestTenantOfAnotherOriginIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := account(t, db, t.TempDir(), "127.0.0.1:8080")
		if _, err := tenant.Create(t.Context(), db, Slug, "Other", "", noon, a.Setup...); err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "did not make") {
			t.Errorf("Prepare = %v; want a refusal", err)
		}
	})
}

func TestContactsAreFixedAndReserved(t *testing.T) {
	t.Parallel()
	list := contacts(noon)
	seen := map[string]bool{}
	for _, p := range list {
		a, err := mail.ParseAddress(p.email)
		_, domain, _ := strings.Cut(p.email, "@")
		if err != nil || a.Address != p.email || domain != "example.com" && domain != "example.org" && domain != "example.net" && !strings.HasSuffix(domain, ".example") {
			t.Errorf("%q is no address of a reserved domain (RFC 2606): %v", p.email, err)
		}
		if seen[p.email] {
			t.Errorf("%s occurs twice", p.email)
		}
		seen[p.email] = true
	}
	if len(list) != people {
		t.Errorf("%d contacts; want %d", len(list), people)
	}
	if diff := cmp.Diff(list, contacts(noon), cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("two calls return different contacts:\n%s", diff)
	}
}

func TestTextHasNoPlaceholder(t *testing.T) {
	t.Parallel()
	base := &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}
	text := Text(base, Access{Email: "owner@example.com", Password: "word", APIKey: "pbk_key"}, "http://127.0.0.1:8080/app/-/login-link#token", noon)
	for _, want := range []string{
		"http://127.0.0.1:8080/app/-/login-link#token",
		"http://127.0.0.1:8080/mailbox/", "http://127.0.0.1:8080/docs", "http://127.0.0.1:8080/t/demo/api",
		"X-API-Key: pbk_key", "owner@example.com  word", `"2026-11-20T12:00:00Z"`, `"newsletter_readers"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "%") {
		t.Errorf("a placeholder was not replaced:\n%s", text)
	}
}
