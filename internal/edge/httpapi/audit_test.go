package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Entries of the audit log name their records, as long as those exist.
func TestAuditEntriesNameTheirRecords(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		names := func() map[string]any {
			found := map[string]any{}
			for _, e := range s.must(200, "admin", "GET /audit-log?limit=200", "").body["data"].([]any) {
				row := e.(map[string]any)
				found[row["target_id"].(string)] = row["target_name"]
			}
			return found
		}
		expect := func(target string, want any) {
			t.Helper()
			have, there := names()[target]
			if !there || have != want {
				t.Errorf("%s is called %v, %v; want %v", target, have, there, want)
			}
		}
		rule := s.must(201, "editor", "POST /automations", `{"name": "Rule", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, `+taggingActions+`}`).str("id")
		sequence := s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		s.must(200, "editor", "PUT /sequences/"+sequence, `{"name": "Welcome back"}`)
		domain := s.must(201, "admin", "POST /sending-domains", `{"domain": "named.example"}`).str("id")
		hook := s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example/in", "event_types": ["*"]}`).str("id")
		key := s.must(201, "admin", "POST /auth/api-keys", `{"name": "CRM", "scopes": ["lists:read"]}`).str("id")
		c := s.must(201, "key", "POST /contacts", `{"email": "ada@named.example"}`).str("id")
		expect(rule, "Rule")
		expect(sequence, "Welcome back")
		expect(domain, "named.example")
		expect(hook, "https://hooks.example/in")
		expect(key, "CRM")

		s.must(200, "admin", "POST /contacts/"+c+"/anonymize", `{}`)
		expect(c, nil)
		s.must(204, "editor", "DELETE /automations/"+rule, "")
		expect(rule, nil)
	})
}

// Entries of updates have the fields that changed, with their values before and after; nothing that is secret, and
// nothing of another account.
func TestAuditEntriesHaveWhatChanged(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		changes := func(action string) (fields []string) {
			t.Helper()
			r := s.must(200, "admin", "GET /audit-log?limit=1&action="+action, "")
			for _, c := range r.body["data"].([]any)[0].(map[string]any)["changes"].([]any) {
				m := c.(map[string]any)
				fields = append(fields, fmt.Sprint(m["field"], ": ", m["before"], " > ", m["after"]))
			}
			return fields
		}
		expect := func(action string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, changes(action)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", action, diff)
			}
		}
		relay := s.must(201, "admin", "POST /mta-configs", `{"name": "Relay", "type": "smtp", "settings": {"host": "smtp.example.net", "auth": "plain", "username": "u", "password": "former-secret"}}`).str("id")
		expect("mta_config.create")
		s.must(200, "admin", "PUT /mta-configs/"+relay, `{"name": "Relay", "caps": {"max_per_day": 500}, "settings": {"host": "smtp.other.example", "password": "later-secret"}}`)
		expect("mta_config.update", "caps.max_per_day: <nil> > 500", "settings.host: smtp.example.net > smtp.other.example", "settings.password: <nil> > <nil>")
		s.must(200, "admin", "PUT /mta-configs/"+relay, `{"name": "Relay"}`)
		expect("mta_config.update")

		s.must(200, "admin", "PUT /settings/account", `{"timezone": "Europe/Berlin", "send_window": {"start": "08:00"}}`)
		if got := changes("account.update"); len(got) != 2 || got[1] != "timezone: UTC > Europe/Berlin" || !strings.HasPrefix(got[0], "send_window.start: ") {
			t.Errorf("account.update has %q", got)
		}
		key := s.must(201, "admin", "POST /auth/api-keys", `{"name": "CRM", "scopes": ["lists:read"]}`).str("id")
		s.must(200, "admin", "PATCH /auth/api-keys/"+key, `{"scopes": ["contacts:read"]}`)
		expect("api_key.update", "scopes: [lists:read] > [contacts:read]")
		hook := s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example/in", "event_types": ["*"]}`).str("id")
		s.must(200, "admin", "PUT /settings/webhooks/"+hook, `{"active": false}`)
		expect("webhook.update", "active: true > false")
		typ := s.must(201, "admin", "POST /email-types", `{"display_name": "Weekly"}`).str("id")
		s.must(200, "admin", "PUT /email-types/"+typ, `{"display_name": "Monthly"}`)
		expect("email_type.update", "display_name: Weekly > Monthly")
		list := s.must(201, "editor", "POST /segments", `{"name": "VIPs", "type": "dynamic", "definition": {"logic": "and", "conditions": [{"field": "email", "operator": "eq", "value": "ada@example.org"}]}}`)
		s.must(200, "editor", "PUT /segments/"+list.str("id"), `{"definition": {"logic": "and", "conditions": [{"field": "email", "operator": "eq", "value": "bob@example.org"}, {"field": "country", "operator": "eq", "value": "DE"}]}}`)
		if got := changes("segment.update"); len(got) != 1 || strings.Contains(got[0], "example.org") || !strings.Contains(got[0], "DE") {
			t.Errorf("segment.update has %q", got)
		}
		sequence := s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		s.must(200, "editor", "PUT /sequences/"+sequence, `{"name": "`+strings.Repeat("W", 200)+`"}`)
		expect("sequence.update", "name: Welcome > "+strings.Repeat("W", 200))
		rule := s.must(201, "editor", "POST /automations", `{"name": "Rule", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, `+taggingActions+`}`).str("id")
		s.must(200, "editor", "PUT /automations/"+rule, `{"trigger_config": {"tag": "y"}}`)
		expect("automation.update", "trigger_config.tag: x > y")
		log := s.must(200, "admin", "GET /audit-log?limit=200", "")
		if strings.Contains(log.text, "secret") && (strings.Contains(log.text, "former-secret") || strings.Contains(log.text, "later-secret")) {
			t.Error("the audit log has a password")
		}
		if other := s.must(200, "admin", "GET /t/other/api/audit-log", ""); len(other.data("id")) != 0 {
			t.Errorf("another account has %s", other.text)
		}
	})
}
