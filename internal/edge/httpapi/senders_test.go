package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	letters "github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fakes replaces the interfaces that other packages implement.
type fakes struct {
	inUse usage.Kind // the kind of records that a broadcast uses
	trial lane.Trial
	sends map[string]usage.Sends // by the id of what they use

	zone  *dnstest.Server // of the checks of sending domains
	mu    sync.Mutex
	tried []string // from and to of each trial
}

func (o *fakes) Find(_ context.Context, _ *sqldb.DB, _ id.Tenant, s usage.Subject) (usage.Holders, error) {
	if s.Kind == o.inUse {
		return usage.Holders{"broadcasts": {{ID: "b", Name: "Spring", Status: "sending"}}}, nil
	}
	return nil, nil
}

func (o *fakes) Count(_ context.Context, _ *sqldb.DB, _ id.Tenant, _ usage.Kind, _ string, _ time.Time) (map[string]usage.Sends, error) {
	return o.sends, nil
}

// compiler is shared by all tests, because starting it is slow.
var compiler = sync.OnceValue(mjml.New)

func (o *fakes) Try(_ context.Context, _ id.Tenant, _ id.Lane, from id.Identity, to string) (lane.Trial, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tried = append(o.tried, from.String()+" "+to)
	return o.trial, nil
}

func (o *fakes) Connect(context.Context, lane.Config, string, string) (lane.Trial, error) {
	return o.trial, nil
}

func (o *fakes) SendTest(_ context.Context, _ id.Tenant, mails []letters.TestMail) ([]letters.TestOutcome, error) {
	return make([]letters.TestOutcome, len(mails)), nil
}

// eachWithFakes is eachAPI with fakes and a fixed clock.
func eachWithFakes(t *testing.T, f func(t *testing.T, s *apiTest, o *fakes)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &apiTest{t: t, db: db, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		g := gate{map[string]id.Tenant{}}
		for _, slug := range []string{"acme", "other"} {
			made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", s.now)
			if err != nil {
				t.Fatal(err)
			}
			g.tenants[slug] = made.ID
		}
		s.acme = g.tenants["acme"]
		base := &url.URL{Scheme: "https", Host: "mail.example.com:8443"}
		clock := func() time.Time { return s.now }
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		s.router = endpoint.New(endpoint.Options{
			Gate: g, Limiter: ratelimit.New(nil), DB: db, BaseURL: base, RatePerMinute: 100_000, Now: clock, Log: log,
		})
		o := &fakes{zone: dnstest.New(t)}
		api := newAPI(t, db, base, clock, log)
		api.Usage, api.SendCounts, api.Tester = usage.Func(o.Find), o, o
		api.Verifier = newVerifier(db, api.Box, base, o.zone.Addr, clock)
		api.Register(s.router)
		f(t, s, o)
	})
}

func TestEmailTypesThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		category := s.must(201, "admin", "POST /email-categories", `{"name": "News", "description": null}`)
		c := category.str("id")
		made := s.must(201, "admin", "POST /email-types", `{"display_name": "Weekly News", "category_id": "`+strings.ToUpper(c)+`", "list_key": "weekly"}`)
		typ := made.str("id")
		want := map[string]any{
			"type_key": "weekly_news", "display_name": "Weekly News", "description": nil, "utm_campaign_prefix": nil, "category_id": c,
			"sort_order": 0.0, "active": true, "list_id_enabled": true, "list_key": "weekly", "created_at": "2026-03-01T12:00:00.000Z", "revision": 1.0,
		}
		if diff := cmp.Diff(want, made.without("id", "tenant_id")); diff != "" {
			t.Errorf("POST /email-types (-want +got):\n%s", diff)
		}
		list := s.must(200, "key sending-identities:read", "GET /email-types", "")
		if !cmp.Equal(list.data("id"), []string{typ}) || list.body["has_more"] != false || list.body["next_cursor"] != nil {
			t.Errorf("GET /email-types = %s", list.text)
		}
		if other := s.must(200, "viewer", "GET /t/other/api/email-types", ""); len(other.data("id")) != 0 {
			t.Errorf("another tenant gets %s", other.text)
		}
		put := s.must(200, "admin", "PUT /email-types/"+typ, `{"active": false, "category_id": null, "type_key": "weekly_news", "unheard_of": 1}`)
		if put.body["active"] != false || put.body["category_id"] != nil || put.body["list_key"] != "weekly" {
			t.Errorf("PUT /email-types = %s", put.text)
		}
		s.must(200, "admin", "PUT /email-types/"+typ, `{"category_id": "`+c+`"}`)
		for _, tt := range []struct {
			caller, what, body string
			status             int
			code               string
			paths              []string
		}{
			{"key", "POST /email-types", `{}`, 403, "API_KEY_FORBIDDEN", nil},
			{"key contacts:read", "GET /email-types", "", 403, "INSUFFICIENT_SCOPE", nil},
			{"editor", "POST /email-types", `{}`, 403, "FORBIDDEN", nil},
			{"admin", "POST /email-types", `{}`, 400, "INVALID_INPUT", []string{"display_name"}},
			{"admin", "POST /email-types", `{"display_name": 5, "active": null, "sort_order": "1"}`, 400, "INVALID_INPUT", []string{"active", "display_name", "sort_order"}},
			{"admin", "POST /email-types", `{"display_name": "x\ny", "type_key": "Ä", "category_id": "no uuid"}`, 400, "INVALID_INPUT", []string{"display_name", "type_key", "category_id"}},
			{"admin", "PUT /email-types/" + typ, `{"type_key": "other"}`, 400, "INVALID_INPUT", []string{"type_key"}},
			{"admin", "PUT /email-types/nope", `{}`, 404, "NOT_FOUND", nil},
			{"admin", "PUT /t/other/api/email-types/" + typ, `{}`, 404, "NOT_FOUND", nil},
			{"admin", "DELETE /t/other/api/email-types/" + typ, "", 404, "NOT_FOUND", nil},
			{"admin", "PUT /email-categories/" + typ, `{}`, 404, "NOT_FOUND", nil},
			{"admin", "POST /email-categories", `{"name": null}`, 400, "INVALID_INPUT", []string{"name"}},
		} {
			r := s.call(tt.caller, tt.what, tt.body)
			if r.status != tt.status || r.code != tt.code || !cmp.Equal(r.paths(), tt.paths) {
				t.Errorf("%s: %s %s answered %d %s; want %d %s at %v", tt.caller, tt.what, tt.body, r.status, r.text, tt.status, tt.code, tt.paths)
			}
		}
		s.must(204, "admin", "DELETE /email-categories/"+c, "")
		o.inUse = usage.EmailType
		if r := s.must(409, "admin", "DELETE /email-types/"+typ, ""); r.code != "IN_USE" || !strings.Contains(r.text, `"forms":[]`) || !strings.Contains(r.text, `"Spring"`) {
			t.Errorf("DELETE of one in use = %s", r.text)
		}
		o.inUse = ""
		s.must(204, "admin", "DELETE /email-types/"+typ, "")
	})
}

func TestDomainsAndIdentitiesThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		domain := s.must(201, "admin", "POST /sending-domains", `{"domain": "Acme.example", "tracking_subdomain": "links"}`)
		var hosts []string
		for _, r := range domain.body["dns_records"].([]any) {
			record := r.(map[string]any)
			hosts = append(hosts, record["type"].(string)+" "+record["host"].(string))
			if record["purpose"] == "return_path" && (record["value"] != "mail.example.com" || record["priority"] != 10.0) {
				t.Errorf("return_path = %v", record)
			}
		}
		if want := []string{"TXT es1._domainkey.acme.example", "MX bounce.acme.example", "TXT bounce.acme.example", "TXT _dmarc.acme.example", "CNAME links.acme.example", "TXT ed1._domainkey.acme.example"}; !cmp.Equal(hosts, want) {
			t.Errorf("dns_records = %v, want %v", hosts, want)
		}
		if strings.Contains(domain.text, "PRIVATE") || domain.body["status"] != "pending" || domain.body["verified_at"] != nil {
			t.Errorf("POST /sending-domains = %s", domain.text)
		}
		if r := s.must(409, "admin", "POST /sending-domains", `{"domain": "acme.example"}`); r.code != "DUPLICATE_DOMAIN" {
			t.Errorf("the same domain = %s", r.text)
		}
		if r := s.must(400, "admin", "POST /sending-domains", `{"domain": "nope", "return_path_subdomain": "-"}`); !cmp.Equal(r.paths(), []string{"domain", "return_path_subdomain"}) {
			t.Errorf("a bad domain = %s", r.text)
		}
		s.must(404, "viewer", "GET /t/other/api/sending-domains/"+domain.str("id"), "")
		s.must(405, "admin", "PUT /sending-domains/"+domain.str("id"), `{}`)

		typ := s.must(201, "admin", "POST /email-types", `{"display_name": "News"}`).str("id")
		mta := s.must(201, "admin", "POST /mta-configs", `{"name": "Sink", "type": "sink"}`).str("id")
		body := `{"email_address": "News@Acme.example", "display_name": "Acme", "email_type_ids": ["` + typ + `"], "default_mta_config_id": "` + mta + `"`
		if r := s.must(409, "admin", "POST /sending-identities", body+`, "active": true}`); r.code != "DOMAIN_NOT_VERIFIED" {
			t.Errorf("active on a pending domain = %s", r.text)
		}
		if _, err := sender.ForceVerify(t.Context(), s.db, s.acme, "acme.example", "127.0.0.1:8080", s.now); err != nil {
			t.Fatal(err)
		}
		verified := s.must(200, "viewer", "GET /sending-domains/"+domain.str("id"), "")
		if verified.str("verified_by") != "operator" || verified.str("tracking_host") != "127.0.0.1:8080" || verified.str("tracking_status") != "live" || strings.Contains(verified.text, "CNAME") {
			t.Errorf("after verification by the operator: %s", verified.text)
		}
		if _, err := sender.PauseDomain(t.Context(), s.db, s.acme, id.Read[id.Domain](domain.str("id")), sender.Pause{Reason: sender.PausedForBounces}, s.now); err != nil {
			t.Fatal(err)
		}
		if paused := s.must(200, "viewer", "GET /sending-domains/"+domain.str("id"), ""); paused.body["paused"] != true || paused.str("pause_reason") != "bounce_rate" {
			t.Errorf("a paused domain = %s", paused.text)
		}
		s.must(404, "admin", "POST /t/other/api/sending-domains/"+domain.str("id")+"/resume", "")
		for range 2 { // the second changes nothing
			if resumed := s.must(200, "admin", "POST /sending-domains/"+domain.str("id")+"/resume", ""); resumed.body["paused"] != false || resumed.body["pause_reason"] != nil {
				t.Errorf("resume = %s", resumed.text)
			}
		}
		made := s.must(201, "admin", "POST /sending-identities", body+`}`)
		identity := made.str("id")
		want := map[string]any{
			"email_address": "news@acme.example", "display_name": "Acme", "reply_to": nil, "email_type_ids": []any{typ},
			"sending_domain_id": domain.str("id"), "tracking_domain": "127.0.0.1:8080", "content_rewrite_domain": nil, "image_rewrite_domain": nil,
			"utm_code": nil, "default_mta_config_id": mta, "verified_mta_config_ids": []any{}, "active": true, "created_at": "2026-03-01T12:00:00.000Z",
		}
		if diff := cmp.Diff(want, made.without("id", "tenant_id")); diff != "" {
			t.Errorf("POST /sending-identities (-want +got):\n%s", diff)
		}
		s.must(201, "admin", "POST /sending-identities", `{"email_address": "a@acme.example", "display_name": "A"}`)
		if list := s.must(200, "key", "GET /sending-identities", ""); !cmp.Equal(list.data("email_address"), []string{"a@acme.example", "news@acme.example"}) {
			t.Errorf("GET /sending-identities = %s", list.text)
		}
		s.must(200, "key", "GET /sending-identities/"+identity, "")
		for _, tt := range []struct {
			caller, what, body string
			status             int
			code               string
			paths              []string
		}{
			{"key", "GET /t/other/api/sending-identities/" + identity, "", 404, "NOT_FOUND", nil},
			{"key", "PUT /sending-identities/" + identity, `{}`, 403, "API_KEY_FORBIDDEN", nil},
			{"admin", "POST /sending-identities", body + `}`, 409, "DUPLICATE_NAME", nil},
			{"admin", "PUT /sending-identities/" + identity, `{"email_type_ids": ["x"], "image_rewrite_domain": "i.acme.example", "reply_to": "x", "default_mta_config_id": "x"}`, 400, "INVALID_INPUT",
				[]string{"reply_to", "image_rewrite_domain", "default_mta_config_id", "email_type_ids"}},
			{"admin", "PUT /sending-identities/" + identity, `{"email_type_ids": [null], "active": "yes"}`, 400, "INVALID_INPUT", []string{"active", "email_type_ids"}},
			{"admin", "POST /sending-identities/" + identity + "/verify-lane", `{"mta_config_id": "x", "to": "a, b"}`, 400, "INVALID_INPUT", []string{"to", "mta_config_id"}},
			{"admin", "POST /sending-identities/" + identity + "/verify-lane", `{"mta_config_id": "` + identity + `", "to": "a@example.org"}`, 400, "INVALID_INPUT", []string{"mta_config_id"}},
			{"admin", "DELETE /sending-domains/" + domain.str("id"), "", 409, "IN_USE", nil},
		} {
			r := s.call(tt.caller, tt.what, tt.body)
			if r.status != tt.status || r.code != tt.code || !sameItems(r.paths(), tt.paths) {
				t.Errorf("%s: %s %s answered %d %s; want %d %s at %v", tt.caller, tt.what, tt.body, r.status, r.text, tt.status, tt.code, tt.paths)
			}
		}
		verify := `{"mta_config_id": "` + mta + `", "to": "Ann@example.org"}`
		o.trial = lane.Trial{Code: 550, Response: "550 no"}
		s.must(200, "admin", "POST /sending-identities/"+identity+"/verify-lane", verify)
		if r := s.must(200, "key", "GET /sending-identities/"+identity, ""); len(r.body["verified_mta_config_ids"].([]any)) != 0 {
			t.Errorf("a refused mail verified the lane: %s", r.text)
		}
		o.trial = lane.Trial{Accepted: true, Code: 250, Response: "250 ok"}
		if r := s.must(200, "admin", "POST /sending-identities/"+identity+"/verify-lane", verify); !cmp.Equal(r.body, map[string]any{"accepted": true, "smtp_response": "250 ok"}) {
			t.Errorf("verify-lane = %s", r.text)
		}
		if r := s.must(200, "admin", "PUT /sending-identities/"+identity, `{"utm_code": "x", "email_type_ids": null}`); !cmp.Equal(r.body["verified_mta_config_ids"], []any{mta}) || len(r.body["email_type_ids"].([]any)) != 0 {
			t.Errorf("PUT /sending-identities = %s", r.text)
		}
		if want := []string{identity + " ann@example.org", identity + " ann@example.org"}; !cmp.Equal(o.tried, want) {
			t.Errorf("tried %v, want %v", o.tried, want)
		}
		o.inUse = usage.Identity
		s.must(409, "admin", "DELETE /sending-identities/"+identity, "")
		o.inUse = ""
		s.must(204, "admin", "DELETE /sending-identities/"+identity, "")
		s.must(204, "admin", "DELETE /sending-identities/"+s.must(200, "key", "GET /sending-identities", "").data("id")[0], "")
		s.must(204, "admin", "DELETE /sending-domains/"+domain.str("id"), "")
	})
}

func sameItems(a, b []string) bool {
	count := map[string]int{}
	for _, x := range a {
		count[x]++
	}
	for _, x := range b {
		count[x]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestMTAConfigsThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		made := s.must(201, "admin", "POST /mta-configs", `{"name": "Main relay", "type": "smtp", "settings":
			{"host": "smtp.example.net", "auth": "plain", "username": "u", "password": "hunter2", "bounce_mailbox": null},
			"caps": {"max_connections": 3, "max_per_second": null}, "domain_throttles": [], "warmup": {"enabled": false, "start_per_day": 200}, "return_path_records": []}`)
		config := made.str("id")
		want := map[string]any{
			"key": "main_relay", "name": "Main relay", "type": "smtp", "active": true,
			"settings": map[string]any{
				"host": "smtp.example.net", "port": 587.0, "tls": "starttls", "auth": "plain", "username": "u", "has_password": true,
				"helo_host": nil, "dkim_sign": true, "bounce_mailbox": nil,
			},
			"caps": map[string]any{
				"max_per_second": nil, "max_per_minute": nil, "max_per_hour": nil, "max_per_day": nil, "max_connections": 3.0, "max_messages_per_connection": 100.0, "at_most_per_hour": nil,
			},
			"domain_throttles": []any{}, "warmup": map[string]any{"enabled": false, "start_per_day": 200.0, "growth_pct": 30.0, "started_on": nil},
			"retry": map[string]any{"max_age_hours": 48.0}, "return_path_records": []any{}, "tested_at": nil, "hook_url": made.str("hook_url"), "created_at": "2026-03-01T12:00:00.000Z",
		}
		if diff := cmp.Diff(want, made.without("id", "tenant_id", "health")); diff != "" {
			t.Errorf("POST /mta-configs (-want +got):\n%s", diff)
		}
		if r := s.must(200, "viewer", "GET /mta-configs/"+config, ""); strings.Contains(r.text, "hunter2") || !cmp.Equal(r.body["health"], map[string]any{
			"state": "healthy", "since": "2026-03-01T12:00:00.000Z", "last_error": nil, "sent_today": 0.0, "remaining_today": nil, "held_bounces": 0.0,
		}) {
			t.Errorf("GET /mta-configs = %s", r.text)
		}
		for _, tt := range []struct {
			caller, what, body string
			status             int
			code               string
			paths              []string
		}{
			{"key", "GET /mta-configs", "", 403, "API_KEY_FORBIDDEN", nil},
			{"editor", "POST /mta-configs", `{}`, 403, "FORBIDDEN", nil},
			{"admin", "POST /mta-configs", `{}`, 400, "INVALID_INPUT", []string{"name", "type"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "direct_mx"}`, 400, "INVALID_INPUT", []string{"settings.ips"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "ses"}`, 400, "INVALID_INPUT", []string{"settings.region", "settings.access_key_id", "settings.secret_access_key"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "smtp", "settings": {"host": "127.0.0.1"}}`, 400, "INVALID_INPUT", []string{"settings.host"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "smtp", "settings": {"host": "a.example", "tls": "none", "auth": "plain", "username": "u", "password": "p"}}`, 400, "INVALID_INPUT", []string{"settings.tls"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "smtp", "settings": {"host": 1, "port": "25", "dkim_sign": null}, "caps": 5}`, 400, "INVALID_INPUT", []string{"settings.host", "settings.port", "settings.dkim_sign", "caps"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "sink", "settings": {"fail_patterns": [{}], "bounce_mailbox": {}, "ips": []}, "return_path_records": [{}]}`, 400, "INVALID_INPUT",
				[]string{"settings.fail_patterns[0].pattern", "settings.fail_patterns[0].response", "settings.bounce_mailbox", "settings.ips", "return_path_records"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "sink", "settings": {"fail_patterns": [{"pattern": "a@b@c.example", "response": "250 ok"}, {"pattern": "x.example", "response": "550 a\nb"}]}}`, 400, "INVALID_INPUT",
				[]string{"settings.fail_patterns[0].pattern", "settings.fail_patterns[0].response", "settings.fail_patterns[1].response"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "sink", "settings": {"fail_patterns": [{"pattern": null, "response": 5}, "x"]}}`, 400, "INVALID_INPUT",
				[]string{"settings.fail_patterns[0].pattern", "settings.fail_patterns[0].response", "settings.fail_patterns"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "sink", "return_path_records": [{"type": "MX", "value": "mx.example"}]}`, 400, "INVALID_INPUT", []string{"return_path_records"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "smtp", "settings": {"host": "a.example"}, "return_path_records": [{}, {"type": "A", "value": "x", "priority": 1}, {"type": "MX", "host": "a b", "value": "1.2.3.4", "priority": 70000}]}`, 400, "INVALID_INPUT",
				[]string{"return_path_records[0].type", "return_path_records[0].value", "return_path_records[1].type", "return_path_records[1].priority", "return_path_records[2].host", "return_path_records[2].value", "return_path_records[2].priority"}},
			{"admin", "PUT /mta-configs/" + config, `{"return_path_records": [1, {"type": null, "priority": "10"}]}`, 400, "INVALID_INPUT",
				[]string{"return_path_records", "return_path_records[1].type", "return_path_records[1].priority"}},
			{"admin", "PUT /mta-configs/" + config, `{"settings": {"fail_patterns": [{"pattern": "x.example", "response": "550 no"}]}}`, 400, "INVALID_INPUT", []string{"settings.fail_patterns"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "smtp", "settings": {"host": "a.example", "bounce_mailbox": {}}}`, 400, "INVALID_INPUT",
				[]string{"settings.bounce_mailbox.host", "settings.bounce_mailbox.username", "settings.bounce_mailbox.password"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "smtp", "settings": {"host": "a.example", "bounce_mailbox": {"host": "10.0.0.1", "port": 0, "username": "u\n", "password": "p\n", "tls": "none"}}}`, 400, "INVALID_INPUT",
				[]string{"settings.bounce_mailbox.host", "settings.bounce_mailbox.port", "settings.bounce_mailbox.username", "settings.bounce_mailbox.password", "settings.bounce_mailbox.tls"}},
			{"admin", "PUT /mta-configs/" + config, `{"settings": {"bounce_mailbox": {"port": 143}}}`, 400, "INVALID_INPUT",
				[]string{"settings.bounce_mailbox.host", "settings.bounce_mailbox.username", "settings.bounce_mailbox.password"}},
			{"admin", "POST /mta-configs", `{"name": "x", "type": "sink", "caps": {"max_per_day": 0, "max_per_hour": -1, "max_per_minute": 100000001, "max_per_second": 0},
				"domain_throttles": [{}, {"pattern": "gmail", "max_connections": 0}, {"pattern": "GMail", "max_per_minute": 1}, {"pattern": "google", "max_per_hour": 5}],
				"warmup": {"enabled": true, "start_per_day": 0, "growth_pct": 101, "started_on": "soon"}}`, 400, "INVALID_INPUT",
				[]string{"caps.max_per_day", "caps.max_per_hour", "caps.max_per_minute", "caps.max_per_second", "domain_throttles[0]", "domain_throttles[0].pattern",
					"domain_throttles[1].max_connections", "domain_throttles[2].pattern", "domain_throttles[3].pattern",
					"warmup.start_per_day", "warmup.growth_pct", "warmup.started_on"}},
			{"admin", "PUT /mta-configs/" + config, `{"type": "sink", "retry": {"max_age_hours": 0}}`, 400, "INVALID_INPUT", []string{"type", "retry.max_age_hours"}},
			{"admin", "PUT /t/other/api/mta-configs/" + config, `{}`, 404, "NOT_FOUND", nil},
			{"admin", "POST /mta-configs/" + config + "/test", `{"to": "a@x.org,b@x.org"}`, 400, "INVALID_INPUT", []string{"to"}},
			{"admin", "POST /mta-configs/" + id.NewText() + "/test", `{"to": "a@x.org"}`, 404, "NOT_FOUND", nil},
			{"admin", "POST /t/other/api/mta-configs/" + config + "/test", `{"to": "a@x.org"}`, 404, "NOT_FOUND", nil},
			{"editor", "POST /mta-configs/test", `{"type": "smtp"}`, 403, "FORBIDDEN", nil},
			{"admin", "POST /mta-configs/test", `{"type": "smtp", "settings": {"host": "127.0.0.1"}}`, 400, "INVALID_INPUT", []string{"settings.host"}},
			{"admin", "POST /mta-configs/test", `{"type": "direct_mx", "settings": {"ips": [{"ip": "192.0.2.1", "helo_host": "a.example"}]}}`, 400, "INVALID_INPUT", []string{"to"}},
			{"admin", "POST /mta-configs/test", `{"id": "` + id.NewText() + `"}`, 404, "NOT_FOUND", nil},
			{"admin", "POST /t/other/api/mta-configs/test", `{"id": "` + config + `"}`, 404, "NOT_FOUND", nil},
		} {
			r := s.call(tt.caller, tt.what, tt.body)
			if r.status != tt.status || r.code != tt.code || !sameItems(r.paths(), tt.paths) {
				t.Errorf("%s: %s %s answered %d %s; want %d %s at %v", tt.caller, tt.what, tt.body, r.status, r.text, tt.status, tt.code, tt.paths)
			}
		}
		withMailbox := s.must(200, "admin", "PUT /mta-configs/"+config, `{"settings": {"bounce_mailbox": {"host": "IMAP.Example.net", "username": "bounces", "password": "hunter3"}}}`)
		if got := withMailbox.body["settings"].(map[string]any)["bounce_mailbox"]; strings.Contains(withMailbox.text, "hunter3") || !cmp.Equal(got, any(map[string]any{
			"host": "imap.example.net", "port": 993.0, "username": "bounces", "has_password": true, "tls": "implicit", "last_read_at": nil, "last_error": nil,
		})) {
			t.Errorf("with a bounce mailbox: %s", withMailbox.text)
		}
		for body, path := range map[string]string{
			`{"settings": {"bounce_mailbox": {"host": "imap.example.org"}}}`: "settings.bounce_mailbox.password",
			`{"settings": {"host": "smtp.example.org"}}`:                     "settings.password",
		} {
			if r := s.call("admin", "PUT /mta-configs/"+config, body); r.status != 400 || r.code != "INVALID_INPUT" || !sameItems(r.paths(), []string{path}) {
				t.Errorf("%s answered %d %s, want 400 at %s", body, r.status, r.text, path)
			}
		}
		if r := s.must(200, "admin", "PUT /mta-configs/"+config, `{"settings": {"bounce_mailbox": {"port": 993, "tls": "implicit"}}}`); r.body["settings"].(map[string]any)["bounce_mailbox"].(map[string]any)["has_password"] != true {
			t.Errorf("a change lost the password of the bounce mailbox: %s", r.text)
		}
		put := s.must(200, "admin", "PUT /mta-configs/"+config, `{"settings": {"bounce_mailbox": null, "password": null, "username": null, "auth": "none", "port": 25, "tls": "none"}, "active": false}`)
		if set := put.body["settings"].(map[string]any); set["has_password"] != false || set["username"] != nil || set["host"] != "smtp.example.net" || put.body["active"] != false {
			t.Errorf("PUT /mta-configs = %s", put.text)
		}
		limited := s.must(200, "admin", "PUT /mta-configs/"+config, `{"caps": {"max_per_second": 10, "max_per_hour": 20000, "max_per_day": 200000},
			"domain_throttles": [{"pattern": "gmail", "max_connections": 5, "max_per_minute": 300, "max_per_hour": null}, {"pattern": "Bücher.example", "max_per_hour": 7}],
			"warmup": {"enabled": true, "growth_pct": 40}}`)
		warmup := limited.body["warmup"].(map[string]any)
		days, _ := warmup["days"].([]any)
		delete(warmup, "days")
		if len(days) != 15 || !cmp.Equal(days[1], map[string]any{"date": "2026-03-02", "planned": 280.0, "limit": 280.0}) {
			t.Errorf("the days of the warm-up are %v, want today and 14 more", days)
		}
		if diff := cmp.Diff(map[string]any{
			"caps": map[string]any{
				"max_per_second": 10.0, "max_per_minute": nil, "max_per_hour": 20000.0, "max_per_day": 200000.0, "max_connections": 3.0, "max_messages_per_connection": 100.0, "at_most_per_hour": 20000.0,
			},
			"domain_throttles": []any{
				map[string]any{"pattern": "gmail", "max_connections": 5.0, "max_per_minute": 300.0, "max_per_hour": nil, "at_most_per_hour": 18000.0},
				map[string]any{"pattern": "xn--bcher-kva.example", "max_connections": nil, "max_per_minute": nil, "max_per_hour": 7.0, "at_most_per_hour": 7.0},
			},
			"warmup": map[string]any{"enabled": true, "start_per_day": 200.0, "growth_pct": 40.0, "started_on": "2026-03-01"},
			"health": map[string]any{"state": "healthy", "since": "2026-03-01T12:00:00.000Z", "last_error": nil, "sent_today": 0.0, "remaining_today": 200.0, "held_bounces": 0.0},
		}, map[string]any{
			"caps": limited.body["caps"], "domain_throttles": limited.body["domain_throttles"], "warmup": limited.body["warmup"], "health": limited.body["health"],
		}); diff != "" {
			t.Errorf("PUT of limits (-want +got):\n%s", diff)
		}
		lifted := s.must(200, "admin", "PUT /mta-configs/"+config, `{"caps": {"max_per_second": null, "max_per_day": null}, "domain_throttles": null, "warmup": null}`)
		if caps := lifted.body["caps"].(map[string]any); caps["max_per_second"] != nil || caps["max_per_hour"] != 20000.0 || len(lifted.body["domain_throttles"].([]any)) != 0 ||
			lifted.body["warmup"].(map[string]any)["started_on"] != nil || lifted.body["health"].(map[string]any)["remaining_today"] != nil {
			t.Errorf("PUT that lifts limits = %s", lifted.text)
		}
		relayed := s.must(200, "admin", "PUT /mta-configs/"+config, `{"return_path_records": [{"type": "mx", "host": null, "value": "Feedback.relay.example."}, {"type": "MX", "value": "b.example", "priority": 0}, {"type": "TXT", "host": "bounce.acme.example", "value": "v=spf1 include:relay.example ~all", "priority": null}]}`)
		if diff := cmp.Diff(any([]any{
			map[string]any{"type": "MX", "host": nil, "value": "feedback.relay.example", "priority": 10.0},
			map[string]any{"type": "MX", "host": nil, "value": "b.example", "priority": 0.0},
			map[string]any{"type": "TXT", "host": "bounce.acme.example", "value": "v=spf1 include:relay.example ~all", "priority": nil},
		}), relayed.body["return_path_records"]); diff != "" {
			t.Errorf("PUT of return path records (-want +got):\n%s", diff)
		}
		if r := s.must(200, "admin", "PUT /mta-configs/"+config, `{"return_path_records": null}`); !cmp.Equal(r.body["return_path_records"], any([]any{})) {
			t.Errorf("PUT that removes return path records = %s", r.text)
		}
		o.trial = lane.Trial{Accepted: true, Code: 250, Response: "250 ok", Latency: 12 * time.Millisecond}
		if r := s.must(200, "admin", "POST /mta-configs/"+config+"/test", `{"to": "Ann@example.org"}`); !cmp.Equal(r.body, map[string]any{"accepted": true, "smtp_code": 250.0, "smtp_response": "250 ok", "latency_ms": 12.0}) {
			t.Errorf("test = %s", r.text)
		}
		o.trial = lane.Trial{Response: "connection refused"}
		if r := s.must(200, "admin", "POST /mta-configs/"+config+"/test", `{"to": "ann@example.org"}`); r.body["smtp_code"] != nil || r.body["accepted"] != false {
			t.Errorf("test of one that is down = %s", r.text)
		}
		o.inUse = usage.Lane
		s.must(409, "admin", "DELETE /mta-configs/"+config, "")
		o.inUse = ""
		s.must(204, "admin", "DELETE /mta-configs/"+config, "")
		log := s.must(200, "admin", "GET /audit-log", "")
		if got := log.data("action"); !sameItems(got, []string{"mta_config.delete", "mta_config.test", "mta_config.test", "mta_config.update", "mta_config.update", "mta_config.update", "mta_config.update", "mta_config.update", "mta_config.update", "mta_config.update", "mta_config.create"}) {
			t.Errorf("the audit log has %v", got)
		}
	})
}

func TestTheBuiltInMailboxThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, _ *fakes) {
		sink := s.must(201, "admin", "POST /mta-configs", `{"name": "Sink", "type": "sink"}`).str("id")
		spare := s.must(201, "admin", "POST /mta-configs", `{"name": "Spare", "type": "sink"}`).str("id")
		put := s.must(200, "admin", "PUT /mta-configs/"+spare, `{"settings": {"fail_patterns": [{"pattern": "*@No.example", "response": "550 5.1.1 no such user"}]}}`)
		if diff := cmp.Diff(any(map[string]any{"fail_patterns": []any{map[string]any{"pattern": "*@no.example", "response": "550 5.1.1 no such user"}}}), put.body["settings"]); diff != "" {
			t.Errorf("PUT of fail patterns (-want +got):\n%s", diff)
		}
		if put := s.must(200, "admin", "PUT /mta-configs/"+spare, `{"settings": {"fail_patterns": null}}`); !cmp.Equal(put.body["settings"], any(map[string]any{"fail_patterns": []any{}})) {
			t.Errorf("PUT that removes fail patterns = %s", put.text)
		}
		const raw = "From: a@example.com\r\nSubject: =?utf-8?q?Hej_=C3=A5?=\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hej \xc3\xa5</p>\r\n"
		for i := range 3 {
			if err := mailbox.Deliver(t.Context(), s.db, mailbox.Delivery{Tenant: s.acme, Lane: id.Read[id.Lane](sink), From: "b@bounce.example.com", To: "ann@example.org", Raw: []byte(raw)}, s.now.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		first := s.must(200, "viewer", "GET /mta-configs/"+sink+"/messages?limit=2", "")
		if len(first.data("id")) != 2 || first.body["has_more"] != true || first.data("subject")[0] != "Hej å" || first.data("received_at")[0] != "2026-03-01T12:00:02.000Z" {
			t.Fatalf("the first page = %s", first.text)
		}
		next := s.must(200, "viewer", "GET /mta-configs/"+sink+"/messages?limit=2&cursor="+first.str("next_cursor"), "")
		if len(next.data("id")) != 1 || next.body["next_cursor"] != nil {
			t.Errorf("the second page = %s", next.text)
		}
		message := "/mta-configs/" + sink + "/messages/" + next.data("id")[0]
		one := s.must(200, "viewer", "GET "+message, "")
		if strings.TrimSpace(one.str("html")) != "<p>Hej å</p>" || one.body["text"] != nil || one.str("mail_from") != "b@bounce.example.com" || len(one.body["headers"].([]any)) != 3 {
			t.Errorf("GET %s = %s", message, one.text)
		}
		req := httptest.NewRequest("GET", "/t/acme/api"+message+"/raw", nil)
		req.AddCookie(&http.Cookie{Name: "role", Value: "viewer"})
		w := httptest.NewRecorder()
		s.router.ServeHTTP(w, req)
		if w.Code != 200 || w.Header().Get("Content-Type") != "message/rfc822" || w.Body.String() != raw {
			t.Errorf("GET %s/raw = %d %v %q", message, w.Code, w.Header(), w.Body)
		}
		for what, code := range map[string]string{
			"GET /mta-configs/" + sink + "/messages?cursor=x":          "INVALID_CURSOR",
			"GET /mta-configs/nope/messages":                           "NOT_FOUND",
			"GET /t/other/api/mta-configs/" + sink + "/messages":       "NOT_FOUND",
			"GET /t/other/api" + message:                               "NOT_FOUND",
			"GET " + strings.Replace(message, sink, spare, 1):          "NOT_FOUND",
			"GET " + strings.Replace(message, sink, spare, 1) + "/raw": "NOT_FOUND",
			"GET /mta-configs/" + sink + "/messages/nope":              "NOT_FOUND",
			"DELETE /t/other/api/mta-configs/" + sink + "/messages":    "NOT_FOUND",
		} {
			if r := s.call("admin", what, ""); r.code != code {
				t.Errorf("%s = %d %s, want %s", what, r.status, r.text, code)
			}
		}
		if r := s.must(200, "viewer", "GET /mta-configs/"+sink+"/messages?search=nothing", ""); len(r.data("id")) != 0 {
			t.Errorf("a search for nothing = %s", r.text)
		}
		s.must(403, "editor", "DELETE /mta-configs/"+sink+"/messages", "")
		s.must(204, "admin", "DELETE /mta-configs/"+sink+"/messages", "")
		if _, _, err := mailbox.Raw(t.Context(), s.db, s.acme, id.Lane{}, id.Read[id.SinkMessage](next.data("id")[0])); !errors.Is(err, mailbox.ErrNotFound) {
			t.Errorf("after the mailbox was cleared: %v", err)
		}
	})
}
