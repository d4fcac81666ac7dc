package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

const germans = `{"logic": "ALL", "conditions": [{"field": "country", "operator": "is", "value": "de"}]}`

// installSegments creates the built-in segments of all tenants.
func (s *apiTest) installSegments(t *testing.T) {
	t.Helper()
	if err := segment.InstallAll(t.Context(), s.db, s.now); err != nil {
		t.Fatal(err)
	}
}

// createDraft creates a broadcast and returns its id.
func (s *apiTest) createDraft(name, audience string) string {
	s.t.Helper()
	if audience != "" {
		audience = ", " + audience
	}
	return s.must(201, "key", "POST /broadcasts", `{"name": "`+name+`", "email_type_key": "news", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}`+audience+`}`).str("id")
}

func TestDynamicSegments(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for i, country := range []string{"DE", "DE", "FR"} {
			s.must(201, "key", "POST /contacts", fmt.Sprintf(`{"email": "c%d@example.org", "country": "%s", "do_not_contact": %v}`, i, country, i == 1))
		}
		made := s.must(201, "key", "POST /segments", `{"name": "Germans", "definition": `+germans+`, "tags": ["x"]}`)
		if made.str("segment_key") != "germans" || made.str("type") != "dynamic" || made.body["member_count"] != nil || made.body["id"] != nil || made.body["warnings"] != nil {
			t.Errorf("created %s", made.text)
		}
		if got := made.body["definition"].(map[string]any); got["logic"] != "and" || !strings.Contains(fmt.Sprint(got), "equals") || !strings.Contains(fmt.Sprint(got), "DE") {
			t.Errorf("the definition is %v, want it canonical", got)
		}
		read := s.must(200, "key", "GET /segments/germans", "")
		if read.body["member_count"] != 1.0 || read.body["count"] != 1.0 || read.body["member_count_total"] != 2.0 || read.body["member_count_evaluated_at"] == nil || fmt.Sprint(read.body["warnings"]) != "[]" {
			t.Errorf("the first read: %s", read.text)
		}
		person := s.must(200, "viewer", "GET /segments/germans", "")
		if person.str("key") != "germans" || person.str("segment_key") != "germans" || !id.Valid(person.str("id")) {
			t.Errorf("the session form: %s", person.text)
		}
		s.must(200, "key", "GET /segments/"+person.str("id"), "")
		if members := s.must(200, "key", "GET /segments/germans/members?sort=email&dir=asc", ""); !slices.Equal(members.data("email"), []string{"c0@example.org", "c1@example.org"}) || members.data("member_added_at")[0] != "" {
			t.Errorf("members %s", members.text)
		}
		first := s.must(200, "key", "GET /segments/germans/members?limit=1", "")
		second := s.must(200, "key", "GET /segments/germans/members?limit=1&cursor="+first.str("next_cursor"), "")
		if got := append(first.data("email"), second.data("email")...); !slices.Equal(got, []string{"c1@example.org", "c0@example.org"}) || second.body["has_more"] != false {
			t.Errorf("pages of members: %v", got)
		}
		up := s.must(200, "editor", "PUT /segments/"+person.str("id"), `{"name": "French", "definition": {"logic": "or", "conditions": [{"field": "country", "operator": "equals", "value": "FR"}]}}`)
		if up.body["member_count"] != 1.0 || up.body["member_count_total"] != 1.0 || up.str("name") != "French" || up.str("key") != "germans" {
			t.Errorf("updated %s", up.text)
		}
		s.must(201, "key", "POST /contacts", `{"email": "c3@example.org", "country": "FR"}`)
		if all := s.must(200, "key", "GET /segments", ""); !strings.Contains(all.text, `"member_count_total":2,`) {
			t.Errorf("the contact that was added is not counted: %s", all.text)
		}
		if n := s.must(200, "key", "POST /segments/germans/refresh-count", ""); n.body["member_count"] != 2.0 || n.body["member_count_total"] != 2.0 || n.str("segment_key") != "germans" {
			t.Errorf("refreshed %s", n.text)
		}
		preview := s.must(200, "key segments:read contacts:read", "POST /segments/preview", `{"definition": `+germans+`}`)
		if preview.body["member_count"] != 1.0 || preview.body["member_count_total"] != 2.0 || len(preview.body["sample"].([]any)) != 2 {
			t.Errorf("preview %s", preview.text)
		}
		for _, tt := range []struct{ what, body, code string }{
			{"POST /segments/germans/members", `{"emails": ["c0@example.org"]}`, "NOT_STATIC"},
			{"POST /segments/germans/members/remove", `{"emails": ["c0@example.org"]}`, "NOT_STATIC"},
			{"DELETE /segments/germans/members/" + id.NewText(), ``, "NOT_STATIC"},
			{"PUT /segments/germans", `{"definition": null}`, "MISSING_DEFINITION"},
			{"PUT /segments/germans", `{"definition": 5}`, "INVALID_DEFINITION"},
			{"PUT /segments/germans", `{"definition": {"logic": "and"}}`, "INVALID_DEFINITION"},
			{"PUT /segments/germans", `{"definition": {"logic": "and", "conditions": [{"type": "segment", "operator": "in", "segment_keys": ["germans"]}]}}`, "SEGMENT_CYCLE"},
			{"POST /segments/preview", `{}`, "MISSING_DEFINITION"},
			{"POST /segments/preview", `{"definition": []}`, "INVALID_DEFINITION"},
			{"POST /segments/preview", `{"definition": {"logic": "and", "conditions": [{"field": "shoe", "operator": "is_set"}]}}`, "INVALID_DEFINITION"},
			{"POST /segments", `{"name": "x", "definition": {"logic": "and", "conditions": [` + strings.Repeat(`{"type":"x"},`, 70_000) + `{}]}}`, "INVALID_DEFINITION"},
			{"POST /segments", `{"name": "x", "definition": ` + strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000) + `}`, "INVALID_DEFINITION"},
			{"POST /segments", `{"name": "x", "definition": {"logic": "and", "conditions": [` + strings.Repeat(`{"type":"x"},`, 100_000) + `{}]}}`, "PAYLOAD_TOO_LARGE"},
			{"POST /segments", `{"name": "x", "definition": {"logic": "and", "conditions": [{"field": "city", "operator": "equals", "value": "a\u0000"}]}}`, "INVALID_DEFINITION"},
			{"GET /t/other/api/segments/germans", ``, "NOT_FOUND"},
			{"GET /t/other/api/segments/" + person.str("id") + "/members", ``, "NOT_FOUND"},
			{"POST /t/other/api/segments/" + person.str("id") + "/refresh-count", ``, "NOT_FOUND"},
			{"POST /t/other/api/segments", `{"name": "x", "definition": {"logic": "and", "conditions": [{"type": "segment", "operator": "in", "segment_keys": ["germans"]}]}}`, "INVALID_DEFINITION"},
			{"POST /t/other/api/segments", `{"name": "x", "definition": {"logic": "and", "conditions": [{"type": "segment", "operator": "in", "segment_keys": ["` + person.str("id") + `"]}]}}`, "INVALID_DEFINITION"},
		} {
			if r := s.call("key", tt.what, tt.body); r.code != tt.code || len(r.text) > 100_000 {
				t.Errorf("%s %.100s = %d %.500s, want %s", tt.what, tt.body, r.status, r.text, tt.code)
			}
		}
		bad := s.call("key", "POST /segments", `{"name": "x", "definition": {"logic": "and", "conditions": [{"logic": "or", "conditions": [{"field": "country", "operator": "contains", "value": "D"}]}]}}`)
		if details, _ := bad.body["error"].(map[string]any)["details"].(map[string]any); bad.code != "INVALID_DEFINITION" || !strings.HasPrefix(fmt.Sprint(details["path"]), "definition.conditions[0].conditions[0]") {
			t.Errorf("a bad leaf: %s", bad.text)
		}
	})
}

// The scope that an operation needs depends on the type of the segment.
func TestScopesOfSegmentsByType(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "List", "type": "static"}`)
		s.must(201, "key", "POST /segments", `{"name": "Rule", "definition": `+germans+`}`)
		b := s.createDraft("Spring", `"include_segment_keys": ["list"]`)
		type operation struct{ what, body string }
		asks := map[operation][]string{
			{"GET /segments/list", ``}:                                                                 {"lists:read"},
			{"GET /segments/rule", ``}:                                                                 {"segments:read"},
			{"POST /segments/list/refresh-count", ``}:                                                  {"lists:read"},
			{"POST /segments/rule/refresh-count", ``}:                                                  {"segments:read"},
			{"GET /segments/list/members", ``}:                                                         {"lists:read", "contacts:read"},
			{"GET /segments/rule/members", ``}:                                                         {"segments:read", "contacts:read"},
			{"POST /segments", `{"name": "x", "type": "static"}`}:                                      {"lists:write"},
			{"POST /segments", `{"name": "x", "definition": ` + germans + `}`}:                         {"segments:write"},
			{"PUT /segments/list", `{"tags": ["a"]}`}:                                                  {"lists:write"},
			{"PUT /segments/rule", `{"tags": ["a"]}`}:                                                  {"segments:write"},
			{"POST /segments/list/members", `{"emails": ["a@example.org"]}`}:                           {"lists:write"},
			{"POST /segments/rule/members", `{"emails": ["a@example.org"]}`}:                           {"segments:write"},
			{"DELETE /segments/rule/members/" + b, ``}:                                                 {"segments:write"},
			{"POST /segments/preview", `{"definition": ` + germans + `}`}:                              {"segments:read"},
			{"POST /segments/from-broadcast", `{"broadcast_id": "` + b + `", "criterion": "openers"}`}: {"segments:write"},
		}
		scopes := []string{"lists:read", "lists:write", "segments:read", "segments:write", "contacts:read"}
		for set := range 1 << len(scopes) {
			var has []string
			for i, scope := range scopes {
				if set&(1<<i) != 0 {
					has = append(has, scope)
				}
			}
			if len(has) == 0 {
				has = []string{"forms:read"}
			}
			caller := "key " + strings.Join(has, " ")
			for op, needs := range asks {
				may := !slices.ContainsFunc(needs, func(n string) bool { return !slices.Contains(has, n) })
				if r := s.call(caller, op.what, op.body); (r.code != "INSUFFICIENT_SCOPE") != may {
					t.Errorf("%s: %s %s = %d %s, want it allowed: %v", caller, op.what, op.body, r.status, r.text, may)
				}
			}
			r := s.call(caller, "GET /segments", "")
			var sees []string
			if r.status == 200 {
				sees = slices.Compact(slices.Sorted(slices.Values(r.data("type"))))
			}
			var want []string
			if slices.Contains(has, "segments:read") {
				want = append(want, "dynamic")
			}
			if slices.Contains(has, "lists:read") {
				want = append(want, "static")
			}
			if !slices.Equal(sees, want) || (r.status == 200) != (len(want) > 0) {
				t.Errorf("%s: the list = %d, with %v; want %v", caller, r.status, sees, want)
			}
		}
		for _, op := range []string{"PUT /segments/list", "DELETE /segments/rule", "POST /segments/from-broadcast"} {
			if r := s.call("viewer", op, `{}`); r.code != "FORBIDDEN" {
				t.Errorf("a viewer: %s = %d %s", op, r.status, r.text)
			}
		}
		if r := s.call("viewer", "POST /segments/preview", `{"definition": {"logic": "and", "conditions": [{"type": "field", "field": "email", "operator": "is_set"}]}}`); r.status != 200 {
			t.Errorf("a viewer's preview = %d %s, want 200", r.status, r.text)
		}
	})
}

func TestBuiltInSegmentsAreListedFirstAndLocked(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.installSegments(t)
		s.must(201, "key", "POST /segments", `{"name": "AAA", "type": "static"}`)
		list := s.must(200, "key", "GET /segments", "")
		if keys := list.data("system_key"); len(keys) != 8 || keys[7] != "" || slices.Contains(keys[:7], "") {
			t.Errorf("listed %v, want the seven built in and then the other", list.data("segment_key"))
		}
		for _, what := range []string{"PUT /segments/sunset_candidates", "DELETE /segments/all_sendable"} {
			if r := s.call("key", what, `{"name": "x"}`); r.status != 409 || r.code != "SYSTEM_SEGMENT_LOCKED" {
				t.Errorf("%s = %d %s", what, r.status, r.text)
			}
		}
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`)
		one := s.must(200, "key", "GET /segments/all_sendable", "")
		if one.body["member_count"] != 1.0 || one.str("system_key") != "all_sendable" || one.body["definition"] == nil {
			t.Errorf("all_sendable: %s", one.text)
		}
		for _, key := range list.data("system_key")[:7] {
			s.must(200, "key", "GET /segments/"+key+"/members", "")
			s.must(200, "key", "POST /segments/"+key+"/refresh-count", "")
		}
		s.must(201, "key", "POST /segments", `{"name": "Fresh", "definition": {"logic": "and", "conditions": [{"type": "segment", "operator": "in", "segment_keys": ["new_contacts_30_days"]}]}}`)
		if r := s.must(200, "key", "GET /segments/fresh", ""); r.body["member_count"] != 1.0 {
			t.Errorf("built on a built-in one: %s", r.text)
		}
		if r := s.must(201, "key", "POST /segments", `{"name": "All sendable", "type": "static"}`); r.str("segment_key") != "all_sendable_2" {
			t.Errorf("a list of that name: %s", r.text)
		}
	})
}

func TestASegmentInUseCannotBeDeleted(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "VIP", "type": "static"}`)
		s.must(201, "key", "POST /segments", `{"name": "Best", "definition": {"logic": "and", "conditions": [{"type": "list", "operator": "in", "segment_keys": ["vip"]}]}}`)
		b := s.createDraft("Spring", `"include_segment_keys": ["best"], "exclude_segment_keys": ["vip"]`)
		r := s.call("key", "DELETE /segments/vip", "")
		details, _ := r.body["error"].(map[string]any)["details"].(map[string]any)
		got, _ := details["usage"].(map[string]any)
		if r.status != 409 || r.code != "SEGMENT_IN_USE" || fmt.Sprint(got["segments"]) != "[map[name:Best segment_key:best]]" ||
			fmt.Sprint(got["broadcasts"]) != "[map[id:"+b+" name:Spring status:draft]]" || fmt.Sprint(got["sequences"], got["automations"], got["forms"]) != "[] [] []" {
			t.Errorf("in use: %d %s", r.status, r.text)
		}
		s.must(204, "key", "DELETE /broadcasts/"+b, "")
		s.must(204, "key", "DELETE /segments/best", "")
		s.must(204, "key", "DELETE /segments/vip", "")
	})
}

// A leaf that refers to a deleted record matches no contact, and reads of the segment return a
// warning.
func TestBrokenReferencesAreWarnings(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		f := s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "string"}`).str("id")
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "custom_fields": {"plan": "pro"}}`)
		s.must(201, "key", "POST /segments", `{"name": "Pros", "definition": {"logic": "and", "conditions": [{"field": "custom_fields.plan", "operator": "equals", "value": "pro"}]}}`)
		s.must(201, "key", "POST /segments", `{"name": "Others", "definition": {"logic": "and", "conditions": [{"field": "custom_fields.plan", "operator": "not_equals", "value": "pro"}]}}`)
		if r := s.must(200, "key", "GET /segments/pros", ""); r.body["count"] != 1.0 {
			t.Errorf("before: %s", r.text)
		}
		if r := s.call("admin", "DELETE /settings/custom-fields/"+f, ""); r.code != "FIELD_IN_USE" || !strings.Contains(r.text, `"segments":2`) {
			t.Errorf("the field is used: %d %s", r.status, r.text)
		}
		if err := contact.DeleteField(t.Context(), s.db, s.acme, id.Read[id.Field](f), usage.Finders{}, s.now); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]float64{"pros": 0, "others": 1} {
			s.must(200, "key", "POST /segments/"+key+"/refresh-count", "")
			r := s.must(200, "key", "GET /segments/"+key, "")
			w, _ := r.body["warnings"].([]any)
			if r.body["count"] != want || len(w) != 1 || !strings.Contains(fmt.Sprint(w[0]), "UNKNOWN_FIELD") {
				t.Errorf("after, %s: %s; want %v and a warning", key, r.text, want)
			}
		}
		if r := s.must(200, "key", "GET /segments", ""); r.data("warnings")[0] != "" {
			t.Errorf("the list has warnings: %s", r.text)
		}
	})
}

// Problems of a definition are reported with their path, in every request that has one.
func TestProblemsOfDefinitionsHaveTheirPath(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "Germans", "definition": `+germans+`}`)
		for wrong, path := range map[string]string{
			`5`: "definition", `"x"`: "definition", `[]`: "definition", `true`: "definition",
			`{"logic": 5, "conditions": [{"field": "city", "operator": "is_set"}]}`:                     "definition.logic",
			`{"logic": "and", "conditions": 5}`:                                                         "definition.conditions",
			`{"logic": "and", "conditions": {}}`:                                                        "definition.conditions",
			`{"logic": "and", "conditions": [null, "x"]}`:                                               "definition.conditions[0]",
			`{"logic": "and", "negate": "no", "conditions": [{"field": "city", "operator": "is_set"}]}`: "definition.negate",
			`{"logic": "and", "conditions": [{"logic": "and", "conditions": 5}]}`:                       "definition.conditions[0].conditions",
			`{"logic": "and", "conditions": [{"type": "email", "event": 5, "operator": "did"}]}`:        "definition.conditions[0].event",
		} {
			for _, caller := range []string{"key", "editor"} {
				for _, what := range []string{"POST /segments", "PUT /segments/germans", "POST /segments/preview", "POST /contacts/search"} {
					if r := s.call(caller, what, `{"name": "x", "definition": `+wrong+`}`); r.status != 400 || r.code != "INVALID_DEFINITION" || !strings.Contains(r.text, `"details":{"path":"`+path+`",`) {
						t.Errorf("%s: %s %s = %d %s, want it at %s", caller, what, wrong, r.status, r.text, path)
					}
				}
			}
		}
		for leaf, path := range map[string]string{
			`{"type": "event", "operator": "did"}`:                                 "event_name",
			`{"type": "page_view", "operator": "did_not"}`:                         "url",
			`{"type": "form", "operator": "did"}`:                                  "form_slug",
			`{"type": "form", "form_slug": "x", "operator": "did", "windows": {}}`: "windows",
			`{"type": "event_sequence", "operator": "followed", "first": {"event_name": "a"}, "then": {"event": "b"}, "within": {"amount": 1, "unit": "day"}}`: "then.event_name",
			`{"type": "event", "event_name": "x", "operator": "did", "window": {"since": 1}}`:                                                                  "window.since",
		} {
			definition := `{"logic": "and", "conditions": [` + leaf + `]}`
			for _, caller := range []string{"key", "editor"} {
				for what, body := range map[string]string{
					"POST /segments":         `{"name": "x", "definition": ` + definition + `}`,
					"PUT /segments/germans":  `{"definition": ` + definition + `}`,
					"POST /segments/preview": `{"definition": ` + definition + `}`,
					"POST /contacts/search":  `{"definition": ` + definition + `}`,
					"POST /saved-filters":    `{"name": "x", "definition": ` + definition + `}`,
				} {
					if caller == "key" && what == "POST /saved-filters" { // for sessions only
						continue
					}
					if r := s.call(caller, what, body); r.status != 400 || r.code != "INVALID_DEFINITION" || !strings.Contains(r.text, `"path":"definition.conditions[0].`+path+`"`) {
						t.Errorf("%s: %s %s = %d %s", caller, what, body, r.status, r.text)
					}
				}
			}
		}
	})
}

// The events that the API records are those of sequences of events.
func TestSegmentsByOneEventAfterAnother(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for address, orderedAfter := range map[string]time.Duration{"quick": time.Hour, "slow": 72 * time.Hour, "never": 0} {
			s.must(201, "key", "POST /contacts", `{"email": "`+address+`@example.org"}`)
			record := func(name string, at time.Time) {
				s.must(202, "key", "POST /events", fmt.Sprintf(`{"event_name": "%s", "contact_email": "%s@example.org", "occurred_at": "%s", "properties": {"value": 60}}`,
					name, address, at.Format(time.RFC3339)))
			}
			cart := s.now.Add(-5 * 24 * time.Hour)
			record("cart_updated", cart)
			if orderedAfter > 0 {
				record("order_placed", cart.Add(orderedAfter))
			}
		}
		for operator, want := range map[string][]string{"followed": {"quick@example.org"}, "not_followed": {"never@example.org", "slow@example.org"}} {
			s.must(201, "key", "POST /segments", `{"name": "`+operator+`", "segment_key": "`+operator+`", "definition": {"logic": "and", "conditions": [
				{"type": "event_sequence", "operator": "`+operator+`",
				 "first": {"event_name": "cart_updated", "filters": [{"property": "value", "operator": "greater_than", "value": 50}]},
				 "then": {"event_name": "order_placed"}, "within": {"amount": 2, "unit": "day"}, "window": {"in_the_last": {"amount": 30, "unit": "day"}}}]}}`)
			if got := s.must(200, "key", "GET /segments/"+operator+"/members?sort=email&dir=asc", "").data("email"); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", operator, got, want)
			}
		}
	})
}

// A broadcast that was deleted, or belongs to another tenant, is in the warnings.
func TestMissingBroadcastsAreWarnings(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		b, kept := s.createDraft("Spring", ``), s.createDraft("Summer", ``)
		leaf := func(b string) string {
			return `{"type": "broadcast", "broadcast_id": "` + b + `", "event": "opened", "operator": "did_not"}`
		}
		definition := `{"logic": "and", "conditions": [` + leaf(kept) + `, {"logic": "or", "conditions": [` + leaf(b) + `, ` + leaf(b) + `]}]}`
		s.must(201, "key", "POST /segments", `{"name": "Asleep", "definition": `+definition+`}`)
		s.must(201, "key", "POST /t/other/api/segments", `{"name": "Foreign", "definition": `+definition+`}`)
		warnings := func(caller, what string) (list []string) {
			t.Helper()
			for _, w := range s.must(200, caller, what, "").body["warnings"].([]any) {
				w := w.(map[string]any)
				list = append(list, strings.TrimPrefix(fmt.Sprint(w["path"]), "definition.conditions")+" "+fmt.Sprint(w["code"]))
			}
			return list
		}
		if got := warnings("key", "GET /segments/asleep"); len(got) != 0 {
			t.Errorf("warnings while the broadcasts exist: %q", got)
		}
		gone := []string{"[1].conditions[0].broadcast_id INVALID_BROADCAST", "[1].conditions[1].broadcast_id INVALID_BROADCAST"}
		if got := warnings("key", "GET /t/other/api/segments/foreign"); !slices.Equal(got, append([]string{"[0].broadcast_id INVALID_BROADCAST"}, gone...)) {
			t.Errorf("warnings of another tenant's broadcasts: %q", got)
		}
		s.must(204, "key", "DELETE /broadcasts/"+b, "")
		for _, caller := range []string{"key", "viewer"} {
			if got := warnings(caller, "GET /segments/asleep"); !slices.Equal(got, gone) {
				t.Errorf("%s: warnings %q, want %q", caller, got, gone)
			}
		}
	})
}

func TestSegmentsFromABroadcast(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "VIP", "type": "static"}`)
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`)
		s.must(200, "key", "POST /segments/vip/members", `{"emails": ["ann@example.org"]}`)
		b := s.createDraft("Spring", `"include_segment_keys": ["vip"]`)
		bare := s.createDraft("Bare", ``)
		for _, c := range []string{"engagers", "openers", "non_openers", "clickers", "non_clickers", "bouncers", "complainers", "unsubscribers", "not_received"} {
			r := s.must(201, "key", "POST /segments/from-broadcast", `{"broadcast_id": "`+b+`", "criterion": "`+c+`"}`)
			if r.str("name") != "Spring - "+c || r.str("type") != "dynamic" || r.body["id"] != nil {
				t.Errorf("%s: %s", c, r.text)
			}
			got := s.must(200, "key", "GET /segments/"+r.str("segment_key"), "")
			if want := map[bool]float64{true: 1, false: 0}[c == "not_received"]; got.body["count"] != want {
				t.Errorf("%s: %s, want %v", c, got.text, want)
			}
		}
		if r := s.must(201, "editor", "POST /segments/from-broadcast", `{"broadcast_id": "`+b+`", "criterion": "openers", "name": "Mine"}`); r.str("name") != "Mine" || !id.Valid(r.str("id")) {
			t.Errorf("named: %s", r.text)
		}
		for _, tt := range []struct{ body, code string }{
			{`{"broadcast_id": "` + b + `"}`, "INVALID_CRITERION"},
			{`{"broadcast_id": "` + b + `", "criterion": 5}`, "INVALID_CRITERION"},
			{`{"broadcast_id": "` + b + `", "criterion": "fans"}`, "INVALID_CRITERION"},
			{`{"broadcast_id": "` + bare + `", "criterion": "not_received"}`, "INVALID_CRITERION"},
			{`{"broadcast_id": "` + b + `", "criterion": "openers", "name": ""}`, "INVALID_INPUT"},
			{`{"criterion": "openers"}`, "INVALID_INPUT"},
			{`{"broadcast_id": "", "criterion": "openers"}`, "INVALID_INPUT"},
			{`{"broadcast_id": "` + id.NewText() + `", "criterion": "openers"}`, "NOT_FOUND"},
		} {
			if r := s.call("key", "POST /segments/from-broadcast", tt.body); r.code != tt.code {
				t.Errorf("%s = %d %s, want %s", tt.body, r.status, r.text, tt.code)
			}
		}
		for _, caller := range []string{"key", "editor"} {
			if r := s.call(caller, "POST /segments/from-broadcast", `{"broadcast_id": "x", "criterion": "openers"}`); r.status != 400 || r.code != "INVALID_INPUT" || !strings.Contains(r.text, `"fields":[{"path":"broadcast_id","message":"must be a UUID"}]`) {
				t.Errorf("%s: a malformed broadcast_id: %d %s", caller, r.status, r.text)
			}
			if r := s.call(caller, "POST /segments/from-broadcast", `{"broadcast_id": "x", "criterion": "openers", "name": ""}`); r.code != "INVALID_INPUT" || strings.Count(r.text, `"path"`) != 2 {
				t.Errorf("%s: two problems: %d %s", caller, r.status, r.text)
			}
		}
		if r := s.call("key", "POST /t/other/api/segments/from-broadcast", `{"broadcast_id": "`+b+`", "criterion": "openers"}`); r.code != "NOT_FOUND" {
			t.Errorf("another tenant's: %d %s", r.status, r.text)
		}
	})
}

// A draft has a warning if no contact matches its segments.
func TestAnEmptyAudienceIsAWarning(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /segments", `{"name": "Germans", "definition": `+germans+`}`)
		b := s.createDraft("Spring", `"include_segment_keys": ["germans"]`)
		if r := s.must(200, "key", "GET /broadcasts/"+b, ""); !strings.Contains(r.text, "EMPTY_AUDIENCE") {
			t.Errorf("without contacts: %s", r.text)
		}
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "country": "DE"}`)
		if r := s.must(200, "key", "GET /broadcasts/"+b, ""); strings.Contains(r.text, "EMPTY_AUDIENCE") {
			t.Errorf("with a contact: %s", r.text)
		}
	})
}
