package savedfilter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/savedfilter"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// office is a tenant with users.
type office struct {
	*testing.T
	db                       *sqldb.DB
	tenant                   id.Tenant
	ann, bob, admin, outside auth.Principal
}

// each runs f on both databases. The filter of a second tenant must not change, and is not visible
// to the first.
func each(t *testing.T, f func(o *office)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		o := &office{T: t, db: db}
		person := func(tenant id.Tenant, r auth.Role) auth.Principal {
			return auth.Principal{Tenant: tenant, Kind: auth.KindSession, User: id.New[id.User](), Role: r}
		}
		for _, slug := range []string{"acme", "other"} {
			in, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon, sender.Newsletter)
			o.ok(err)
			_, err = field.Create(t.Context(), db, in.ID, field.Draft{Name: "Plan", Key: "plan", Type: field.String}, noon)
			o.ok(err)
			if slug == "acme" {
				o.tenant, o.ann, o.bob, o.admin = in.ID, person(in.ID, auth.Editor), person(in.ID, auth.Editor), person(in.ID, auth.Admin)
				continue
			}
			o.outside = person(in.ID, auth.Owner)
		}
		theirs, err := savedfilter.Create(t.Context(), db, o.outside, savedfilter.Change{
			Name: new("Theirs"), Filters: raw(`[{"field": "custom_fields.plan", "operator": "is_set"}]`),
		}, noon)
		o.ok(err)
		theirs, err = savedfilter.ByID(t.Context(), db, o.outside, theirs.ID)
		o.ok(err)
		f(o)
		for what, err := range map[string]error{
			"get":    second(savedfilter.ByID(t.Context(), db, o.admin, theirs.ID)),
			"update": second(savedfilter.Update(t.Context(), db, o.admin, theirs.ID, savedfilter.Change{}, noon)),
			"delete": savedfilter.Delete(t.Context(), db, o.admin, theirs.ID),
		} {
			if !errors.Is(err, savedfilter.ErrNotFound) {
				t.Errorf("%s of another tenant's filter: %v", what, err)
			}
		}
		list, err := savedfilter.List(t.Context(), db, o.outside)
		o.ok(err)
		if diff := cmp.Diff([]savedfilter.Filter{theirs}, list); diff != "" {
			t.Errorf("the other tenant's filter changed:\n%s", diff)
		}
	})
}

func (o *office) ok(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func second(_ savedfilter.Filter, err error) error { return err }

func raw(s string) *json.RawMessage { return new(json.RawMessage(s)) }

func (o *office) create(p auth.Principal, ch savedfilter.Change) savedfilter.Filter {
	o.Helper()
	f, err := savedfilter.Create(o.Context(), o.db, p, ch, noon)
	o.ok(err)
	return f
}

// Saved filters are canonical, absent fields do not change, and null clears.
func TestFiltersAreStoredCanonically(t *testing.T) {
	each(t, func(o *office) {
		f := o.create(o.ann, savedfilter.Change{
			Name:       new(" Pros "),
			Filters:    raw(`[{"field": "custom_fields.plan", "operator": "eq", "value": "pro"}]`),
			Definition: raw(`{"logic": "ALL", "conditions": [{"field": "tags", "operator": "contains", "value": "x"}]}`),
			Search:     new("ann"), Statuses: new([]string{"active", "pending"}), Sort: new("email"), Dir: new("ASC"),
			Columns: new([]string{"email", "custom_fields.plan", "subscriptions.newsletter", "email"}), Shared: new(false),
		})
		want := savedfilter.Filter{
			ID: f.ID, Name: "Pros", Search: "ann", Statuses: []contact.Status{contact.Active, contact.Pending}, Sort: "email", Asc: true,
			Columns: []string{"email", "custom_fields.plan", "subscriptions.newsletter"}, CreatedBy: o.ann.User, CreatedAt: noon, UpdatedAt: noon,
			Filters: f.Filters, Definition: f.Definition,
		}
		if diff := cmp.Diff(want, f); diff != "" {
			o.Errorf("created:\n%s", diff)
		}
		for got, wanted := range map[string]string{
			string(f.Filters): `"equals"`, string(f.Definition): `"has_any"`, strings.ToLower(string(f.Definition)): `"and"`,
		} {
			if !strings.Contains(got, wanted) {
				o.Errorf("%s holds no %s", got, wanted)
			}
		}
		got, err := savedfilter.ByID(o.Context(), o.db, o.ann, f.ID)
		o.ok(err)
		if !same(o.T, got.Filters, f.Filters) || !same(o.T, got.Definition, f.Definition) {
			o.Errorf("read back: %s, %s", got.Filters, got.Definition)
		}
		got.Filters, got.Definition = f.Filters, f.Definition
		if diff := cmp.Diff(f, got); diff != "" {
			o.Errorf("read back:\n%s", diff)
		}
		later := noon.Add(time.Hour)
		up, err := savedfilter.Update(o.Context(), o.db, o.ann, f.ID, savedfilter.Change{Definition: raw(`null`), Sort: new("nonsense"), Columns: new([]string{})}, later)
		o.ok(err)
		want.Definition, want.Sort, want.Columns, want.UpdatedAt, want.Filters = nil, contact.ByCreated, []string{}, later, up.Filters
		if diff := cmp.Diff(want, up); diff != "" {
			o.Errorf("updated:\n%s", diff)
		}
		if !same(o.T, up.Filters, f.Filters) {
			o.Errorf("filters became %s", up.Filters)
		}
		o.ok(savedfilter.Delete(o.Context(), o.db, o.ann, f.ID))
		if _, err := savedfilter.ByID(o.Context(), o.db, o.ann, f.ID); !errors.Is(err, savedfilter.ErrNotFound) {
			o.Errorf("after deletion: %v", err)
		}
		if f := o.create(o.ann, savedfilter.Change{Name: new("Plain")}); string(f.Filters) != "[]" || f.Definition != nil || !f.Shared || f.Sort != contact.ByCreated || f.Asc {
			o.Errorf("a filter of nothing: %+v", f)
		}
	})
}

// same compares two JSON texts.
func same(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

// Users see their own and shared filters; only admins may change those of others.
func TestVisibilityAndPermissions(t *testing.T) {
	each(t, func(o *office) {
		private := o.create(o.ann, savedfilter.Change{Name: new("private"), Shared: new(false)})
		shared := o.create(o.ann, savedfilter.Change{Name: new("shared")})
		for _, tt := range []struct {
			who             string
			p               auth.Principal
			sees            string
			private, shared error // of a change
		}{
			{"ann", o.ann, "private shared", nil, nil},
			{"bob", o.bob, "shared", savedfilter.ErrNotFound, auth.ErrForbidden},
			{"an admin", o.admin, "private shared", nil, nil},
		} {
			list, err := savedfilter.List(o.Context(), o.db, tt.p)
			o.ok(err)
			var names []string
			for _, f := range list {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tt.sees {
				o.Errorf("%s sees %q, want %q", tt.who, got, tt.sees)
			}
			for f, want := range map[id.SavedFilter]error{private.ID: tt.private, shared.ID: tt.shared} {
				_, err := savedfilter.Update(o.Context(), o.db, tt.p, f, savedfilter.Change{Search: new("x")}, noon)
				if !errors.Is(err, want) {
					o.Errorf("%s changes it: %v, want %v", tt.who, err, want)
				}
				if want == nil {
					continue
				}
				if err := savedfilter.Delete(o.Context(), o.db, tt.p, f); !errors.Is(err, want) {
					o.Errorf("%s deletes it: %v, want %v", tt.who, err, want)
				}
			}
		}
	})
}

func TestInvalidFilters(t *testing.T) {
	each(t, func(o *office) {
		for name, tt := range map[string]struct {
			ch    savedfilter.Change
			code  string
			paths []string
		}{
			"no name":        {savedfilter.Change{}, "INVALID_INPUT", []string{"name"}},
			"all at once":    {savedfilter.Change{Name: new(strings.Repeat("x", 201)), Search: new(strings.Repeat("x", 201)), Columns: new([]string{"email", "nope", "custom_fields.nope"})}, "INVALID_INPUT", []string{"name", "search", "columns"}},
			"columns":        {savedfilter.Change{Name: new("x"), Columns: new(make([]string, 251))}, "LIMIT_EXCEEDED", nil},
			"bad status":     {savedfilter.Change{Name: new("x"), Statuses: new([]string{"nope"})}, "INVALID_STATUS", nil},
			"bad filters":    {savedfilter.Change{Name: new("x"), Filters: raw(`[{"field": "custom_fields.nope", "operator": "is_set"}]`)}, "INVALID_FILTERS", []string{"filters[0].field"}},
			"bad definition": {savedfilter.Change{Name: new("x"), Definition: raw(`{"logic": "and"}`)}, "INVALID_DEFINITION", []string{"definition.conditions"}},
		} {
			_, err := savedfilter.Create(o.Context(), o.db, o.ann, tt.ch, noon)
			f, _ := fault.As(err)
			if f == nil || f.Code != tt.code {
				o.Errorf("%s: %v, want %s", name, err, tt.code)
				continue
			}
			var details struct{ Fields []fault.Field }
			text, err := json.Marshal(f.Details)
			o.ok(err)
			o.ok(json.Unmarshal(text, &details))
			var paths []string
			for _, p := range details.Fields {
				paths = append(paths, p.Path)
			}
			if diff := cmp.Diff(tt.paths, paths); diff != "" {
				o.Errorf("%s: problems at\n%s", name, diff)
			}
		}
	})
}

// Filters that use or show a custom field prevent its deletion; they do not prevent that of a list.
func TestFiltersUseCustomFields(t *testing.T) {
	each(t, func(o *office) {
		plan := usage.Subject{Kind: usage.Field, Key: "plan"}
		vip, err := segment.CreateList(o.Context(), o.db, o.tenant, segment.Change{Name: new("VIP")}, noon)
		o.ok(err)
		list := usage.Subject{Kind: usage.Segment, ID: vip.ID.String(), Key: vip.Key}
		o.create(o.ann, savedfilter.Change{Name: new("a"), Filters: raw(`[{"field": "custom_fields.plan", "operator": "is_set"}]`)})
		o.create(o.ann, savedfilter.Change{Name: new("b"), Shared: new(false), Columns: new([]string{"custom_fields.plan"})})
		o.create(o.ann, savedfilter.Change{Name: new("c"), Definition: raw(fmt.Sprintf(
			`{"logic": "or", "conditions": [{"logic": "and", "conditions": [{"type": "list", "operator": "in", "segment_keys": [%q]}]}]}`, vip.Key))})
		o.create(o.ann, savedfilter.Change{Name: new("d"), Filters: raw(fmt.Sprintf(`[{"field": "list", "operator": "not_in", "value": [%q]}]`, vip.Key))})
		o.create(o.ann, savedfilter.Change{Name: new("e"), Filters: raw(`[{"field": "email", "operator": "is_set"}]`)})
		for _, tt := range []struct {
			subject usage.Subject
			want    string
		}{{plan, "a b"}, {list, ""}, {usage.Subject{Kind: usage.Field, Key: "pla"}, ""}, {usage.Subject{Kind: usage.EmailType}, ""}} {
			found, err := savedfilter.Finder().Find(o.Context(), o.db, o.tenant, tt.subject)
			o.ok(err)
			var names []string
			for _, h := range found["saved_filters"] {
				names = append(names, h.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				o.Errorf("%s %s is used by %q, want %q", tt.subject.Kind, tt.subject.Key, got, tt.want)
			}
		}
		f, err := field.List(o.Context(), o.db, o.tenant)
		o.ok(err)
		if err := contact.DeleteField(o.Context(), o.db, o.tenant, f[0].ID, savedfilter.Finder(), noon); !errors.Is(err, field.ErrInUse) {
			o.Errorf("a field in use is deleted: %v", err)
		}
	})
}
