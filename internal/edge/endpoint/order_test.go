package endpoint_test

import (
	"strings"
	"testing"
)

// Each step adds what the one before was missing, and fails the next check.
func TestChecksComeInOneOrder(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	long := `{"name": "` + strings.Repeat("x", 70<<10) + `"}`
	for _, tt := range []struct {
		name, what, body string
		header           []string
		status           int
		code             string
	}{
		{"unknown route before anything", "POST /t/nobody/api/nowhere", long, nil, 404, "NOT_FOUND"},
		{"unknown route outside tenants", "GET /nowhere", "", nil, 404, "NOT_FOUND"},
		{"method before tenant", "PATCH /t/nobody/api/things", long, nil, 405, "METHOD_NOT_ALLOWED"},
		{"tenant", "POST /t/nobody/api/things", long, nil, 404, "TENANT_NOT_FOUND"},
		{"credential missing", "POST /t/acme/api/things", long, nil, 401, "UNAUTHORIZED"},
		{"credential bad", "POST /t/acme/api/things", long, []string{"X-API-Key: nonsense"}, 401, "UNAUTHORIZED"},
		{"origin with the credential", "PUT /t/acme/api/settings", long, []string{"Cookie: packetboat_session=viewer", "Origin: https://evil.example", "Host: mail.example.com"}, 403, "CSRF_FAILED"},
		{"route class", "PUT /t/acme/api/settings", long, []string{"X-API-Key: key+lists:read"}, 403, "API_KEY_FORBIDDEN"},
		{"scope", "POST /t/acme/api/things", long, []string{"X-API-Key: key+lists:read"}, 403, "INSUFFICIENT_SCOPE"},
		{"any scope of several, none held", "GET /t/acme/api/things/x", "", []string{"X-API-Key: key+forms:read"}, 403, "INSUFFICIENT_SCOPE"},
		{"role", "PUT /t/acme/api/settings", long, []string{"Cookie: packetboat_session=editor"}, 403, "FORBIDDEN"},
		{"role of a write", "POST /t/acme/api/things", long, []string{"Cookie: packetboat_session=viewer"}, 403, "FORBIDDEN"},
		{"size before media type", "POST /t/acme/api/things", long, []string{"X-API-Key: " + writer, "Content-Type: text/plain"}, 413, "PAYLOAD_TOO_LARGE"},
		{"media type before JSON", "POST /t/acme/api/things", "nope", []string{"X-API-Key: " + writer, "Content-Type: text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"JSON before fields", "POST /t/acme/api/things", `{"name": 5`, []string{"X-API-Key: " + writer}, 400, "INVALID_JSON"},
		{"fields before the record", "POST /t/acme/api/things", `{"name": ""}`, []string{"X-API-Key: " + writer}, 400, "INVALID_INPUT"},
		{"state last", "POST /t/acme/api/things", `{"name": "taken"}`, []string{"X-API-Key: " + writer}, 409, "DUPLICATE_NAME"},
		{"record", "GET /t/acme/api/things/no-uuid", "", []string{"X-API-Key: key+segments:read"}, 404, "NOT_FOUND"},
		{"success by key", "POST /t/acme/api/things", `{"name": "one"}`, []string{"X-API-Key: " + writer, "Content-Type: application/json; charset=utf-8"}, 201, ""},
		{"success by session", "POST /t/acme/api/things", `{"name": "one"}`, []string{"Cookie: packetboat_session=editor"}, 201, ""},
		{"success without a media type", "POST /t/acme/api/strict", `{"email": "a@b.example"}`, []string{"X-API-Key: key+sequences:enroll"}, 204, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.do(tt.what, tt.body, tt.header...)
			if got.status != tt.status || got.code() != tt.code {
				t.Errorf("%s = %d %s\n%.300s\nwant %d %s", tt.what, got.status, got.code(), got.body, tt.status, tt.code)
			}
			if got.header.Get("X-Request-Id") == "" {
				t.Error("the answer has no X-Request-Id")
			}
			if got.header.Get("X-RateLimit-Limit") == "" || got.header.Get("X-RateLimit-Reset") == "" || got.header.Get("X-RateLimit-Remaining") == "" {
				t.Errorf("the answer lacks rate limit headers: %v", got.header)
			}
		})
	}
}
