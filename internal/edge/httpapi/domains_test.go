package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// newVerifier returns a Verifier that asks a name server, and tracking hosts of which none can be
// reached.
func newVerifier(db *sqldb.DB, box *secret.Box, base *url.URL, nameServer string, now func() time.Time) *sender.Verifier {
	return &sender.Verifier{
		DB: db, DNS: dnscheck.NewResolver(nameServer), Hosts: sender.Hosts{}.Or(base.Hostname()), Limits: ratelimit.New(nil), Log: slog.New(slog.DiscardHandler), Now: now,
		Tracking: sender.NewPinger(sender.NewNonce(box), base.Scheme, nil, netguard.Guard{}, &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") },
		}),
	}
}

// A tenant whose only active lanes are relays gets the records that the relay needs.
func TestDomainsShowTheRecordsOfTheRelay(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		domain := "/sending-domains/" + s.must(201, "admin", "POST /sending-domains", `{"domain": "acme.example"}`).str("id")
		s.must(201, "admin", "POST /mta-configs", `{"name": "SES", "type": "ses", "settings": {"region": "eu-central-1", "access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "s"},
			"return_path_records": [{"type": "MX", "value": "feedback-smtp.eu-central-1.amazonses.com", "priority": 0}, {"type": "TXT", "value": "v=spf1 include:amazonses.com ~all"}]}`)
		o.zone.Add(t, "bounce.acme.example. 60 IN MX 10 feedback-smtp.eu-central-1.amazonses.com.", `bounce.acme.example. 60 IN TXT "v=spf1 include:amazonses.com -all"`)
		r := s.must(200, "admin", "POST "+domain+"/verify", "")
		var got []any
		for _, item := range r.body["dns_records"].([]any) {
			if record := item.(map[string]any); strings.HasPrefix(record["purpose"].(string), "return_path") {
				delete(record, "checked_at")
				got = append(got, record)
			}
		}
		note := "For the relay of the MTA config SES, to which bounces come back."
		if diff := cmp.Diff([]any{
			map[string]any{"purpose": "return_path", "type": "MX", "host": "bounce.acme.example", "value": "feedback-smtp.eu-central-1.amazonses.com", "priority": 0.0, "required": true,
				"status": "ok", "found": "10 feedback-smtp.eu-central-1.amazonses.com", "problem": nil, "note": note},
			map[string]any{"purpose": "return_path_spf", "type": "TXT", "host": "bounce.acme.example", "value": "v=spf1 include:amazonses.com ~all", "required": true,
				"status": "ok", "found": "v=spf1 include:amazonses.com -all", "problem": nil, "note": note},
		}, got); diff != "" {
			t.Errorf("records of the return path (-want +got):\n%s", diff)
		}
	})
}

// A change of the records of the return path makes the domains due for a check at once.
func TestDomainsAreCheckedWhenTheirRecordsChange(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, _ *fakes) {
		domain := "/sending-domains/" + s.must(201, "admin", "POST /sending-domains", `{"domain": "acme.example"}`).str("id")
		const none, records = `[]`, `[{"type": "MX", "value": "mx.relay.example"}, {"type": "TXT", "value": "v=spf1 include:relay.example ~all"}]`
		relay := func(name, records string) string {
			t.Helper()
			return "/mta-configs/" + s.must(201, "admin", "POST /mta-configs", `{"name": "`+name+`", "type": "smtp", "settings": {"host": "smtp.example", "port": 587}, "return_path_records": `+records+`}`).str("id")
		}
		one := relay("One", none)
		due := func(what string, want bool) {
			t.Helper()
			const now, later = "2026-03-01T12:00:00.000Z", "2026-03-01T13:00:00.000Z"
			if got := s.must(200, "viewer", "GET "+domain, "").str("next_check_at"); (got == now) != want {
				t.Errorf("%s: the next check is at %s", what, got)
			}
			if _, err := s.db.Exec(t.Context(), `UPDATE sending_domain SET next_check_at = $2 WHERE tenant_id = $1`, s.acme, s.now.Add(time.Hour).UnixMicro()); err != nil {
				t.Fatal(err)
			}
			if got := s.must(200, "viewer", "GET "+domain, "").str("next_check_at"); got != later {
				t.Fatalf("the next check is at %s", got)
			}
		}
		due("a relay without records", false)
		s.must(200, "admin", "PUT "+one, `{"return_path_records": `+records+`}`)
		due("it gets records", true)
		s.must(200, "admin", "PUT "+one, `{"name": "Uno"}`)
		due("it gets another name", false)
		two := relay("Two", `[{"type": "MX", "value": "mx.other.example"}]`)
		due("a second, which is not the default", false)
		s.must(200, "admin", "PUT /settings/account", `{"default_mta_config_id": "`+strings.TrimPrefix(two, "/mta-configs/")+`"}`)
		due("it becomes the default", true)
		s.must(200, "admin", "PUT /settings/account", `{"default_mta_config_id": null}`)
		due("it is not the default any more", true)
		s.must(204, "admin", "DELETE "+one, "")
		due("the first is deleted", true)
	})
}

func TestSendingDomainsAreVerifiedThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		zone := o.zone
		made := s.must(201, "admin", "POST /sending-domains", `{"domain": "acme.example"}`)
		domain := "/sending-domains/" + made.str("id")
		purposes := func(r response) map[string]string {
			all := map[string]string{}
			for _, item := range r.body["dns_records"].([]any) {
				record := item.(map[string]any)
				all[record["purpose"].(string)+" "+record["host"].(string)] = record["status"].(string)
			}
			return all
		}
		r := s.must(200, "admin", "POST "+domain+"/verify", "")
		if r.str("status") != "pending" || r.body["last_checked_at"] == nil || r.body["failing_since"] == nil || purposes(r)["dkim es1._domainkey.acme.example"] != "missing" {
			t.Errorf("verify without records = %s", r.text)
		}
		for _, item := range r.body["dns_records"].([]any) {
			record := item.(map[string]any)
			value := record["value"].(string)
			switch record["purpose"] {
			case "dkim":
				value = `"` + value[:100] + `" "` + value[100:] + `"`
			case "return_path":
				value = "10 " + value + "."
			case "return_path_spf":
				value = `"` + value + `"`
			default:
				continue
			}
			zone.Add(t, record["host"].(string)+". 60 IN "+record["type"].(string)+" "+value)
		}
		zone.Add(t, `_dmarc.acme.example. 60 IN TXT "p=none"`)
		r = s.must(200, "admin", "POST "+domain+"/verify", `{"operator": false}`)
		if r.str("status") != "verified" || r.str("verified_by") != "dns" || r.str("tracking_status") != "pending" || r.body["failing_since"] != nil {
			t.Errorf("verify with records = %s", r.text)
		}
		if got := purposes(r); got["dmarc _dmarc.acme.example"] != "invalid" || got["return_path bounce.acme.example"] != "ok" || got["tracking go.acme.example"] != "missing" {
			t.Errorf("statuses = %v", got)
		}
		if !strings.Contains(r.text, `"found":"10 mail.example.com"`) || !strings.Contains(r.text, `"found":"p=none"`) || !strings.Contains(r.text, "it must begin with v=DMARC1;") {
			t.Errorf("found = %s", r.text)
		}
		if health := r.body["health"].(map[string]any); health["deliveries"] != 0.0 || health["since"] != "2026-02-28T12:00:00.000Z" {
			t.Errorf("health = %v", health)
		}
		key := traffic.Key{Tenant: s.acme, Domain: id.Read[id.Domain](made.str("id"))}
		if err := traffic.Add(t.Context(), s.db, s.now, map[traffic.Key]traffic.Counts{key: {Delivered: 2000, Complained: 3, Hard: 100, Block: 400}}); err != nil {
			t.Fatal(err)
		}
		health := s.must(200, "viewer", "GET "+domain, "").body["health"].(map[string]any)
		if health["deliveries"] != 2000.0 || health["complaint_rate"] != 0.0015 || health["hard_bounce_rate"] != 0.04 {
			t.Errorf("health = %v", health)
		}
		if fmt.Sprint(health["warnings"]) != "[]" {
			t.Errorf("warnings = %v", health["warnings"])
		}
		warned := traffic.Domain{Tenant: s.acme, Domain: id.Read[id.Domain](made.str("id"))}
		list := []sender.Warning{
			{Metric: sender.Complaints, Provider: "yahoo", Count: 20, Of: 10_000, Threshold: 0.001, Window: 24 * time.Hour},
			{Metric: sender.UnknownUsers, Broadcast: id.Read[id.Broadcast]("01983b2e-0000-7000-8000-000000000001"), Count: 150, Of: 1000, Threshold: 0.08, Window: 24 * time.Hour},
		}
		if _, err := sender.SaveWarnings(t.Context(), s.db, nil, map[traffic.Domain][]sender.Warning{warned: list}, nil, s.now); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{domain, "/sending-domains"} {
			r := s.must(200, "viewer", "GET "+what, "")
			for _, want := range []string{
				`{"metric":"complaint_rate","provider":"yahoo","broadcast_id":null,"rate":0.002,"count":20,"of":10000,"threshold":0.001,"window_minutes":1440,"since":"2026-03-01T12:00:00.000Z"}`,
				`{"metric":"unknown_user_rate","provider":null,"broadcast_id":"01983b2e-0000-7000-8000-000000000001","rate":0.15,"count":150,"of":1000,"threshold":0.08,"window_minutes":1440,"since":"2026-03-01T12:00:00.000Z"}`,
			} {
				if !strings.Contains(r.text, want) {
					t.Errorf("GET %s = %s, want %s", what, r.text, want)
				}
			}
		}

		r = s.must(200, "admin", "POST "+domain+"/rotate-dkim", "")
		if rotation := r.body["dkim_rotation"].(map[string]any); rotation["next_selector"] != "es2" || rotation["retire_at"] != nil || purposes(r)["dkim es2._domainkey.acme.example"] != "missing" {
			t.Errorf("rotate-dkim = %s", r.text)
		}
		if r := s.must(409, "admin", "POST "+domain+"/rotate-dkim", ""); r.code != "ROTATION_IN_PROGRESS" {
			t.Errorf("a second rotate-dkim = %s", r.text)
		}
		for _, tt := range []struct {
			caller, what, body string
			status             int
			code               string
		}{
			{"viewer", "POST " + domain + "/verify", "", 403, "FORBIDDEN"},
			{"editor", "POST " + domain + "/rotate-dkim", "", 403, "FORBIDDEN"},
			{"key", "POST " + domain + "/verify", "", 403, "API_KEY_FORBIDDEN"},
			{"admin", "POST " + domain + "/verify", `{"operator": true}`, 403, "FORBIDDEN"},
			{"owner", "POST " + domain + "/verify", `{"operator": true}`, 400, "INVALID_INPUT"},
			{"admin", "POST " + domain + "/verify", `{"operator": "yes"}`, 400, "INVALID_INPUT"},
			{"admin", "POST /sending-domains/x/verify", "", 404, "NOT_FOUND"},
			{"admin", "POST /sending-domains/" + id.NewText() + "/rotate-dkim", "", 404, "NOT_FOUND"},
			{"admin", "POST /t/other/api" + domain + "/verify", "", 404, "NOT_FOUND"},
			{"admin", "POST /t/other/api" + domain + "/rotate-dkim", "", 404, "NOT_FOUND"},
		} {
			if r := s.call(tt.caller, tt.what, tt.body); r.status != tt.status || r.code != tt.code {
				t.Errorf("%s: %s %s answered %d %s; want %d %s", tt.caller, tt.what, tt.body, r.status, r.text, tt.status, tt.code)
			}
		}
		limited := 0
		for range 21 {
			if r := s.call("admin", "POST "+domain+"/verify", ""); r.status == 429 && r.code == "RATE_LIMITED" {
				limited++
			}
		}
		if limited == 0 {
			t.Error("23 checks in a minute were allowed")
		}
		audit := s.must(200, "admin", "GET /audit-log", "").text
		for _, action := range []string{"sending_domain.create", "sending_domain.rotate_dkim"} {
			if !strings.Contains(audit, action) {
				t.Errorf("the audit log has no %s: %s", action, audit)
			}
		}
	})
}

// TestOperatorVerifiesOverTheAPI runs with a base URL on loopback.
func TestOperatorVerifiesOverTheAPI(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		domain := "/sending-domains/" + s.must(201, "admin", "POST /sending-domains", `{"domain": "acme.example"}`).str("id")
		if r := s.must(403, "admin", "POST "+domain+"/verify", `{"operator": true, "tracking_host": "127.0.0.1:8080"}`); r.code != "FORBIDDEN" {
			t.Errorf("verify by an admin = %s", r.text)
		}
		if r := s.must(400, "owner", "POST "+domain+"/verify", `{"operator": true, "tracking_host": "a b"}`); !slices.Equal(r.paths(), []string{"tracking_host"}) {
			t.Errorf("verify with a bad host = %s", r.text)
		}
		r := s.must(200, "owner", "POST "+domain+"/verify", `{"operator": true, "tracking_host": "127.0.0.1:8080"}`)
		if r.str("status") != "verified" || r.str("verified_by") != "operator" || r.str("tracking_host") != "127.0.0.1:8080" || r.str("tracking_status") != "live" {
			t.Errorf("verify by an owner = %s", r.text)
		}
		if !strings.Contains(s.must(200, "admin", "GET /audit-log", "").text, "sending_domain.verify") {
			t.Error("the audit log has no verification")
		}
		s.must(404, "owner", "POST /t/other/api"+domain+"/verify", `{"operator": true}`)
	})
}
