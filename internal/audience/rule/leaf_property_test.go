package rule_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// filtered is a leaf about events that pass a filter, as JSON.
func filtered(filters ...map[string]any) string {
	return encoded(map[string]any{"logic": "and", "conditions": []any{
		map[string]any{"type": "event", "operator": "did", "filters": filters},
	}})
}

func TestPropertiesAreComparedByTheirType(t *testing.T) {
	t.Parallel()
	const order = `{"order_id": "A-1", "value": 49.9, "gift": true, "note": "", "gone": null, "placed": "2026-11-20T23:30:00Z",
		"day": "2026-11-21", "born": "1980-11-22", "leap": "2024-02-29", "items": [{"sku": "TEE", "qty": 2}, {"sku": "Müg"}],
		"tags": ["New", "VIP"], "ship": {"to": {"country": "NL"}}, "five": "5", "odd \"name' $": 1}`
	var properties map[string]any
	if err := json.Unmarshal([]byte(order), &properties); err != nil {
		t.Fatal(err)
	}
	env := historyEnv(noon, loadZone(t, "Europe/Berlin"))
	table := []struct {
		path, operator, value string
		want                  bool
	}{
		{"order_id", "equals", `"a-1"`, true},
		{"order_id", "is", `"a-1"`, true},
		{"order_id", "not_equals", `"a-1"`, false},
		{"order_id", "starts_with", `"a"`, true},
		{"order_id", "ends_with", `"A"`, false},
		{"order_id", "contains", `"-"`, true},
		{"order_id", "contains", `"_"`, false},
		{"order_id", "in", `["x", "A-1"]`, true},
		{"order_id", "in", `["x", 1, true]`, false},
		{"order_id", "greater_than", `1`, false},
		{"nothing", "not_equals", `"a"`, true},
		{"nothing", "equals", `"a"`, false},
		{"nothing", "is_not_set", `null`, true},
		{"nothing", "not_in_the_last", `{"amount": 2, "unit": "hour"}`, true},
		{"note", "is_set", `null`, false},
		{"gone", "is_set", `null`, false},
		{"value", "gt", `49`, true},
		{"value", "between", `[49.9, 50]`, true},
		{"value", "less_than", `49.9`, false},
		{"value", "less_or_equal", `49.9`, true},
		{"value", "equals", `"49.9"`, false},
		{"value", "in", `["49.9", 49.9]`, true},
		{"value", "not_in", `[1, 2]`, true},
		{"value", "contains", `"49"`, false},
		{"five", "equals", `5`, false},
		{"five", "greater_than", `1`, false},
		{"gift", "is_true", `null`, true},
		{"gift", "is_false", `null`, false},
		{"gift", "equals", `false`, false},
		{"gift", "not_equals", `false`, true},
		{"gift", "equals", `"true"`, false},
		{"items[].sku", "equals", `"MÜG"`, true},
		{"items[].sku", "not_equals", `"müg"`, false},
		{"items[].sku", "starts_with", `"mÜ"`, true},
		{"items[].qty", "greater_or_equal", `2`, true},
		{"items.sku", "is_set", `null`, false},
		{"items", "is_set", `null`, true},
		{"tags", "equals", `"vip"`, true},
		{"tags[]", "starts_with", `"ne"`, true},
		{"ship.to.country", "in", `["DE", "nl"]`, true},
		{"ship.to", "is_set", `null`, true},
		{"odd \"name' $", "equals", `1`, true},
		{"placed", "on", `"2026-11-21"`, true}, // half past midnight in Berlin
		{"placed", "before", `"2026-11-21"`, false},
		{"placed", "on_or_before", `"2026-11-20T23:30:00Z"`, true},
		{"placed", "after", `"2026-11-20"`, true},
		{"placed", "between", `["2026-11-21", "2026-11-22"]`, true},
		{"placed", "in_the_last", `{"amount": 1, "unit": "days"}`, true},
		{"placed", "in_the_last", `{"amount": 2, "unit": "hour"}`, false},
		{"placed", "not_in_the_last", `{"amount": 2, "unit": "hour"}`, true},
		{"placed", "equals", `"2026-11-20t23:30:00z"`, true}, // as a text
		{"day", "on", `"2026-11-21"`, true},
		{"day", "in_the_next", `{"amount": 1, "unit": "week"}`, true},
		{"day", "more_than_ago", `{"amount": 1, "unit": "day"}`, false},
		{"day", "anniversary_in_next", `{"amount": 1, "unit": "day"}`, false}, // that day is the anniversary
		{"born", "anniversary_in_next", `{"amount": 1, "unit": "day"}`, true},
		{"born", "anniversary_in_next", `{"amount": 1, "unit": "hour"}`, false},
		{"leap", "before", `"2024-03-01"`, true},
		{"order_id", "on", `"2026-11-21"`, false},
		{"order_id", "not_on", `"2026-11-21"`, true},
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		p := newHistory()
		ann := p.addPerson("ann")
		p.addEvent(ann, journal.CustomEvent, "order_placed", noon, properties)
		p.write(t, db)
		subjects := p.load(t, db)
		for _, tt := range table {
			var value any
			if err := json.Unmarshal([]byte(tt.value), &value); err != nil {
				t.Fatal(err)
			}
			text := filtered(map[string]any{"property": tt.path, "operator": tt.operator, "value": value})
			tree, err := rule.Reparse([]byte(text), env.Schema)
			if err != nil {
				t.Errorf("%s %s %s: %v", tt.path, tt.operator, tt.value, err)
				continue
			}
			if got := p.inSQL(t, db, tree, env)[ann]; got != tt.want {
				t.Errorf("%s %s %s in SQL = %v, want %v", tt.path, tt.operator, tt.value, got, tt.want)
			}
			if got := p.inMemory(t, subjects, tree, env)[ann]; got != tt.want {
				t.Errorf("%s %s %s in memory = %v, want %v", tt.path, tt.operator, tt.value, got, tt.want)
			}
		}
	})
}

func TestSQLAgreesWithMatchOnProperties(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sample{rand.New(rand.NewPCG(13, 17)), time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC), nil}
		p := newHistory()
		for n := range 200 {
			s.zone = loadZone(t, zones[n%len(zones)])
			p.addEvent(p.addPerson(string(rune('a'+n))), journal.CustomEvent, "order_placed", s.now, map[string]any{
				"v": s.property(2), "w": s.property(0), "items": []any{map[string]any{"sku": s.property(0)}, s.property(1)},
			})
		}
		p.write(t, db)
		p.checkAgreement(t, db, s.now, []time.Duration{0, -10 * time.Hour, 12 * time.Hour}, func(s sample) string {
			return filtered(s.filter())
		})
	})
}
