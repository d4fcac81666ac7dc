package httpapi_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each collection has the rows of its own operation, for those who may read them, and none of another tenant.
func TestCollections(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		own := map[string]string{
			"blocks": "/blocks?full=true", "broadcasts": "/broadcasts", "templates": "/templates?full=true", "custom_fields": "/settings/custom-fields", "email_categories": "/email-categories", "email_types": "/email-types", "forms": "/forms", "messages": "/messages?limit=200",
			"mta_configs": "/mta-configs", "saved_filters": "/saved-filters", "seed_lists": "/seed-lists", "segments": "/segments", "sending_identities": "/sending-identities",
			"sequences": "/sequences", "stages": "/settings/stages", "working_copies": "/working-copies",
		}
		all := strings.Join(slices.Sorted(maps.Keys(own)), ",")
		other := s.must(200, "owner", "GET /t/other/api/collections?kinds="+all, "").text
		for _, made := range []struct {
			status     int
			what, body string
		}{
			{201, "POST /settings/custom-fields", `{"field_key": "plan", "name": "Plan", "field_type": "enum", "enum_values": ["a", "b"]}`},
			{201, "POST /blocks", `{"name": "Hero", "content_html": "<h1>{{param:x}}</h1>", "parameters_schema": [{"name": "x", "type": "text"}]}`},
			{201, "POST /templates", `{"name": "Letter", "content_html": "<p>Hi</p>"}`},
			{201, "POST /email-categories", `{"name": "Offers"}`},
			{201, "POST /forms", `{"name": "Sign-up", "fields": [{"type": "contact", "binding": "email", "label": "Email", "required": true}]}`},
			{201, "POST /messages", `{"name": "Welcome", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`},
			{201, "POST /mta-configs", `{"name": "Box", "type": "sink", "settings": {}}`},
			{201, "POST /saved-filters", `{"name": "Mine"}`},
			{201, "POST /seed-lists", `{"name": "Vendor"}`},
			{201, "POST /segments", `{"name": "Readers", "type": "static"}`},
			{201, "POST /sequences", `{"name": "Tour"}`},
			{204, "PUT /working-copies/template/01900000-0000-7000-8000-000000000071", `{"title": "Draft", "data": {"subject": "x"}}`},
		} {
			s.must(made.status, "owner", made.what, made.body)
		}
		got := s.must(200, "owner", "GET /collections?kinds="+all, "")
		if len(got.body) != len(own) {
			t.Errorf("collections %v, want %d", slices.Sorted(maps.Keys(got.body)), len(own))
		}
		counted := regexp.MustCompile(`"member_count_evaluated_at":"[^"]*",`) // a segment is counted for each reader
		for kind, path := range own {
			rows := counted.ReplaceAllString(got.json(kind), "")
			if list := counted.ReplaceAllString(s.must(200, "owner", "GET "+path, "").json("data"), ""); rows != list {
				t.Errorf("%s: %s, want %s", kind, rows, list)
			}
			for _, role := range []string{"viewer", "editor", "admin"} {
				if alone, list := s.call(role, "GET /collections?kinds="+kind, ""), s.call(role, "GET "+path, ""); alone.status != list.status || alone.code != list.code {
					t.Errorf("%s as %s: %d %s, its own operation %d %s", kind, role, alone.status, alone.code, list.status, list.code)
				}
			}
		}
		if again := s.must(200, "owner", "GET /t/other/api/collections?kinds="+all, ""); again.text != other {
			t.Errorf("the other tenant has %s, had %s", again.text, other)
		}
		if one := s.must(200, "viewer", "GET /collections?kinds=stages,,%20segments,stages", ""); strings.Join(slices.Sorted(maps.Keys(one.body)), " ") != "segments stages" {
			t.Errorf("collections %v", slices.Sorted(maps.Keys(one.body)))
		}
		s.mustRefuse("viewer", "GET /collections?kinds=segments,working_copies", "", 403, "FORBIDDEN")
		s.mustRefuse("key", "GET /collections?kinds=segments", "", 403, "API_KEY_FORBIDDEN")
		few := s.must(200, "owner", "GET /collections?copies=template/01900000-0000-7000-8000-000000000071,segment/01900000-0000-7000-8000-000000000071,nothing&binding_options=letter,nothing&kinds=stages", "")
		few.wantFields(t, map[string]string{
			"copies": "[" + ordered(s.must(200, "owner", "GET /working-copies/template/01900000-0000-7000-8000-000000000071", "")) + "]", "binding_options": "[" + ordered(s.must(200, "owner", "GET /templates/letter/binding-options", "")) + "]",
		})
		s.must(200, "owner", "GET /t/other/api/collections?copies=template/01900000-0000-7000-8000-000000000071&binding_options=letter", "").wantFields(t, map[string]string{"copies": "[]", "binding_options": "[]"})
		s.mustRefuse("viewer", "GET /collections?copies=template/01900000-0000-7000-8000-000000000071", "", 403, "FORBIDDEN")
		s.must(200, "viewer", "GET /collections?binding_options=letter", "")
		for query, problem := range map[string]string{"copies=" + strings.Repeat("a/b,", 21): "copies", "binding_options=" + strings.Repeat("a,", 6): "binding_options"} {
			if r := s.mustRefuse("owner", "GET /collections?"+query, "", 400, "INVALID_INPUT"); r.problems() != problem {
				t.Errorf("%.40s: problems at %q", query, r.problems())
			}
		}
		for _, query := range []string{"", "?kinds=", "?kinds=,", "?kinds=segments,users", "?kinds=Segments"} {
			if r := s.mustRefuse("viewer", "GET /collections"+query, "", 400, "INVALID_INPUT"); r.problems() != "kinds" {
				t.Errorf("%s: problems at %q", query, r.problems())
			}
		}
	})
}

// ordered returns the body of a response with its members in the order of their names.
func ordered(r response) string {
	text, _ := json.Marshal(r.body)
	return string(text)
}
