package field_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	acme  = id.Tenant(101)
	other = id.Tenant(102)
)

func TestValuesFitTheirType(t *testing.T) {
	t.Parallel()
	some := []string{"basic", "pro"}
	for _, tt := range []struct {
		f    field.Field
		json string
		want string // JSON; empty: refused
	}{
		{field.Field{Type: field.String}, `"free text"`, `"free text"`},
		{field.Field{Type: field.String}, `5`, ``},
		{field.Field{Type: field.String}, `"a\u0000"`, ``},
		{field.Field{Type: field.String}, `"` + strings.Repeat("x", 4096) + `"`, `"` + strings.Repeat("x", 4096) + `"`},
		{field.Field{Type: field.String}, `"` + strings.Repeat("x", 4097) + `"`, ``},
		{field.Field{Type: field.String, Constraint: field.Strict}, `"anything"`, `"anything"`},
		{field.Field{Type: field.String, Constraint: field.Strict, EnumValues: some}, `"pro"`, `"pro"`},
		{field.Field{Type: field.String, Constraint: field.Strict, EnumValues: some}, `"free"`, ``},
		{field.Field{Type: field.String, Constraint: field.Open, EnumValues: some}, `"free"`, `"free"`},
		{field.Field{Type: field.Enum, Constraint: field.Strict, EnumValues: some}, `"basic"`, `"basic"`},
		{field.Field{Type: field.Enum, Constraint: field.Strict, EnumValues: some}, `"Basic"`, ``},
		{field.Field{Type: field.Enum, Constraint: field.Open, EnumValues: some}, `"Basic"`, `"Basic"`},
		{field.Field{Type: field.Number}, `1.5`, `1.5`},
		{field.Field{Type: field.Number}, `"1.5"`, ``},
		{field.Field{Type: field.Number}, `true`, ``},
		{field.Field{Type: field.Currency}, `12.5`, `12.5`},
		{field.Field{Type: field.Boolean}, `false`, `false`},
		{field.Field{Type: field.Boolean}, `0`, ``},
		{field.Field{Type: field.Date}, `"2028-02-29"`, `"2028-02-29"`},
		{field.Field{Type: field.Date}, `"2027-02-29"`, ``},
		{field.Field{Type: field.Date}, `"2027-2-9"`, ``},
		{field.Field{Type: field.DateTime}, `"2026-03-01T10:00:00+02:00"`, `"2026-03-01T08:00:00.000Z"`},
		{field.Field{Type: field.DateTime}, `"2016-11-01 10:00:00"`, `"2016-11-01T10:00:00.000Z"`},
		{field.Field{Type: field.DateTime}, `"2018-02-12t17:59:31.5+0200"`, `"2018-02-12T15:59:31.500Z"`},
		{field.Field{Type: field.DateTime}, `"2016-11-01"`, `"2016-11-01T00:00:00.000Z"`},
		{field.Field{Type: field.Date}, `"1997-02-27 00:00:00"`, `"1997-02-27"`},
		{field.Field{Type: field.Date}, `"1997-02-27 10:00:00"`, ``},
		{field.Field{Type: field.TimeZone}, `"europe/zurich"`, `"Europe/Zurich"`},
		{field.Field{Type: field.TimeZone}, `"america/port_of_spain"`, `"America/Port_of_Spain"`},
		{field.Field{Type: field.TimeZone}, `"AMERICA/NEW YORK"`, `"America/New_York"`},
		{field.Field{Type: field.TimeZone}, `"utc"`, `"UTC"`},
		{field.Field{Type: field.TimeZone}, `"europe/nowhere"`, ``},
		{field.Field{Type: field.TimeZone}, `"local"`, ``},
		{field.Field{Type: field.DateTime}, `"soon"`, ``},
		{field.Field{Type: field.Time}, `"09:30"`, `"09:30"`},
		{field.Field{Type: field.Time}, `"09:30:15"`, `"09:30:15"`},
		{field.Field{Type: field.Time}, `"9:30"`, ``},
		{field.Field{Type: field.Time}, `"24:00"`, ``},
		{field.Field{Type: field.Tags}, `["a", "b", "a"]`, `["a","b"]`},
		{field.Field{Type: field.Tags}, `[]`, `[]`},
		{field.Field{Type: field.Tags}, `["a", 1]`, ``},
		{field.Field{Type: field.Tags}, `[""]`, ``},
		{field.Field{Type: field.Tags}, `"a"`, ``},
		{field.Field{Type: field.Email}, `"Ann@Example.org"`, `"ann@example.org"`},
		{field.Field{Type: field.Email}, `"ann"`, ``},
		{field.Field{Type: field.URL}, `"https://example.org/a?b=c"`, `"https://example.org/a?b=c"`},
		{field.Field{Type: field.URL}, `"javascript:alert(1)"`, ``},
		{field.Field{Type: field.URL}, `"https://"`, ``},
		{field.Field{Type: field.TimeZone}, `"America/Argentina/Ushuaia"`, `"America/Argentina/Ushuaia"`},
		{field.Field{Type: field.TimeZone}, `"Local"`, ``},
		{field.Field{Type: field.TimeZone}, `"../../etc/passwd"`, ``},
		{field.Field{Type: field.Country}, `"de"`, `"DE"`},
		{field.Field{Type: field.Country}, `"XX"`, ``},
		{field.Field{Type: field.Country}, `"DEU"`, ``},
		{field.Field{Type: field.Contact}, `"01900000-0000-7000-8000-00000000000A"`, `"01900000-0000-7000-8000-00000000000a"`},
		{field.Field{Type: field.Contact}, `"ann"`, ``},
	} {
		var in any
		if err := json.Unmarshal([]byte(tt.json), &in); err != nil {
			t.Fatal(err)
		}
		v, expected, ok := tt.f.Value(in)
		if tt.want == "" {
			if ok || expected == "" {
				t.Errorf("%s takes %.40s, want it refused with a reason", tt.f.Type, tt.json)
			}
			continue
		}
		got, err := json.Marshal(v)
		if err != nil || !ok || string(got) != tt.want {
			t.Errorf("%s of %.40s = %.40s, %v, %v; want %.40s", tt.f.Type, tt.json, got, ok, err, tt.want)
		}
	}
}

// A valid value is stored in a form that is valid and does not change when validated again.
func FuzzValue(f *testing.F) {
	for _, s := range []string{`"x"`, `1e400`, `["a"]`, `{"a":[]}`, `"2026-03-01T10:00:00+02:00"`, `"\ud800"`, `"europe/berlin"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil || v == nil {
			return
		}
		for _, typ := range field.Types() {
			d := field.Field{Type: typ, Constraint: field.Open}
			first, _, ok := d.Value(v)
			if !ok {
				continue
			}
			again, _, ok := d.Value(first)
			if diff := cmp.Diff(first, again); !ok || diff != "" {
				t.Errorf("%s of %s: %v, then %v", typ, text, first, again)
			}
		}
	})
}

func TestKeysComeFromNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Plan": "plan", "  Größe (cm) ": "grosse_cm", "2nd phone": "cf_2nd_phone", "日本": "item", strings.Repeat("9", 80): "cf_" + strings.Repeat("9", 61),
	} {
		if got := field.Key(name); got != want {
			t.Errorf("Key(%q) = %q, want %q", name, got, want)
		}
	}
}

func code(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Code
	}
	return fmt.Sprint(err)
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		if _, err := field.Create(ctx, db, other, field.Draft{Name: "Plan", Type: field.Number}, noon); err != nil {
			t.Fatal(err)
		}
		plan, err := field.Create(ctx, db, acme, field.Draft{Name: "Plan", Type: field.Enum, EnumValues: []string{"basic", "pro"}, Default: "basic"}, noon)
		if err != nil || plan.Key != "plan" || plan.Constraint != field.Strict {
			t.Fatalf("Create = %+v, %v", plan, err)
		}
		got, err := field.ByID(ctx, db, acme, plan.ID)
		if diff := cmp.Diff(plan, got); err != nil || diff != "" {
			t.Errorf("read back: %v\n%s", err, diff)
		}
		for _, tt := range []struct {
			d    field.Draft
			want string
		}{
			{field.Draft{Name: "plan!", Type: field.String}, "DUPLICATE_FIELD_KEY"},
			{field.Draft{Name: "x", Type: "colour"}, "INVALID_FIELD"},
			{field.Draft{Name: "x", Key: "X-1", Type: field.String}, "INVALID_FIELD"},
			{field.Draft{Name: "x", Type: field.Enum}, "INVALID_FIELD"},
			{field.Draft{Name: "x", Type: field.Currency}, "INVALID_FIELD"},
			{field.Draft{Name: "x", Type: field.Currency, CurrencyCode: "EURO"}, "INVALID_FIELD"},
			{field.Draft{Name: "x", Type: field.String, Constraint: "loose"}, "INVALID_FIELD"},
			{field.Draft{Name: "x", Type: field.Number, Default: "five"}, "INVALID_FIELD"},
			{field.Draft{Name: " ", Type: field.String}, "INVALID_INPUT"},
		} {
			if _, err := field.Create(ctx, db, acme, tt.d, noon); code(err) != tt.want {
				t.Errorf("Create(%+v) = %v, want %s", tt.d, err, tt.want)
			}
		}
		if f, err := field.Create(ctx, db, acme, field.Draft{Name: "Fee", Type: field.Currency, CurrencyCode: "eur", Constraint: field.Open}, noon); err != nil || f.CurrencyCode != "EUR" || f.Constraint != field.Strict {
			t.Errorf("a currency field = %+v, %v", f, err)
		}
		for want, ch := range map[string]field.Change{
			"field_key": {Key: new("other")}, "field_type": {Type: new(field.String)}, "currency_code": {CurrencyCode: new("EUR")}, "enum_values": {EnumValues: new([]string{})},
		} {
			if _, err := field.Update(ctx, db, acme, plan.ID, ch); code(err) != "INVALID_FIELD" || !strings.Contains(err.Error(), want) {
				t.Errorf("Update of %s = %v, want INVALID_FIELD", want, err)
			}
		}
		up, err := field.Update(ctx, db, acme, plan.ID, field.Change{Name: new("Tariff"), EnumValues: new([]string{"gold"}), Key: new("plan")})
		if err != nil || up.Name != "Tariff" || up.Key != "plan" || up.Default != "basic" {
			t.Errorf("Update = %+v, %v", up, err)
		}
		if _, err := field.Update(ctx, db, other, plan.ID, field.Change{}); !errors.Is(err, field.ErrNotFound) {
			t.Errorf("another tenant's Update = %v", err)
		}
		used := usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) {
			return usage.Holders{"segments": {{Name: "Gold"}}}, nil
		})
		if _, err := field.Delete(ctx, db, acme, plan.ID, used, noon); code(err) != "FIELD_IN_USE" {
			t.Errorf("Delete of a used field = %v", err)
		}
		if _, err := field.Delete(ctx, db, acme, plan.ID, usage.Finders{}, noon); err != nil {
			t.Fatal(err)
		}
		if list, err := field.List(ctx, db, acme); err != nil || len(list) != 1 {
			t.Errorf("%d fields remain, %v; want 1", len(list), err)
		}
		if _, err := field.Create(ctx, db, acme, field.Draft{Name: "Plan", Type: field.String}, noon); code(err) != "DUPLICATE_FIELD_KEY" {
			t.Errorf("the key of a field being erased is free: %v", err)
		}
		pending, err := field.PendingErasures(ctx, db, 5)
		if err != nil || len(pending) != 1 || pending[0].ID != plan.ID {
			t.Fatalf("PendingErasures = %v, %v", pending, err)
		}
		if err := field.FinishErasure(ctx, db, acme, plan.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := field.Create(ctx, db, acme, field.Draft{Name: "Plan", Type: field.String}, noon); err != nil {
			t.Errorf("the key of an erased field: %v", err)
		}
		if list, err := field.List(ctx, db, other); err != nil || len(list) != 1 || list[0].Type != field.Number {
			t.Errorf("the other tenant's fields = %v, %v", list, err)
		}
	})
}

func TestCheckReportsEveryProblem(t *testing.T) {
	t.Parallel()
	c := field.Catalog{"n": {Key: "n", Type: field.Number}, "d": {Key: "d", Type: field.Date}}
	_, err := c.Check(map[string]any{"x": 1.0, "y": 2.0, "n": "z"})
	if f, _ := fault.As(err); !errors.Is(err, field.ErrUnknown) || len(f.Details.(fault.Fields).Fields) != 2 {
		t.Errorf("unknown keys: %v", err)
	}
	_, err = c.Check(map[string]any{"n": "z", "d": "z"})
	f, _ := fault.As(err)
	text, _ := json.Marshal(f.Details)
	if !errors.Is(err, field.ErrValue) || !strings.Contains(string(text), `"field_key":"d"`) || strings.Count(string(text), `"path"`) != 2 {
		t.Errorf("values that do not fit: %v with %s", err, text)
	}
	got, err := c.Check(map[string]any{"n": nil, "d": "2026-01-01"})
	if diff := cmp.Diff(map[string]any{"n": nil, "d": "2026-01-01"}, got); err != nil || diff != "" {
		t.Errorf("Check = %v\n%s", err, diff)
	}
}

func TestConcurrentDeclarationsRespectTheLimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 199 {
			if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: fmt.Sprint("f", i), Type: field.String}, noon); err != nil {
				t.Fatal(err)
			}
		}
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = field.Create(t.Context(), db, acme, field.Draft{Name: fmt.Sprint("last", i), Type: field.String}, noon)
			})
		}
		all.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if !errors.Is(err, field.ErrLimit) {
				t.Errorf("Create = %v, want LIMIT_EXCEEDED", err)
			}
		}
		if list, err := field.List(t.Context(), db, acme); made != 1 || len(list) != 200 || err != nil {
			t.Errorf("%d were created, there are %d, %v", made, len(list), err)
		}
		if _, err := field.Create(t.Context(), db, other, field.Draft{Name: "f", Type: field.String}, noon); err != nil {
			t.Errorf("the other tenant's first: %v", err)
		}
	})
}
