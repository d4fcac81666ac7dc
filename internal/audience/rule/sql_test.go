package rule_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var update = flag.Bool("update", false, "update the golden files")

// The predicates that rules become, for review. An equality with a column remains one that its
// index can serve.
func TestPredicates(t *testing.T) {
	t.Parallel()
	rules := []string{
		`{"field":"country","operator":"in","value":["DE","AT"]}`,
		`{"field":"country","operator":"not_equals","value":"DE"}`,
		`{"field":"email_domain","operator":"equals","value":"example.org"}`,
		`{"field":"city","operator":"equals","value":"Bergen"}`,
		`{"field":"city","operator":"contains","value":"KÖL_"}`,
		`{"field":"city","operator":"contains","value":"köl"},{"logic":"or","conditions":[{"field":"city","operator":"not_equals","value":"Bergen"},{"field":"state","operator":"contains","value":"x"}]},{"field":"email","operator":"equals","value":"a@example.org"}`,
		`{"field":"city","operator":"is_set"}`,
		`{"field":"stage","operator":"equals","value":"lead"}`,
		`{"field":"created_at","operator":"in_the_last","value":{"amount":30,"unit":"day"}}`,
		`{"field":"last_email_sent_at","operator":"not_on","value":"2026-11-20"}`,
		`{"field":"total_emails_sent","operator":"between","value":[1,2.5]}`,
		`{"field":"tags","operator":"has_none","value":["a","b"]}`,
		`{"field":"do_not_contact","operator":"is_false"}`,
		`{"field":"first_touch_source","operator":"starts_with","value":"ads"}`,
		`{"field":"first_touch_at","operator":"after","value":"2026-11-20T10:00:00Z"}`,
		`{"field":"smtp_provider","operator":"is_not_set"}`,
		`{"field":"custom_fields.string","operator":"in","value":["a","b"]}`,
		`{"field":"custom_fields.enum","operator":"equals","value":"pro"}`,
		`{"field":"custom_fields.number","operator":"greater_than","value":75}`,
		`{"field":"custom_fields.boolean","operator":"is_true"}`,
		`{"field":"custom_fields.date","operator":"anniversary_in_next","value":{"amount":2,"unit":"month"}}`,
		`{"logic":"and","negate":true,"conditions":[{"field":"custom_fields.enum","operator":"is","value":"pro"},{"field":"city","operator":"is","value":"Bergen"}]}`,
		`{"field":"custom_fields.datetime","operator":"on_or_before","value":"2026-11-20"}`,
		`{"field":"custom_fields.time","operator":"between","value":["22:00","06:00"]}`,
		`{"field":"custom_fields.tags","operator":"has_all","value":["a","b"]}`,
		`{"field":"subscriptions.digest","operator":"subscribed"}`,
		`{"logic":"or","negate":true,"conditions":[{"field":"state","operator":"is","value":"x"},{"logic":"and","conditions":[{"field":"do_not_contact","operator":"is_true"},{"field":"country","operator":"is","value":"DE"}]}]}`,
		`{"type":"list","operator":"in","segment_keys":["vip"]}`,
		`{"type":"segment","operator":"not_in","segment_keys":["german"]}`,
		`{"type":"event","event_name":"order_placed","operator":"did","count":{"operator":"at_least","value":2},"window":{"in_the_last":{"amount":90,"unit":"day"}}}`,
		`{"type":"email","event":"opened","operator":"did_not","window":{"in_the_last":{"amount":180,"unit":"day"}}}`,
		`{"type":"suppression","operator":"not_listed"}`,
		`{"type":"event_sequence","operator":"followed","first":{"event_name":"cart_updated"},"then":{"event_name":"order_placed"},"within":{"amount":2,"unit":"day"}}`,
		`{"type":"event_sequence","operator":"not_followed","first":{"event_name":"cart_updated","filters":[{"property":"value","operator":"greater_than","value":50}]},"then":{"event_name":"order_placed"},"within":{"amount":2,"unit":"day"},"window":{"in_the_last":{"amount":30,"unit":"day"}}}`,
	}
	env := rule.Env{Now: noon, Schema: whole()}
	german, err := rule.ParseDefinition(one(rules[0]), env.Schema)
	if err != nil {
		t.Fatal(err)
	}
	env.Segments = func(key string) (rule.SegmentRule, bool) {
		s, ok := segments(key)
		s.Tree = german
		return s, ok
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var out strings.Builder
		for _, r := range rules {
			tree, err := rule.ParseDefinition(one(r), env.Schema)
			if err != nil {
				t.Fatalf("%s: %v", r, err)
			}
			c, err := tree.Condition(db, env)
			if err != nil {
				t.Fatal(err)
			}
			args := []any{}
			text := c.Text(func(v any) string {
				args = append(args, v)
				return fmt.Sprintf("$%d", len(args)+1)
			})
			text, _, _ = strings.Cut(text, "/*") // without hints
			fmt.Fprintf(&out, "%s\n  %s\n  %v", r, strings.Join(strings.Fields(text), " "), listed(t, db, args))
			if c.Activity {
				out.WriteString(" activity")
			}
			out.WriteString("\n\n")
			selected(t, db, t.Context(), tree, env)
		}
		file := filepath.Join("testdata", "predicates."+db.Dialect().String()+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("predicates differ from %s; run with -update to rewrite it:\n%s", file, diff)
		}
	})
}

// listed returns parameters with lists of text expanded.
func listed(t *testing.T, db *sqldb.DB, args []any) []any {
	t.Helper()
	out := slices.Clone(args)
	for i, a := range args {
		if _, ok := a.(*sqldb.Table); !ok {
			continue
		}
		rows, err := db.Query(t.Context(), `SELECT c0 FROM rows_of($1)`, a)
		out[i], err = sqldb.Collect(rows, err, func(row func(...any) error) (text string, err error) { return text, row(&text) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Every accepted rule can be evaluated, whatever its size and values.
func TestAcceptedRulesCanBeEvaluated(t *testing.T) {
	t.Parallel()
	var letters strings.Builder // capitals of many alphabets
	for r := rune(0xC0); letters.Len() < 2*4000; r++ {
		letters.WriteRune(r)
	}
	many := func(n int, each func(i int) string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = each(i)
		}
		return strings.Join(list, ",")
	}
	repeat := func(n int, leaf string) string { return many(n, func(int) string { return leaf }) }
	value := func(field, operator, value string) string {
		return `{"field":` + encoded(field) + `,"operator":"` + operator + `","value":` + value + `}`
	}
	var rules []string
	for _, hostile := range []string{
		`'; DROP TABLE contact; --`, `%`, `_%\`, `\`, `(a+)+$`, `[[:alpha:]]*`, "\u2028", "\U0010FFFF", "\ufffd", `$1`, `?1`, `:x`, `/*`, `"`, "\x01", "\t\n",
		letters.String(), strings.Repeat(`\`, 4096), strings.Repeat("%", 4096), strings.Repeat("_", 4096), strings.Repeat("ü", 4096),
	} {
		for _, op := range []string{"equals", "contains", "starts_with", "ends_with"} {
			for _, f := range []string{"city", "email", "custom_fields.string", "first_touch_source", "mx_record"} {
				rules = append(rules, value(f, op, encoded(hostile)))
			}
		}
		rules = append(rules, value("tags", "has_any", encoded(hostile)), value("custom_fields.tags", "has_all", encoded(hostile)), value("custom_fields.enum", "in", encoded([]string{hostile})))
	}
	for _, n := range []string{"1e308", "-1e308", "5e-324", "9007199254740993", "1e22", "0.1"} {
		for _, f := range []string{"prospect_score", "total_emails_sent", "custom_fields.number"} {
			rules = append(rules, value(f, "greater_than", n), value(f, "in", "["+n+",1]"), value(f, "between", "["+n+","+n+"]"))
		}
	}
	for _, at := range []string{`"0001-01-01"`, `"9999-12-31"`, `"9999-12-31T23:59:59.999999Z"`, `"0001-01-01T00:00:00Z"`} {
		for _, f := range []string{"created_at", "custom_fields.date", "custom_fields.datetime", "first_touch_at", "last_activity_at"} {
			rules = append(rules, value(f, "on", at), value(f, "between", "["+at+","+at+"]"))
		}
	}
	for _, unit := range []string{"hour", "day", "week", "month", "year"} {
		for _, f := range []string{"created_at", "custom_fields.date", "custom_fields.datetime", "first_touch_at"} {
			for _, op := range []string{"in_the_last", "in_the_next", "more_than_ago", "anniversary_in_next"} {
				rules = append(rules, value(f, op, `{"amount":100000,"unit":"`+unit+`"}`))
			}
		}
	}
	onDay := repeat(12, `{"property":"a","operator":"on","value":"2026-01-01"}`)
	anniversary := value("custom_fields.datetime", "anniversary_in_next", `{"amount":2,"unit":"day"}`)
	rules = append(rules,
		value("city", "in", "["+many(1000, func(i int) string { return fmt.Sprintf(`"ü%d"`, i) })+"]"),
		value("prospect_score", "not_in", "["+many(1000, func(i int) string { return fmt.Sprint(i) })+"]"),
		value("tags", "has_all", "["+many(1000, func(i int) string { return fmt.Sprintf(`"%d"`, i) })+"]"),
		repeat(90, `{"type":"event","event_name":"x","operator":"did","filters":[`+onDay+`]}`),
		repeat(100, `{"type":"event_sequence","operator":"not_followed","first":{"event_name":"a"},"then":{"event_name":"b"},"within":{"amount":3650,"unit":"day"},"window":{"from":"0001-01-01","to":"9999-12-31"}}`),
		repeat(20, `{"type":"event_sequence","operator":"not_followed","first":{"event_name":"a","filters":[`+onDay+`]},"then":{"event_name":"b","filters":[`+onDay+`]},"within":{"amount":1,"unit":"hour"}}`),
		repeat(100, anniversary),
		repeat(100, value("created_at", "anniversary_in_next", `{"amount":2,"unit":"day"}`)),
		strings.Repeat(`{"logic":"or","negate":true,"conditions":[`+repeat(24, `{"field":"city","operator":"is_set"}`)+`,`, 3)+anniversary+strings.Repeat(`]}`, 3),
	)
	env := rule.Env{Now: noon, Schema: whole()}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSampleAt(noon)
		s.zone = time.UTC
		stages(t, db)
		for n := range 3 {
			s.insert(t, db, acme, n)
		}
		for _, r := range rules {
			tree, err := rule.ParseDefinition(one(r), env.Schema)
			if err != nil {
				t.Errorf("%.200s: %v", r, err)
				continue
			}
			selected(t, db, t.Context(), tree, env)
		}
	})
}

// A field's type determines its operators, so every type needs a kind.
func TestEveryFieldHasIsSet(t *testing.T) {
	t.Parallel()
	names := []string{"id", "tenant_id", "tags", "stage", "stage_id", "mx_record", "smtp_provider", "full_name", "last_activity_pending"}
	for _, typ := range field.Types() {
		names = append(names, "custom_fields."+string(typ))
	}
	names = append(names, contact.Sorts()...)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := rule.Env{Now: noon, Schema: whole()}
		for _, name := range names {
			for _, op := range []string{"is_set", "is_not_set"} {
				tree, err := rule.ParseFilters([]byte(`[{"field":"`+name+`","operator":"`+op+`"}]`), env.Schema)
				if err != nil {
					t.Errorf("%s %s: %v", name, op, err)
					continue
				}
				selected(t, db, t.Context(), tree, env)
			}
		}
	})
}
