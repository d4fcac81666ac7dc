package rule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// holds reports whether a leaf holds for a contact.
func holds(t *testing.T, env rule.Env, leaf string, c contact.Contact) bool {
	t.Helper()
	tree, err := rule.ParseDefinition(one(leaf), env.Schema)
	if err != nil {
		t.Fatalf("%s: %v", leaf, err)
	}
	return tree.Match(env, rule.Subject{Contact: c, MXRecord: "mx.example.org", SMTPProvider: "other"})
}

// A custom field may have had another type when a value was written.
func TestValuesOfAnotherTypeDoNotMatch(t *testing.T) {
	t.Parallel()
	env := rule.Env{Now: noon, Schema: whole()}
	for leaf, value := range map[string]any{
		`{"field": "custom_fields.time", "operator": "equals", "value": "09:30"}`:          "abc",
		`{"field": "custom_fields.string", "operator": "equals", "value": "x"}`:            5.0,
		`{"field": "custom_fields.number", "operator": "equals", "value": 5}`:              "5",
		`{"field": "custom_fields.number", "operator": "between", "value": [1, 9]}`:        []any{"5"},
		`{"field": "custom_fields.date", "operator": "before", "value": "2026-03-01"}`:     7.0,
		`{"field": "custom_fields.datetime", "operator": "before", "value": "2026-03-01"}`: "2026",
		`{"field": "custom_fields.tags", "operator": "has_any", "value": ["a"]}`:           "a",
	} {
		if holds(t, env, leaf, contact.Contact{CustomFields: map[string]any{leaf[strings.Index(leaf, ".")+1 : strings.Index(leaf, `", "op`)]: value}}) {
			t.Errorf("%s holds for %v", leaf, value)
		}
	}
}

// Each operator for each type, for a contact with a value and one without: only negative operators
// hold for unset values.
func TestOperators(t *testing.T) {
	t.Parallel()
	custom := map[string]any{
		"string": "Größe XL", "number": 12.5, "boolean": true, "date": "2024-02-29", "datetime": "2026-11-20T23:30:00.000Z", "time": "09:30",
		"enum": "pro", "tags": []any{"a", "b"}, "email": "ann@example.org", "url": "https://Example.org/A", "timezone": "Europe/Berlin",
		"country": "DE", "currency": 9.99, "contact": someID,
	}
	full := contact.Contact{
		FirstName: new("Anna"), CustomFields: custom, Tags: []string{"vip", "new"}, Stage: lead, Country: new("DE"), Status: contact.Active,
		ProspectScore: 10, CreatedAt: noon.Add(-40 * day), Email: "ann@example.org", EmailDomain: "example.org",
		Subscriptions: map[string]bool{"offers": false}, CategorySubscriptions: map[id.Category]bool{news: false},
	}
	full.TotalEmailsSent, full.LastEmailSentAt = 3, new(noon.Add(-time.Hour))
	env := rule.Env{Now: noon, Schema: whole()}
	env.Zone = time.FixedZone("", 3600)
	for _, tt := range []struct {
		field, operator, value string // value is JSON; empty: none
		set, unset             bool
	}{
		{"first_name", "equals", `"aNNA"`, true, false},
		{"first_name", "equals", `"ann"`, false, false},
		{"first_name", "not_equals", `"anna"`, false, true},
		{"first_name", "contains", `"NN"`, true, false},
		{"first_name", "not_contains", `"nn"`, false, true},
		{"first_name", "not_contains", `"x"`, true, true},
		{"first_name", "starts_with", `"an"`, true, false},
		{"first_name", "ends_with", `"an"`, false, false},
		{"first_name", "in", `["bob","anna"]`, true, false},
		{"first_name", "not_in", `["bob"]`, true, true},
		{"first_name", "not_in", `["ANNA"]`, false, true},
		{"first_name", "is_set", ``, true, false},
		{"first_name", "is_not_set", ``, false, true},
		{"first_name", "contains", `"%"`, false, false},
		{"first_name", "equals", `"A_na"`, false, false},
		{"custom_fields.string", "equals", `"GRÖSSE xl"`, false, false}, // ß does not equal ss
		{"custom_fields.string", "contains", `"GRÖ"`, true, false},
		{"custom_fields.string", "not_equals", `"größe xl"`, false, true},
		{"custom_fields.url", "equals", `"https://example.org/a"`, true, false},
		{"custom_fields.email", "equals", `"ANN@example.org "`, true, false},
		{"custom_fields.email", "ends_with", `"@EXAMPLE.org"`, true, false},

		{"prospect_score", "equals", `10`, true, false},
		{"prospect_score", "between", `[10,20]`, true, false},
		{"prospect_score", "greater_than", `10`, false, false},
		{"prospect_score", "is_set", ``, true, true}, // it is never unset
		{"total_emails_sent", "greater_or_equal", `2.5`, true, false},
		{"total_emails_sent", "in", `[1,3]`, true, false},
		{"custom_fields.number", "equals", `12.5`, true, false},
		{"custom_fields.number", "not_equals", `12.5`, false, true},
		{"custom_fields.number", "greater_than", `12.5`, false, false},
		{"custom_fields.number", "greater_or_equal", `12.5`, true, false},
		{"custom_fields.number", "less_than", `12.5`, false, false},
		{"custom_fields.number", "less_than", `100`, true, false},
		{"custom_fields.number", "less_or_equal", `12.5`, true, false},
		{"custom_fields.number", "between", `[12,13]`, true, false},
		{"custom_fields.number", "in", `[12.5]`, true, false},
		{"custom_fields.number", "not_in", `[12.5]`, false, true},
		{"custom_fields.number", "is_set", ``, true, false},
		{"custom_fields.number", "is_not_set", ``, false, true},
		{"custom_fields.currency", "between", `[0,9.99]`, true, false},

		{"custom_fields.boolean", "is_true", ``, true, false},
		{"custom_fields.boolean", "is_false", ``, false, false},
		{"custom_fields.boolean", "equals", `true`, true, false},
		{"custom_fields.boolean", "equals", `false`, false, false},
		{"custom_fields.boolean", "is_set", ``, true, false},
		{"custom_fields.boolean", "is_not_set", ``, false, true},

		{"country", "equals", `"de"`, true, false},
		{"country", "not_equals", `"DE"`, false, true},
		{"country", "not_in", `["AT"]`, true, true},
		{"custom_fields.country", "in", `["at","de"]`, true, false},
		{"custom_fields.enum", "equals", `"pro"`, true, false},
		{"custom_fields.enum", "equals", `"Pro"`, false, false},
		{"custom_fields.timezone", "not_in", `["Europe/Berlin"]`, false, true},
		{"global_status", "in", `["active"]`, true, false},
		{"stage", "equals", `"lead"`, true, false},
		{"stage", "not_in", `["buyer"]`, true, true},
		{"stage", "is_not_set", ``, false, true},
		{"stage_id", "in", `["lead","buyer"]`, true, false},

		{"custom_fields.date", "on", `"2024-02-29"`, true, false},
		{"custom_fields.date", "not_on", `"2024-02-29"`, false, true},
		{"custom_fields.date", "before", `"2024-02-29"`, false, false},
		{"custom_fields.date", "before", `"2024-03-01T00:00:00Z"`, true, false},
		{"custom_fields.date", "after", `"2024-02-28"`, true, false},
		{"custom_fields.date", "on_or_before", `"2024-02-29"`, true, false},
		{"custom_fields.date", "on_or_after", `"2024-02-29"`, true, false},
		{"custom_fields.date", "between", `["2024-02-29","2024-02-29"]`, true, false},
		{"custom_fields.date", "in_the_last", `{"amount":3,"unit":"years"}`, true, false},
		{"custom_fields.date", "not_in_the_last", `{"amount":3,"unit":"years"}`, false, true},
		{"custom_fields.date", "in_the_next", `{"amount":3,"unit":"years"}`, false, false},
		{"custom_fields.date", "more_than_ago", `{"amount":2,"unit":"years"}`, true, false},
		{"custom_fields.date", "anniversary_in_next", `{"amount":3,"unit":"months"}`, false, false},
		{"custom_fields.date", "anniversary_in_next", `{"amount":4,"unit":"months"}`, true, false},
		{"custom_fields.date", "is_set", ``, true, false},
		{"custom_fields.date", "is_not_set", ``, false, true},

		// 00:30 on the 21st, in the account's time zone.
		{"custom_fields.datetime", "on", `"2026-11-21"`, true, false},
		{"custom_fields.datetime", "on", `"2026-11-20T23:30:00Z"`, true, false},
		{"custom_fields.datetime", "not_on", `"2026-11-21"`, false, true},
		{"custom_fields.datetime", "before", `"2026-11-21"`, false, false},
		{"custom_fields.datetime", "after", `"2026-11-20"`, true, false},
		{"custom_fields.datetime", "after", `"2026-11-20T23:30:00Z"`, false, false},
		{"custom_fields.datetime", "on_or_after", `"2026-11-20T23:30:00Z"`, true, false},
		{"custom_fields.datetime", "on_or_before", `"2026-11-20T23:29:59.999Z"`, false, false},
		{"custom_fields.datetime", "between", `["2026-11-01","2026-11-21"]`, true, false},
		{"custom_fields.datetime", "in_the_last", `{"amount":12,"unit":"hour"}`, false, false},
		{"custom_fields.datetime", "in_the_last", `{"amount":13,"unit":"hour"}`, true, false},
		{"custom_fields.datetime", "more_than_ago", `{"amount":12,"unit":"hours"}`, true, false},
		{"custom_fields.datetime", "not_in_the_last", `{"amount":1,"unit":"day"}`, false, true},
		{"created_at", "in_the_last", `{"amount":40,"unit":"day"}`, true, false},
		{"created_at", "in_the_last", `{"amount":39,"unit":"day"}`, false, false},
		{"created_at", "more_than_ago", `{"amount":39,"unit":"day"}`, true, true}, // the zero time is long ago
		{"last_email_sent_at", "in_the_last", `{"amount":1,"unit":"hour"}`, true, false},
		{"last_email_sent_at", "is_not_set", ``, false, true},

		{"custom_fields.time", "equals", `"09:30:00"`, true, false},
		{"custom_fields.time", "before", `"09:30:01"`, true, false},
		{"custom_fields.time", "after", `"09:30"`, false, false},
		{"custom_fields.time", "between", `["09:30","10:00"]`, true, false},
		{"custom_fields.time", "between", `["22:00","09:30"]`, true, false},
		{"custom_fields.time", "between", `["22:00","09:00"]`, false, false},
		{"custom_fields.time", "is_set", ``, true, false},
		{"custom_fields.time", "is_not_set", ``, false, true},

		{"tags", "has_any", `["x","vip"]`, true, false},
		{"tags", "has_any", `["VIP"]`, false, false},
		{"tags", "has_all", `["new","vip"]`, true, false},
		{"tags", "has_all", `["x","vip"]`, false, false},
		{"tags", "has_none", `["vip"]`, false, true},
		{"tags", "has_none", `["x"]`, true, true},
		{"tags", "is_set", ``, true, false},
		{"tags", "is_not_set", ``, false, true},
		{"custom_fields.tags", "has_all", `["a","b"]`, true, false},
		{"custom_fields.tags", "has_none", `["c"]`, true, true},

		{"custom_fields.contact", "equals", `"` + someID + `"`, true, false},
		{"custom_fields.contact", "not_equals", `"` + someID + `"`, false, true},
		{"custom_fields.contact", "is_set", ``, true, false},

		{"subscriptions.offers", "subscribed", ``, false, true},
		{"subscriptions.offers", "unsubscribed", ``, true, false},
		{"subscriptions.digest", "unsubscribed", ``, true, false}, // its category decides
		{"category_subscriptions." + news.String(), "subscribed", ``, false, true},
		{"mx_record", "ends_with", `"example.org"`, true, true},
		{"smtp_provider", "equals", `"other"`, true, true},
	} {
		value := ""
		if tt.value != "" {
			value = `,"value":` + tt.value
		}
		leaf := fmt.Sprintf(`{"field":%q,"operator":%q%s}`, tt.field, tt.operator, value)
		if got := holds(t, env, leaf, full); got != tt.set {
			t.Errorf("%s holds for the contact with a value: %t, want %t", leaf, got, tt.set)
		}
		if got := holds(t, env, leaf, contact.Contact{CustomFields: map[string]any{"string": ""}}); got != tt.unset {
			t.Errorf("%s holds for the contact without: %t, want %t", leaf, got, tt.unset)
		}
	}
}

// The boundaries of days follow the account's time zone.
func TestRelativeDates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone, now, leaf string
		created         string
		want            bool
	}{
		// Clocks go forward on 29 March 2026 in Berlin; that day has 23 hours.
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"in_the_last","value":{"amount":1,"unit":"day"}`, "2026-03-28T23:00:00Z", true},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"in_the_last","value":{"amount":1,"unit":"day"}`, "2026-03-28T22:59:59.999999Z", false},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"more_than_ago","value":{"amount":1,"unit":"day"}`, "2026-03-28T22:59:59.999999Z", true},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"in_the_last","value":{"amount":24,"unit":"hour"}`, "2026-03-29T09:59:59Z", false},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"on","value":"2026-03-29"`, "2026-03-29T21:59:59Z", true},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"on","value":"2026-03-29"`, "2026-03-29T22:00:00Z", false},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"before","value":"2026-03-29"`, "2026-03-28T22:59:59Z", true},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"after","value":"2026-03-29"`, "2026-03-29T22:00:00Z", true},
		{"Europe/Berlin", "2026-03-30T10:00:00Z", `"between","value":["2026-03-28","2026-03-29"]`, "2026-03-29T21:59:59Z", true},
		// In Havana midnight itself is skipped: that day begins at 01:00.
		{"America/Havana", "2026-03-08T20:00:00Z", `"on","value":"2026-03-08"`, "2026-03-08T05:00:00Z", true},
		{"America/Havana", "2026-03-08T20:00:00Z", `"on","value":"2026-03-07"`, "2026-03-08T04:59:59Z", true},
		// Months and years end at their last day.
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_last","value":{"amount":1,"unit":"month"}`, "2026-02-28T00:00:00Z", true},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_last","value":{"amount":1,"unit":"month"}`, "2026-02-27T23:59:59Z", false},
		{"UTC", "2024-02-29T12:00:00Z", `"in_the_last","value":{"amount":1,"unit":"year"}`, "2023-02-28T00:00:00Z", true},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_last","value":{"amount":1,"unit":"week"}`, "2026-03-24T00:00:00Z", true},
		// Up to now, and from now on.
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_last","value":{"amount":1,"unit":"day"}`, "2026-03-31T12:00:00Z", true},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_last","value":{"amount":1,"unit":"day"}`, "2026-03-31T12:00:01Z", false},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_next","value":{"amount":1,"unit":"day"}`, "2026-04-01T23:59:59Z", true},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_next","value":{"amount":1,"unit":"day"}`, "2026-03-31T11:59:59Z", false},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_next","value":{"amount":2,"unit":"hour"}`, "2026-03-31T14:00:01Z", false},
		// Anniversaries require an earlier year; that of 29 February is on the 28th in other years.
		{"UTC", "2026-12-20T12:00:00Z", `"anniversary_in_next","value":{"amount":3,"unit":"week"}`, "2019-01-10T23:00:00Z", true},
		{"UTC", "2026-12-20T12:00:00Z", `"anniversary_in_next","value":{"amount":3,"unit":"week"}`, "2019-01-11T00:00:00Z", false},
		{"UTC", "2026-12-20T12:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"day"}`, "2026-12-20T11:00:00Z", false},
		{"UTC", "2026-12-20T12:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"day"}`, "2025-12-20T11:00:00Z", true},
		{"UTC", "2027-02-27T12:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"day"}`, "2024-02-29T11:00:00Z", true},
		{"UTC", "2028-02-27T12:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"day"}`, "2024-02-29T11:00:00Z", false},
		{"UTC", "2028-02-27T12:00:00Z", `"anniversary_in_next","value":{"amount":2,"unit":"day"}`, "2024-02-29T11:00:00Z", true},
		{"UTC", "2027-03-01T12:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"week"}`, "2024-02-29T11:00:00Z", false},
		{"UTC", "2027-03-01T12:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"year"}`, "2024-02-29T11:00:00Z", true},
		{"Asia/Kolkata", "2026-11-20T20:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"hour"}`, "2020-11-20T18:30:00Z", true},
		{"Asia/Kolkata", "2026-11-20T20:00:00Z", `"anniversary_in_next","value":{"amount":1,"unit":"hour"}`, "2020-11-20T18:29:59Z", false},
		// Far away.
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_last","value":{"amount":100000,"unit":"year"}`, "2026-03-31T11:00:00Z", true},
		{"UTC", "2026-03-31T12:00:00Z", `"in_the_next","value":{"amount":100000,"unit":"year"}`, "2026-03-31T13:00:00Z", true},
	} {
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		when := func(s string) time.Time {
			at, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		env := rule.Env{Now: when(tt.now), Schema: whole()}
		env.Zone = zone
		created := when(tt.created)
		if got := holds(t, env, `{"field":"created_at","operator":`+tt.leaf+`}`, contact.Contact{CreatedAt: created}); got != tt.want {
			t.Errorf("at %s in %s, created_at %s holds for %s: %t, want %t", tt.now, tt.zone, tt.leaf, tt.created, got, tt.want)
		}
		text := created.UTC().Truncate(time.Millisecond).Format(stamp)
		if text != created.UTC().Format("2006-01-02T15:04:05.999999Z") && created.Nanosecond()%1e6 != 0 {
			continue // finer than such a field holds
		}
		c := contact.Contact{CustomFields: map[string]any{"datetime": text}}
		if got := holds(t, env, `{"field":"custom_fields.datetime","operator":`+tt.leaf+`}`, c); got != tt.want {
			t.Errorf("at %s in %s, custom_fields.datetime %s holds for %s: %t, want %t", tt.now, tt.zone, tt.leaf, text, got, tt.want)
		}
	}
}

// Segments refer to segments: each is evaluated by its rule, those that do not exist or are too
// deep are ignored.
func TestSegmentsWithinSegments(t *testing.T) {
	t.Parallel()
	parsed := map[string]rule.Tree{}
	env := rule.Env{Now: noon, Schema: schema()}
	env.Segments = func(key string) (rule.SegmentRule, bool) {
		tree, ok := parsed[key]
		return rule.SegmentRule{ID: idtest.Named[id.Segment](key), Key: key, Tree: tree}, ok
	}
	in := func(operator string, keys ...string) string {
		return `{"type":"segment","operator":"` + operator + `","segment_keys":` + encoded(keys) + `}`
	}
	define := func(key, leaf string) {
		tree, err := rule.Decode(one(leaf), env.Schema)
		if err != nil {
			t.Fatal(err)
		}
		parsed[key] = tree
	}
	define("german", `{"field":"country","operator":"is","value":"DE"}`)
	define("anna", `{"field":"first_name","operator":"is","value":"Anna"}`)
	define("both", in("in", "german")+","+in("in", "anna"))
	define("neither", in("not_in", "german", "anna"))
	define("circle", in("in", "circle"))
	define("deep1", in("in", "german"))
	for n := 2; n <= 6; n++ {
		define(fmt.Sprintf("deep%d", n), in("in", fmt.Sprintf("deep%d", n-1)))
	}
	// Wide has a hundred leaves that each refer to a segment like it, and so on.
	define("wide0", `{"field":"city","operator":"is_set"}`)
	for n := 1; n <= 5; n++ {
		leaf := in("in", fmt.Sprintf("wide%d", n-1))
		var leaves strings.Builder
		leaves.WriteString(leaf)
		for range 99 {
			leaves.WriteString("," + leaf)
		}
		define(fmt.Sprintf("wide%d", n), leaves.String())
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSampleAt(noon)
		stages(t, db)
		var ids []id.Contact
		for n := range 4 {
			ids = append(ids, s.insert(t, db, acme, n))
		}
		slices.SortFunc(ids, id.Compare)
		for i, c := range []struct{ country, name string }{{"DE", "Anna"}, {"DE", "Bob"}, {"AT", "anna"}, {"AT", "Bob"}} {
			if _, err := db.Exec(t.Context(), `UPDATE contact SET country = $3, first_name = $4 WHERE tenant_id = $1 AND id = $2`, acme, ids[i], c.country, c.name); err != nil {
				t.Fatal(err)
			}
		}
		subjects, err := rule.Load(t.Context(), db, acme, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ leaf, want string }{
			{in("in", "german"), "[0 1]"},
			{in("in", "german", "anna"), "[0 1 2]"},
			{in("not_in", "german", "anna"), "[3]"},
			{in("in", "both"), "[0]"},
			{in("in", "neither"), "[3]"},
			{in("not_in", "neither", "both"), "[1 2]"},
			{in("in", "gone"), "[]"},
			{in("not_in", "gone"), "[0 1 2 3]"},
			{in("in", "gone", "german"), "[0 1]"},
			{in("in", "circle"), "[]"},
			{in("in", "deep4"), "[0 1]"},
			{in("in", "deep6"), "[]"},
		} {
			tree, err := rule.Decode(one(tt.leaf), env.Schema)
			if err != nil {
				t.Fatal(err)
			}
			var matched, chosen = []int{}, []int{}
			for i, sub := range subjects {
				if tree.Match(env, sub) {
					matched = append(matched, i)
				}
			}
			for _, c := range selected(t, db, t.Context(), tree, env) {
				for i := range ids {
					if ids[i] == c {
						chosen = append(chosen, i)
					}
				}
			}
			if fmt.Sprint(matched) != tt.want || fmt.Sprint(chosen) != tt.want {
				t.Errorf("%s matches %v and selects %v, want %s", tt.leaf, matched, chosen, tt.want)
			}
		}
		tree, err := rule.Decode(one(in("in", "wide5")), env.Schema)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tree.Condition(db, env)
		if list, _ := problems(t, err, rule.ErrInvalidDefinition); len(list) != 1 {
			t.Errorf("a rule that is a hundred to the fifth large: %q", list)
		}
		for _, sub := range subjects { // each segment is evaluated once per contact
			tree.Match(env, sub)
		}
	})
}
