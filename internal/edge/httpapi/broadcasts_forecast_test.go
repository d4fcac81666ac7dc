package httpapi_test

import (
	"strings"
	"testing"
)

func TestAPreviewOfASendShowsItsRecipientsAndDays(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		at, records := s.sendTo(t, 5)
		r := s.must(200, "viewer", "POST /broadcasts/preview-send", `{"broadcast_id": "`+strings.TrimPrefix(at, "/broadcasts/")+`"}`)
		if r.body["recipients"] != 5.0 || r.body["matched"] != 5.0 || r.body["plan"] != nil || r.body["estimated"] != false || r.body["largest_recent"] != 5.0 {
			t.Errorf("of the live send: %s", r.text)
		}
		b := s.must(201, "editor", "POST /broadcasts", broadcastJSON(t, `{"name": "Spring"}`))
		id, list := b.str("id"), b.body["include_segment_keys"].([]any)[0].(string)
		of := `{"broadcast_id": "` + id + `"`
		r = s.must(200, "viewer", "POST /broadcasts/preview-send", of+`}`)
		if sender := r.body["senders"].([]any)[0].(map[string]any); r.body["recipients"] != float64(len(records)) || sender["expected"] != 5.0 || sender["email"] == nil || sender["mta_config_key"] == nil {
			t.Errorf("of the draft: %s", r.text)
		}
		r = s.must(200, "viewer", "POST /broadcasts/preview-send", of+`, "exclude_segment_keys": ["`+list+`"]}`)
		if r.body["matched"] != 0.0 {
			t.Errorf("with a field over it: %s", r.text)
		}
		r = s.must(200, "viewer", "POST /broadcasts/preview-send", of+`, "delivery_mode": "over_days", "delivery_window_days": 2, "throttle_per_hour": 100,
			"variants": [{"id": "a", "name": "A", "weight": 1, "content_overrides": {"subject": "x"}}, {"id": "b", "name": "B", "weight": 1, "content_overrides": {"subject": "y"}}]}`)
		days := r.body["plan"].([]any)
		if first := days[0].(map[string]any); len(days) != 2 || first["planned"] != 3.0 || first["status"] != "today" || first["capacity"] == nil || first["taken_by_others"] != 0.0 || len(r.body["variants"].([]any)) != 2 || r.body["finishes_at"] == nil {
			t.Errorf("over days: %s", r.text)
		}
		if again := s.must(200, "viewer", "GET /broadcasts/"+id, ""); again.body["updated_at"] != b.body["updated_at"] || again.body["delivery_mode"] != "now" {
			t.Errorf("the draft was written: %s", again.text)
		}
		s.mustRefuse("key", "POST /broadcasts/preview-send", of+`}`, 403, "API_KEY_FORBIDDEN")
		s.mustRefuse("viewer", "POST /t/other/api/broadcasts/preview-send", of+`}`, 404, "NOT_FOUND")
		s.mustRefuse("viewer", "POST /t/other/api/broadcasts/preview-send", `{"include_segment_keys": ["`+list+`"]}`, 400, "INVALID_SEGMENT")
		s.mustRefuse("viewer", "POST /broadcasts/preview-send", `{"broadcast_id": "`+strings.TrimPrefix(at, "/broadcasts/")+`", "name": "x"}`, 409, "NOT_DRAFT")
		for body, code := range map[string]string{
			`{"broadcast_id": "x"}`:                  "INVALID_INPUT",
			`{"broadcast_id": 5}`:                    "INVALID_INPUT",
			`{"broadcast_id": "x", "name": ""}`:      "INVALID_INPUT",
			`{"delivery_mode": "over_days"}`:         "INVALID_INPUT",
			`{"skipped_dates": ["soon"]}`:            "INVALID_INPUT",
			`{"email_type_key": "nope"}`:             "INVALID_EMAIL_TYPE",
			`{"mta_config_key": "nope"}`:             "INVALID_MTA_CONFIG",
			`{"sending_identity_emails": ["a@b.c"]}`: "INVALID_SENDING_IDENTITY",
			`{"variants": []}`:                       "INVALID_VARIANTS",
		} {
			s.mustRefuse("viewer", "POST /broadcasts/preview-send", body, 400, code)
		}
	})
}
