package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func create(t *testing.T, db *sqldb.DB, slug string) tenant.Tenant {
	t.Helper()
	got, err := tenant.Create(t.Context(), db, slug, "The "+slug, "europe/amsterdam", noon)
	if err != nil {
		t.Fatalf("Create(%q): %v", slug, err)
	}
	return got
}

func TestATenantIsStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := create(t, db, "acme"), create(t, db, "other")
		for name, find := range map[string]func() (tenant.Tenant, error){
			"BySlug": func() (tenant.Tenant, error) { return tenant.BySlug(t.Context(), db, "acme") },
			"ByID":   func() (tenant.Tenant, error) { return tenant.ByID(t.Context(), db, acme.ID) },
		} {
			got, err := find()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(acme, got); diff != "" {
				t.Errorf("%s differs from what Create returned:\n%s", name, diff)
			}
		}
		if acme.SiteKey == other.SiteKey || acme.Location().String() != "Europe/Amsterdam" {
			t.Errorf("made %+v and %+v, want keys of their own and their timezone", acme, other)
		}
		list, err := tenant.List(t.Context(), db)
		if err != nil || len(list) != 2 || list[0].Slug != "acme" {
			t.Errorf("List = %v, %v; want both by slug", list, err)
		}
	})
}

func TestASlugIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := create(t, db, "acme")
		if err := tenant.Delete(t.Context(), db, acme.ID, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := tenant.BySlug(t.Context(), db, "acme"); !errors.Is(err, tenant.ErrNotFound) {
			t.Errorf("a deleted tenant is found: %v", err)
		}
		if _, err := tenant.Create(t.Context(), db, "acme", "Again", "", noon); !errors.Is(err, tenant.ErrDuplicateSlug) {
			t.Errorf("its slug is given again: %v, want DUPLICATE_SLUG", err)
		}
		for name, err := range map[string]error{
			"Pause":  tenant.Pause(t.Context(), db, acme.ID, "", noon),
			"Resume": tenant.Resume(t.Context(), db, acme.ID, noon),
			"Delete": tenant.Delete(t.Context(), db, acme.ID, noon),
			"Save":   tenant.SaveSettings(t.Context(), db, acme.ID, "x", tenant.Defaults("UTC"), noon),
		} {
			if !errors.Is(err, tenant.ErrNotFound) {
				t.Errorf("%s of a deleted tenant: %v, want TENANT_NOT_FOUND", name, err)
			}
		}
	})
}

func TestPauseAndLimitChangeOneTenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := create(t, db, "acme"), create(t, db, "other")
		if err := errors.Join(
			tenant.Pause(t.Context(), db, acme.ID, "unpaid", noon),
			tenant.SetContactLimit(t.Context(), db, acme.ID, new(100), noon),
		); err != nil {
			t.Fatal(err)
		}
		got, err := tenant.BySlug(t.Context(), db, "acme")
		if err != nil || got.Status != tenant.Paused || got.PauseReason != "unpaid" || *got.ContactLimit != 100 {
			t.Errorf("paused tenant = %+v, %v", got, err)
		}
		if got, err := tenant.ByID(t.Context(), db, other.ID); err != nil || !cmp.Equal(got, other) {
			t.Errorf("the other tenant moved: %s", cmp.Diff(other, got))
		}
		if err := tenant.Resume(t.Context(), db, acme.ID, noon); err != nil {
			t.Fatal(err)
		}
		if got, _ = tenant.ByID(t.Context(), db, acme.ID); got.Status != tenant.Active || got.PauseReason != "" {
			t.Errorf("resumed tenant = %+v", got)
		}
	})
}

func TestATenantIsMadeWithItsSetupOrNotAtAll(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		boom := errors.New("boom")
		choose := func(ctx context.Context, tx *sqldb.DB, made tenant.Tenant, _ time.Time) error {
			return tenant.UseEmailType(ctx, tx, made.ID, idtest.Named[id.EmailType]("news"))
		}
		fail := func(context.Context, *sqldb.DB, tenant.Tenant, time.Time) error { return boom }
		if _, err := tenant.Create(t.Context(), db, "acme", "Acme", "", noon, choose, fail); !errors.Is(err, boom) {
			t.Fatalf("Create = %v, want boom", err)
		}
		got, err := tenant.Create(t.Context(), db, "acme", "Acme", "", noon, choose)
		if err != nil || got.Settings.DefaultEmailType != idtest.Named[id.EmailType]("news") || got.Settings.Timezone != "UTC" {
			t.Errorf("Create = %+v, %v; want the setup's email type", got.Settings, err)
		}
	})
}

func TestAllProblemsOfSettingsAreReported(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := create(t, db, "acme")
		bad := tenant.Defaults("Mars/Olympus")
		bad.Locale, bad.CurrencyCode, bad.UnsubscribeScope = "english", "XXXX", "some"
		bad.WebsiteURL, bad.PostalAddress.Country = new("ftp://x"), new("ZZ")
		bad.PostalAddress.Line1 = new("one\ntwo")
		bad.Tracking.Honeypot, bad.SunsetDays, bad.SunsetMinSends = true, 0, 1001
		bad.SendWindow, bad.TrackedDomains = tenant.SendWindow{Start: "25:00", End: "8"}, []string{"x.org", "no host"}
		err := tenant.SaveSettings(t.Context(), db, acme.ID, " ", bad, noon)
		f, ok := fault.As(err)
		if !ok || f.Code != "INVALID_INPUT" {
			t.Fatalf("SaveSettings = %v, want INVALID_INPUT", err)
		}
		var paths []string
		for _, p := range f.Details.(fault.Fields).Fields {
			paths = append(paths, p.Path)
		}
		want := strings.Fields(`name timezone locale currency_code website_url postal_address.line1 postal_address.country unsubscribe_scope sunset_days sunset_min_sends
			send_window.start send_window.end tracked_domains`)
		if !slices.Equal(paths, want) {
			t.Errorf("problems at %v, want %v", paths, want)
		}
		late := tenant.Defaults("UTC")
		late.SendWindow = tenant.SendWindow{Start: "20:00", End: "08:00"}
		if err := tenant.SaveSettings(t.Context(), db, acme.ID, "Acme", late, noon); err == nil || !strings.Contains(fmt.Sprint(err.(*fault.Error).Details), "send_window.end") {
			t.Errorf("a window that wraps past midnight: %v", err)
		}
		good := tenant.Defaults("america/new york")
		good.Locale, good.CurrencyCode, good.UnsubscribeScope = "pt-BR", "usd", tenant.UnsubscribeGlobal
		good.WebsiteURL = new("https://acme.example")
		good.PostalAddress = tenant.PostalAddress{Line1: new("Quay 1"), City: new("Rotterdam"), PostalCode: new("3011 AA"), Country: new("NL")}
		good.Tracking = tenant.Tracking{}
		good.SendWindow = tenant.SendWindow{Start: "08:30", End: "24:00"}
		if err := tenant.SaveSettings(t.Context(), db, acme.ID, "Acme Inc", good, noon); err != nil {
			t.Fatalf("SaveSettings: %v", err)
		}
		got, err := tenant.ByID(t.Context(), db, acme.ID)
		good.CurrencyCode, good.Timezone = "USD", "America/New_York"
		if err != nil || got.Name != "Acme Inc" || !cmp.Equal(got.Settings, good) {
			t.Errorf("saved %+v, %v: %s", got.Name, err, cmp.Diff(good, got.Settings))
		}
		if s := got.Settings.PostalAddress.String(); s != "Quay 1, 3011 AA Rotterdam, NL" {
			t.Errorf("the address reads %q", s)
		}
	})
}

func TestSlugsAndNamesAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	for _, slug := range []string{"", "a", "ab", "-acme", "acme-", "Acme", "ac me", "a/b", strings.Repeat("a", 41), "acme\n"} {
		if _, err := tenant.Create(t.Context(), db, slug, "Acme", "", noon); !errors.Is(err, fault.ErrInput) {
			t.Errorf("slug %q: %v, want INVALID_INPUT", slug, err)
		}
	}
	for _, name := range []string{"", "  ", "a\x00b", strings.Repeat("ä", 201)} {
		if _, err := tenant.Create(t.Context(), db, "acme", name, "", noon); !errors.Is(err, fault.ErrInput) {
			t.Errorf("name %q: %v, want INVALID_INPUT", name, err)
		}
	}
	if _, err := tenant.Create(t.Context(), db, "a-1", strings.Repeat("ä", 200), "", noon); err != nil {
		t.Errorf("the longest name: %v", err)
	}
}
