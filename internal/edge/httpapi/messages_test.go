package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
)

const entryContent = `{"subject": "Hi {{ first_name }}", "body_html": "<p>Hi {{ first_name }}</p>", "preheader": "p"}`

func TestLibraryEntriesAreWrittenAndRead(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		bare := s.must(201, "key", "POST /messages", `{"name": " Spring news "}`)
		bare.wantFields(t, map[string]string{
			"name": `"Spring news"`, "slug": `"spring-news"`, "tags": `[]`, "status": `"draft"`, "current_version": `0`, "current_content": `null`, "tenant_id": `"` + s.acme.String() + `"`,
		})
		made := s.must(201, "key", "POST /messages", `{"name": "Spring news", "slug": "spring-news", "status": "published", "tags": ["a"], "content": `+entryContent+`}`)
		at := "/messages/" + made.str("id")
		want := map[string]string{
			"slug": `"spring-news-2"`, "status": `"published"`, "tags": `["a"]`, "current_version": `1`, "current_content.subject": `"Hi {{ first_name }}"`,
			"current_content.body_mjml": `null`, "current_content.body_text": `null`, "current_content.template_slug": `null`, "current_content.template_binding": `null`,
			"current_content.template_snapshot": `null`, "current_content.from_name": `null`, "current_content.reply_to": `null`, "current_content.preheader": `"p"`,
			"current_content.template_id": ``,
		}
		made.wantFields(t, want)
		s.must(200, "key", "GET "+at, "").wantFields(t, want)
		want["current_content.template_id"] = `null`
		s.must(200, "viewer", "GET "+at, "").wantFields(t, want)

		s.must(200, "key", "PATCH "+at, `{"name": "Summer", "tags": null, "content": {"subject": "Ho"}}`).wantFields(t, map[string]string{
			"name": `"Summer"`, "slug": `"spring-news-2"`, "tags": `[]`, "current_version": `2`, "current_content.subject": `"Ho"`, "current_content.preheader": `"p"`,
		})
		s.must(200, "editor", "PATCH "+at, `{"slug": "summer", "content": {"preheader": null}}`).wantFields(t, map[string]string{
			"slug": `"summer"`, "current_version": `3`, "current_content.subject": `"Ho"`, "current_content.preheader": `null`,
		})
		for _, nothing := range []string{`{"content": {}}`, `{"content": {"unknown": 1}, "name": "Lost"}`} {
			for _, caller := range []string{"key", "editor"} {
				s.mustRefuse(caller, "PATCH "+at, nothing, 400, "NO_CONTENT")
			}
		}
		s.must(200, "key", "PATCH "+at, `{"content": {"subject": "Ho"}}`).wantFields(t, map[string]string{"name": `"Summer"`, "current_version": `4`, "current_content.subject": `"Ho"`})
		s.must(200, "key", "PATCH "+at, `{}`).wantFields(t, map[string]string{"current_version": `4`})

		list := s.must(200, "key", "GET "+at+"/versions", "")
		list.wantFields(t, map[string]string{"next_cursor": `null`, "has_more": `false`, "total": ``})
		var subjects []string
		for _, v := range list.body["data"].([]any) {
			v := v.(map[string]any)
			subjects = append(subjects, fmt.Sprintf("%v %v", v["version"], v["content"].(map[string]any)["subject"]))
			if v["message_id"] != made.str("id") || len(v["usage"].([]any)) != 0 {
				t.Errorf("a version: %v", v)
			}
		}
		if got := strings.Join(subjects, ", "); got != "4 Ho, 3 Ho, 2 Ho, 1 Hi {{ first_name }}" {
			t.Errorf("versions: %s", got)
		}
		s.must(200, "key", "GET "+at+"/versions/1", "").wantFields(t, map[string]string{
			"version": `1`, "message_id": made.json("id"), "content.subject": `"Hi {{ first_name }}"`, "content.template_id": ``, "usage": `[]`,
		})
		s.must(200, "viewer", "GET "+at+"/versions/1", "").wantFields(t, map[string]string{"content.template_id": `null`})

		s.must(200, "key", "POST "+at+"/archive", "").wantFields(t, map[string]string{"status": `"archived"`, "current_version": `4`})
		s.must(200, "key", "POST "+at+"/archive", "").wantFields(t, map[string]string{"status": `"archived"`})
		twin := s.must(201, "key", "POST "+at+"/duplicate", "")
		twin.wantFields(t, map[string]string{"name": `"Summer (copy)"`, "slug": `"summer-copy"`, "status": `"draft"`, "current_version": `4`, "current_content.subject": `"Ho"`})
		if twin.str("id") == made.str("id") {
			t.Error("the copy is the original")
		}
		s.must(201, "key", "POST "+at+"/duplicate", "").wantFields(t, map[string]string{"name": `"Summer (copy 2)"`})
		s.must(200, "key", "PATCH "+at, `{"status": "draft", "content": {"subject": "Again"}}`).wantFields(t, map[string]string{"status": `"draft"`, "current_version": `5`})
		s.must(204, "key", "DELETE "+at, "")
		s.mustRefuse("key", "GET "+at, "", 404, "NOT_FOUND")
		if list := s.must(200, "key", "GET /messages/"+twin.str("id")+"/versions", ""); len(list.body["data"].([]any)) != 4 {
			t.Errorf("the copy's versions: %s", list.text)
		}
	})
}

func TestTheLibraryIsListedInPages(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for i, status := range []string{"draft", "published", "archived", "draft"} {
			s.must(201, "key", "POST /messages", fmt.Sprintf(`{"name": "Entry %d", "status": %q, "content": %s}`, i, status, entryContent))
		}
		for query, want := range map[string]string{
			"": "Entry 3, Entry 1, Entry 0 of 3", "?limit=2": "Entry 3, Entry 1 of 3 and more", "?limit=2&offset=2": "Entry 0 of 3", "?offset=99": " of 3",
			"?limit=0": "Entry 3 of 3 and more", "?limit=x": "Entry 3, Entry 1, Entry 0 of 3", "?limit=100000": "Entry 3, Entry 1, Entry 0 of 3",
			"?status=archived": "Entry 2 of 1", "?status=archived,%20draft,": "Entry 3, Entry 2, Entry 0 of 3", "?search=ENTRY%201": "Entry 1 of 1", "?search=%25": " of 0",
			"?search=entry&limit=1&offset=1": "Entry 1 of 3 and more",
		} {
			list := s.must(200, "key", "GET /messages"+query, "")
			got := strings.Join(list.data("name"), ", ") + " of " + list.json("total")
			if list.body["has_more"] == true {
				got += " and more"
			}
			if got != want || list.json("next_cursor") != "null" {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
			for _, row := range list.body["data"].([]any) {
				if _, there := row.(map[string]any)["current_content"]; there {
					t.Errorf("%s: a row has content", query)
				}
			}
		}
		s.mustRefuse("key", "GET /messages?status=gone", "", 400, "INVALID_STATUS")
		for _, offset := range []string{"-1", "x", "1.5"} {
			if r := s.mustRefuse("key", "GET /messages?offset="+offset, "", 400, "INVALID_INPUT"); !slices.Equal(r.paths(), []string{"offset"}) {
				t.Errorf("offset=%s: %s", offset, r.text)
			}
		}
	})
}

func TestInvalidLibraryEntriesAreRefused(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /messages", `{"name": "Taken"}`)
		at := "/messages/" + s.must(201, "key", "POST /messages", `{"name": "Mine", "content": `+entryContent+`}`).str("id")
		for _, tt := range []struct {
			body, code, paths string
		}{
			{`{"name": ""}`, "INVALID_INPUT", "name"}, {`{"name": null}`, "INVALID_INPUT", "name"}, {`{"name": 5}`, "INVALID_INPUT", "name"},
			{`{"name": "x", "slug": "A b"}`, "INVALID_INPUT", "slug"}, {`{"name": "x", "slug": null}`, "INVALID_INPUT", "slug"},
			{`{"name": "x", "content": null}`, "INVALID_INPUT", "content"},
			{`{"name": "", "content": null, "tags": [""]}`, "INVALID_INPUT", "content name tags"},
			{`{"name": "", "content": {"subject": "a\nb", "body_html": "x", "reply_to": "y"}}`, "INVALID_INPUT", "content.reply_to content.subject name"},
			{`{"name": "x", "status": "gone"}`, "INVALID_STATUS", ""}, {`{"name": "x", "status": null}`, "INVALID_STATUS", "status"}, {`{"name": "x", "status": 5}`, "INVALID_STATUS", "status"},
			{`{"name": "x", "content": 5}`, "NO_CONTENT", "content"}, {`{"name": "x", "content": {"subject": null}}`, "NO_CONTENT", "content.subject"},
			{`{"name": "x", "content": {"template_slug": "nope", "template_binding": {}}}`, "INVALID_TEMPLATE", ""}, {`{"name": "x", "content": {"template_slug": 5}}`, "INVALID_TEMPLATE", "content.template_slug"},
			{`{"name": "x", "content": {"subject": "x", "body_html": "{% if %}"}}`, "LIQUID_INVALID", ""},
			{`{"name": "x", "content": {"subject": "x", "body_mjml": "<p>"}}`, "MJML_INVALID", ""},
			{`{"name": "x", "tags": ["` + strings.Join(strings.Split(strings.Repeat("t", 51), ""), `", "`) + `"]}`, "", ""},
		} {
			for _, what := range []string{"POST /messages", "PATCH " + at} {
				r := s.call("key", what, tt.body)
				paths := r.paths()
				slices.Sort(paths)
				if tt.code == "" && r.status < 300 { // 51 tags that are one
					continue
				}
				if r.status != 400 || r.code != tt.code || strings.Join(paths, " ") != tt.paths {
					t.Errorf("%s %s: %d %s, want %s at %q", what, tt.body, r.status, r.text, tt.code, tt.paths)
				}
			}
		}
		many := make([]string, 51)
		for i := range many {
			many[i] = fmt.Sprintf(`"t%d"`, i)
		}
		s.mustRefuse("key", "PATCH "+at, `{"tags": [`+strings.Join(many, ",")+`]}`, 400, "LIMIT_EXCEEDED")
		s.mustRefuse("key", "POST /messages", `{}`, 400, "INVALID_INPUT")
		s.mustRefuse("key", "POST /messages", `{"name": "x", "content": {}}`, 400, "NO_CONTENT")
		s.mustRefuse("key", "PATCH "+at, `{"slug": "taken", "content": {"subject": "lost"}}`, 409, "DUPLICATE_SLUG")
		for version, want := range map[string]int{"0": 400, "-1": 400, "x": 400, "1.0": 400, "%2B1": 400, "1": 200, "7": 404, "99999999999999999999": 404} {
			if r := s.call("key", "GET "+at+"/versions/"+version, ""); r.status != want {
				t.Errorf("version %s: %d %s, want %d", version, r.status, r.text, want)
			}
		}
		s.mustRefuse("key", "GET /messages/"+unknownID+"/versions/x", "", 400, "INVALID_INPUT")
		for _, id := range []string{unknownID, "mine", "x"} {
			for _, what := range []string{"GET ", "PATCH ", "DELETE ", "POST archive", "POST duplicate", "POST rebase-preview", "GET versions", "GET versions/1"} {
				method, rest, _ := strings.Cut(what, " ")
				body := ""
				if method == "PATCH" {
					body = `{}`
				}
				s.mustRefuse("key", strings.TrimSuffix(method+" /messages/"+id+"/"+rest, "/"), body, 404, "NOT_FOUND")
			}
		}
		if list := s.must(200, "key", "GET "+at+"/versions", ""); strings.Contains(list.text, "lost") {
			t.Errorf("a refused change was stored: %s", list.text)
		}
		for _, what := range []string{"GET /messages", "GET " + at, "GET " + at + "/versions", "GET " + at + "/versions/1"} {
			s.must(200, "key messages:read", what, "")
			s.mustRefuse("key messages:write", what, "", 403, "INSUFFICIENT_SCOPE")
		}
		s.mustRefuse("key messages:read", "POST "+at+"/rebase-preview", "", 400, "NOT_TEMPLATE_MODE")
		s.mustRefuse("viewer", "POST "+at+"/rebase-preview", "", 400, "NOT_TEMPLATE_MODE")
		for _, what := range []string{"POST /messages", "PATCH " + at, "DELETE " + at, "POST " + at + "/archive", "POST " + at + "/duplicate"} {
			s.mustRefuse("key messages:read", what, `{"name": "x"}`, 403, "INSUFFICIENT_SCOPE")
			s.mustRefuse("viewer", what, `{"name": "x"}`, 403, "FORBIDDEN")
		}
	})
}

// An entry is rendered from a template, previews a change of it, and cannot be deleted while a
// broadcast uses it.
func TestALibraryEntryOfATemplateInABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		tpl := s.must(201, "key", "POST /templates", `{"name": "Letter", "subject": "{{param:headline}}", "content_html": "<h1>{{param:headline}}</h1><p>{{param:teaser}}</p>",
			"parameters_schema": [{"name": "headline", "type": "text", "required": true}, {"name": "teaser", "type": "text"}]}`)
		made := s.must(201, "key", "POST /messages", `{"name": "News", "content": {"template_slug": "letter", "template_binding": {"parameters": {"headline": "Hello", "teaser": "Read on"}}}}`)
		at := "/messages/" + made.str("id")
		made.wantFields(t, map[string]string{
			"current_content.subject": `"Hello"`, "current_content.template_slug": `"letter"`, "current_content.template_id": ``,
			"current_content.template_binding.parameters": `{"headline":"Hello","teaser":"Read on"}`, "current_content.template_snapshot.template_id": tpl.json("id"),
		})
		s.must(200, "viewer", "GET "+at, "").wantFields(t, map[string]string{"current_content.template_id": tpl.json("id")})
		s.must(200, "editor", "PATCH "+at, `{"content": {"template_id": `+tpl.json("id")+`, "template_binding": {"parameters": {"headline": "Hi"}}}}`).wantFields(t, map[string]string{
			"current_content.subject": `"Hi"`, "current_version": `2`,
		})
		s.mustRefuse("key", "PATCH "+at, `{"content": {"template_binding": {"parameters": {"headline": 5}}}}`, 400, "INVALID_BINDING")

		s.must(200, "key", "PUT /templates/letter", `{"content_html": "<h1>{{param:headline}}</h1><p>{{param:call}}</p>",
			"parameters_schema": [{"name": "headline", "type": "text", "required": true}, {"name": "call", "type": "text", "required": true}]}`)
		for _, body := range []string{``, `{}`, `null`, `{"version": null}`, `{"version": 2}`, `{"version": 1}`} {
			r := s.must(200, "key messages:read", "POST "+at+"/rebase-preview", body)
			headline := `{"headline":"Hi"}`
			if strings.Contains(body, "1") {
				headline = `{"headline":"Hello"}`
			}
			r.wantFields(t, map[string]string{
				"merged_binding.parameters": headline, "merged_snapshot.template_id": tpl.json("id"), "diff.template_changed": `true`,
				"diff.added": `[{"path":"parameters.call","required":true,"value":null}]`, "diff.changed": `[]`,
			})
			if issues := r.json("diff.issues"); !strings.Contains(issues, `"required_missing"`) || !strings.Contains(issues, `"parameters.call"`) {
				t.Errorf("issues: %s", issues)
			}
			if removed := r.json("diff.removed"); strings.Contains(body, "1") && removed != `[{"path":"parameters.teaser","value":"Read on"}]` {
				t.Errorf("removed: %s", removed)
			}
		}
		for body, want := range map[string]int{`{"version": 3}`: 404, `{"version": 0}`: 400, `{"version": -1}`: 400, `{"version": "1"}`: 400, `{"version": 1.5}`: 400} {
			if r := s.call("key", "POST "+at+"/rebase-preview", body); r.status != want {
				t.Errorf("%s: %d %s, want %d", body, r.status, r.text, want)
			}
		}
		bare := s.must(201, "key", "POST /messages", `{"name": "Bare"}`).str("id")
		s.mustRefuse("key", "POST /messages/"+bare+"/rebase-preview", "", 400, "NO_CONTENT")
		s.must(204, "key", "DELETE /templates/letter?force=true", "")
		s.mustRefuse("key", "POST "+at+"/rebase-preview", "", 404, "NOT_FOUND")

		s.must(201, "key", "POST /broadcasts", broadcastJSON(t, fmt.Sprintf(`{"name": "March", "content": {"message_id": %q, "message_version": 1}}`, made.str("id"))))
		use := `[{"kind":"broadcast","name":"March","status":"draft","version":1}]`
		if r := s.mustRefuse("key", "DELETE "+at, "", 409, "IN_USE"); r.json("error.details.usage") != use {
			t.Errorf("details: %s", r.text)
		}
		s.must(200, "key", "GET "+at+"/versions/1", "").wantFields(t, map[string]string{"usage": use})
		s.must(200, "key", "GET "+at+"/versions/2", "").wantFields(t, map[string]string{"usage": `[]`})
		s.must(201, "key", "POST /broadcasts", broadcastJSON(t, fmt.Sprintf(`{"name": "April", "content": {"message_id": %q, "message_version": 2}}`, made.str("id"))))
		for query, want := range map[string]string{"": `[null,null,null,null,null,null]`, "?embed=use": `[null,null,null,` + tpl.json("id") + `,"letter",[{"kind":"broadcast","name":"April","status":"draft","version":2}]]`} {
			var parts []any // of the entry without content, then of the one of a template
			rows := s.must(200, "key messages:read", "GET /messages"+query, "").body["data"].([]any)
			slices.SortFunc(rows, func(a, b any) int {
				return strings.Compare(a.(map[string]any)["slug"].(string), b.(map[string]any)["slug"].(string))
			})
			for _, row := range rows {
				for _, name := range []string{"template_id", "template_slug", "usage"} {
					parts = append(parts, row.(map[string]any)[name])
				}
			}
			if got, _ := json.Marshal(parts); string(got) != want {
				t.Errorf("entries%s: %s, want %s", query, got, want)
			}
		}
	})
}

// The list with uses runs as many statements for many rows as for one, whatever uses them.
func TestAListOfMessagesWithUsesRunsFewStatements(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		s.must(201, "editor", "POST /sequences", `{"name": "Tour"}`)
		for i := range 7 {
			made := s.must(201, "key", "POST /messages", fmt.Sprintf(`{"name": "Entry %d", "content": %s}`, i, entryContent)).str("id")
			s.must(201, "key", "POST /broadcasts", broadcastJSON(t, fmt.Sprintf(`{"name": "Of %d", "content": {"message_id": %q, "message_version": 1}}`, i, made)))
		}
		s.must(201, "key", "POST /messages", `{"name": "Bare"}`)
		count := func(limit, rows int) (n int) {
			ctx := sqldb.WithQueryTrace(t.Context(), func(string, []any) { n++ })
			r := httptest.NewRequestWithContext(ctx, "GET", fmt.Sprintf("/t/acme/api/messages?embed=use&search=entry&limit=%d", limit), nil)
			r.Header.Set("X-API-Key", "key")
			w := httptest.NewRecorder()
			s.router.ServeHTTP(w, r)
			text := w.Body.String()
			if w.Code != 200 || strings.Count(text, `"usage":[{"version":1,"kind":"broadcast"`) != rows {
				t.Errorf("limit=%d: %d %s", limit, w.Code, text)
			}
			for i := range 7 {
				if rows == 7 && !strings.Contains(text, fmt.Sprintf(`"usage":[{"version":1,"kind":"broadcast","name":"Of %d","status":"draft"}]`, i)) {
					t.Errorf("entry %d has not its use: %s", i, text)
				}
			}
			return n
		}
		if one, all := count(1, 1), count(50, 7); one == 0 || one != all {
			t.Errorf("%d statements for one row, %d for seven", one, all)
		}
	})
}
