package segment_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// account is a tenant with built-in segments, beside another one in the same database.
type account struct {
	t     *testing.T
	db    *sqldb.DB
	acme  id.Tenant
	other id.Tenant
}

func eachAccount(t *testing.T, f func(t *testing.T, o account)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		o := account{t: t, db: db}
		for slug, to := range map[string]*id.Tenant{"acme": &o.acme, "other": &o.other} {
			made, err := tenant.Create(t.Context(), db, slug, slug, "Europe/Berlin", noon, segment.BuiltIn)
			o.ok(err)
			*to = made.ID
		}
		f(t, o)
	})
}

func (o account) ok(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// createRule creates a dynamic segment.
func (o account) createRule(name, definition string) segment.Segment {
	o.t.Helper()
	s, err := segment.Create(o.t.Context(), o.db, o.acme, segment.Change{Name: &name, Definition: json.RawMessage(definition)}, noon)
	if err != nil {
		o.t.Fatalf("Create(%s): %v", definition, err)
	}
	return s
}

// inSegments returns a definition: the members of any of the segments.
func inSegments(keys ...string) string {
	list, _ := json.Marshal(keys)
	return `{"logic": "and", "conditions": [{"type": "segment", "segment_keys": ` + string(list) + `, "operator": "in"}]}`
}

// createContact creates a contact of the account.
func (o account) createContact(email string, ch contact.Change) id.Contact {
	o.t.Helper()
	c, err := contact.Create(o.t.Context(), o.db, o.acme, email, ch, contact.Rules{}, noon)
	o.ok(err)
	return c.ID
}

// createInCountry creates n contacts in a country.
func (o account) createInCountry(code string, n int) []id.Contact {
	o.t.Helper()
	ids := make([]id.Contact, n)
	for i := range ids {
		ids[i] = o.createContact(fmt.Sprintf("%s%d@example.org", strings.ToLower(code), i), contact.Change{Texts: map[contact.Text]*string{contact.Country: &code}})
	}
	slices.SortFunc(ids, id.Compare)
	return ids
}

func (o account) recount(s segment.Segment) [2]int {
	o.t.Helper()
	s, err := segment.Recount(o.t.Context(), o.db, o.acme, s.ID, noon)
	o.ok(err)
	return [2]int{*s.Members, *s.MembersAll}
}

const german = `{"logic": "all", "conditions": [{"field": "country", "operator": "is", "value": "de"}]}`

func TestDefinitionsAreEvaluatedOnEachRead(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		de := o.createInCountry("DE", 4)
		o.createInCountry("FR", 2)
		s := o.createRule("Germans", german)
		if s.Members != nil || s.MembersAll != nil || s.EvaluatedAt != nil || s.Type != segment.Dynamic {
			t.Errorf("created %+v, want nothing counted", s)
		}
		if got := o.recount(s); got != [2]int{4, 4} {
			t.Errorf("counts %v, want 4 of 4", got)
		}
		// One contact for each reason why it could not be mailed.
		_, err := suppression.Add(t.Context(), o.db, o.acme, "de0@example.org", "", noon)
		o.ok(err)
		o.ok(contact.Unsubscribe(t.Context(), o.db, o.acme, de[1], contact.UnsubscribeScope{Everything: true}, noon))
		_, err = contact.Delete(t.Context(), o.db, o.acme, []id.Contact{de[2]}, noon)
		o.ok(err)
		if got := o.recount(s); got != [2]int{1, 4} {
			t.Errorf("counts %v, want 1 of 4: one is listed, one unsubscribed, one deleted", got)
		}
		page, err := segment.Members(t.Context(), o.db, o.acme, s, contact.Query{Limit: 2}, noon)
		o.ok(err)
		rest, err := segment.Members(t.Context(), o.db, o.acme, s, contact.Query{Limit: 2, After: page.Next}, noon)
		o.ok(err)
		var members []id.Contact
		for _, c := range append(page.Contacts, rest.Contacts...) {
			members = append(members, c.ID)
			if c.MemberAddedAt != nil {
				t.Error("a member of a dynamic segment has a member_added_at")
			}
		}
		slices.SortFunc(members, id.Compare)
		if !slices.Equal(members, []id.Contact{de[0], de[1], de[3]}) {
			t.Errorf("members %v, want all Germans except the deleted one", members)
		}
		tree, err := segment.Parse(t.Context(), o.db, o.acme, json.RawMessage(german))
		o.ok(err)
		preview, err := segment.Try(t.Context(), o.db, o.acme, tree, noon)
		o.ok(err)
		if preview.Counts != (segment.Counts{Sendable: 1, All: 4}) || len(preview.Sample) != 3 {
			t.Errorf("Try = %+v", preview.Counts)
		}
		if _, err := segment.Add(t.Context(), o.db, o.acme, s.ID, segment.People{IDs: de}, noon); !errors.Is(err, segment.ErrNotStatic) {
			t.Errorf("adding members to a rule = %v", err)
		}
		if _, err := segment.Recount(t.Context(), o.db, o.other, s.ID, noon); !errors.Is(err, segment.ErrNotFound) {
			t.Errorf("another tenant's Recount = %v", err)
		}
	})
}

func TestAChangedDefinitionIsCounted(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		o.createInCountry("DE", 3)
		o.createInCountry("FR", 1)
		s := o.createRule("People", german)
		o.recount(s)
		up, err := segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{
			Name: new("French"), Definition: json.RawMessage(strings.ReplaceAll(german, "de", "FR")),
		}, noon.Add(time.Hour))
		o.ok(err)
		if *up.Members != 1 || *up.MembersAll != 1 || !up.EvaluatedAt.Equal(noon.Add(time.Hour)) || up.Name != "French" || up.Key != s.Key {
			t.Errorf("Update = %+v", up)
		}
		var shown map[string]any
		o.ok(json.Unmarshal(up.Definition, &shown))
		if shown["logic"] != "and" || !strings.Contains(string(up.Definition), `"equals"`) {
			t.Errorf("the definition is shown as %s, want it canonical", up.Definition)
		}
		renamed, err := segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{Name: new("Others")}, noon)
		if err != nil || *renamed.Members != 1 || len(renamed.Definition) == 0 {
			t.Errorf("renaming = %+v, %v", renamed, err)
		}
		_, err = segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{Definition: json.RawMessage(`{"logic": "and", "conditions": []}`)}, noon)
		if !errors.Is(err, segment.ErrInvalidDefinition) {
			t.Errorf("an empty definition = %v", err)
		}
		if again, err := segment.Find(t.Context(), o.db, o.acme, s.Key); err != nil || *again.Members != 1 {
			t.Errorf("after a refused update: %+v, %v", again, err)
		}
	})
}

func TestDefinitionsAreRefused(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		theirs := list(t, o.db, o.other, "Theirs")
		f, err := field.Create(t.Context(), o.db, o.other, field.Draft{Name: "Plan", Type: field.String}, noon)
		o.ok(err)
		deep := german
		for range 5 {
			deep = `{"logic": "and", "conditions": [` + deep + `]}`
		}
		many := func(n int) string {
			leaf := `{"field": "country", "operator": "equals", "value": "DE"}`
			return `{"logic": "or", "conditions": [` + leaf + strings.Repeat(`,`+leaf, n-1) + `]}`
		}
		for name, tt := range map[string]struct {
			definition string
			want       *fault.Error
		}{
			"none":                 {``, segment.ErrMissingDefinition},
			"null":                 {` null `, segment.ErrMissingDefinition},
			"a number":             {`5`, segment.ErrInvalidDefinition},
			"a list":               {`[]`, segment.ErrInvalidDefinition},
			"no JSON":              {`{"logic"`, segment.ErrInvalidDefinition},
			"six levels":           {deep, segment.ErrInvalidDefinition},
			"101 leaves":           {many(101), segment.ErrInvalidDefinition},
			"100,000 leaves":       {many(100_000), segment.ErrInvalidDefinition},
			"100,000 levels":       {strings.Repeat(`{"logic":"and","conditions":[`, 100_000), segment.ErrInvalidDefinition},
			"another's list":       {`{"logic": "and", "conditions": [{"type": "list", "segment_keys": ["theirs"], "operator": "in"}]}`, segment.ErrInvalidDefinition},
			"another's list by id": {`{"logic": "and", "conditions": [{"type": "list", "segment_keys": ["` + theirs.ID.String() + `"], "operator": "in"}]}`, segment.ErrInvalidDefinition},
			"another's field":      {`{"logic": "and", "conditions": [{"field": "custom_fields.` + f.Key + `", "operator": "is_set"}]}`, segment.ErrInvalidDefinition},
			"SQL":                  {`{"logic": "and", "conditions": [{"field": "country') OR 1=1 --", "operator": "is_set"}]}`, segment.ErrInvalidDefinition},
		} {
			_, err := segment.Create(t.Context(), o.db, o.acme, segment.Change{Name: new("x"), Definition: json.RawMessage(tt.definition)}, noon)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: Create = %.300v, want %s", name, err, tt.want.Code)
			}
			if f, _ := fault.As(err); f != nil && len(fmt.Sprint(f.Message, f.Details)) > 50_000 {
				t.Errorf("%s: the error has %d bytes", name, len(fmt.Sprint(f.Message, f.Details)))
			}
		}
		all, err := segment.List(t.Context(), o.db, o.acme, segment.Filter{})
		if err != nil || len(all) != 7 {
			t.Errorf("after the refusals there are %d segments, %v; want the seven built-in ones", len(all), err)
		}
	})
}

func TestReferencesBetweenSegments(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		de := o.createInCountry("DE", 3)
		o.createInCountry("FR", 2)
		a := o.createRule("A", german)
		b := o.createRule("B", inSegments("a"))
		c := o.createRule("C", inSegments("b", "soft_bouncing"))
		if got := o.recount(c); got != [2]int{3, 3} {
			t.Errorf("counts through two segments %v, want 3", got)
		}
		redefine := func(s segment.Segment, definition string) error {
			_, err := segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{Definition: json.RawMessage(definition)}, noon)
			return err
		}
		err := redefine(a, inSegments("c"))
		if f, _ := fault.As(err); !errors.Is(err, segment.ErrCycle) || !slices.Equal(f.Details.(map[string][]string)["cycle"], []string{"a", "c", "b"}) {
			t.Errorf("a cycle = %v", err)
		}
		if err := redefine(b, inSegments("b")); !errors.Is(err, segment.ErrCycle) {
			t.Errorf("a segment that refers to itself = %v", err)
		}
		d := o.createRule("D", inSegments("c"))
		e := o.createRule("E", inSegments("d"))
		if _, err := segment.Create(t.Context(), o.db, o.acme, segment.Change{Name: new("F"), Definition: json.RawMessage(inSegments("e"))}, noon); !errors.Is(err, segment.ErrCycle) {
			t.Errorf("a sixth level at the top = %v", err)
		}
		f := o.createRule("F", german)
		if err := redefine(a, inSegments("f")); !errors.Is(err, segment.ErrCycle) {
			t.Errorf("a sixth level at the bottom = %v", err)
		}
		if got := o.recount(e); got != [2]int{3, 3} {
			t.Errorf("counts five deep %v", got)
		}
		if err := segment.Delete(t.Context(), o.db, o.acme, d.ID, usage.Finders{segment.Finder()}); !errors.Is(err, segment.ErrInUse) {
			t.Errorf("deleting a segment that E refers to = %v", err)
		} else if g, _ := fault.As(err); !strings.Contains(fmt.Sprint(g.Details), "e") {
			t.Errorf("details %v", g.Details)
		}
		o.ok(segment.Delete(t.Context(), o.db, o.acme, e.ID, usage.Finders{segment.Finder()}))
		o.ok(segment.Delete(t.Context(), o.db, o.acme, d.ID, usage.Finders{segment.Finder()}))
		o.ok(segment.Delete(t.Context(), o.db, o.acme, f.ID, usage.Finders{segment.Finder()}))

		// A list is in use whichever of the two conditions names it.
		vip := list(t, o.db, o.acme, "VIP")
		add(t, o.db, o.acme, vip, de[0])
		for _, leaf := range []string{
			`{"type": "list", "segment_keys": ["vip"], "operator": "not_in"}`, `{"field": "list", "operator": "in", "value": "vip"}`,
			`{"field": "list", "operator": "in", "value": ["` + vip.ID.String() + `"]}`,
		} {
			s, err := segment.Create(t.Context(), o.db, o.acme, segment.Change{Name: new("On VIP"), Definition: json.RawMessage(`{"logic": "and", "conditions": [` + leaf + `]}`)}, noon)
			if err != nil {
				t.Errorf("%s: %v", leaf, err)
				continue
			}
			if err := segment.Delete(t.Context(), o.db, o.acme, vip.ID, usage.Finders{segment.Finder()}); !errors.Is(err, segment.ErrInUse) {
				t.Errorf("%s: Delete of the list = %v", leaf, err)
			}
			o.ok(segment.Delete(t.Context(), o.db, o.acme, s.ID, usage.Finders{segment.Finder()}))
		}
		o.ok(segment.Delete(t.Context(), o.db, o.acme, vip.ID, usage.Finders{segment.Finder()}))
	})
}

// Concurrent changes of definitions never create a cycle, and no segment is deleted while another
// transaction adds a reference to it.
func TestConcurrentChangesCreateNoCycle(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		var all []segment.Segment
		for i := range 4 {
			all = append(all, o.createRule(fmt.Sprint("s", i), german))
		}
		var wg sync.WaitGroup
		for round := range 3 {
			for i, s := range all {
				wg.Go(func() {
					next := all[(i+1+round)%len(all)]
					_, err := segment.Update(context.Background(), o.db, o.acme, s.ID, segment.Change{Definition: json.RawMessage(inSegments(next.Key))}, noon)
					if err != nil && !errors.Is(err, segment.ErrCycle) && !errors.Is(err, segment.ErrInvalidDefinition) {
						t.Error(err)
					}
				})
			}
			wg.Go(func() {
				extra, err := segment.Create(context.Background(), o.db, o.acme, segment.Change{Name: new("x"), Definition: json.RawMessage(inSegments(all[0].Key))}, noon)
				if err == nil {
					err = segment.Delete(context.Background(), o.db, o.acme, extra.ID, usage.Finders{segment.Finder()})
				}
				if err != nil && !errors.Is(err, segment.ErrCycle) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		edges := map[string]string{}
		for _, s := range all {
			now, err := segment.Find(t.Context(), o.db, o.acme, s.ID.String())
			o.ok(err)
			for _, other := range all {
				if strings.Contains(string(now.Definition), `"`+other.Key+`"`) {
					edges[s.Key] = other.Key
				}
			}
		}
		for from := range edges {
			seen := map[string]bool{}
			for at, ok := from, true; ok; at, ok = edges[at] {
				if seen[at] {
					t.Fatalf("concurrent changes created a cycle: %v", edges)
				}
				seen[at] = true
			}
		}
	})
}

func TestAFieldUsedBySegmentsCannotBeDeleted(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		f, err := field.Create(t.Context(), o.db, o.acme, field.Draft{Name: "Plan", Type: field.String}, noon)
		o.ok(err)
		s := o.createRule("Pros", `{"logic": "and", "conditions": [{"logic": "or", "conditions": [{"field": "custom_fields.plan", "operator": "equals", "value": "pro"}]}]}`)
		h, err := segment.Finder().Find(t.Context(), o.db, o.acme, usage.Subject{Kind: usage.Field, ID: f.ID.String(), Key: f.Key})
		if err != nil || len(h["segments"]) != 1 || h["segments"][0].SegmentKey != s.Key || h["segments"][0].Name != "Pros" {
			t.Errorf("Find = %v, %v", h, err)
		}
		for _, foreign := range []usage.Subject{{Kind: usage.Field, Key: "pla"}, {Kind: usage.EmailType, Key: f.Key}} {
			if h, err := segment.Finder().Find(t.Context(), o.db, o.acme, foreign); err != nil || h.Any() {
				t.Errorf("Find(%+v) = %v, %v", foreign, h, err)
			}
		}
		if h, err := segment.Finder().Find(t.Context(), o.db, o.other, usage.Subject{Kind: usage.Field, Key: f.Key}); err != nil || h.Any() {
			t.Errorf("another tenant's Find = %v, %v", h, err)
		}
		// Deleted by force: the condition matches no contact, and a warning says so.
		o.createContact("ann@example.org", contact.Change{})
		_, err = field.Delete(t.Context(), o.db, o.acme, f.ID, usage.Finders{}, noon)
		o.ok(err)
		if got := o.recount(s); got != [2]int{0, 0} {
			t.Errorf("counts of a broken rule %v, want 0", got)
		}
		w, err := segment.Warnings(t.Context(), o.db, o.acme, s)
		if err != nil || len(w) != 1 || w[0].Path != "definition.conditions[0].conditions[0].field" && w[0].Path != "definition.conditions[0].conditions[0]" || w[0].Code != "UNKNOWN_FIELD" {
			t.Errorf("Warnings = %+v, %v", w, err)
		}
	})
}

// A condition without a subject, which requests can no longer have, still works in a stored segment
// and in a stored job.
func TestStoredLeavesNeedNoSubject(t *testing.T) {
	const openForm = `{"logic":"and","conditions":[{"type":"event","operator":"did_not"},{"type":"page_view","operator":"did_not"},{"type":"form","operator":"did_not","window":{"in_the_last":{"amount":30,"unit":"day"}}}]}`
	eachAccount(t, func(t *testing.T, o account) {
		o.createInCountry("DE", 2)
		if _, err := segment.Create(t.Context(), o.db, o.acme, segment.Change{Name: new("Quiet"), Definition: json.RawMessage(openForm)}, noon); !errors.Is(err, segment.ErrInvalidDefinition) {
			t.Errorf("Create = %v", err)
		}
		s := o.createRule("Quiet", german)
		_, err := o.db.Exec(t.Context(), `UPDATE segment SET definition = $3 WHERE tenant_id = $1 AND id = $2`, o.acme, s.ID, openForm)
		o.ok(err)
		if got := o.recount(s); got != [2]int{2, 2} {
			t.Errorf("counts %v, want both contacts", got)
		}
		over := o.createRule("Over", inSegments(s.Key))
		if got := o.recount(over); got != [2]int{2, 2} {
			t.Errorf("counts of a segment over it %v", got)
		}
		stored, err := segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{Name: new("Silent")}, noon)
		o.ok(err)
		if w, err := segment.Warnings(t.Context(), o.db, o.acme, stored); err != nil || len(w) != 0 {
			t.Errorf("Warnings = %v, %v", w, err)
		}
		in := segment.SelectorInput{Definition: json.RawMessage(openForm)}
		if _, err := segment.Select(t.Context(), o.db, o.acme, in, noon); !errors.Is(err, segment.ErrInvalidDefinition) {
			t.Errorf("Select = %v", err)
		}
		if sel, err := segment.SelectQueued(t.Context(), o.db, o.acme, in, noon); err != nil || len(sel.Where) != 1 {
			t.Errorf("SelectQueued = %v, %v", sel, err)
		}
	})
}

func TestBuiltInSegments(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		o.ok(segment.InstallAll(t.Context(), o.db, noon))
		all, err := segment.List(t.Context(), o.db, o.acme, segment.Filter{})
		o.ok(err)
		keys := make([]string, len(all))
		for i, s := range all {
			keys[i] = s.Key
			if s.SystemKey != s.Key || s.Type != segment.Dynamic || len(s.Definition) == 0 {
				t.Errorf("built in: %+v", s)
			}
			if got := o.recount(s); got != [2]int{0, 0} {
				t.Errorf("%s without contacts: %v", s.Key, got)
			}
			if _, err := segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{Name: new("x")}, noon); !errors.Is(err, segment.ErrLocked) {
				t.Errorf("Update of %s = %v", s.Key, err)
			}
			if err := segment.Delete(t.Context(), o.db, o.acme, s.ID, usage.Finders{}); !errors.Is(err, segment.ErrLocked) {
				t.Errorf("Delete of %s = %v", s.Key, err)
			}
		}
		slices.Sort(keys)
		if want := []string{"all_sendable", "engaged_30_days", "engaged_90_days", "never_engaged", "new_contacts_30_days", "soft_bouncing", "sunset_candidates"}; !slices.Equal(keys, want) {
			t.Errorf("built in: %v", keys)
		}
		o.createContact("ann@example.org", contact.Change{})
		o.createContact("bob@example.org", contact.Change{DoNotContact: new(true)})
		want := map[string][2]int{"all_sendable": {1, 1}, "new_contacts_30_days": {1, 2}}
		for _, s := range all {
			if got := o.recount(s); got != want[s.Key] {
				t.Errorf("%s: %v, want %v", s.Key, got, want[s.Key])
			}
		}
		// A tenant older than the built-in segments gets them when the program starts.
		old, err := tenant.Create(t.Context(), o.db, "old", "Old", "UTC", noon)
		o.ok(err)
		for range 2 {
			o.ok(segment.InstallAll(t.Context(), o.db, noon))
		}
		if all, err := segment.List(t.Context(), o.db, old.ID, segment.Filter{}); err != nil || len(all) != 7 {
			t.Errorf("the old tenant has %d, %v", len(all), err)
		}
	})
}

func TestSunsetFollowsTheSettings(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		made, err := tenant.ByID(t.Context(), o.db, o.acme)
		o.ok(err)
		made.Settings.SunsetDays, made.Settings.SunsetMinSends = 33, 7
		o.ok(tenant.SaveSettings(t.Context(), o.db, o.acme, made.Name, made.Settings, noon))
		s, err := segment.Find(t.Context(), o.db, o.acme, "sunset_candidates")
		o.ok(err)
		if text := string(s.Definition); !strings.Contains(text, "33") || !strings.Contains(text, "7") || strings.Contains(text, "180") {
			t.Errorf("the definition is %s", text)
		}
	})
}

// Stored counts equal those of matching each contact by itself.
func TestCountsAgreeWithMatching(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		ids := slices.Concat(o.createInCountry("DE", 5), o.createInCountry("FR", 4), o.createInCountry("AT", 3))
		vip := list(t, o.db, o.acme, "VIP")
		add(t, o.db, o.acme, vip, ids[0], ids[5], ids[6], ids[11])
		_, err := suppression.Add(t.Context(), o.db, o.acme, "fr1@example.org", "", noon)
		o.ok(err)
		o.ok(contact.Unsubscribe(t.Context(), o.db, o.acme, ids[0], contact.UnsubscribeScope{Everything: true}, noon))
		o.createRule("Germans", german)
		env, err := segment.Env(t.Context(), o.db, o.acme, noon)
		o.ok(err)
		subjects, err := rule.Load(t.Context(), o.db, o.acme, ids)
		o.ok(err)
		for i, leaf := range []string{
			`{"field": "country", "operator": "in", "value": ["DE", "FR"]}`,
			`{"field": "country", "operator": "not_in", "value": ["DE"]}`,
			`{"type": "list", "segment_keys": ["vip"], "operator": "in"}`,
			`{"type": "list", "segment_keys": ["vip"], "operator": "not_in"}`,
			`{"type": "segment", "segment_keys": ["germans", "all_sendable"], "operator": "in"}`,
			`{"type": "segment", "segment_keys": ["germans"], "operator": "not_in"}`,
			`{"logic": "or", "negate": true, "conditions": [{"type": "suppression", "operator": "listed"}, {"field": "country", "operator": "equals", "value": "AT"}]}`,
			`{"field": "global_status", "operator": "equals", "value": "unsubscribed"}`,
		} {
			s := o.createRule(fmt.Sprint("Rule ", i), `{"logic": "and", "conditions": [`+leaf+`]}`)
			tree, err := segment.Parse(t.Context(), o.db, o.acme, s.Definition)
			o.ok(err)
			want := [2]int{}
			for j := range subjects {
				if tree.Match(env, subjects[j]) {
					want[1]++
					if c := subjects[j].Contact; c.Refusal(contact.Consent{}, subjects[j].Suppressed) == "" {
						want[0]++
					}
				}
			}
			if got := o.recount(s); got != want {
				t.Errorf("%s: counted %v, matched %v", leaf, got, want)
			}
		}
	})
}

// A rule about statuses alone selects by status, so that its contacts are counted by stored numbers. Every rule counts
// what it lists.
func TestRulesAboutStatusesSelectByStatus(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		for n, s := range contact.Statuses() {
			for i := range n + 1 {
				ch := contact.Change{Status: s}
				if _, err := contact.Create(t.Context(), o.db, o.acme, fmt.Sprintf("%s%d@example.org", s, i), ch, contact.Rules{}, noon); err != nil {
					t.Fatal(err)
				}
			}
		}
		const status = `{"field":"global_status","operator":`
		for _, tt := range []struct {
			in     segment.SelectorInput
			want   int
			folded bool
		}{
			{segment.SelectorInput{}, 15, true},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"equals","value":"Bounced"}]`)}, 4, true},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"in","value":["bounced","complained","suppressed"]}]`)}, 9, true},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"equals","value":"suppressed"}]`)}, 0, false},
			{segment.SelectorInput{Status: []string{"suppressed", "active"}, Filters: []byte(`[` + status + `"equals","value":"suppressed"}]`)}, 6, true},
			{segment.SelectorInput{Status: []string{"active"}, Filters: []byte(`[` + status + `"equals","value":"pending"}]`)}, 0, false},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"not_equals","value":"bounced"}]`)}, 11, false},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"in","value":["active","pending"]},` + status + `"in","value":["pending","bounced"]}]`)}, 2, true},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"equals","value":"active"},` + status + `"equals","value":"pending"}]`)}, 0, false},
			{segment.SelectorInput{Filters: []byte(`[` + status + `"equals","value":"bounced"},{"field":"email","operator":"starts_with","value":"bounced1"}]`)}, 1, false},
			{segment.SelectorInput{Definition: []byte(`{"logic":"or","conditions":[` + status + `"equals","value":"active"},` + status + `"equals","value":"pending"}]}`)}, 3, false},
			{segment.SelectorInput{Definition: []byte(`{"logic":"and","negate":true,"conditions":[` + status + `"equals","value":"active"}]}`)}, 14, false},
			{segment.SelectorInput{Search: "bounced", Filters: []byte(`[` + status + `"equals","value":"bounced"}]`)}, 4, true},
		} {
			sel, err := segment.Select(t.Context(), o.db, o.acme, tt.in, noon)
			if err != nil {
				t.Fatalf("%+v: %v", tt.in, err)
			}
			n, err := contact.Count(t.Context(), o.db, o.acme, sel)
			if err != nil || n != tt.want || (len(sel.Where) == 0) != tt.folded {
				t.Errorf("%v %s %s: %d are counted, with %d conditions, %v; want %d", tt.in.Status, tt.in.Filters, tt.in.Definition, n, len(sel.Where), err, tt.want)
			}
			p, err := contact.List(t.Context(), o.db, o.acme, contact.Query{Selector: sel, Limit: 100})
			if err != nil || len(p.Contacts) != n {
				t.Errorf("%v %s %s: %d are counted, %d listed, %v", tt.in.Status, tt.in.Filters, tt.in.Definition, n, len(p.Contacts), err)
			}
		}
	})
}
