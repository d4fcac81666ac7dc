package webhook_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// box returns a box for secrets.
func box(t testing.TB) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// account creates a tenant.
func account(t testing.TB, db *sqldb.DB, slug string) id.Tenant {
	t.Helper()
	a, err := tenant.Create(t.Context(), db, slug, "The "+slug, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

// endpoint creates an endpoint for event types.
func endpoint(t testing.TB, db *sqldb.DB, of id.Tenant, types ...string) webhook.Endpoint {
	t.Helper()
	e, _, err := webhook.Create(t.Context(), db, box(t), of, webhook.Fields{URL: new("https://example.com/hook"), EventTypes: &types}, webhook.Rules{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// problems returns the paths of the problems that an error reports.
func problems(err error) (paths []string) {
	f, ok := fault.As(err)
	if !ok {
		return nil
	}
	fields, _ := f.Details.(fault.Fields)
	for _, p := range fields.Fields {
		paths = append(paths, p.Path)
	}
	return paths
}

func TestURLsOfEndpoints(t *testing.T) {
	t.Parallel()
	const no = ""
	for text, want := range map[string]struct{ public, private string }{
		"https://example.com/hook?key=1":                   {"https://example.com/hook?key=1", "https://example.com/hook?key=1"},
		" https://EXAMPLE.com:8443/a ":                     {"https://example.com:8443/a", "https://example.com:8443/a"},
		"https://bücher.example/":                          {"https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"},
		"https://example.com.":                             {"https://example.com", "https://example.com"},
		"https://[2001:db8::1]:444/x":                      {"https://[2001:db8::1]:444/x", "https://[2001:db8::1]:444/x"},
		"http://example.com/":                              {no, "http://example.com/"},
		"http://127.0.0.1:8080/":                           {no, "http://127.0.0.1:8080/"},
		"https://localhost/":                               {no, "https://localhost/"},
		"https://10.1.2.3/":                                {no, "https://10.1.2.3/"},
		"https://[::1]/":                                   {no, "https://[::1]/"},
		"https://[::ffff:127.0.0.1]/":                      {no, "https://[::ffff:127.0.0.1]/"},
		"https://169.254.169.254/latest":                   {no, no},
		"https://[fe80::1]/":                               {no, no},
		"https://metadata.google.internal":                 {no, no},
		"https://2130706433/":                              {no, no},
		"https://0x7f.1/":                                  {no, no},
		"https://user:secret@example.com":                  {no, no},
		"https://example.com/#part":                        {no, no},
		"https://example.com/#":                            {no, no},
		"https://example.com:0/":                           {no, no},
		"https://example.com:99999999/":                    {no, no},
		"https://example.com:/":                            {no, no},
		"ftp://example.com/":                               {no, no},
		"file:///etc/passwd":                               {no, no},
		"https:example.com":                                {no, no},
		"https:///path":                                    {no, no},
		"//example.com":                                    {no, no},
		"https://example.com:65535/":                       {"https://example.com:65535/", "https://example.com:65535/"},
		"https://example.com:65536/":                       {no, no},
		"example.com":                                      {no, no},
		"":                                                 {no, no},
		"https://a b/":                                     {no, no},
		"https://example.com/\x00":                         {no, no},
		"https://example.com/" + strings.Repeat("x", 2048): {no, no},
	} {
		for private, want := range map[bool]string{false: want.public, true: want.private} {
			e := webhook.Fields{URL: &text}
			got, err := webhook.CheckURL(text, webhook.Rules{AllowPrivate: private})
			if (err == nil) != (want != no) || err == nil && got != want {
				t.Errorf("URL %q, private %v: %q, %v; want %q", text, private, got, err, want)
			}
			if refused := e.Check(webhook.Rules{AllowPrivate: private}); (refused == nil) != (err == nil) {
				t.Errorf("URL %q: Check = %v", text, refused)
			}
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b=c", "https://[::1%25eth0]/", "http://a", "https://a@b", "https://a:1:2", "https://%41.example/", "https://xn--a/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := webhook.CheckURL(text, webhook.Rules{})
		if err != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if again, err := webhook.CheckURL(got, webhook.Rules{}); err != nil || again != got {
			t.Errorf("%q became %q, and that %q, %v", text, got, again, err)
		}
		if _, err := webhook.CheckURL(text, webhook.Rules{AllowPrivate: true}); err != nil {
			t.Errorf("%q is refused only where more is allowed", text)
		}
	})
}

func TestAllProblemsOfAnEndpointAreReported(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1001)
	for name, c := range map[string]struct {
		fields webhook.Fields
		want   []string
	}{
		"nothing given": {webhook.Fields{}, []string{"url", "event_types"}},
		"all wrong":     {webhook.Fields{URL: new("x"), Description: &long, EventTypes: &[]string{"a", "b", "email.sent"}}, []string{"url", "description", "event_types"}},
		"no types":      {webhook.Fields{URL: new("https://example.com"), EventTypes: &[]string{}}, []string{"event_types"}},
		"valid":         {webhook.Fields{URL: new("https://example.com"), EventTypes: &[]string{"*"}}, nil},
	} {
		if got := problems(c.fields.CheckNew(webhook.Rules{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: problems at %v, want %v", name, got, c.want)
		}
	}
}

func TestEndpointsAreStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		acme, other := account(t, db, "acme"), account(t, db, "other")
		theirs := endpoint(t, db, other, "*")
		made, key, err := webhook.Create(ctx, db, box(t), acme, webhook.Fields{
			URL: new("https://example.com/"), Description: new(" CRM "), EventTypes: &[]string{"email.sent", "contact.created", "email.sent"},
		}, webhook.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		got, err := webhook.ByID(ctx, db, acme, made.ID)
		if err != nil || got.Description != "CRM" || !slices.Equal(got.EventTypes, []string{"contact.created", "email.sent"}) || !got.Active || got.Status() != webhook.Healthy {
			t.Errorf("ByID = %+v, %v", got, err)
		}
		if !strings.HasPrefix(key, "whsec_") || len(key) != len("whsec_")+44 {
			t.Errorf("the secret is %q", key)
		}
		var sealed string
		if err := db.QueryRow(ctx, `SELECT secret FROM webhook_endpoint WHERE tenant_id = $1 AND id = $2`, acme, made.ID).Scan(&sealed); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(sealed, strings.TrimPrefix(key, "whsec_")) || !strings.HasPrefix(sealed, "k1:") {
			t.Errorf("the secret is stored as %q", sealed)
		}
		// Another tenant's endpoint does not exist.
		if _, err := webhook.ByID(ctx, db, acme, theirs.ID); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("ByID of another tenant's: %v", err)
		}
		if _, err := webhook.Update(ctx, db, acme, theirs.ID, webhook.Fields{Active: new(false)}, webhook.Rules{}, noon); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("Update of another tenant's: %v", err)
		}
		if _, _, err := webhook.RotateSecret(ctx, db, box(t), acme, theirs.ID, noon); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("RotateSecret of another tenant's: %v", err)
		}
		if _, err := webhook.Test(ctx, db, acme, theirs.ID, noon); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("Test of another tenant's: %v", err)
		}
		if err := webhook.Delete(ctx, db, acme, theirs.ID, noon); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("Delete of another tenant's: %v", err)
		}
		for range webhook.MaxEndpoints - 1 {
			endpoint(t, db, acme, "*")
		}
		_, _, err = webhook.Create(ctx, db, box(t), acme, webhook.Fields{URL: new("https://example.com/"), EventTypes: &[]string{"*"}}, webhook.Rules{}, noon)
		if !errors.Is(err, webhook.ErrTooMany) {
			t.Errorf("one too many: %v", err)
		}
		if list, err := webhook.List(ctx, db, acme); err != nil || len(list) != webhook.MaxEndpoints || list[len(list)-1].ID != made.ID {
			t.Errorf("List = %d endpoints, %v", len(list), err)
		}
		if list, err := webhook.List(ctx, db, other); err != nil || len(list) != 1 || !list[0].Active {
			t.Errorf("the other tenant's: %+v, %v", list, err)
		}
		if err := webhook.Delete(ctx, db, acme, made.ID, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := webhook.ByID(ctx, db, acme, made.ID); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("after Delete: %v", err)
		}
	})
}
