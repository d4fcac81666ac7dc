package httpapi_test

import (
	"strings"
	"testing"
)

func TestVariantsOfABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		const variants = `"variants": [{"id": "a", "name": "Short", "weight": 1, "content_overrides": {"subject": "Hi"}},
			{"id": "b", "name": "Long", "weight": 2.5, "content_overrides": {"subject": "Good morning", "body_text": "plain"}}]`
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{`+variants+`}`))
		at := "/broadcasts/" + made.str("id")
		for _, caller := range []string{"key", "editor"} {
			got := s.must(200, caller, "GET "+at, "")
			list, _ := got.body["variants"].([]any)
			if len(list) != 2 {
				t.Fatalf("%s gets variants %v", caller, got.body["variants"])
			}
			b := list[1].(map[string]any)
			if o := b["content_overrides"].(map[string]any); b["id"] != "b" || b["name"] != "Long" || b["weight"] != 2.5 || len(b) != 4 || len(o) != 2 || o["subject"] != "Good morning" {
				t.Errorf("%s gets the second variant as %v", caller, b)
			}
			row := s.must(200, caller, "GET /broadcasts", "").body["data"].([]any)[0].(map[string]any)
			if ids := row["variant_ids"].([]any); row["variant_count"] != 2.0 || len(ids) != 2 || ids[0] != "a" || row["variants"] != nil {
				t.Errorf("%s gets the lean row %v", caller, row)
			}
		}
		if got := s.must(200, "key", "PUT "+at, `{"content": {"from_name": "Ann"}}`); len(got.body["variants"].([]any)) != 2 || got.body["content_version"] != 2.0 {
			t.Errorf("a change of the content: %s", got.text)
		}
		if got := s.must(200, "key", "PUT "+at, `{`+strings.Replace(variants, "Hi", "Hello", 1)+`}`); got.body["content_version"] != 3.0 {
			t.Errorf("a change of a variant: %s", got.text)
		}
		if r := s.call("key", "PUT "+at, strings.Replace(`{`+variants+`}`, "Hi", "{% if %}", 1)); r.status != 400 || r.code != "LIQUID_INVALID" || !strings.Contains(r.text, "variants[0] (a)") {
			t.Errorf("bad Liquid in a variant answered %d %s", r.status, r.text)
		}
		if got := s.must(200, "key", "PUT "+at, `{"variants": null}`); got.body["variants"] != nil || got.body["content_version"] != 4.0 {
			t.Errorf("without variants: %s", got.text)
		}
	})
}
