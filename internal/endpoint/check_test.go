package endpoint_test

import (
	"maps"
	"testing"
)

// What the operation knows of a body is reported together with what its types
// say, of fields that have no problem yet, and the operation is not run.
func TestAllProblemsOfABodyAreToldAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, options{})
	got := s.do("POST /t/acme/api/things", `{"name": "nameless", "note": "none", "tags": 5}`, "X-API-Key: "+writer)
	want := map[string]string{"name": "must be a name", "note": "must say something", "tags": "expected array"}
	if got.status != 400 || !maps.Equal(got.fields(), want) || s.created != 0 {
		t.Errorf("got %d %s, want %v", got.status, got.body, want)
	}
	got = s.do("POST /t/acme/api/things", `{"name": 7, "note": "none", "content": {"subject": 5}}`, "X-API-Key: "+writer)
	want = map[string]string{"name": "expected string", "note": "must say something", "content.subject": "expected string"}
	if got.code() != "NO_CONTENT" || !maps.Equal(got.fields(), want) {
		t.Errorf("got %d %s, want %v as NO_CONTENT", got.status, got.body, want)
	}
	if got := s.do("POST /t/acme/api/things", `{"name": "nameless"}`, "X-API-Key: "+writer); got.status != 201 {
		t.Errorf("a body of the right types = %d %s, want it left to the operation", got.status, got.body)
	}
}
