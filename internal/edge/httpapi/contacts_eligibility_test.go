package httpapi_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
)

func TestEligibilityListsTheChecksOfSending(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "subscriptions": {"news": false}}`).str("id")
		at := "GET /contacts/" + ann + "/eligibility"
		r := s.must(200, "viewer", at+"?email_type_key=news", "")
		if r.body["eligible"] != false || r.str("first_reason") != "unsubscribed_type" || !strings.Contains(r.text, `{"check":"unsubscribed_type","ok":false,"detail":`) || !strings.Contains(r.text, `{"check":"pending","ok":true}`) {
			t.Errorf("unsubscribed: %s", r.text)
		}
		s.must(201, "key", "POST /suppressions", `{"email": "ann@example.org", "reason": "asked"}`)
		r = s.must(200, "viewer", at, "")
		if !strings.Contains(r.text, `{"check":"suppressed_address","ok":false,"reason":"asked","since":"`) || !strings.Contains(r.text, `"action":"remove_suppression"`) {
			t.Errorf("suppressed: %s", r.text)
		}
		b := s.must(201, "editor", "POST /broadcasts", broadcastJSON(t, `{"name": "Spring"}`)).str("id")
		if r = s.must(200, "viewer", at+"?broadcast_id="+b, ""); r.str("first_reason") != "audience" {
			t.Errorf("of a broadcast: %s", r.text)
		}
		s.mustRefuse("key", at, "", 403, "API_KEY_FORBIDDEN")
		s.mustRefuse("viewer", "GET /t/other/api/contacts/"+ann+"/eligibility", "", 404, "CONTACT_NOT_FOUND")
		s.mustRefuse("viewer", "GET /contacts/x/eligibility", "", 404, "CONTACT_NOT_FOUND")
		s.mustRefuse("viewer", at+"?broadcast_id=x", "", 400, "INVALID_INPUT")
		s.mustRefuse("viewer", at+"?sequence_id=x", "", 400, "INVALID_INPUT")
		s.mustRefuse("viewer", at+"?email_type_key=news&broadcast_id="+b, "", 400, "INVALID_INPUT")
		s.mustRefuse("viewer", at+"?email_type_key=nope", "", 400, "INVALID_EMAIL_TYPE")
		s.mustRefuse("viewer", at+"?broadcast_id="+id.NewText(), "", 404, "NOT_FOUND")
		s.mustRefuse("viewer", at+"?sequence_id="+id.NewText(), "", 404, "NOT_FOUND")
	})
}
