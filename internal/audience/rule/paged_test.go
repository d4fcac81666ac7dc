package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// What a page of contacts did is looked up by contact, whatever the planner knows of the rows: by a time or a name,
// the rows of all contacts would be read for each one of the page.
func TestPagesAreLookedUpByContact(t *testing.T) {
	t.Parallel()
	env := rule.Env{Now: noon, Schema: whole(), Paged: true}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if db.Distributed() {
			t.Skip("a cluster cannot plan the subquery of a contact")
		}
		for leaf, index := range map[string]string{
			`{"type":"event","event_name":"order_placed","operator":"did","window":{"in_the_last":{"amount":7,"unit":"days"}}}`:                                                "journal_contact",
			`{"type":"event","event_name":"order_placed","operator":"did","count":{"operator":"at_least","value":3}}`:                                                          "journal_contact",
			`{"type":"event","event_name":"order_placed","operator":"did_not"}`:                                                                                                "journal_contact",
			`{"type":"event_sequence","first":{"event_name":"cart_filled"},"then":{"event_name":"order_placed"},"within":{"amount":2,"unit":"day"},"operator":"not_followed"}`: "journal_contact",
			`{"type":"page_view","url":"https://shop.example/cart","operator":"did","window":{"in_the_last":{"amount":1,"unit":"days"}}}`:                                      "journal_contact",
			`{"type":"email","event":"clicked","operator":"did","window":{"in_the_last":{"amount":30,"unit":"days"}}}`:                                                         "hit_contact",
			`{"type":"email","event":"delivered","operator":"did","window":{"in_the_last":{"amount":3,"unit":"days"}}}`:                                                        "outbox_recipient",
			`{"type":"email","event":"opened","operator":"did","count":{"operator":"at_most","value":2},"window":{"in_the_last":{"amount":2,"unit":"hours"}}}`:                 "hit_contact",
		} {
			text, args := selection(t, db, one(leaf), env)
			if plan := planOf(t, db, text, args); !strings.Contains(plan, index) {
				t.Errorf("%s is not looked up by %s:\n%s", leaf, index, plan)
			}
		}
	})
}

// planOf returns the plan of a query.
func planOf(t *testing.T, db *sqldb.DB, text string, args []any) string {
	t.Helper()
	explain := `EXPLAIN QUERY PLAN `
	if db.Dialect() == sqldb.Postgres {
		explain = `EXPLAIN (COSTS OFF) `
	}
	rows, err := db.Query(t.Context(), explain+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, values[len(values)-1])
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
