package httpapi_test

import (
	"testing"
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
