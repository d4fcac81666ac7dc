package journal_test

import (
	"encoding/json"
	"testing"
	"time"

	"packetboat/internal/journal"
)

func decoded(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestPropertiesAreComparedAsWhatIsFound(t *testing.T) {
	t.Parallel()
	const order = `{"order_id": "A-1", "value": 49.9, "gift": true, "note": "", "gone": null, "placed": "2026-11-20T23:30:00Z",
		"day": "2026-11-21", "items": [{"sku": "TEE", "qty": 2}, {"sku": "Mug"}], "tags": ["New", "VIP"], "ship": {"to": {"country": "NL"}}}`
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, operator, value string
		want                  bool
	}{
		{"order_id", "equals", `"a-1"`, true},
		{"order_id", "is", `"a-1"`, true},
		{"order_id", "not_equals", `"a-1"`, false},
		{"order_id", "starts_with", `"a"`, true},
		{"order_id", "ends_with", `"A"`, false},
		{"order_id", "contains", `"-"`, true},
		{"order_id", "in", `["x", "A-1"]`, true},
		{"order_id", "greater_than", `1`, false},
		{"nothing", "not_equals", `"a"`, true},
		{"nothing", "equals", `"a"`, false},
		{"nothing", "is_not_set", `null`, true},
		{"note", "is_set", `null`, false},
		{"gone", "is_set", `null`, false},
		{"value", "gt", `49`, true},
		{"value", "between", `[49.9, 50]`, true},
		{"value", "less_than", `49.9`, false},
		{"value", "equals", `"49.9"`, false},
		{"value", "not_in", `[1, 2]`, true},
		{"gift", "is_true", `null`, true},
		{"gift", "equals", `false`, false},
		{"gift", "not_equals", `false`, true},
		{"items[].sku", "equals", `"mug"`, true},
		{"items[].sku", "not_equals", `"mug"`, false},
		{"items[].qty", "greater_or_equal", `2`, true},
		{"items.sku", "is_set", `null`, false},
		{"tags", "equals", `"vip"`, true},
		{"tags[]", "starts_with", `"ne"`, true},
		{"ship.to.country", "in", `["DE", "nl"]`, true},
		{"ship.to", "is_set", `null`, true},
		{"placed", "on", `"2026-11-21"`, true}, // half past midnight in Berlin
		{"placed", "before", `"2026-11-21"`, false},
		{"placed", "on_or_before", `"2026-11-20T23:30:00Z"`, true},
		{"placed", "after", `"2026-11-20"`, true},
		{"placed", "between", `["2026-11-21", "2026-11-22"]`, true},
		{"placed", "in_the_last", `{"amount": 1, "unit": "days"}`, true},
		{"placed", "in_the_last", `{"amount": 2, "unit": "hour"}`, false},
		{"placed", "not_in_the_last", `{"amount": 2, "unit": "hour"}`, true},
		{"day", "in_the_next", `{"amount": 1, "unit": "week"}`, true},
		{"day", "more_than_ago", `{"amount": 1, "unit": "day"}`, false},
		{"day", "anniversary_in_next", `{"amount": 1, "unit": "day"}`, true},
		{"order_id", "on", `"2026-11-21"`, false},
	} {
		p, at, err := journal.Property{Path: tt.path, Operator: tt.operator, Value: decoded(t, tt.value)}.Checked()
		if err != nil {
			t.Errorf("%s %s %s: %s %v", tt.path, tt.operator, tt.value, at, err)
			continue
		}
		if got := p.Holds(decoded(t, order).(map[string]any), noon, berlin); got != tt.want {
			t.Errorf("%s %s %s = %v, want %v", tt.path, tt.operator, tt.value, got, tt.want)
		}
		if again, _, err := p.Checked(); err != nil || again.Operator != p.Operator {
			t.Errorf("%+v is not canonical: %+v, %v", p, again, err)
		}
	}
}

func TestWrongPropertyTestsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, operator, value, at string }{
		{"", "equals", `"a"`, "property"},
		{"a..b", "equals", `"a"`, "property"},
		{"a[0]", "equals", `"a"`, "property"},
		{"a.b.c.d.e.f.g.h.i", "is_set", `null`, "property"},
		{"a\x00", "is_set", `null`, "property"},
		{"a", "matches", `"a"`, "operator"},
		{"a", "", `"a"`, "operator"},
		{"a", "equals", `{"x": 1}`, "value"},
		{"a", "equals", `null`, "value"},
		{"a", "contains", `5`, "value"},
		{"a", "in", `[]`, "value"},
		{"a", "in", `[[1]]`, "value"},
		{"a", "greater_than", `"5"`, "value"},
		{"a", "between", `[1, "2026-01-01"]`, "value"},
		{"a", "between", `[1]`, "value"},
		{"a", "on", `"soon"`, "value"},
		{"a", "in_the_last", `{"amount": 1.5, "unit": "day"}`, "value"},
		{"a", "in_the_last", `{"amount": 1, "unit": "lustrum"}`, "value"},
	} {
		_, at, err := journal.Property{Path: tt.path, Operator: tt.operator, Value: decoded(t, tt.value)}.Checked()
		if err == nil || at != tt.at {
			t.Errorf("%q %q %s: refused at %q with %v, want at %q", tt.path, tt.operator, tt.value, at, err, tt.at)
		}
	}
}

func FuzzProperty(f *testing.F) {
	f.Add("items[].sku", "equals", `"a"`, `{"items": [{"sku": "A"}]}`)
	f.Add("a.b", "between", `["2026-01-01", "2026-02-01T10:00:00Z"]`, `{"a": {"b": "2026-01-15"}}`)
	f.Add("d", "in_the_last", `{"amount": 3, "unit": "months"}`, `{"d": "2026-11-01"}`)
	f.Fuzz(func(t *testing.T, path, operator, value, properties string) {
		var v any
		var in map[string]any
		if json.Unmarshal([]byte(value), &v) != nil || json.Unmarshal([]byte(properties), &in) != nil {
			return
		}
		p, _, err := journal.Property{Path: path, Operator: operator, Value: v}.Checked()
		if err != nil {
			return
		}
		held := p.Holds(in, noon, time.UTC)
		again, _, err := p.Checked()
		if err != nil || again.Holds(in, noon, time.UTC) != held {
			t.Errorf("%+v means something else once checked again: %+v, %v", p, again, err)
		}
	})
}
