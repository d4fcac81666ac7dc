package endpoint_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

func document(t *testing.T, s *server) (*openapi3.T, []byte) {
	t.Helper()
	text, err := s.router.Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatalf("load: %v\n%s", err, text)
	}
	return doc, text
}

func TestTheDocumentIsValid(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	doc, text := document(t, s)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatalf("validate: %v\n%s", err, text)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" || doc.Components.SecuritySchemes["ApiKeyAuth"].Value.Name != "X-API-Key" {
		t.Errorf("head of the document:\n%.400s", text)
	}
	if again, _ := s.router.Document(); !bytes.Equal(text, again) {
		t.Error("two drafts of the document differ")
	}
}

func TestTheDocumentContainsWhatKeysMayCall(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	doc, text := document(t, s)
	if got, want := doc.Paths.Keys(), []string{"/api/panic", "/api/poke", "/api/stream", "/api/strict", "/api/things", "/api/things/{id}"}; !slices.Equal(got, want) {
		t.Errorf("paths = %v, want %v", got, want)
	}
	post := doc.Paths.Value("/api/things").Post
	if post.OperationID != "createThing" || !cmp.Equal(post.Extensions["x-scopes"], []any{"broadcasts:write"}) || post.Extensions["x-scope-mode"] != "all" {
		t.Errorf("createThing = %v", post.Extensions)
	}
	for status, want := range map[string]string{
		"400": "INVALID_INPUT, INVALID_JSON, NO_CONTENT", "401": "UNAUTHORIZED", "403": "CSRF_FAILED, FORBIDDEN, INSUFFICIENT_SCOPE", "404": "TENANT_NOT_FOUND",
		"409": "DUPLICATE_NAME, IDEMPOTENCY_IN_PROGRESS", "413": "PAYLOAD_TOO_LARGE", "415": "UNSUPPORTED_MEDIA_TYPE", "429": "RATE_LIMITED", "500": "INTERNAL_ERROR", "503": "UNAVAILABLE",
	} {
		res := post.Responses.Value(status)
		if res == nil || *res.Value.Description != want {
			t.Errorf("refusals of status %s = %v, want %s", status, res, want)
		}
	}
	if post.Responses.Value("422") != nil || post.Responses.Value("default") != nil {
		t.Error("the document knows statuses of huma's")
	}
	body := post.RequestBody.Value.Content["application/json"].Schema.Value
	if !slices.Equal(body.Required, []string{"name"}) {
		t.Errorf("required = %v, want only the name", body.Required)
	}
	if owner := body.Properties["owner"].Value; len(owner.AnyOf) != 2 {
		t.Errorf("owner = %+v, want a reference or null", owner)
	}
	if tags := doc.Components.Schemas["Thing"].Value.Properties["tags"].Value; !tags.Type.Is("array") {
		t.Errorf("tags of an answer = %v, want an array that is never null", tags.Type)
	}
	for _, internal := range []string{"ErrorModel", "ErrorDetail", "SignedIn", "saveSettings", "additionalProperties\": true"} {
		if strings.Contains(string(text), internal) {
			t.Errorf("the document mentions %s", internal)
		}
	}
}

// Responses agree with the document.
func TestAnswersFitTheDocument(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	doc, _ := document(t, s)
	for _, tt := range []struct {
		path, method, status string
		got                  reply
	}{
		{"/api/things", "POST", "201", s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer)},
		{"/api/things", "GET", "200", s.do("GET /t/acme/api/things", "", "X-API-Key: key+broadcasts:read")},
		{"/api/stream", "GET", "200", s.do("GET /t/acme/api/stream?rows=2", "", "X-API-Key: key+x")},
		{"/api/things", "POST", "400", s.do("POST /t/acme/api/things", `{"name": ""}`, "X-API-Key: "+writer)},
		{"/api/things", "POST", "401", s.do("POST /t/acme/api/things", `{"name": ""}`)},
		{"/api/things", "POST", "403", s.do("POST /t/acme/api/things", `{"name": ""}`, "X-API-Key: key+x")},
	} {
		schema := doc.Paths.Value(tt.path).GetOperation(tt.method).Responses.Value(tt.status).Value.Content["application/json"].Schema.Value
		var v any
		if err := json.Unmarshal([]byte(tt.got.body), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.VisitJSON(v, openapi3.MultiErrors(), openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s %s %s: %v\n%s", tt.method, tt.path, tt.status, err, tt.got.body)
		}
	}
}

func TestOperationsAreListedForDiscovery(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	list := s.router.Operations()
	i := slices.IndexFunc(list, func(o endpoint.Operation) bool { return o.ID == "createThing" })
	want := endpoint.Operation{ID: "createThing", Method: "POST", Path: "/api/things", Summary: "Create a thing.", Tag: "things",
		Scopes: []string{"broadcasts:write"}, ScopeMode: "all", Pagination: "none", Idempotency: true}
	if i < 0 || !cmp.Equal(list[i], want) {
		t.Errorf("operations = %+v, want %+v among them", list, want)
	}
	for _, o := range list {
		if o.ID == "saveSettings" || o.ID == "login" {
			t.Errorf("%s is listed, though no key may call it", o.ID)
		}
	}
}

func TestPublishedTextsAreCachedAndLimited(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	s.router.Publish("GET /api/discover", "application/json", func() ([]byte, error) { return []byte(`{"api": {}}`), nil })
	first := s.do("GET /api/discover", "")
	tag := first.header.Get("ETag")
	if first.status != 200 || tag == "" || first.header.Get("Cache-Control") != "public, max-age=300" || first.header.Get("X-RateLimit-Limit") != "120" || first.header.Get("X-RateLimit-Remaining") != "119" {
		t.Fatalf("first = %d %v", first.status, first.header)
	}
	for header, want := range map[string]int{tag: 304, strings.TrimPrefix(tag, "W/"): 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200} {
		if got := s.do("GET /api/discover", "", "If-None-Match: "+header); got.status != want || (want == 304 && got.body != "") {
			t.Errorf("If-None-Match %s = %d %q, want %d", header, got.status, got.body, want)
		}
	}
	for range 114 {
		s.do("GET /api/discover", "")
	}
	if got := s.do("GET /api/discover", ""); got.status != 429 || got.header.Get("Retry-After") == "" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("request 121 = %d %v, want 429", got.status, got.header)
	}
	s.pass(time.Minute)
	if got := s.do("POST /api/discover", ""); got.status != 405 {
		t.Errorf("POST = %d, want 405", got.status)
	}
}
