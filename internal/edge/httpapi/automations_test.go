package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const taggingActions = `"actions": [{"type": "tag", "config": {"action": "add", "tags": ["x"]}}]`

func TestAutomationsAnswerWithAllProblemsAtOnce(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		eleven := strings.TrimSuffix(strings.Repeat(`{"type": "tag", "config": {"action": "add", "tags": ["x"]}},`, 11), ",")
		for _, tt := range []struct {
			body string
			want []string
		}{
			{`{}`, []string{"name", "trigger_type", "trigger_config", "actions"}},
			{`{"name": 5, "actions": {}}`, []string{"name", "actions", "trigger_type", "trigger_config"}},
			{`{"name": "", "status": "archived", "trigger_type": "event", "trigger_config": {"tag": "x"}, "actions": []}`,
				[]string{"status", "name", "trigger_config.event_name", "trigger_config.tag", "actions"}},
			{`{"name": "A", "trigger_type": "daily", "trigger_config": {}, "actions": [` + eleven + `]}`, []string{"trigger_type", "actions"}},
			{`{"name": "A", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, "actions": [{"type": "wait", "config": {}}, {"type": "list", "config": {"action": "move"}},
				{"type": "webhook", "config": {"url": "http://example.com/", "timeout_s": 60}}, {"type": "update_contact", "config": {"fields": {"nope": 1}}}, {"type": "tag", "config": {"what": 1}}]}`,
				[]string{"actions[0].type", "actions[1].config.action", "actions[1].config.segment_key", "actions[2].config.timeout_s",
					"actions[3].config.fields.nope", "actions[4].config"}},
			{`{"name": "A", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, "actions": [{"type": "webhook", "config": {"url": "http://example.com/"}}]}`,
				[]string{"actions[0].config.url"}},
			{`{"name": "A", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, "actions": [{"type": "tag", "config": {"action": "add", "tags": ["x", " ", "` + strings.Repeat("y", 500) + `"]}}]}`,
				[]string{"actions[0].config.tags[1]", "actions[0].config.tags[2]"}},
			// Records are looked up when everything else is valid.
			{`{"name": "A", "trigger_type": "list_added", "trigger_config": {"segment_key": "nope"}, "definition": {"logic": "and", "conditions": [{"field": "nope", "operator": "equals", "value": 1}]},
				"actions": [{"type": "list", "config": {"action": "add", "segment_key": "nope"}}, {"type": "subscription", "config": {"action": "subscribe", "email_type_key": "nope"}},
				{"type": "notify", "config": {"to": ["nobody@example.org"], "subject": "S", "body": "B"}}]}`,
				[]string{"trigger_config.segment_key", "definition", "actions[0].config.segment_key", "actions[1].config.email_type_key", "actions[2].config.to[0]"}},
		} {
			r := s.call("editor", "POST /automations", tt.body)
			if r.status != 400 || r.code != "INVALID_INPUT" {
				t.Errorf("%s: %d %s", tt.body, r.status, r.text)
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.want)), slices.Sorted(slices.Values(strings.Fields(r.problems())))); diff != "" {
				t.Errorf("%s: the problems (-want +got): %s", tt.body, diff)
			}
		}
		a := s.must(201, "editor", "POST /automations", `{"name": "A", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, `+taggingActions+`}`).str("id")
		for _, body := range []string{`{"name": null}`, `{"status": "draft"}`, `{"trigger_type": "event"}`, `{"trigger_config": {"event_name": "x"}}`, `{"actions": []}`, `{"definition": 5}`} {
			if r := s.call("editor", "PUT /automations/"+a, body); r.status != 400 {
				t.Errorf("PUT %s: %d %s", body, r.status, r.text)
			}
		}
		if r := s.must(200, "editor", "PUT /automations/"+a, `{"trigger_config": {"tag": "y"}, "status": "paused"}`); fmt.Sprintf("%v %v %v", r.body["trigger_config"], r.body["name"], r.body["status"]) != "map[tag:y] A paused" {
			t.Errorf("after a change of the configuration: %s", r.text)
		}
	})
}

func TestAutomationsAreForSessionsOfTheirTenant(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		body := `{"name": "A", "trigger_type": "tag_added", "trigger_config": {"tag": "x"}, ` + taggingActions + `}`
		a := s.must(201, "editor", "POST /automations", body).str("id")
		for _, what := range []string{"GET /automations", "POST /automations", "GET /automations/" + a, "PUT /automations/" + a, "DELETE /automations/" + a, "GET /automations/" + a + "/runs"} {
			if r := s.call("key", what, body); r.status != 403 || r.code != "API_KEY_FORBIDDEN" {
				t.Errorf("%s with a key: %d %s", what, r.status, r.text)
			}
			if method, path, _ := strings.Cut(what, " "); strings.Contains(path, a) {
				if r := s.call("editor", method+" /t/other/api"+path, body); r.status != 404 {
					t.Errorf("%s of another tenant: %d %s", what, r.status, r.text)
				}
			}
		}
		if r := s.must(200, "viewer", "GET /t/other/api/automations", ""); fmt.Sprint(r.body["data"]) != "[]" {
			t.Errorf("the automations of another tenant: %s", r.text)
		}
		s.must(201, "editor", "POST /automations", body)
		var ids []string
		for cursor := ""; ; {
			r := s.must(200, "viewer", "GET /automations?limit=1"+cursor, "")
			for _, row := range r.body["data"].([]any) {
				ids = append(ids, row.(map[string]any)["id"].(string))
			}
			next, _ := r.body["next_cursor"].(string)
			if next == "" {
				break
			}
			cursor = "&cursor=" + next
		}
		if len(ids) != 2 || ids[1] != a {
			t.Errorf("the pages have %v, want two, the oldest last", ids)
		}
		if r := s.call("viewer", "GET /automations?cursor=x", ""); r.code != "INVALID_CURSOR" {
			t.Errorf("a bad cursor: %s", r.text)
		}
		if r := s.call("viewer", "GET /automations?status=draft", ""); r.code != "INVALID_STATUS" {
			t.Errorf("a bad status: %s", r.text)
		}
		if r := s.call("viewer", "GET /automations/"+a+"/runs?status=done", ""); r.code != "INVALID_STATUS" {
			t.Errorf("a bad status of runs: %s", r.text)
		}
		s.must(204, "editor", "DELETE /automations/"+a, "")
		s.must(404, "editor", "DELETE /automations/"+a, "")
		s.must(404, "editor", "GET /automations/nothing", "")
		r := s.must(200, "admin", "GET /audit-log", "")
		for _, action := range []string{"automation.create", "automation.delete"} {
			if !strings.Contains(r.text, action) {
				t.Errorf("the audit log lacks %s: %s", action, r.text)
			}
		}
	})
}

// TestAutomationsHoldWhatTheyReferTo deletes records of each kind while an automation is active, and after
// it was archived.
func TestAutomationsHoldWhatTheyReferTo(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "Trigger", "type": "static"}`)
		s.must(201, "key", "POST /segments", `{"name": "Filter", "type": "static"}`)
		s.must(201, "key", "POST /segments", `{"name": "Target", "type": "static"}`)
		field := s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "string"}`).str("id")
		typ := s.must(201, "admin", "POST /email-types", `{"display_name": "Weekly"}`).str("id")
		s.must(201, "admin", "POST /settings/stages", `{"name": "First", "category": "prospect", "is_default": true}`)
		stage := s.must(201, "admin", "POST /settings/stages", `{"name": "Trial", "category": "prospect"}`).str("id")
		next := s.must(201, "editor", "POST /sequences", `{"name": "Next"}`).str("id")
		a := s.must(201, "editor", "POST /automations", `{"name": "Rule", "trigger_type": "list_added", "trigger_config": {"segment_key": "trigger"},
			"definition": {"logic": "and", "conditions": [{"type": "list", "operator": "in", "segment_keys": ["filter"]}]}, "actions": [
			{"type": "list", "config": {"action": "add", "segment_key": "target"}}, {"type": "update_contact", "config": {"custom_fields": {"plan": "pro"}}},
			{"type": "subscription", "config": {"action": "subscribe", "email_type_key": "weekly"}}, {"type": "stage", "config": {"stage_id": "`+stage+`"}},
			{"type": "enroll", "config": {"sequence_id": "`+next+`"}}]}`).str("id")
		if r := s.must(200, "key", "GET /settings/custom-fields/"+field+"/usage", ""); !strings.Contains(r.text, `"automations":1`) {
			t.Errorf("the usage of the field: %s", r.text)
		}
		deletions := []struct{ what, code, where string }{
			{"DELETE /segments/trigger", "SEGMENT_IN_USE", "trigger_config"},
			{"DELETE /segments/filter", "SEGMENT_IN_USE", "definition"},
			{"DELETE /segments/target", "SEGMENT_IN_USE", "actions[0]"},
			{"DELETE /settings/custom-fields/" + field, "FIELD_IN_USE", ""},
			{"DELETE /email-types/" + typ, "IN_USE", "actions[2]"},
			{"DELETE /settings/stages/" + stage, "IN_USE", "actions[3]"},
			{"DELETE /sequences/" + next, "IN_USE", "actions[4]"},
		}
		for _, d := range deletions {
			r := s.call("owner", d.what, "")
			if r.status != 409 || !strings.HasSuffix(r.code, d.code) {
				t.Errorf("%s: %d %s", d.what, r.status, r.text)
			}
			holder := fmt.Sprintf(`{"id":%q,"name":"Rule","status":"active","where":%q}`, a, d.where)
			if d.where != "" && !strings.Contains(r.text, `"automations":[`+holder+`]`) {
				t.Errorf("%s does not name the automation: %s", d.what, r.text)
			}
		}
		s.must(200, "editor", "PUT /automations/"+a, `{"status": "archived"}`)
		for _, d := range deletions {
			s.must(204, "owner", d.what, "")
		}
		if r := s.call("editor", "PUT /automations/"+a, `{"status": "active"}`); r.status != 400 || len(strings.Fields(r.problems())) != 7 {
			t.Errorf("activating an automation whose records are gone: %d %s", r.status, r.text)
		}
	})
}
