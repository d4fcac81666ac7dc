package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
)

func TestListsAndMembers(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		vip := s.must(201, "key", "POST /segments", `{"name": "VIP", "type": "static", "definition": 5, "tags": ["a"]}`)
		if vip.str("segment_key") != "vip" || vip.body["definition"] != nil || vip.body["id"] != nil || vip.body["member_count"] != 0.0 {
			t.Errorf("created %s", vip.text)
		}
		session := s.must(200, "viewer", "GET /segments/vip", "")
		if session.str("key") != "vip" || !id.Valid(session.str("id")) || session.body["count"] != 0.0 {
			t.Errorf("the session form: %s", session.text)
		}
		s.must(200, "key", "GET /segments/"+session.str("id"), "")
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
		s.must(201, "key", "POST /contacts", `{"email": "bob@example.org", "do_not_contact": true}`)
		added := s.must(200, "key", "POST /segments/vip/members", `{"contact_ids": ["`+ann+`"], "emails": ["BOB@example.org", "nobody@example.org"]}`)
		if added.body["added"] != 2.0 || added.body["already_members"] != 0.0 || fmt.Sprint(added.body["not_found"]) != "[nobody@example.org]" {
			t.Errorf("added %s", added.text)
		}
		if got := s.must(200, "key", "POST /segments/vip/refresh-count", ""); got.body["member_count"] != 1.0 || got.body["member_count_total"] != 2.0 {
			t.Errorf("counts %s", got.text)
		}
		members := s.must(200, "key", "GET /segments/vip/members?limit=1", "")
		if len(members.data("email")) != 1 || members.data("member_added_at")[0] == "" || members.body["has_more"] != true {
			t.Errorf("members %s", members.text)
		}
		rest := s.must(200, "key", "GET /segments/vip/members?limit=1&cursor="+members.str("next_cursor"), "")
		if got := append(members.data("email"), rest.data("email")...); len(slices.Compact(slices.Sorted(slices.Values(got)))) != 2 {
			t.Errorf("the pages have %v", got)
		}
		if lists := s.must(200, "key", "GET /contacts/"+ann+"/lists", ""); !slices.Equal(lists.data("segment_key"), []string{"vip"}) {
			t.Errorf("lists of ann: %s", lists.text)
		}
		if up := s.must(200, "key", "PUT /segments/vip", `{"name": "Very important", "definition": {"logic": "and"}, "tags": null}`); up.str("segment_key") != "vip" || up.body["definition"] != nil {
			t.Errorf("updated %s", up.text)
		}
		if gone := s.must(200, "key", "POST /segments/vip/members/remove", `{"emails": ["bob@example.org", "bob2@example.org"]}`); gone.body["removed"] != 1.0 || gone.body["not_members"] != 1.0 {
			t.Errorf("removed %s", gone.text)
		}
		for range 2 {
			s.must(204, "key", "DELETE /segments/vip/members/"+ann, "")
		}
		s.must(204, "key", "DELETE /segments/vip", "")
		s.must(404, "key", "GET /segments/vip", "")
	})
}

func TestSegmentsNeedTheScopeOfTheirType(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key lists:write", "POST /segments", `{"name": "VIP", "type": "static"}`)
		for _, tt := range []struct{ caller, what, body, code string }{
			{"key segments:write", "POST /segments", `{"name": "x", "type": "static"}`, "INSUFFICIENT_SCOPE"},
			{"key lists:write", "POST /segments", `{"name": "x"}`, "INSUFFICIENT_SCOPE"},
			{"key contacts:read", "GET /segments", ``, "INSUFFICIENT_SCOPE"},
			{"key segments:write", "POST /segments", `{"name": "x"}`, "MISSING_DEFINITION"},
			{"key segments:write", "POST /segments", `{"name": "x", "definition": null}`, "MISSING_DEFINITION"},
			{"key", "POST /segments", `{"name": "x", "definition": {"logic": "and", "conditions": []}}`, "INVALID_DEFINITION"},
			{"key", "POST /segments", `{"name": "", "definition": {"logic": "and", "conditions": []}}`, "INVALID_INPUT"},
			{"key", "POST /segments", `{"name": "x", "type": "magic"}`, "INVALID_INPUT"},
			{"key", "POST /segments", `{"type": "static"}`, "INVALID_INPUT"},
			{"key", "POST /segments", `{"type": "static", "name": ""}`, "INVALID_INPUT"},
			{"key segments:read", "GET /segments/vip", ``, "INSUFFICIENT_SCOPE"},
			{"key segments:write", "PUT /segments/vip", `{}`, "INSUFFICIENT_SCOPE"},
			{"key segments:write", "DELETE /segments/vip", ``, "INSUFFICIENT_SCOPE"},
			{"key lists:read", "GET /segments/vip/members", ``, "INSUFFICIENT_SCOPE"},
			{"key lists:read", "POST /segments/vip/members", `{"emails": ["a@example.org"]}`, "INSUFFICIENT_SCOPE"},
			{"viewer", "DELETE /segments/vip", ``, "FORBIDDEN"},
			{"key", "PUT /segments/vip", `{"definition": 5}`, "INVALID_DEFINITION"},
			{"key", "PUT /segments/vip", `{"name": null}`, "INVALID_INPUT"},
			{"key", "POST /segments/vip/members", `{}`, "INVALID_INPUT"},
			{"key", "POST /segments/vip/members", `{"contact_ids": ["x"]}`, "INVALID_INPUT"},
			{"key", "POST /segments/vip/members", `{"emails": [` + strings.Repeat(`"a@example.org",`, 1000) + `"b@example.org"]}`, "LIMIT_EXCEEDED"},
			{"key", "POST /segments/nope/members", `{"emails": ["a@example.org"]}`, "NOT_FOUND"},
			{"key", "GET /t/other/api/segments/vip", ``, "NOT_FOUND"},
			{"key", "GET /segments?type=magic", ``, "INVALID_INPUT"},
		} {
			if r := s.call(tt.caller, tt.what, tt.body); r.code != tt.code {
				t.Errorf("%s: %s %.80s = %d %s, want %s", tt.caller, tt.what, tt.body, r.status, r.text, tt.code)
			}
		}
		for caller, want := range map[string]int{"key lists:read": 1, "key segments:read": 0, "key": 1, "viewer": 1} {
			if r := s.must(200, caller, "GET /segments", ""); len(r.data("name")) != want {
				t.Errorf("%s sees %s, want %d", caller, r.text, want)
			}
		}
		s.must(200, "key lists:read contacts:read", "GET /segments/vip/members", "")
	})
}

func TestSuppressionRoutes(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		row := s.must(201, "key", "POST /suppressions", `{"email": " Ann@Example.org", "reason": "phone"}`)
		if row.str("email") != "ann@example.org" || row.str("reason") != "phone" || row.str("tenant_id") != s.acme.String() {
			t.Errorf("row %s", row.text)
		}
		if again := s.must(201, "key", "POST /suppressions", `{"email": "ann@example.org"}`); again.body["reason"] != nil || again.str("created_at") != row.str("created_at") {
			t.Errorf("again %s", again.text)
		}
		c := s.must(201, "key", "POST /contacts", `{"email": "bob@example.org"}`).str("id")
		if r := s.must(200, "key", "POST /suppressions/bulk", `{"contact_ids": ["`+c+`", "`+id.NewText()+`"]}`); r.body["suppressed"] != 1.0 {
			t.Errorf("bulk %s", r.text)
		}
		if got := s.must(200, "key", "GET /contacts/"+c, ""); got.body["global_status"] != "unsubscribed" || got.body["deliverability_status"] != "suppressed" {
			t.Errorf("bob %s", got.text)
		}
		if r := s.must(200, "key", "POST /suppressions/import", `{"emails": ["nope", "x@example.org", "ann@example.org"]}`); r.body["added"] != 1.0 || r.body["updated"] != 1.0 || len(r.body["invalid"].([]any)) != 1 {
			t.Errorf("import %s", r.text)
		}
		if r := s.must(200, "key", "GET /suppressions", ""); !slices.Equal(r.data("email"), []string{"x@example.org", "bob@example.org", "ann@example.org"}) || r.body["has_more"] != false {
			t.Errorf("list %s", r.text)
		}
		if got := s.pages("/suppressions?", 1); len(got) != 3 || !slices.Equal(got, s.pages("/suppressions?", 2)) || !strings.Contains(got[0], `"email":"x@example.org"`) {
			t.Errorf("pages have %v", got)
		}
		s.mustRefuse("viewer", "GET /suppressions?cursor=x", "", 400, "INVALID_CURSOR")
		if r := s.must(200, "key", "GET /suppressions?limit=1&cursor=x", ""); len(r.data("email")) != 3 || r.body["next_cursor"] != nil {
			t.Errorf("a key gets %s", r.text)
		}
		if r := s.must(200, "key", "GET /suppressions?search=X@&reason=import", ""); len(r.data("email")) != 1 {
			t.Errorf("filtered list %s", r.text)
		}
		for range 2 {
			s.must(204, "key", "DELETE /suppressions?email=ANN%40example.org", "")
		}
		for _, tt := range []struct{ caller, what, body, code string }{
			{"key", "POST /suppressions", `{}`, "INVALID_INPUT"},
			{"key", "POST /suppressions", `{"email": "nope"}`, "INVALID_INPUT"},
			{"key", "POST /suppressions", `{"email": "a@example.org", "reason": 5}`, "INVALID_INPUT"},
			{"key", "DELETE /suppressions", ``, "INVALID_INPUT"},
			{"key", "DELETE /suppressions?email=nope", ``, "INVALID_INPUT"},
			{"key", "POST /suppressions/bulk", `{"contact_ids": []}`, "INVALID_INPUT"},
			{"key", "POST /suppressions/bulk", `{"contact_ids": ["x"]}`, "INVALID_INPUT"},
			{"key", "POST /suppressions/bulk", `{"contact_ids": [` + strings.Repeat(`"`+c+`",`, 500) + `"` + c + `"]}`, "TOO_MANY"},
			{"key", "POST /suppressions/import", `{"emails": []}`, "INVALID_INPUT"},
			{"key suppression:read", "POST /suppressions", `{"email": "a@example.org"}`, "INSUFFICIENT_SCOPE"},
		} {
			if r := s.call(tt.caller, tt.what, tt.body); r.code != tt.code {
				t.Errorf("%s: %s %.80s = %d %s, want %s", tt.caller, tt.what, tt.body, r.status, r.text, tt.code)
			}
		}
		s.must(200, "key suppression:write", "GET /suppressions", "")
	})
}

func TestCustomFieldRoutes(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		f := s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "enum", "enum_values": ["pro"], "default_value": "pro"}`)
		if f.str("field_key") != "plan" || f.str("value_constraint") != "strict" || f.str("default_value") != "pro" || f.body["currency_code"] != nil {
			t.Errorf("created %s", f.text)
		}
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "custom_fields": {"plan": "pro"}}`)
		path := "/settings/custom-fields/" + f.str("id")
		if r := s.must(200, "key", "GET "+path+"/usage", ""); fmt.Sprint(r.body["usage"]) != "map[automations:0 contacts:1 forms:0 saved_filters:0 segments:0 sequences:0]" {
			t.Errorf("usage %s", r.text)
		}
		if r := s.must(200, "admin", "PUT "+path, `{"name": "Tariff", "default_value": null, "field_key": "plan"}`); r.str("name") != "Tariff" || r.body["default_value"] != nil {
			t.Errorf("updated %s", r.text)
		}
		for _, tt := range []struct{ caller, what, body, code string }{
			{"key", "POST /settings/custom-fields", `{"name": "x", "field_type": "string"}`, "API_KEY_FORBIDDEN"},
			{"editor", "POST /settings/custom-fields", `{"name": "x", "field_type": "string"}`, "FORBIDDEN"},
			{"admin", "POST /settings/custom-fields", `{"name": "x"}`, "INVALID_INPUT"},
			{"admin", "POST /settings/custom-fields", `{"name": "x", "field_type": "x"}`, "INVALID_FIELD"},
			{"admin", "POST /settings/custom-fields", `{"name": "plan", "field_type": "string"}`, "DUPLICATE_FIELD_KEY"},
			{"admin", "PUT " + path, `{"field_type": "string"}`, "INVALID_FIELD"},
			{"admin", "PUT /settings/custom-fields/x", `{}`, "NOT_FOUND"},
			{"key", "GET /settings/custom-fields/x/usage", ``, "NOT_FOUND"},
			{"key", "POST /contacts", `{"email": "b@example.org", "custom_fields": {"plan": "free"}}`, "INVALID_FIELD_VALUE"},
			{"key", "POST /contacts", `{"email": "b@example.org", "custom_fields": {"plan": 5}}`, "INVALID_FIELD_VALUE"},
			{"key contacts:read", "GET /settings/custom-fields", ``, "INSUFFICIENT_SCOPE"},
		} {
			if r := s.call(tt.caller, tt.what, tt.body); r.code != tt.code {
				t.Errorf("%s: %s %s = %d %s, want %s", tt.caller, tt.what, tt.body, r.status, r.text, tt.code)
			}
		}
		s.must(204, "admin", "DELETE "+path, "")
		if r := s.must(200, "key", "GET /contacts/lookup?email=ann@example.org", ""); len(r.body["custom_fields"].(map[string]any)) != 0 {
			t.Errorf("after deletion %s", r.text)
		}
		if r := s.must(200, "key", "GET /settings/custom-fields", ""); len(r.data("id")) != 0 {
			t.Errorf("list %s", r.text)
		}
	})
}

func TestStageRoutes(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		lead := s.must(201, "admin", "POST /settings/stages", `{"name": "Lead", "category": "prospect", "color": "#AABBCC"}`)
		won := s.must(201, "admin", "POST /settings/stages", `{"name": "Won", "category": "customer", "is_default": true}`)
		if lead.body["is_default"] != true || lead.str("color") != "#aabbcc" || won.body["is_default"] != true {
			t.Errorf("created %s and %s", lead.text, won.text)
		}
		if r := s.must(200, "admin", "PUT /settings/stages/order", `{"ids": ["`+won.str("id")+`", "`+lead.str("id")+`"]}`); !slices.Equal(r.data("slug"), []string{"won", "lead"}) {
			t.Errorf("order %s", r.text)
		}
		if c := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`); c.str("stage_id") != won.str("id") {
			t.Errorf("a new contact is in stage %s, want the default", c.str("stage_id"))
		}
		s.must(200, "admin", "PUT /settings/stages/"+lead.str("id"), `{"is_default": true, "color": null}`)
		for _, tt := range []struct{ caller, what, body, code string }{
			{"key", "POST /settings/stages", `{"name": "x", "category": "prospect"}`, "API_KEY_FORBIDDEN"},
			{"admin", "POST /settings/stages", `{"name": "x"}`, "INVALID_INPUT"},
			{"admin", "POST /settings/stages", `{"name": "x", "category": "prospect", "color": "red"}`, "INVALID_INPUT"},
			{"admin", "PUT /settings/stages/" + lead.str("id"), `{"is_default": false}`, "INVALID_INPUT"},
			{"admin", "PUT /settings/stages/order", `{"ids": ["x"]}`, "INVALID_INPUT"},
			{"admin", "PUT /settings/stages/order", `{"ids": []}`, "INVALID_INPUT"},
			{"admin", "DELETE /settings/stages/" + lead.str("id"), ``, "IN_USE"},
			{"admin", "DELETE /settings/stages/" + won.str("id"), ``, "IN_USE"},
			{"admin", "DELETE /settings/stages/" + won.str("id") + "?replacement_stage_id=x", ``, "INVALID_STAGE"},
			{"admin", "DELETE /settings/stages/nope", ``, "NOT_FOUND"},
		} {
			if r := s.call(tt.caller, tt.what, tt.body); r.code != tt.code {
				t.Errorf("%s: %s %s = %d %s, want %s", tt.caller, tt.what, tt.body, r.status, r.text, tt.code)
			}
		}
		s.must(204, "admin", "DELETE /settings/stages/"+won.str("id")+"?replacement_stage_id="+lead.str("id"), "")
		if r := s.must(200, "key", "GET /settings/stages", ""); !slices.Equal(r.data("slug"), []string{"lead"}) {
			t.Errorf("list %s", r.text)
		}
	})
}

func TestHostileTextIsRefusedOrMatchesNothing(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "VIP", "type": "static"}`)
		for _, bad := range []string{"%00", "%ff", "%ed%a0%80", "'%3b--", "%25", "%5c", "%F0%9F%98%80", strings.Repeat("%C3%A9", 300), "1e999", "-1", "null", "..%2f"} {
			for _, what := range []string{
				"GET /contacts?search=", "GET /contacts?status=", "GET /contacts?sort=", "GET /contacts?cursor=", "GET /contacts?limit=",
				"GET /contacts?filters=", "GET /contacts/lookup?email=", "GET /contacts/lookup?external_id=", "GET /contacts/",
				"GET /segments?tags=", "GET /segments?search=", "GET /segments/", "DELETE /segments/vip/members/", "GET /segments/vip/members?sort=",
				"GET /suppressions?search=", "GET /suppressions?reason=", "DELETE /suppressions?email=", "GET /settings/custom-fields/",
			} {
				path := what + bad
				if strings.HasSuffix(what, "custom-fields/") {
					path += "/usage"
				}
				if r := s.call("key", path, ""); r.status >= 500 { // call reports it too
					t.Errorf("%s = %d", path, r.status)
				}
			}
		}
		for _, body := range []string{
			`{"email": "a@example.org", "custom_fields": {"` + strings.Repeat("x", 5000) + `": 1}}`,
			`{"email": "a@example.org", "subscriptions": {"\ud800": true}}`,
			`{"email": "a@example.org", "tags": ["\ud800\udc00", "\u0000"]}`,
			`{"email": "` + strings.Repeat("a", 100_000) + `@example.org"}`,
			`{"email": {"$gt": ""}}`,
			`{"email": "a@example.org", "external_id": 1e400}`,
			strings.Repeat("[", 10_000),
			`{"email": "a@example.org", "full_name": "` + strings.Repeat("é ", 300) + `"}`,
		} {
			for _, what := range []string{"POST /contacts", "PUT /contacts", "POST /suppressions", "POST /segments", "POST /segments/vip/members", "POST /suppressions/bulk"} {
				if r := s.call("key", what, body); r.status >= 500 || r.code == "" && r.status >= 400 {
					t.Errorf("%s %.60s = %d %s", what, body, r.status, r.text)
				}
			}
		}
	})
}
