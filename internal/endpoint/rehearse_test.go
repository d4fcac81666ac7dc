package endpoint_test

import (
	"context"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/fault"
)

// What only the operation knows of a body is told together with what its types
// say, and the operation is not done.
func TestAllProblemsOfABodyAreToldAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, options{})
	s.hook = func(context.Context) error {
		return fault.Input(fault.Field{Path: "note", Message: "is no news"}, fault.Field{Path: "tags", Message: "told once"})
	}
	got := s.do("POST /t/acme/api/things", `{"name": "x", "note": "y", "tags": 5}`, "X-API-Key: "+writer)
	if got.status != 400 || !strings.Contains(got.body, `"path":"tags"`) || !strings.Contains(got.body, `{"path":"note","message":"is no news"}`) || strings.Contains(got.body, "told once") {
		t.Errorf("got %d %s, want both fields, each once", got.status, got.body)
	}
	s.hook = func(context.Context) error { panic("a field that is required is not there") }
	if got := s.do("POST /t/acme/api/things", `{"name": 5}`, "X-API-Key: "+writer); got.status != 400 {
		t.Errorf("a rehearsal that breaks = %d %s, want 400", got.status, got.body)
	}
}
