package bulk_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/bulk"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a tenant with callers of several roles.
type fixture struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	doer   bulk.Runner
	now    time.Time
}

// each runs f on both databases. The contacts of a second tenant must not change.
func each(t *testing.T, f func(d *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		mine, theirs := newFixture(t, db, "acme"), newFixture(t, db, "other")
		before := theirs.load(theirs.addContacts(3)...)
		f(mine)
		if diff := cmp.Diff(before, theirs.load(idsOf(before)...), cmp.AllowUnexported(contact.Contact{}, contact.Activity{})); diff != "" {
			t.Errorf("the other tenant's contacts changed:\n%s", diff)
		}
	})
}

func newFixture(t *testing.T, db *sqldb.DB, slug string) *fixture {
	t.Helper()
	in, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon, sender.Newsletter)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{T: t, db: db, tenant: in.ID, now: noon}
}

func (d *fixture) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *fixture) key() auth.Principal {
	return auth.Principal{Tenant: d.tenant, Kind: auth.KindKey, Scopes: auth.AllScopes()}
}

func (d *fixture) userWith(r auth.Role) auth.Principal {
	return auth.Principal{Tenant: d.tenant, Kind: auth.KindSession, User: id.New[id.User](), Role: r}
}

// addContacts creates n contacts, in the order of their ids.
func (d *fixture) addContacts(n int) []id.Contact {
	d.Helper()
	drafts := make([]contact.Draft, n)
	for i := range drafts {
		drafts[i] = contact.Draft{Email: fmt.Sprintf("c%d-%s@example.org", i, id.NewText())}
	}
	out, err := contact.SaveAll(d.Context(), d.db, d.tenant, drafts, contact.Rules{}, d.now)
	d.ok(err)
	ids := make([]id.Contact, n)
	for i, o := range out {
		d.ok(o.Err)
		ids[i] = o.Contact.ID
	}
	slices.SortFunc(ids, id.Compare)
	return ids
}

func (d *fixture) load(ids ...id.Contact) []contact.Contact {
	d.Helper()
	list, err := contact.Load(d.Context(), d.db, d.tenant, ids)
	d.ok(err)
	slices.SortFunc(list, func(a, b contact.Contact) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return list
}

func idsOf(list []contact.Contact) []id.Contact {
	ids := make([]id.Contact, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return ids
}

func texts(ids []id.Contact) []string {
	out := make([]string, len(ids))
	for i, c := range ids {
		out[i] = c.String()
	}
	return out
}

// params decodes params as a request does.
func (d *fixture) params(text string) map[string]any {
	d.Helper()
	if text == "" {
		return nil
	}
	var p map[string]any
	d.ok(json.Unmarshal([]byte(text), &p))
	return p
}

// do reads a request for an action on contacts and applies it.
func (d *fixture) do(p auth.Principal, action bulk.Action, params string, ids ...id.Contact) bulk.Result {
	d.Helper()
	r, target, err := d.doer.Read(d.Context(), d.db, p, bulk.Input{
		Action: string(action), ContactIDs: texts(ids), Named: true, Params: d.params(params),
	}, d.now)
	if err != nil {
		d.Fatalf("%s %s: %v", action, params, err)
	}
	res, err := d.doer.Apply(d.Context(), d.db, d.tenant, r, target.IDs, d.now)
	if err != nil {
		d.Fatalf("%s %s: %v", action, params, err)
	}
	return res
}

func (d *fixture) stage(name string) contact.Stage {
	d.Helper()
	s, err := contact.CreateStage(d.Context(), d.db, d.tenant, contact.StageChange{Name: &name, Category: new(contact.Prospect)}, d.now)
	d.ok(err)
	return s
}

func (d *fixture) list(name string) segment.Segment {
	d.Helper()
	s, err := segment.CreateList(d.Context(), d.db, d.tenant, segment.Change{Name: &name}, d.now)
	d.ok(err)
	return s
}

// Each action changes the contacts that need it, reports the others with a code, and changes none
// when repeated.
func TestEachActionChangesEachContactOnce(t *testing.T) {
	each(t, func(d *fixture) {
		_, err := field.Create(d.Context(), d.db, d.tenant, field.Draft{Name: "Plan", Key: "plan", Type: field.Number}, d.now)
		d.ok(err)
		d.stage("Cold") // the default one
		stage, list := d.stage("Warm"), d.list("Readers")
		editor, admin, key := d.userWith(auth.Editor), d.userWith(auth.Admin), d.key()
		for _, tt := range []struct {
			action bulk.Action
			params string
			by     auth.Principal
			before func(ids []id.Contact)
			then   func(c contact.Contact) bool
		}{
			{action: bulk.AddTags, params: `{"tags": [" x ", "y", "x"]}`, by: key,
				then: func(c contact.Contact) bool { return slices.Equal(c.Tags, []string{"x", "y"}) }},
			{action: bulk.RemoveTags, params: `{"tags": ["x"]}`, by: key,
				before: func(ids []id.Contact) { d.do(key, bulk.AddTags, `{"tags": ["x", "z"]}`, ids...) },
				then:   func(c contact.Contact) bool { return slices.Equal(c.Tags, []string{"z"}) }},
			{action: bulk.SetStage, params: fmt.Sprintf(`{"stage_id": %q}`, stage.ID), by: key,
				then: func(c contact.Contact) bool { return c.Stage == stage.ID }},
			{action: bulk.SetStage, params: `{"stage_id": null}`, by: key,
				before: func(ids []id.Contact) { d.do(key, bulk.SetStage, fmt.Sprintf(`{"stage_id": %q}`, stage.ID), ids...) },
				then:   func(c contact.Contact) bool { return c.Stage.IsZero() }},
			{action: bulk.SetField, params: `{"field": "country", "value": "de"}`, by: key,
				then: func(c contact.Contact) bool { return c.Country != nil && *c.Country == "DE" }},
			{action: bulk.SetField, params: `{"field": "custom_fields.plan", "value": 3.5}`, by: key,
				then: func(c contact.Contact) bool { return c.CustomFields["plan"] == 3.5 }},
			{action: bulk.SetField, params: `{"field": "custom_fields.plan"}`, by: key,
				before: func(ids []id.Contact) {
					d.do(key, bulk.SetField, `{"field": "custom_fields.plan", "value": 1}`, ids...)
				},
				then: func(c contact.Contact) bool { return len(c.CustomFields) == 0 }},
			{action: bulk.SetDoNotContact, params: `{"value": true}`, by: key,
				then: func(c contact.Contact) bool { return c.DoNotContact }},
			{action: bulk.Unsubscribe, params: `{"email_type_key": "newsletter"}`, by: key,
				then: func(c contact.Contact) bool {
					on, said := c.Subscriptions["newsletter"]
					return said && !on && c.Status == contact.Active
				}},
			{action: bulk.Unsubscribe, by: key,
				then: func(c contact.Contact) bool { return c.Status == contact.Unsubscribed && c.UnsubscribedAt != nil }},
			{action: bulk.Subscribe, params: `{"email_type_key": "newsletter"}`, by: key,
				then: func(c contact.Contact) bool { return c.Subscriptions["newsletter"] }},
			{action: bulk.Subscribe, by: editor,
				before: func(ids []id.Contact) { d.do(key, bulk.Unsubscribe, ``, ids...) },
				then:   func(c contact.Contact) bool { return c.Status == contact.Active && c.UnsubscribedAt == nil }},
			{action: bulk.AddToList, params: fmt.Sprintf(`{"segment_key": %q}`, list.Key), by: key,
				then: func(c contact.Contact) bool { return d.on(list, c.ID) }},
			{action: bulk.RemoveFromList, params: fmt.Sprintf(`{"segment_key": %q}`, list.ID), by: key,
				before: func(ids []id.Contact) {
					d.do(key, bulk.AddToList, fmt.Sprintf(`{"segment_key": %q}`, list.Key), ids...)
				},
				then: func(c contact.Contact) bool { return !d.on(list, c.ID) }},
			{action: bulk.Suppress, params: `{"reason": "asked"}`, by: key,
				then: func(c contact.Contact) bool { return c.Status == contact.Unsubscribed && d.suppressed(c.Email) }},
			{action: bulk.Delete, by: key,
				then: func(c contact.Contact) bool { return c.Status == contact.Suppressed }},
			{action: bulk.ResetStatus, by: admin,
				before: func(ids []id.Contact) { d.do(key, bulk.Unsubscribe, ``, ids...) },
				then:   func(c contact.Contact) bool { return c.Status == contact.Active }},
			{action: bulk.Anonymize, by: admin,
				then: func(c contact.Contact) bool { return c.AnonymizedAt != nil }},
			{action: bulk.Anonymize, params: `{"suppress": false}`, by: admin,
				then: func(c contact.Contact) bool { return c.AnonymizedAt != nil }},
		} {
			d.Run(fmt.Sprint(tt.action, tt.params), func(t *testing.T) {
				d := &fixture{T: t, db: d.db, tenant: d.tenant, now: noon}
				ids := d.addContacts(3)
				if tt.before != nil {
					tt.before(ids)
				}
				stranger := id.New[id.Contact]()
				for turn, affected := range []int{3, 0} {
					got := d.do(tt.by, tt.action, tt.params, append(slices.Clone(ids), stranger, ids[0])...)
					want := bulk.Result{
						Action: tt.action, Matched: 3, Affected: affected, Skipped: 4 - affected,
						Errors: []bulk.Refusal{{Contact: stranger, Code: "CONTACT_NOT_FOUND"}},
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("turn %d:\n%s", turn+1, diff)
					}
					for _, c := range d.load(ids...) {
						if !tt.then(c) {
							t.Errorf("turn %d: contact is %+v", turn+1, c)
						}
					}
				}
			})
		}
	})
}

func (d *fixture) on(s segment.Segment, c id.Contact) bool {
	d.Helper()
	list, err := segment.Memberships(d.Context(), d.db, d.tenant, c)
	d.ok(err)
	return slices.ContainsFunc(list, func(m segment.Membership) bool { return m.Segment.ID == s.ID })
}

func (d *fixture) suppressed(email string) bool {
	d.Helper()
	listed, err := suppression.Listed(d.Context(), d.db, d.tenant, []string{email})
	d.ok(err)
	return listed[email]
}

// Contacts an action cannot apply to are skipped with a code; the others are changed.
func TestContactsAnActionCannotApplyToAreSkipped(t *testing.T) {
	each(t, func(d *fixture) {
		ids := d.addContacts(4)
		gone, anonymized, left, fine := ids[0], ids[1], ids[2], ids[3]
		key, admin := d.key(), d.userWith(auth.Admin)
		d.do(key, bulk.Delete, ``, gone)
		d.do(admin, bulk.Anonymize, ``, anonymized)
		d.do(key, bulk.Unsubscribe, ``, left)
		list := d.list("Readers")
		for _, tt := range []struct {
			by     auth.Principal
			action bulk.Action
			params string
			want   map[id.Contact]string
			did    int
		}{
			{key, bulk.Subscribe, ``, map[id.Contact]string{anonymized: "INVALID_TRANSITION", left: "UNSUBSCRIBED"}, 0},
			{key, bulk.AddTags, `{"tags": ["x"]}`, map[id.Contact]string{anonymized: "INVALID_TRANSITION"}, 3},
			{key, bulk.AddToList, fmt.Sprintf(`{"segment_key": %q}`, list.Key), map[id.Contact]string{anonymized: "INVALID_TRANSITION"}, 3},
			{key, bulk.SetField, `{"field": "external_id", "value": "e-1"}`, map[id.Contact]string{
				anonymized: "INVALID_TRANSITION", left: "DUPLICATE_EXTERNAL_ID", fine: "DUPLICATE_EXTERNAL_ID"}, 1},
			{key, bulk.Suppress, ``, map[id.Contact]string{anonymized: "INVALID_TRANSITION"}, 3},
			{admin, bulk.ResetStatus, ``, map[id.Contact]string{gone: "INVALID_TRANSITION", anonymized: "INVALID_TRANSITION"}, 2},
			{key, bulk.Restore, ``, map[id.Contact]string{anonymized: "INVALID_TRANSITION", left: "INVALID_TRANSITION", fine: "INVALID_TRANSITION"}, 1},
		} {
			got := d.do(tt.by, tt.action, tt.params, ids...)
			codes := map[id.Contact]string{}
			for _, e := range got.Errors {
				codes[e.Contact] = e.Code
			}
			if diff := cmp.Diff(tt.want, codes); diff != "" || got.Affected != tt.did || got.Skipped != 4-tt.did || got.Matched != 4 {
				d.Errorf("%s: %+v\n%s", tt.action, got, diff)
			}
		}
	})
}

// The error lists all problems of a request, and a code of a single param replaces the general one.
func TestAllProblemsOfARequestAreReported(t *testing.T) {
	each(t, func(d *fixture) {
		list := d.list("Readers")
		dynamic, err := segment.Create(d.Context(), d.db, d.tenant, segment.Change{
			Name: new("New"), Definition: json.RawMessage(`{"logic": "and", "conditions": [{"field": "email", "operator": "is_set"}]}`),
		}, d.now)
		d.ok(err)
		_, err = field.Create(d.Context(), d.db, d.tenant, field.Draft{Name: "Plan", Key: "plan", Type: field.Number}, d.now)
		d.ok(err)
		ids := texts(d.addContacts(1))
		selector := func(text string) *segment.SelectorInput {
			var in segment.SelectorInput
			d.ok(json.Unmarshal([]byte(text), &in))
			return &in
		}
		tooMany := make([]string, bulk.MaxIDs+1)
		for name, tt := range map[string]struct {
			by    auth.Principal
			in    bulk.Input
			code  string
			paths []string
		}{
			"nothing":              {d.key(), bulk.Input{}, "INVALID_INPUT", []string{"action", "contact_ids"}},
			"unknown action":       {d.key(), bulk.Input{Action: "explode", ContactIDs: ids, Named: true}, "INVALID_INPUT", []string{"action"}},
			"no contacts":          {d.key(), bulk.Input{Action: "delete", Named: true}, "INVALID_INPUT", []string{"contact_ids"}},
			"both":                 {d.key(), bulk.Input{Action: "delete", Named: true, ContactIDs: ids, Selector: selector(`{}`)}, "INVALID_INPUT", []string{"selector"}},
			"too many":             {d.key(), bulk.Input{Action: "delete", Named: true, ContactIDs: tooMany}, "LIMIT_EXCEEDED", nil},
			"everything":           {d.key(), bulk.Input{Action: "add_tags", Named: true, ContactIDs: []string{"x"}, Params: d.params(`{"tags": ["", 5]}`)}, "INVALID_INPUT", []string{"contact_ids", "params.tags"}},
			"no tags":              {d.key(), bulk.Input{Action: "add_tags", Named: true, ContactIDs: ids}, "INVALID_INPUT", []string{"params.tags"}},
			"no stage":             {d.key(), bulk.Input{Action: "set_stage", Named: true, ContactIDs: ids}, "INVALID_STAGE", []string{"params.stage_id"}},
			"unknown stage":        {d.key(), bulk.Input{Action: "set_stage", Named: true, ContactIDs: []string{"x"}, Params: d.params(`{"stage_id": "01900000-0000-7000-8000-00000000000a"}`)}, "INVALID_STAGE", []string{"contact_ids", "params.stage_id"}},
			"no field":             {d.key(), bulk.Input{Action: "set_field", Named: true, ContactIDs: ids, Params: d.params(`{"value": 1}`)}, "INVALID_INPUT", []string{"params.field"}},
			"not that field":       {d.key(), bulk.Input{Action: "set_field", Named: true, ContactIDs: ids, Params: d.params(`{"field": "stage_id", "value": null}`)}, "INVALID_INPUT", []string{"params.field"}},
			"wrong type":           {d.key(), bulk.Input{Action: "set_field", Named: true, ContactIDs: ids, Params: d.params(`{"field": "city", "value": 5}`)}, "INVALID_INPUT", []string{"params.value"}},
			"wrong text":           {d.key(), bulk.Input{Action: "set_field", Named: true, ContactIDs: ids, Params: d.params(`{"field": "country", "value": "Atlantis"}`)}, "INVALID_INPUT", []string{"params.value"}},
			"undeclared":           {d.key(), bulk.Input{Action: "set_field", Named: true, ContactIDs: ids, Params: d.params(`{"field": "custom_fields.nope", "value": 5}`)}, "UNKNOWN_FIELD", []string{"params.field"}},
			"misfit":               {d.key(), bulk.Input{Action: "set_field", Named: true, ContactIDs: ids, Params: d.params(`{"field": "custom_fields.plan", "value": "x"}`)}, "INVALID_FIELD_VALUE", []string{"params.value"}},
			"no value":             {d.key(), bulk.Input{Action: "set_do_not_contact", Named: true, ContactIDs: ids}, "INVALID_INPUT", []string{"params.value"}},
			"unknown type":         {d.key(), bulk.Input{Action: "unsubscribe", Named: true, ContactIDs: ids, Params: d.params(`{"email_type_key": "nope"}`)}, "INVALID_EMAIL_TYPE", []string{"params.email_type_key"}},
			"no list":              {d.key(), bulk.Input{Action: "add_to_list", Named: true, ContactIDs: ids}, "INVALID_SEGMENT", []string{"params.segment_key"}},
			"unknown list":         {d.key(), bulk.Input{Action: "add_to_list", Named: true, ContactIDs: ids, Params: d.params(`{"segment_key": "nope"}`)}, "INVALID_SEGMENT", []string{"params.segment_key"}},
			"not a list":           {d.key(), bulk.Input{Action: "add_to_list", Named: true, ContactIDs: ids, Params: map[string]any{"segment_key": dynamic.Key}}, "NOT_STATIC", nil},
			"long reason":          {d.key(), bulk.Input{Action: "suppress", Named: true, ContactIDs: ids, Params: map[string]any{"reason": string(make([]byte, 201))}}, "INVALID_INPUT", []string{"params.reason"}},
			"no such sequence":     {d.key(), bulk.Input{Action: "enroll", Named: true, ContactIDs: ids, Params: d.params(`{"sequence_id": "01900000-0000-7000-8000-00000000000a"}`)}, "NOT_FOUND", nil},
			"not a sequence":       {d.userWith(auth.Editor), bulk.Input{Action: "exit_sequence", Named: true, ContactIDs: ids, Params: d.params(`{"sequence_id": "x"}`)}, "INVALID_INPUT", []string{"params.sequence_id"}},
			"reset by a key":       {d.key(), bulk.Input{Action: "reset_status"}, "ACTION_NOT_AVAILABLE", nil},
			"exit by a key":        {d.key(), bulk.Input{Action: "exit_sequence"}, "ACTION_NOT_AVAILABLE", nil},
			"anonymize by key":     {d.key(), bulk.Input{Action: "anonymize"}, "ACTION_NOT_AVAILABLE", nil},
			"anonymize, editor":    {d.userWith(auth.Editor), bulk.Input{Action: "anonymize"}, "FORBIDDEN", nil},
			"reset_status, editor": {d.userWith(auth.Editor), bulk.Input{Action: "reset_status"}, "FORBIDDEN", nil},
			"bad status":           {d.key(), bulk.Input{Action: "delete", Selector: selector(`{"status": ["nope"]}`)}, "INVALID_STATUS", nil},
			"bad filters":          {d.key(), bulk.Input{Action: "delete", Selector: selector(`{"filters": [{"field": "nope", "operator": "equals", "value": 1}]}`)}, "INVALID_FILTERS", []string{"selector.filters[0].field"}},
			"bad definition":       {d.key(), bulk.Input{Action: "delete", Selector: selector(`{"definition": {"logic": "and", "conditions": []}}`)}, "INVALID_DEFINITION", []string{"selector.definition.conditions"}},
			"long search":          {d.key(), bulk.Input{Action: "delete", Selector: &segment.SelectorInput{Search: string(slices.Repeat([]byte("x"), 201))}}, "INVALID_INPUT", []string{"selector.search"}},
			"fine":                 {d.key(), bulk.Input{Action: "remove_from_list", Named: true, ContactIDs: ids, Params: map[string]any{"segment_key": list.Key}}, "", nil},
			"fine selector":        {d.key(), bulk.Input{Action: "delete", Selector: selector(`{"filters": []}`)}, "", nil},
		} {
			_, _, err := d.doer.Read(d.Context(), d.db, tt.by, tt.in, d.now)
			f, _ := fault.As(err)
			if tt.code == "" {
				if err != nil {
					d.Errorf("%s: %v", name, err)
				}
				continue
			}
			if f == nil || f.Code != tt.code {
				d.Errorf("%s: %v, want %s", name, err, tt.code)
				continue
			}
			var paths []string
			var details struct{ Fields []fault.Field }
			raw, err := json.Marshal(f.Details)
			d.ok(err)
			d.ok(json.Unmarshal(raw, &details))
			for _, p := range details.Fields {
				paths = append(paths, p.Path)
			}
			slices.Sort(paths)
			if !slices.Equal(paths, tt.paths) {
				d.Errorf("%s: problems at %q, want %q", name, paths, tt.paths)
			}
		}
	})
}
