package endpoint_test

import (
	"context"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

func TestTheBlueprintContainsEveryOperation(t *testing.T) {
	t.Parallel()
	text, err := newServer(t, options{}).router.Blueprint()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := map[string]map[string]any{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			said[op.OperationID] = op.Extensions
		}
	}
	for name, want := range map[string]map[string]any{
		"createThing":  {"x-session": false, "x-public": false, "x-role": "editor"},
		"saveSettings": {"x-session": true, "x-public": false, "x-role": "admin"},
		"login":        {"x-session": false, "x-public": true, "x-role": nil},
	} {
		for mark, value := range want {
			if got := said[name][mark]; got != value {
				t.Errorf("%s: %s = %v, want %v", name, mark, got, value)
			}
		}
	}
}

type paged struct {
	Limit string `query:"limit"`
}

// Paged is embedded in the In of operations.
type Paged struct{ paged }

func TestParametersOfEmbeddedStructsAreRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	op := endpoint.Op{Name: "listPages", Mode: endpoint.Free}
	endpoint.Handle(s.router, "GET /t/{tenant}/api/pages", op, func(_ context.Context, _ auth.Principal, in *struct{ Paged }) (map[string]string, error) {
		return map[string]string{"limit": in.Limit}, nil
	})
	if got := s.do("GET /t/acme/api/pages?limit=7", "", "X-API-Key: key+x"); got.json["limit"] != "7" {
		t.Errorf("answer = %d %s, want the limit", got.status, got.body)
	}
}
