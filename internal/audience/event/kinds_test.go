package event

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decode decodes properties as they arrive: with numbers as sent.
func decode(text string) (map[string]any, error) {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&m)
	return m, err
}

func TestKnownPropertiesAreFoundUnderOtherNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, given, added string
		warnings           []string
	}{
		{"logged_in", `{"orderId": 1}`, `{}`, nil},
		{"nonsense", `{"orderId": "1", "value": "5"}`, `{}`, []string{`unknown activity type "nonsense"`}},
		{
			"order_placed", `{"orderId": "A1", "total": "9.50", "currencyCode": "eur", "line_items": []}`,
			`{"order_id": "A1", "value": 9.50, "currency": "EUR", "items": []}`, nil,
		},
		{"order_placed", `{"id": 7, "amount": 1, "revenue": 2, "products": [], "currency": "usd"}`, `{"order_id": 7, "value": 1, "items": [], "currency": "USD"}`, nil},
		{
			"order_placed", `{"order_id": null, "id": "x", "value": "much", "total": 5, "currency": 7, "items": {}}`, `{}`,
			[]string{
				`missing recommended property "order_id" for type "order_placed"`, `property "value" for type "order_placed" should be a number`,
				`property "currency" for type "order_placed" should be a string`, `property "items" for type "order_placed" should be an array`,
			},
		},
		{
			"product_viewed", `{"sku": "s", "productName": "Mug", "price": "3", "href": "https://x/", "currency": "EUR"}`,
			`{"product_id": "s", "name": "Mug", "price": 3, "url": "https://x/"}`, nil,
		},
		{"page_viewed", `{"pageURL": "u", "pageTitle": "t", "referrer": "r"}`, `{"url": "u", "title": "t"}`, nil},
		{"review_submitted", `{"id": "r", "sku": "s", "rating": "5"}`, `{}`, []string{
			`property "rating" for type "review_submitted" should be a number`, `missing recommended property "product_id" for type "review_submitted"`,
		}},
		{"trial_started", `{"tier": "pro", "trialEndsAt": "tomorrow"}`, `{"plan": "pro", "trial_ends_at": "tomorrow"}`, []string{`property "trial_ends_at" for type "trial_started" should be a date-time`}},
		{"trial_started", `{"plan": "pro", "trial_ends_at": "2026-03-01 09:30"}`, `{}`, nil},
		{"trial_started", `{"plan": "pro", "trial_ends_at": "2026-03-01"}`, `{}`, nil},
		{"trial_started", `{"plan": "pro", "trial_ends_at": "20260301T0930Z"}`, `{}`, []string{`property "trial_ends_at" for type "trial_started" should be a date-time`}},
		{"cart_updated", `{"cartId": "1", "cart_id": "2", "value": 1, "currency": "EUR", "items": []}`, `{}`, nil},
		{"subscription_renewed", `{"planName": "a", "plan_name": "b", "value": " 12 ", "currency": "EUR"}`, `{"plan": "b", "value": 12}`, nil},
	} {
		given, err := decode(tt.given)
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode(tt.added)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range given {
			if _, replaced := want[name]; !replaced {
				want[name] = v
			}
		}
		got, _, warnings := normalize(tt.kind, given)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.kind, tt.given, diff)
		}
		if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
			t.Errorf("warnings of %s %s (-want +got):\n%s", tt.kind, tt.given, diff)
		}
	}
}

// Normalising adds names, keeps the other ones, and a second time changes nothing.
func FuzzNormalize(f *testing.F) {
	f.Add("order_placed", `{"orderId": "A1", "total": "9.50", "currencyCode": "eur", "line_items": [{"sku": 1}]}`)
	f.Add("product_viewed", `{"ID": 1, "iD": 2, "Id": 3, "title": "x", "price": "1e999", "currency": "ǆ"}`)
	f.Add("signed_up", `{"": null, "_": 1, "aA": {"bB": [1e-20000, 1e5]}, "\ud800": "\u0000"}`)
	f.Fuzz(func(t *testing.T, kind, text string) {
		given, err := decode(text)
		if err != nil {
			return
		}
		before := maps.Clone(given)
		first, _, warnings := normalize(kind, given)
		if !reflect.DeepEqual(before, given) {
			t.Fatalf("the argument changed to %v", given)
		}
		for name, v := range given {
			if !slices.Contains([]string{"value", "price", "currency"}, name) && !reflect.DeepEqual(first[name], v) {
				t.Errorf("%q became %v", name, first[name])
			}
		}
		second, changed, again := normalize(kind, first)
		if !reflect.DeepEqual(second, first) || changed || !slices.Equal(warnings, again) {
			t.Errorf("%v became %v, then %v; warnings %q and %q", given, first, second, warnings, again)
		}
	})
}

// What is encoded is the same JSON, or not stored at all.
func FuzzEncode(f *testing.F) {
	f.Add(`{"a": [1, 2.50, "<é\" \t", null, true, {"b": {}}], "n": 123456789012345678901234567890, "e": 1e5}`)
	f.Add(`{"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		given, err := decode(text)
		if err != nil {
			return
		}
		b, err := appendObject(nil, given, 1)
		if err != nil {
			return
		}
		var want, got map[string]any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			return // a number that no float64 can represent
		}
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(want, got) && len(want)+len(got) > 0 {
			t.Errorf("%s was encoded as %s, %v", text, b, err)
		}
		paths := map[string][]string{}
		addPaths(paths, "", got)
		if len(paths) > maxEventPaths {
			t.Errorf("%d paths", len(paths))
		}
	})
}
