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

// What the MJML compiler drops is shown wherever MJML comes in, and before it goes out.
func TestWhatMJMLDropsIsAWarning(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		if !compiler().Available() {
			t.Skip("built without the MJML compiler")
		}
		const begin, end = `<mjml><mj-body>`, `</mj-body></mjml>`
		const section = `<mj-section><mj-column><mj-text>PRO</mj-text></mj-column></mj-section>`
		for name, body := range map[string]string{
			"a condition":          begin + "\n{% if plan == 1 %}" + section + `{% endif %}` + end,
			"a loop":               begin + "\n{% for t in tags %}" + section + `{% endfor %}` + end,
			"an assignment":        begin + "\n{% assign x = 1 %}" + section + end,
			"text":                 begin + "\nHello" + section + end,
			"text in a section":    begin + "\n<mj-section><mj-text>Hi</mj-text></mj-section>" + section + end,
			"an unknown attribute": begin + "\n<mj-section><mj-column><mj-text colour='red'>Hi</mj-text></mj-column></mj-section>" + end,
			"a computed width":     begin + "\n<mj-section><mj-column width='{{ prospect_score }}%'><mj-text>Hi</mj-text></mj-column></mj-section>" + end,
		} {
			warned := func(where string, r response, list any, field string) {
				t.Helper()
				all, _ := list.([]any)
				for _, w := range all {
					if m := w.(map[string]any); m["code"] == "mjml" && m["field"] == field && m["line"] == 2.0 {
						return
					}
				}
				t.Errorf("%s: %s warns of %v, want of line 2 of %s: %s", name, where, list, field, r.text)
			}
			source := quoted(body)
			made := s.must(201, "editor", "POST /templates", `{"name": "T", "format": "mjml", "content_html": "", "content_mjml": `+source+`}`)
			warned("a template", made, made.body["warnings"], "content_mjml")
			s.must(204, "editor", "DELETE /templates/"+made.str("id"), "")

			entry := s.must(201, "key", "POST /messages", `{"name": "M", "content": {"subject": "Hi", "body_mjml": `+source+`}}`)
			warned("an entry", entry, entry.body["warnings"], "content.body_mjml")
			entry = s.must(200, "key", "PATCH /messages/"+entry.str("id"), `{"content": {"subject": "Hello"}}`)
			warned("a changed entry", entry, entry.body["warnings"], "content.body_mjml")

			shown := s.must(200, "editor", "POST /preview", `{"source": {"content": {"subject": "Hi", "body_mjml": `+source+`}}}`)
			warned("a preview", shown, shown.body["problems"], "content.body_mjml")

			for _, from := range []string{`"subject": "Hi", "body_mjml": ` + source, `"message_id": "` + entry.str("id") + `"`} {
				draft := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"content": {`+from+`}, "scheduled_at": "2030-01-01T00:00:00Z"}`))
				for range 2 { // as it was written, and as it is stored
					warned("a broadcast", draft, draft.body["warnings"], "content.body_mjml")
					model := draft.body["view_model"].(map[string]any)["schedule_readiness"].(map[string]any)
					warned("the readiness", draft, model["warnings"], "content.body_mjml")
					draft = s.must(200, "key", "GET /broadcasts/"+draft.str("id"), "")
				}
				at := "/broadcasts/" + draft.str("id")
				planned := s.must(200, "key", "POST "+at+"/schedule", "")
				warned("a scheduled broadcast", planned, planned.body["warnings"], "content.body_mjml")
			}
			draft := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"content": {"subject": "Hi", "body_html": "<p>Hi</p>"}, "variants": [
				{"id": "a", "name": "A", "weight": 1, "content_overrides": {"subject": "A"}}, {"id": "b", "name": "B", "weight": 1, "content_overrides": {"body_mjml": `+source+`}}]}`))
			draft = s.must(200, "key", "GET /broadcasts/"+draft.str("id"), "")
			warned("a variant", draft, draft.body["warnings"], "variants[1].content_overrides.body_mjml")
		}
	})
}

// The same content has the same warnings wherever it comes in, and before it goes out.
func TestContentHasTheSameWarningsEverywhere(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		for code, body := range map[string]string{
			"UNKNOWN_NAME":        "<p>x</p>\n{{ frist_name }}",
			"FOREIGN_PLACEHOLDER": "<p>x</p>\n*|FNAME|*",
			"LINK_LEADS_NOWHERE":  "<p>x</p>\n<a href='www.example.com'>x</a>",
			"LIQUID_MAY_FAIL":     "<p>x</p>\n{% if first_name > 18 %}x{% endif %}",
		} {
			html := quoted(body)
			warned := func(where string, r response, list any, field string) {
				t.Helper()
				all, _ := list.([]any)
				if len(all) == 0 {
					t.Fatalf("%s: %s does not warn: %s", code, where, r.text)
				}
				for _, w := range all {
					if m := w.(map[string]any); m["code"] == code && m["field"] == field && m["line"] == 2.0 && m["message"] != "" {
						return
					}
				}
				t.Errorf("%s: %s warns of %v, want line 2 of %s", code, where, all, field)
			}
			made := s.must(201, "editor", "POST /templates", `{"name": "T", "content_html": `+html+`}`)
			warned("a template", made, made.body["warnings"], "content_html")
			block := s.must(201, "editor", "POST /blocks", `{"name": "B", "content_html": `+html+`}`)
			warned("a block", block, block.body["warnings"], "content_html")
			entry := s.must(201, "key", "POST /messages", `{"name": "M", "content": {"subject": "Hi", "body_html": `+html+`}}`)
			warned("an entry", entry, entry.body["warnings"], "content.body_html")
			for source, field := range map[string]string{
				`{"content": {"subject": "Hi", "body_html": ` + html + `}}`: "content.body_html",
				`{"template": {"name": "T", "content_html": ` + html + `}}`: "content_html",
				`{"block": {"name": "B", "content_html": ` + html + `}}`:    "content_html",
				`{"message_id": "` + entry.str("id") + `"}`:                 "content.body_html",
			} {
				shown := s.must(200, "editor", "POST /preview", `{"source": `+source+`}`)
				warned("a preview of "+source, shown, shown.body["problems"], field)
			}
			draft := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"content": {"subject": "Hi", "body_html": `+html+`}}`))
			warned("a broadcast", draft, draft.body["warnings"], "content.body_html")
			warned("the readiness", draft, draft.body["view_model"].(map[string]any)["schedule_readiness"].(map[string]any)["warnings"], "content.body_html")
			draft = s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"content": {"template_slug": "`+made.str("slug")+`", "subject": "Hi", "template_binding": {}}}`))
			warned("a broadcast of a template", draft, draft.body["warnings"], "content.body_html")
		}
	})
}
