package broadcast_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func twoVariants(ch *broadcast.Change) {
	ch.Variants = &[]broadcast.Variant{
		{ID: "a", Name: "Short", Weight: 1, Overrides: map[draft.Field]string{draft.Subject: "Hi"}},
		{ID: "b", Name: "Long", Weight: 2, Overrides: map[draft.Field]string{draft.Subject: "Good morning"}},
	}
}

func TestATestTakesEveryVariantAndSender(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		a.AddIdentity("more")
		b := a.Create(twoVariants)
		for _, tt := range []struct {
			variants []string
			want     []string
		}{
			{nil, []string{"a Short", "b Long"}},
			{[]string{"b", "b"}, []string{"b Long"}},
			{[]string{"b", "a"}, []string{"a Short", "b Long"}},
		} {
			test, err := broadcast.PrepareTest(t.Context(), db, a.Tenant, b.ID, broadcast.TestRequest{To: []string{"Ann@Example.com", "ann@example.com"}, Variants: tt.variants})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, variant := range test.Variants {
				got = append(got, variant.ID+" "+variant.Name)
			}
			if !slices.Equal(got, tt.want) || !slices.Equal(test.To, []string{"ann@example.com"}) || len(test.Routes) != 2 {
				t.Errorf("%v: variants %v to %v by %d routes", tt.variants, got, test.To, len(test.Routes))
			}
		}
		plain := a.Create()
		test, err := broadcast.PrepareTest(t.Context(), db, a.Tenant, plain.ID, broadcast.TestRequest{To: []string{"ann@example.com"}})
		if err != nil || len(test.Variants) != 1 || test.Variants[0].ID != "" || test.Variants[0].Name != "main" {
			t.Errorf("without variants: %+v, %v", test.Variants, err)
		}
	})
}

// A test uses the lane with the greatest weight of an identity.
func TestATestTakesTheHeaviestLane(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		add := func(name string) id.Lane {
			t.Helper()
			c, err := lane.Create(t.Context(), db, broadcasttest.Box(t), a.Tenant, lane.Fields{Name: &name, Type: new(lane.Sink)}, lane.Rules{}, now)
			if err != nil {
				t.Fatal(err)
			}
			return c.ID
		}
		heavy, off := add("Heavy"), add("Off")
		b := a.Create(func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: a.Lane.ID, Weight: 1}, {Lane: off, Weight: 3}, {Lane: heavy, Weight: 2}}}
		})
		if _, err := lane.Update(t.Context(), db, broadcasttest.Box(t), a.Tenant, off, lane.Fields{Active: new(false)}, lane.Rules{}, broadcasttest.Now); err != nil {
			t.Fatal(err)
		}
		test, err := broadcast.PrepareTest(t.Context(), db, a.Tenant, b.ID, broadcast.TestRequest{To: []string{"ann@example.com"}})
		if err != nil || len(test.Routes) != 1 || test.Routes[0].Lane.ID != heavy {
			t.Errorf("a test goes by %+v, %v; want %s", test.Routes, err, heavy)
		}
	})
}

func TestATestChecksItsGuards(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		var many []string
		for i := range render.MaxTestAddresses {
			many = append(many, fmt.Sprintf("c%d@example.com", i))
		}
		one := []string{"ann@example.com"}
		exec := func(text string, args ...any) {
			t.Helper()
			if _, err := db.Exec(t.Context(), text, append([]any{a.Tenant}, args...)...); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(what string, b broadcast.Broadcast, r broadcast.TestRequest, want *fault.Error) {
			t.Helper()
			_, err := broadcast.PrepareTest(t.Context(), db, a.Tenant, b.ID, r)
			if want == nil && err != nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		b := a.Create(twoVariants)
		expect("no addresses", b, broadcast.TestRequest{}, render.ErrTestRecipients)
		expect("eleven", b, broadcast.TestRequest{To: append(many, "x@example.com")}, render.ErrTestRecipients)
		expect("no address", b, broadcast.TestRequest{To: []string{"ann@example.com", "ann"}}, render.ErrTestRecipients)
		expect("no such variant", b, broadcast.TestRequest{To: one, Variants: []string{"a", "c"}}, fault.ErrInput)
		expect("the variant of one without", a.Create(), broadcast.TestRequest{To: one, Variants: []string{""}}, fault.ErrInput)
		for i := range 9 {
			a.AddIdentity(fmt.Sprintf("more%d", i))
		}
		expect("variants that do not differ", a.Create(twoVariants, func(ch *broadcast.Change) {
			*ch.Variants = append(*ch.Variants, broadcast.Variant{ID: "c", Name: "Same", Weight: 1, Overrides: (*ch.Variants)[0].Overrides})
		}), broadcast.TestRequest{To: one}, nil)
		expect("without an audience", a.Create(func(ch *broadcast.Change) { ch.Include = nil }), broadcast.TestRequest{To: one}, nil)
		expect("as many as may be", b, broadcast.TestRequest{To: many}, nil)
		a.AddIdentity("last")
		expect("too many mails", b, broadcast.TestRequest{To: many}, render.ErrTestRecipients)

		for _, step := range []struct {
			sql  string
			want *fault.Error
		}{
			{`UPDATE email_type SET active = FALSE WHERE tenant_id = $1`, nil},
			{`UPDATE broadcast SET status = 'completed' WHERE tenant_id = $1`, nil},
			{`UPDATE broadcast SET body_html = '{% if %}' WHERE tenant_id = $1`, content.ErrLiquid},
			{`UPDATE broadcast SET body_html = NULL WHERE tenant_id = $1`, content.ErrNoContent},
			{`UPDATE sending_domain SET paused = TRUE WHERE tenant_id = $1`, content.ErrNoContent},
			{`UPDATE broadcast SET body_html = 'x' WHERE tenant_id = $1`, broadcast.ErrNoIdentity},
			{`UPDATE mta_config SET active = FALSE WHERE tenant_id = $1`, broadcast.ErrNoMTA},
			{`UPDATE broadcast SET archived_at = 1 WHERE tenant_id = $1`, broadcast.ErrTransition},
		} {
			exec(step.sql)
			expect(step.sql, b, broadcast.TestRequest{To: one}, step.want)
		}
		if a.Load(b.ID).Can(broadcast.ActionTestSend) {
			t.Error("an archived broadcast offers a test")
		}
	})
}

func TestATestShowsTheSamplesOfItsTemplate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		tpl, _, err := template.Create(t.Context(), db, a.MJML, a.Tenant, template.Change{
			Name: new("Letter"), HTML: new("<p>Hello {{ first_name }}</p>"), Subject: new("Hi"),
			Schema: binding.RawSchema{Expects: json.RawMessage(`[
				{"path": "contact.first_name", "type": "string", "sample": "Ann"},
				{"path": "city", "type": "string", "sample": "Bonn"},
				{"path": "contact.last_name", "type": "string", "fallback": "Doe"},
				{"path": "contact.tags", "type": "array", "sample": ["x", "y"]},
				{"path": "contact.custom_fields.orders", "type": "number", "sample": 3},
				{"path": "contact.custom_fields.plan.name", "type": "string", "sample": "pro"},
				{"path": "contact.custom_fields.plan.price", "type": "number", "sample": 5},
				{"path": "seats", "type": "number", "sample": 4},
				{"path": "contact.email", "type": "string", "sample": "who@example.org"},
				{"path": "event.total", "type": "number", "sample": 4}]`)},
		}, now)
		if err != nil {
			t.Fatal(err)
		}
		b := a.Create(func(ch *broadcast.Change) {
			ch.Content = &draft.Change{Template: &draft.TemplateRef{Slug: tpl.Slug}, Binding: []byte(`{}`)}
		})
		test, err := broadcast.PrepareTest(t.Context(), db, a.Tenant, b.ID, broadcast.TestRequest{To: []string{"me@example.com"}})
		if err != nil {
			t.Fatal(err)
		}
		c := test.Recipient("me@example.com")
		custom, _ := json.Marshal(c.CustomFields)
		if *c.FirstName != "Ann" || *c.City != "Bonn" || c.LastName != nil || !slices.Equal(c.Tags, []string{"x", "y"}) || c.Email != "me@example.com" ||
			string(custom) != `{"orders":3,"plan":{"name":"pro","price":5},"seats":4}` {
			t.Errorf("the sample contact is %+v with %s", c, custom)
		}
		who := a.AddContacts(a.List.ID, "c", 1)[0]
		test, err = broadcast.PrepareTest(t.Context(), db, a.Tenant, b.ID, broadcast.TestRequest{To: []string{"me@example.com"}, Contact: who.ID})
		if c := test.Recipient("me@example.com"); err != nil || c.ID != who.ID || c.Email != who.Email || c.FirstName != nil {
			t.Errorf("the chosen contact is %+v, %v", c, err)
		}
		if _, err := broadcast.PrepareTest(t.Context(), db, idtest.Tenant(), b.ID, broadcast.TestRequest{To: []string{"me@example.com"}}); !errors.Is(err, broadcast.ErrNotFound) {
			t.Errorf("another tenant's test: %v", err)
		}
	})
}
