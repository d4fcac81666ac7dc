package webhook_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// published is the OpenAPI document, which package httpapi compares with the one that is served.
func published(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../../edge/httpapi/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDeliveredEventsMatchTheOpenAPIDocument(t *testing.T) {
	t.Parallel()
	doc := published(t)
	if got, want := slices.Sorted(maps.Keys(doc.Webhooks)), slices.Sorted(slices.Values(webhook.EventTypes())); !slices.Equal(got, want) {
		t.Fatalf("the document has the webhooks %v, want %v", got, want)
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := account(t, db, "acme")
		e := endpoint(t, db, acme, webhook.AllEvents)
		c := person(t, db, acme, "ann@example.org")
		if err := journal.Append(t.Context(), db, entriesOf(acme, c.ID)...); err != nil {
			t.Fatal(err)
		}
		if _, err := webhook.Test(t.Context(), db, acme, e.ID, noon); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		checked := map[string]bool{}
		for _, ev := range events(t, db, e) {
			body := map[string]any{"type": ev.Type, "timestamp": ev.Timestamp, "tenant_slug": ev.Slug, "data": ev.Data}
			if problem := mismatch(doc, ev.Type, body); problem != "" {
				t.Errorf("%s does not match the document: %s\n%v", ev.Type, problem, body)
			}
			checked[ev.Type] = true
			// The schema refuses what is not an event of this type.
			for name := range ev.Data {
				less := maps.Clone(ev.Data)
				delete(less, name)
				body["data"] = less
				if mismatch(doc, ev.Type, body) == "" {
					t.Errorf("the schema of %s allows events without %s", ev.Type, name)
				}
			}
		}
		if len(checked) != len(doc.Webhooks) {
			t.Errorf("%d of %d event types were delivered", len(checked), len(doc.Webhooks))
		}
	})
}

// mismatch returns how the body of a request differs from the schema of an event type, fields that it
// does not have included.
func mismatch(doc *openapi3.T, typ string, body map[string]any) string {
	s := doc.Webhooks[typ].Post.RequestBody.Value.Content["application/json"].Schema.Value
	if err := s.VisitJSON(body, openapi3.MultiErrors(), openapi3.EnableJSONSchema2020()); err != nil {
		return err.Error()
	}
	known := s.Properties["data"].Value.Properties
	for name := range body["data"].(map[string]any) {
		if known[name] == nil {
			return "it has no field " + name
		}
	}
	return ""
}

func TestTheAnswersOfAFormAreSent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		acme, err := tenant.Create(ctx, db, "acme", "Acme", "", noon, sender.Newsletter)
		ok(err)
		e := endpoint(t, db, acme.ID, webhook.FormSubmitted)
		_, err = field.Create(ctx, db, acme.ID, field.Draft{Name: "Plan", Key: "plan", Type: field.Enum, EnumValues: []string{"free", "gold"}}, noon)
		ok(err)
		f, err := form.Create(ctx, db, box(t), acme.ID, form.Change{Name: new("Join"), DoubleOptIn: new(false), Fields: &[]form.Field{
			{Type: form.ContactField, Binding: "email", Label: "Email", Required: true},
			{Type: form.ContactField, Binding: "first_name", Label: "First name", SortOrder: 1},
			{Type: form.CustomField, Binding: "plan", Label: "Plan", SortOrder: 2},
		}}, noon)
		ok(err)
		f, err = form.Publish(ctx, db, acme.ID, f.ID, noon)
		ok(err)
		intake := &form.Intake{DB: db, Tokens: form.NewTokens(box(t)), Captcha: form.NewCaptcha(box(t), nil, true)}
		_, err = intake.Submit(ctx, f, form.Submitted{
			Values: map[string]any{"email": "ann@example.org", "first_name": "Ann", "plan": "gold"}, PageURL: "https://www.example.com/join",
			Token: intake.Tokens.Sign(f.Slug, noon.Add(-5*time.Second)),
		}, noon)
		ok(err)
		follow(t, db)
		list := events(t, db, e)
		if len(list) != 1 {
			t.Fatalf("%d events were sent, want 1", len(list))
		}
		data := list[0].Data
		values, _ := data["values"].(map[string]any)
		custom, _ := values["custom_fields"].(map[string]any)
		if values["first_name"] != "Ann" || len(values) != 2 || custom["plan"] != "gold" || data["email"] != "ann@example.org" ||
			data["form_slug"] != f.Slug || data["form_id"] != f.ID.String() || data["page_url"] != "https://www.example.com/join" {
			t.Errorf("form.submitted = %v", data)
		}
		if problem := mismatch(published(t), webhook.FormSubmitted, map[string]any{
			"type": list[0].Type, "timestamp": list[0].Timestamp, "tenant_slug": list[0].Slug, "data": data,
		}); problem != "" {
			t.Error(problem)
		}
	})
}
