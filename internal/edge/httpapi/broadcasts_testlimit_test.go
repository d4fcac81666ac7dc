package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/senders/testmail"
)

// Test sends, verify-lane and tests of MTA configs share one limit, and a call that would exceed it
// is refused as a whole.
func TestTestMailsAreLimited(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		used := func(c testmail.Call) {
			t.Helper()
			if err := testmail.Begin(t.Context(), s.db, c, s.now); err != nil {
				t.Fatal(err)
			}
		}
		used(testmail.Call{By: auth.Principal{Tenant: s.acme}, Action: "a", Mails: testmail.MaxPerHour - 4})
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"variants": [{"id": "a", "name": "A", "weight": 1, "content_overrides": {"subject": "A"}}, {"id": "b", "name": "B", "weight": 2, "content_overrides": {"subject": "B"}}]}`))
		send := "POST /broadcasts/" + made.str("id") + "/test-send"
		test := "POST /mta-configs/" + s.lane.ID.String() + "/test"
		verify := "POST /sending-identities/" + s.sender.ID.String() + "/verify-lane"
		s.must(200, "admin", test, `{"to": "Ann@example.org"}`)
		s.must(200, "admin", verify, `{"mta_config_id": "`+s.lane.ID.String()+`", "to": "bob@example.org"}`)
		s.mails()
		refused := func(caller, what, body string) {
			t.Helper()
			s.now = s.now.Add(time.Minute)
			r := s.must(429, caller, what, body)
			if r.code != "RATE_LIMITED" || r.body["statusCode"] != 429.0 || r.header.Get("Retry-After") == "" {
				t.Errorf("%s: %s, Retry-After %q", what, r.text, r.header.Get("Retry-After"))
			}
		}
		for _, caller := range []string{"key", "editor"} { // two addresses, two variants, one sender: 4 mails, and 2 are left
			refused(caller, send, `{"to": ["ann@example.org", "bob@example.org"]}`)
		}
		if n := len(s.mails()); n != 0 {
			t.Errorf("a refused call sent %d mails", n)
		}
		s.must(200, "key", send, `{"to": ["ann@example.org"]}`)
		refused("admin", test, `{"to": "ann@example.org"}`)
		refused("admin", verify, `{"mta_config_id": "`+s.lane.ID.String()+`", "to": "ann@example.org"}`)
		log := s.must(200, "owner", "GET /audit-log?limit=3", "")
		for i, want := range []string{`["ann@example.org"]`, `["bob@example.org"]`, `["ann@example.org"]`} {
			row := log.body["data"].([]any)[i].(map[string]any)
			action := []string{"broadcast.test_send", "sending_identity.verify_lane", "mta_config.test"}[i]
			if row["action"] != action || !strings.Contains(log.text, `"to":`+want) {
				t.Errorf("entry %d of the audit log is %v, want %s to %s", i, row, action, want)
			}
		}
		s.now = s.now.Add(time.Hour)
		s.must(200, "editor", send, `{"to": ["ann@example.org", "bob@example.org"]}`)
	})
}
