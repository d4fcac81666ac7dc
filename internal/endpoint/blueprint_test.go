package endpoint_test

import (
	"context"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
)

func TestTheBlueprintTellsOfEveryOperation(t *testing.T) {
	t.Parallel()
	text, err := newShop(t, options{}).router.Blueprint()
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

// Paged is what an operation may embed.
type Paged struct{ paged }

// Parameters that nobody would read are found when the table is filled.
func TestAnInputMayNotEmbedWhatHumaPassesOver(t *testing.T) {
	t.Parallel()
	refused := func(add func(r *endpoint.Router)) (said string) {
		defer func() { said, _ = recover().(string) }()
		add(endpoint.New(endpoint.Options{}))
		return ""
	}
	op := endpoint.Op{Name: "listThings"}
	for name, said := range map[string]string{
		"directly": refused(func(r *endpoint.Router) {
			endpoint.Handle(r, "GET /x", op, func(context.Context, auth.Principal, *struct{ paged }) (endpoint.None, error) {
				return endpoint.None{}, nil
			})
		}),
		"at depth": refused(func(r *endpoint.Router) {
			endpoint.Handle(r, "GET /x", op, func(context.Context, auth.Principal, *struct{ Paged }) (endpoint.None, error) {
				return endpoint.None{}, nil
			})
		}),
	} {
		if !strings.Contains(said, "listThings embeds paged") {
			t.Errorf("%s: the table took it, saying %q", name, said)
		}
	}
}
