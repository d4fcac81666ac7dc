package contact_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	acme  = id.Tenant(101)
	other = id.Tenant(102)
	news  = idtest.Must[id.Category]("01900000-0000-7000-8000-0000000000c1")
)

var types = contact.Types{
	EmailTypes: []contact.EmailType{
		{ID: idtest.Must[id.EmailType]("01900000-0000-7000-8000-0000000000e1"), Key: "newsletter", Category: news},
		{ID: idtest.Must[id.EmailType]("01900000-0000-7000-8000-0000000000e2"), Key: "digest", Category: news},
		{ID: idtest.Must[id.EmailType]("01900000-0000-7000-8000-0000000000e3"), Key: "offers"},
	},
	Categories: []id.Category{news},
}

var rules = contact.Rules{Types: types}

// each runs f on both databases. A contact of a second tenant with an address that f uses
// must not change, and the numbers of contacts by status must be those of the rows.
func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		before, err := contact.Create(t.Context(), db, other, "ann@example.org", contact.Change{
			Texts: texts("first_name", "Anna", "external_id", "x1"), Tags: new([]string{"vip"}),
		}, rules, noon.Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		f(t, db)
		after, err := contact.ByID(t.Context(), db, other, before.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after, cmp.AllowUnexported(contact.Activity{})); diff != "" {
			t.Errorf("the other tenant's contact changed:\n%s", diff)
		}
		mustBeCounted(t, db)
	})
}

func texts(pairs ...string) map[contact.Text]*string {
	m := map[contact.Text]*string{}
	for i := 0; i < len(pairs); i += 2 {
		m[contact.Text(pairs[i])] = &pairs[i+1]
	}
	return m
}

func mustCreate(t *testing.T, db *sqldb.DB, email string, ch contact.Change) contact.Contact {
	t.Helper()
	c, err := contact.Create(t.Context(), db, acme, email, ch, rules, noon)
	if err != nil {
		t.Fatalf("Create(%q): %v", email, err)
	}
	return c
}

func mustUpsert(t *testing.T, db *sqldb.DB, email string, ch contact.Change) contact.Contact {
	t.Helper()
	c, _, err := contact.Upsert(t.Context(), db, acme, email, ch, rules, noon.Add(time.Hour))
	if err != nil {
		t.Fatalf("Upsert(%q): %v", email, err)
	}
	return c
}

func mustStatus(t *testing.T, db *sqldb.DB, c id.Contact, s contact.Status) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `UPDATE contact SET global_status = $3 WHERE tenant_id = $1 AND id = $2`, acme, c, s); err != nil {
		t.Fatal(err)
	}
	if _, err := contact.CorrectCounts(t.Context(), db, acme); err != nil {
		t.Fatal(err)
	}
}

// journalTypes returns the types of a contact's journal entries, in order.
func journalTypes(t *testing.T, db *sqldb.DB, c id.Contact) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT type FROM journal WHERE tenant_id = $1 AND contact_id = $2 ORDER BY id`, acme, c)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (string, error) {
		var s string
		err := row(&s)
		return s, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestCreateStoresAllFields(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Plan", Type: field.String}, noon); err != nil {
			t.Fatal(err)
		}
		c := mustCreate(t, db, " Ann@Example.ORG ", contact.Change{
			Texts:         texts("full_name", "Ann Marie Example", "country", "de", "timezone", "Europe/Berlin", "external_id", "x1", "title", ""),
			CustomFields:  map[string]any{"plan": "pro"},
			Tags:          new([]string{"a", "b", "a"}),
			Subscriptions: map[string]*bool{"01900000-0000-7000-8000-0000000000e1": new(false), "offers": new(true)},
			DoNotContact:  new(true),
		})
		got, err := contact.ByEmail(t.Context(), db, acme, "ANN@example.org")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(contact.Activity{})); diff != "" {
			t.Errorf("read back differs:\n%s", diff)
		}
		if c.Email != "ann@example.org" || c.EmailDomain != "example.org" || *c.FirstName != "Ann Marie" || *c.LastName != "Example" ||
			*c.FullName != "Ann Marie Example" || *c.Country != "DE" || c.Title != nil || c.Status != contact.Active || !c.DoNotContact {
			t.Errorf("Create = %+v", c)
		}
		if !slices.Equal(c.Tags, []string{"a", "b"}) || c.CustomFields["plan"] != "pro" {
			t.Errorf("tags %v, custom fields %v", c.Tags, c.CustomFields)
		}
		if c.CategorySubscriptions[news] || c.Subscriptions["newsletter"] || !c.Subscriptions["offers"] {
			t.Errorf("subscriptions %v and %v", c.Subscriptions, c.CategorySubscriptions)
		}
		want := map[string]bool{"newsletter": false, "digest": false, "offers": true}
		if diff := cmp.Diff(want, c.EffectiveSubscriptions(types)); diff != "" {
			t.Errorf("effective subscriptions:\n%s", diff)
		}
		if got := journalTypes(t, db, c.ID); got[0] != string(journal.ContactCreated) || len(got) != 4 {
			t.Errorf("journal entries %v", got)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		mustCreate(t, db, "bob@example.org", contact.Change{Texts: texts("external_id", "taken")})
		for _, tt := range []struct {
			name, email, code, says string
			ch                      contact.Change
		}{
			{name: "no address", email: "nope", code: "INVALID_INPUT", says: "email"},
			{name: "everything at once", email: "", code: "INVALID_INPUT", says: "country",
				ch: contact.Change{Texts: texts("country", "Germany", "timezone", "Mars/Base", "city", strings.Repeat("x", 201)), Tags: new([]string{""})}},
			{name: "NUL", email: "a@example.org", code: "INVALID_INPUT", says: "NUL", ch: contact.Change{Texts: texts("city", "a\x00b")}},
			{name: "the address is taken", email: "BOB@example.org", code: "DUPLICATE_EMAIL"},
			{name: "the external id is taken", email: "a@example.org", code: "DUPLICATE_EXTERNAL_ID", ch: contact.Change{Texts: texts("external_id", "taken")}},
			{name: "unknown field", email: "a@example.org", code: "UNKNOWN_FIELD", says: "plan", ch: contact.Change{CustomFields: map[string]any{"plan": 1.0}}},
			{name: "unknown email type", email: "a@example.org", code: "INVALID_EMAIL_TYPE", says: "spam", ch: contact.Change{Subscriptions: map[string]*bool{"spam": new(true)}}},
			{name: "unknown stage", email: "a@example.org", code: "INVALID_STAGE", ch: contact.Change{Stage: new(id.New[id.Stage]().String())}},
			{name: "unknown stage if new", email: "a@example.org", code: "INVALID_STAGE", ch: contact.Change{StageIfNew: new(id.New[id.Stage]().String())}},
			{name: "a stage that is no id", email: "a@example.org", code: "INVALID_INPUT", says: "stage_id", ch: contact.Change{Stage: new("lead")}},
			{name: "unknown category", email: "a@example.org", code: "INVALID_INPUT", says: "category", ch: contact.Change{CategorySubscriptions: map[string]*bool{"x": new(true)}}},
			{name: "too many tags", email: "a@example.org", code: "LIMIT_EXCEEDED", ch: contact.Change{Tags: new(numbered(201))}},
		} {
			_, err := contact.Create(t.Context(), db, acme, tt.email, tt.ch, rules, noon)
			f, ok := fault.As(err)
			if !ok || f.Code != tt.code || !strings.Contains(f.Message, tt.says) {
				t.Errorf("%s: Create = %v, want %s that says %q", tt.name, err, tt.code, tt.says)
			}
			if tt.name == "everything at once" {
				if n := len(f.Details.(fault.Fields).Fields); n != 5 {
					t.Errorf("%d problems reported, want 5: %v", n, f.Message)
				}
			}
		}
		if n, err := contact.Count(t.Context(), db, acme, contact.Selector{}); err != nil || n != 1 {
			t.Errorf("%d contacts, %v; want 1: a failed Create must not leave a contact", n, err)
		}
	})
}

func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return list
}

func TestUpsertMerges(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		for _, name := range []string{"Plan", "Seats"} {
			if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: name, Type: field.String}, noon); err != nil {
				t.Fatal(err)
			}
		}
		mustCreate(t, db, "ann@example.org", contact.Change{
			Texts:         texts("first_name", "Ann", "city", "Bonn"),
			CustomFields:  map[string]any{"plan": "pro", "seats": "3"},
			Subscriptions: map[string]*bool{"newsletter": new(false), "offers": new(false)},
			Tags:          new([]string{"a"}),
		})
		ch := contact.Change{
			Texts:         map[contact.Text]*string{contact.City: nil, contact.Phone: new("1")},
			CustomFields:  map[string]any{"plan": nil},
			Subscriptions: map[string]*bool{"digest": new(true), "offers": nil},
			Tags:          new([]string{"b", "a"}),
		}
		c := mustUpsert(t, db, "Ann@example.org", ch)
		if *c.FirstName != "Ann" || c.City != nil || *c.Phone != "1" {
			t.Errorf("texts: %v %v %v", *c.FirstName, c.City, *c.Phone)
		}
		if diff := cmp.Diff(map[string]any{"seats": "3"}, c.CustomFields); diff != "" {
			t.Errorf("custom fields:\n%s", diff)
		}
		if !slices.Equal(c.Tags, []string{"a", "b"}) {
			t.Errorf("tags %v, want a and b", c.Tags)
		}
		if diff := cmp.Diff(map[string]bool{"newsletter": true, "digest": true}, c.EffectiveSubscriptions(types)); diff != "" {
			t.Errorf("subscriptions:\n%s", diff)
		}
		if !c.UpdatedAt.Equal(noon.Add(time.Hour)) || !c.CreatedAt.Equal(noon) {
			t.Errorf("times %v, %v", c.CreatedAt, c.UpdatedAt)
		}
		entries := len(journalTypes(t, db, c.ID))
		if again := mustUpsert(t, db, "ann@example.org", ch); !again.UpdatedAt.Equal(c.UpdatedAt) {
			t.Error("an upsert without changes sets updated_at")
		}
		if n := len(journalTypes(t, db, c.ID)); n != entries {
			t.Errorf("an upsert without changes wrote %d journal entries", n-entries)
		}
	})
}

func TestStagesOfContacts(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		stage := func(name string, c contact.StageCategory) contact.Stage {
			s, err := contact.CreateStage(t.Context(), db, acme, contact.StageChange{Name: &name, Category: &c}, noon)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		lead, won := stage("Lead", contact.Prospect), stage("Won", contact.Customer)
		if !lead.Default || won.Default || won.SortOrder <= lead.SortOrder || stage("lead", contact.Prospect).Slug != "lead-2" {
			t.Errorf("stages %+v, %+v", lead, won)
		}
		if c := mustCreate(t, db, "a@example.org", contact.Change{}); c.Stage != lead.ID {
			t.Errorf("a new contact has stage %q, want the default", c.Stage)
		}
		if c := mustUpsert(t, db, "b@example.org", contact.Change{StageIfNew: new(won.ID.String())}); c.Stage != won.ID {
			t.Error("stage_id_if_new is not used on creation")
		}
		if c := mustUpsert(t, db, "c@example.org", contact.Change{Stage: new(lead.ID.String()), StageIfNew: new(won.ID.String())}); c.Stage != lead.ID {
			t.Error("stage_id_if_new overrides stage_id")
		}
		if c := mustUpsert(t, db, "a@example.org", contact.Change{StageIfNew: new(won.ID.String())}); c.Stage != lead.ID {
			t.Error("stage_id_if_new moves an existing contact")
		}
		if _, err := db.Exec(t.Context(), `UPDATE contact SET prospect_score = 7 WHERE tenant_id = $1`, acme); err != nil {
			t.Fatal(err)
		}
		c := mustUpsert(t, db, "a@example.org", contact.Change{Stage: new(won.ID.String())})
		if c.Stage != won.ID || c.ProspectScore != 0 || c.ScoreUpdatedAt == nil {
			t.Errorf("after a change of category: stage %s, score %v", c.Stage, c.ProspectScore)
		}
		if !slices.Contains(journalTypes(t, db, c.ID), string(journal.StageChanged)) {
			t.Error("no stage_changed entry")
		}
		if err := contact.DeleteStage(t.Context(), db, acme, lead.ID, won.ID, usage.Finders{}, noon); !errors.Is(err, contact.ErrStageInUse) {
			t.Errorf("deleting the default stage: %v", err)
		}
		if err := contact.DeleteStage(t.Context(), db, acme, won.ID, id.Stage{}, usage.Finders{}, noon); !errors.Is(err, contact.ErrStageInUse) {
			t.Errorf("deleting a stage with contacts: %v", err)
		}
		if err := contact.DeleteStage(t.Context(), db, acme, won.ID, lead.ID, usage.Finders{}, noon); err != nil {
			t.Errorf("deleting a stage with a replacement: %v", err)
		}
		if c, _ := contact.ByEmail(t.Context(), db, acme, "b@example.org"); c.Stage != lead.ID {
			t.Error("the contacts are not in the replacement stage")
		}
	})
}

func TestCreateAndUpsertOfPendingAndDeletedContacts(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "ann@example.org", contact.Change{})
		mustStatus(t, db, c.ID, contact.Pending)
		again := mustCreate(t, db, "ann@example.org", contact.Change{Texts: texts("city", "Bonn")})
		if again.ID != c.ID || again.Status != contact.Active || *again.City != "Bonn" {
			t.Errorf("creating a pending contact gives %s %s, want the same one, active", again.ID, again.Status)
		}
		mustStatus(t, db, c.ID, contact.Suppressed)
		_, err := contact.Create(t.Context(), db, acme, "ann@example.org", contact.Change{}, rules, noon)
		f, _ := fault.As(err)
		if !errors.Is(err, contact.ErrDuplicateEmail) || !strings.Contains(fmt.Sprint(f.Details), c.ID.String()) {
			t.Errorf("creating a deleted contact: %v with %v, want DUPLICATE_EMAIL that names it", err, f.Details)
		}
		if up := mustUpsert(t, db, "ann@example.org", contact.Change{Texts: texts("city", "Köln")}); up.Status != contact.Suppressed || *up.City != "Köln" {
			t.Errorf("after an upsert the deleted contact is %s", up.Status)
		}
	})
}

func TestOneOfConcurrentCreationsSucceeds(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = contact.Create(context.Background(), db, acme, "race@example.org", contact.Change{}, rules, noon)
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, contact.ErrDuplicateEmail):
				t.Errorf("Create = %v, want DUPLICATE_EMAIL", err)
			}
		}
		if won != 1 {
			t.Errorf("%d of 8 creations succeeded, want 1", won)
		}
	})
}

func TestConcurrentCreationsRespectTheLimit(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		limited := rules
		limited.Limit = new(3)
		mustStatus(t, db, mustCreate(t, db, "pending@example.org", contact.Change{}).ID, contact.Pending)
		var wg sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = contact.Create(context.Background(), db, acme, fmt.Sprintf("c%d@example.org", i), contact.Change{}, limited, noon)
			})
		}
		wg.Wait()
		refused := 0
		for _, err := range errs {
			if errors.Is(err, contact.ErrLimit) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if n, err := contact.Billable(t.Context(), db, acme); err != nil || n != 3 || refused != 3 {
			t.Errorf("%d billable contacts, %d refused, %v; want 3 and 3", n, refused, err)
		}
		if _, _, err := contact.Upsert(t.Context(), db, acme, "c0@example.org", contact.Change{Texts: texts("city", "X")}, limited, noon); err != nil && !errors.Is(err, contact.ErrLimit) {
			t.Errorf("an update at the limit: %v", err)
		}
	})
}

func TestReferencesMustExist(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Boss", Type: field.Contact}, noon); err != nil {
			t.Fatal(err)
		}
		boss := mustCreate(t, db, "boss@example.org", contact.Change{})
		mustCreate(t, db, "ann@example.org", contact.Change{CustomFields: map[string]any{"boss": boss.ID.String()}})
		_, err := contact.Create(t.Context(), db, acme, "bob@example.org", contact.Change{CustomFields: map[string]any{"boss": id.New[id.Contact]().String()}}, rules, noon)
		if !errors.Is(err, field.ErrValue) {
			t.Errorf("a reference to no contact: %v, want INVALID_FIELD_VALUE", err)
		}
	})
}

func TestDeletedFieldsLoseTheirValues(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		f, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Plan", Type: field.String}, noon)
		if err != nil {
			t.Fatal(err)
		}
		c := mustCreate(t, db, "ann@example.org", contact.Change{CustomFields: map[string]any{"plan": "pro"}})
		if n, err := contact.CountField(t.Context(), db, acme, "plan"); err != nil || n != 1 {
			t.Fatalf("%d holders, %v; want 1", n, err)
		}
		inUse := usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) {
			return usage.Holders{"forms": {{Name: "Signup"}}}, nil
		})
		if err := contact.DeleteField(t.Context(), db, acme, f.ID, inUse, noon); !errors.Is(err, field.ErrInUse) {
			t.Errorf("deleting a used field: %v", err)
		}
		if err := contact.DeleteField(t.Context(), db, acme, f.ID, usage.Finders{}, noon); err != nil {
			t.Fatal(err)
		}
		if c, _ = contact.ByID(t.Context(), db, acme, c.ID); len(c.CustomFields) != 0 {
			t.Errorf("custom fields %v are left", c.CustomFields)
		}
		if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Plan", Type: field.Number}, noon); err != nil {
			t.Errorf("the key cannot be used again: %v", err)
		}
	})
}
