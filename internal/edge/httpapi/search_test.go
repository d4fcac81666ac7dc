package httpapi_test

import (
	"strings"
	"testing"
)

func TestSearchFindsRecordsOfTheTenant(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "first_name": "Zoë", "last_name": "Quill"}`)
		s.must(201, "editor", "POST /broadcasts", broadcastJSON(t, `{"name": "Quillwort news"}`))
		r := s.must(200, "viewer", "GET /search?q=quill", "")
		for _, want := range []string{
			`{"data":[{"type":"contact","id":"`, `"title":"Zoë Quill","subtitle":"ann@example.org","status":"active","match":[4,9]}`,
			`"title":"Quillwort news","subtitle":"`, `"status":"draft","match":[0,5]}`,
		} {
			if !strings.Contains(r.text, want) {
				t.Errorf("no %s in %s", want, r.text)
			}
		}
		if r = s.must(200, "viewer", "GET /search?q=quill&types=broadcast,%20form&limit=0", ""); len(r.body["data"].([]any)) != 1 {
			t.Errorf("only broadcasts and forms: %s", r.text)
		}
		for _, none := range []string{"/search", "/search?q=", "/search?q=%20", "/search?q=qqqq&limit=x", "/search?q=%25"} {
			if r = s.must(200, "viewer", "GET "+none, ""); r.text != `{"data":[]}` && strings.TrimSpace(r.text) != `{"data":[]}` {
				t.Errorf("%s: %s", none, r.text)
			}
		}
		if r = s.must(200, "viewer", "GET /t/other/api/search?q=quill", ""); len(r.body["data"].([]any)) != 0 {
			t.Errorf("another tenant: %s", r.text)
		}
		s.mustRefuse("key", "GET /search?q=quill", "", 403, "API_KEY_FORBIDDEN")
		s.mustRefuse("viewer", "GET /search?q=a&types=contact,nonsense", "", 400, "INVALID_INPUT")
		s.mustRefuse("viewer", "GET /search?q=%00", "", 400, "INVALID_INPUT")
		s.mustRefuse("viewer", "GET /search?q="+strings.Repeat("a", 201), "", 400, "INVALID_INPUT")
	})
}
