package httpapi_test

import (
	"strings"
	"testing"
)

// Liquid that can be parsed and fails when it is rendered is a warning of every write, and of
// scheduling.
func TestLiquidThatMayFailIsAWarning(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		const bad = `<p>Hi</p>\n{% if first_name > 18 %}x{% endif %}`
		warned := func(r response, list any, field string) {
			t.Helper()
			all, _ := list.([]any)
			var got []map[string]any
			for _, w := range all {
				if m := w.(map[string]any); m["code"] == "LIQUID_MAY_FAIL" {
					got = append(got, m)
				}
			}
			if field == "" {
				if len(got) > 0 || all == nil {
					t.Errorf("warned of %v, want an empty list: %s", got, r.text)
				}
				return
			}
			if len(got) != 1 || got[0]["field"] != field || got[0]["line"] != 2.0 || !strings.Contains(got[0]["message"].(string), "cannot be compared") {
				t.Errorf("warned of %v, want one trouble of %s in line 2: %s", got, field, r.text)
			}
		}
		for _, caller := range []string{"key", "editor"} {
			made := s.must(201, caller, "POST /templates", `{"name": "T", "content_html": "`+bad+`"}`)
			warned(made, made.body["warnings"], "content_html")
			fixed := s.must(200, caller, "PUT /templates/"+made.str("id"), `{"content_html": "<p>Hi</p>"}`)
			warned(fixed, fixed.body["warnings"], "")

			entry := s.must(201, caller, "POST /messages", `{"name": "M", "content": {"subject": "Hi", "body_html": "`+bad+`"}}`)
			warned(entry, entry.body["warnings"], "content.body_html")
			fixed = s.must(200, caller, "PATCH /messages/"+entry.str("id"), `{"content": {"body_html": "<p>Hi</p>"}}`)
			warned(fixed, fixed.body["warnings"], "")
			if r := s.must(200, caller, "GET /messages/"+entry.str("id"), ""); r.body["warnings"] != nil {
				t.Errorf("reading an entry warns: %s", r.text)
			}

			draft := s.must(201, caller, "POST /broadcasts", broadcastJSON(t, `{"content": {"subject": "Hi", "body_html": "`+bad+`"}, "scheduled_at": "2030-01-01T00:00:00Z"}`))
			model := draft.body["view_model"].(map[string]any)["schedule_readiness"].(map[string]any)
			warned(draft, draft.body["warnings"], "content.body_html")
			warned(draft, model["warnings"], "content.body_html")
			if model["ready"] != true {
				t.Errorf("a warning prevents scheduling: %s", draft.text)
			}
			at := "/broadcasts/" + draft.str("id")
			planned := s.must(200, caller, "POST "+at+"/schedule", "")
			warned(planned, planned.body["warnings"], "content.body_html")
			s.must(200, caller, "POST "+at+"/unschedule", "")
			variants := s.must(200, caller, "PUT "+at, `{"content": {"body_html": "<p>Hi</p>"}, "variants": [{"id": "a", "name": "A", "weight": 1, "content_overrides": {"subject": "A"}}, {"id": "b", "name": "B", "weight": 1, "content_overrides": {"body_html": "`+bad+`"}}]}`)
			warned(variants, variants.body["warnings"], "variants[1].content_overrides.body_html")
			fixed = s.must(200, caller, "PUT "+at, `{"variants": null}`)
			warned(fixed, fixed.body["warnings"], "")
		}
	})
}
