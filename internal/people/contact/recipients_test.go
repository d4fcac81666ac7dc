package contact_test

import (
	"reflect"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Recipients returns the fields of the set, and those that Refusal needs, as Load does.
func TestRecipientsHaveTheFieldsOfTheSet(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Plan", Type: field.String}, noon); err != nil {
			t.Fatal(err)
		}
		full := mustCreate(t, db, "ann@example.net", contact.Change{
			Texts: texts("first_name", "Ann", "last_name", "Archer", "full_name", "Ann Archer", "title", "Dr.", "company", "Archer & Sons", "phone", "+47 1", "website", "https://example.net",
				"timezone", "Europe/Oslo", "address_line1", "1 Road", "address_line2", "B", "city", "Bergen", "state", "Vestland", "postal_code", "5003", "country", "NO", "source", "fair", "external_id", "a1"),
			Tags:                  new([]string{"vip", "new"}),
			CustomFields:          map[string]any{"plan": "gold"},
			Subscriptions:         map[string]*bool{"offers": new(false)},
			CategorySubscriptions: map[string]*bool{news.String(): new(false)},
		})
		bare := mustCreate(t, db, "bare@example.net", contact.Change{})
		ids := []id.Contact{full.ID, bare.ID, id.New[id.Contact]()}
		whole := map[id.Contact]contact.Contact{}
		list, err := contact.Load(t.Context(), db, acme, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			whole[c.ID] = c
		}
		k := contact.Consent{TypeKey: "offers"}
		for _, name := range append(contact.ColumnNames(), "plan", "unheard_of") {
			var r, joined contact.FieldSet
			r.Add("city")
			r.Add(name)
			r.Add(name)
			joined.AddSet(r)
			for _, r := range []contact.FieldSet{r, joined} {
				got, err := contact.Recipients(t.Context(), db, acme, ids, r)
				if err != nil || len(got) != 2 {
					t.Fatalf("%s: %d contacts, %v; want 2", name, len(got), err)
				}
				for _, c := range got {
					want := whole[c.ID]
					for _, field := range []string{name, "city", "email", "timezone", "id", "global_status"} {
						a, knownA := c.Value(field)
						b, knownB := want.Value(field)
						if !reflect.DeepEqual(a, b) || knownA != knownB {
							t.Errorf("with %s read, %s is %v, want %v", name, field, a, b)
						}
					}
					if _, own := want.Value(name); !own && len(c.CustomFields) != len(want.CustomFields) {
						t.Errorf("with %s read, the custom fields are %v, want %v", name, c.CustomFields, want.CustomFields)
					}
					if c.Tenant != acme || c.Refusal(k, false) != want.Refusal(k, false) || c.Refusal(contact.Consent{Category: news}, false) != want.Refusal(contact.Consent{Category: news}, false) {
						t.Errorf("with %s read, Refusal differs: %+v", name, c)
					}
				}
			}
		}
		none, err := contact.Recipients(t.Context(), db, other, ids, contact.FieldSet{})
		if err != nil || len(none) != 0 {
			t.Errorf("another tenant reads %v, %v", none, err)
		}
	})
}
