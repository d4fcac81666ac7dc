package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
)

const letterTemplate = `{"name": "Spring Letter", "subject": "For {{param:reader}}", "content_html": "<p>{{param:reader}}, {{ first_name }}</p>{{#section rows}}<b>{{item:name}}</b>{{/section}}{{slot:hero}}",
	"tags": ["spring", "news"], "parameters_schema": [{"name": "reader", "type": "text", "required": true, "sample": "Ann"}],
	"sections_schema": [{"name": "rows", "item_schema": [{"name": "name", "type": "text"}]}],
	"slots_schema": [{"name": "hero", "tag_filter": ["hero"]}], "groups_schema": [{"name": "main", "parameters": ["reader"]}],
	"expects_schema": [{"path": "contact.first_name", "type": "string"}]}`

func TestTemplatesThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		made := s.must(201, "key", "POST /templates", letterTemplate)
		tid := made.str("id")
		whole := map[string]string{
			"tenant_id": fmt.Sprintf("%q", s.acme), "slug": `"spring-letter"`, "name": `"Spring Letter"`, "subject": `"For {{param:reader}}"`, "format": `"html"`,
			"content_mjml": `null`, "content_text": `null`, "inline_css": `false`, "tags": `["spring","news"]`,
			"parameters_schema": `[{"default":null,"help_text":null,"label":null,"name":"reader","required":true,"sample":"Ann","type":"text","validation":{}}]`,
			"slots_schema":      `[{"allowed_strategies":["fixed","random","empty"],"default_strategy":"empty","help_text":null,"label":null,"name":"hero","required":false,"tag_filter":["hero"]}]`,
			"created_at":        `"2026-03-01T12:00:00.000Z"`, "updated_at": `"2026-03-01T12:00:00.000Z"`,
		}
		made.wantFields(t, whole)
		made.wantFields(t, map[string]string{"warnings": `[]`})
		for _, caller := range []string{"key templates:read", "viewer"} {
			for _, ref := range []string{tid, strings.ToUpper(tid), "spring-letter"} {
				got := s.must(200, caller, "GET /templates/"+ref, "")
				got.wantFields(t, whole)
				if _, there := got.body["usage"]; there || got.body["warnings"] != nil {
					t.Errorf("more than was asked for: %s", got.text)
				}
			}
		}
		s.must(201, "editor", "POST /templates", `{"name": "Autumn", "content_html": "x", "tags": ["news"]}`)
		s.must(201, "key", "POST /t/other/api/templates", letterTemplate)
		o.sends = map[string]usage.Sends{tid: {ActiveDrafts: 1, RecentBroadcasts: 2}}

		for query, want := range map[string]string{"": "autumn spring-letter", "?tags=news": "autumn spring-letter", "?tags=news,%20spring,": "spring-letter", "?tags=nope": "", "?tags=spring&full=true": "spring-letter"} {
			list := s.must(200, "key", "GET /templates"+query, "")
			if got := strings.Join(list.data("slug"), " "); got != want || list.body["has_more"] != false || list.body["next_cursor"] != nil || list.body["data"] == nil {
				t.Errorf("GET /templates%s: %s, want %s", query, got, want)
			}
		}
		keys := func(row any) string {
			var all []string
			for k := range row.(map[string]any) {
				all = append(all, k)
			}
			slices.Sort(all)
			return strings.Join(all, " ")
		}
		lean := s.must(200, "key", "GET /templates?include_usage=true", "").body["data"].([]any)
		if got := keys(lean[1]); got != "created_at format group_count id name parameter_count section_count slot_count slug tags updated_at usage" {
			t.Errorf("a lean row has %s", got)
		}
		text, _ := json.Marshal(lean)
		for _, want := range []string{`"usage":{"active_drafts":0,"recent_broadcasts":0}`, `"usage":{"active_drafts":1,"recent_broadcasts":2}`, `"parameter_count":1`, `"group_count":1`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("no %s in %s", want, text)
			}
		}
		full := s.must(200, "viewer", "GET /templates?full=true&include_usage=yes", "").body["data"].([]any)
		if got := keys(full[1]); strings.Contains(got, "usage") || !strings.Contains(got, "content_html") || !strings.Contains(got, "tenant_id") || strings.Contains(got, "parameter_count") {
			t.Errorf("a full row has %s", got)
		}
		s.must(200, "key", "GET /templates/"+tid+"?include_usage=true", "").wantFields(t, map[string]string{"usage": `{"active_drafts":1,"recent_broadcasts":2}`})
		s.must(200, "key", "GET /templates/spring-letter/schema", "").wantFields(t, map[string]string{
			"template_id": fmt.Sprintf("%q", tid), "slug": `"spring-letter"`, "name": `"Spring Letter"`,
			"parameters_schema": whole["parameters_schema"], "slots_schema": whole["slots_schema"],
		})

		// Absent fields are not changed.
		put := s.must(200, "key templates:write", "PUT /templates/spring-letter", `{"name": "Letter", "subject": null, "tags": null, "unknown": 1}`)
		whole["name"], whole["subject"], whole["tags"] = `"Letter"`, `null`, `[]`
		delete(whole, "updated_at")
		put.wantFields(t, whole)
		put.wantFields(t, map[string]string{"content_html": string(mustJSON(made.body["content_html"]))})
		if got := s.must(200, "key", "PUT /templates/spring-letter", `{"content_html": "<p>{{param:reader}}</p>{{slot:hero}}"}`); !strings.Contains(got.text, `"warnings":[{"code":"unused","path":"sections_schema[0]"`) {
			t.Errorf("no warning: %s", got.text)
		}
		s.must(200, "editor", "PUT /templates/"+tid, `{"slug": "letter"}`)

		r := s.must(409, "key", "DELETE /templates/letter", "")
		if r.code != "IN_USE" || !strings.Contains(r.text, `"details":{"active_drafts":1,"recent_broadcasts":2}`) {
			t.Errorf("a template in use: %s", r.text)
		}
		s.must(409, "key", "DELETE /templates/letter?force=1", "")
		s.must(204, "key", "DELETE /templates/letter?force=true", "")
		s.must(404, "key", "DELETE /templates/letter?force=true", "")
		s.must(204, "editor", "DELETE /templates/autumn", "")
		if got := s.must(200, "key", "GET /t/other/api/templates", ""); len(got.data("id")) != 1 {
			t.Errorf("the other tenant's templates: %s", got.text)
		}
	})
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func TestTemplatesThatAreRefused(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, _ *fakes) {
		s.must(201, "key", "POST /templates", `{"name": "Taken", "content_html": "x"}`)
		theirs := s.must(201, "key", "POST /t/other/api/templates", `{"name": "Theirs", "content_html": "x"}`)
		mail := func(body string) string {
			return string(mustJSON(map[string]any{"name": "x", "content_html": "", "format": "mjml", "content_mjml": body}))
		}
		for _, tt := range []struct {
			caller, what, body string
			status             int
			code, contains     string
		}{
			{"key", "POST /templates", `{}`, 400, "INVALID_INPUT", `"path":"content_html"`},
			{"key", "POST /templates", `{"name": "x", "content_html": null}`, 400, "INVALID_INPUT", `"path":"content_html"`},
			{"key", "POST /templates", `{"name": "x", "content_html": ""}`, 400, "INVALID_INPUT", `"path":"content_html"`},
			{"key", "POST /templates", `{"name": "", "content_html": "x", "slug": "A", "format": "pdf", "inline_css": "yes", "tags": ["", 5]}`, 400, "INVALID_INPUT", `"path":"tags"`},
			{"key", "POST /templates", `{"name": "x", "content_html": "", "format": "mjml"}`, 400, "INVALID_INPUT", `"path":"content_mjml"`},
			{"key", "POST /templates", `{"name": "x", "content_html": "x", "subject": "a\nb"}`, 400, "INVALID_INPUT", `"path":"subject"`},
			{"key", "POST /templates", `{"name": "x", "content_html": "x", "slug": "No Slug"}`, 400, "INVALID_INPUT", `"path":"slug"`},
			{"key", "POST /templates", `{"name": "x", "content_html": "x", "parameters_schema": "x"}`, 400, "INVALID_SCHEMA", `parameters_schema`},
			{"key", "POST /templates", `{"name": "x", "content_html": "x", "parameters_schema": [{"name": "A", "type": "nope"}, {"type": 5}]}`, 400, "INVALID_SCHEMA", `parameters_schema[0].type`},
			{"key", "POST /templates", `{"name": "x", "content_html": "x", "slots_schema": [null]}`, 400, "INVALID_SCHEMA", `slots_schema: 1 element`},
			{"key", "POST /templates", `{"name": "x", "content_html": "a\n{{param:nobody}}"}`, 400, "UNRESOLVED_REFERENCE", `"references":[{"token":"{{param:nobody}}","field":"content_html","line":2}]`},
			{"key", "POST /templates", `{"name": "x", "content_html": "a\n{% nope %}"}`, 400, "LIQUID_INVALID", `"details":{"field":"content_html","line":2,`},
			{"key", "POST /templates", mail(`<mjml></mjml>`), 400, "MJML_INVALID", `"field":"content_mjml"`},
			{"key", "POST /templates", mail("<mjml><mj-body>\n<mj-nope/></mj-body></mjml>"), 400, "MJML_UNKNOWN_ELEMENT", `"elements":[{"tag":"mj-nope","line":2}]`},
			{"key", "POST /templates", `{"name": "x", "content_html": "x", "tags": [` + strings.Repeat(`"a", `, 60) + `"a"]}`, 201, "", ``},
			{"key", "POST /templates", `{"name": "x", "content_html": "` + strings.Repeat("x", 5<<20) + `"}`, 413, "PAYLOAD_TOO_LARGE", ``},
			{"key", "POST /templates", `{"name": "big", "content_html": "` + strings.Repeat("x", 4<<20) + `"}`, 201, "", ``},
			{"key", "PUT /templates/taken", `{"slug": "x"}`, 409, "DUPLICATE_SLUG", ``},
			{"key", "PUT /templates/taken", `{"content_html": null}`, 400, "INVALID_INPUT", `"path":"content_html"`},
			{"key", "PUT /templates/taken", `{"format": "mjml"}`, 400, "INVALID_INPUT", `"path":"content_mjml"`},
			{"key", "PUT /templates/nobody", `{"name": "x"}`, 404, "NOT_FOUND", ``},
			{"key", "PUT /templates/" + theirs.str("id"), `{"name": "x"}`, 404, "NOT_FOUND", ``},
			{"key", "GET /templates/theirs", ``, 404, "NOT_FOUND", ``},
			{"key", "GET /templates/theirs/schema", ``, 404, "NOT_FOUND", ``},
			{"key", "GET /templates/theirs/binding-options", ``, 404, "NOT_FOUND", ``},
			{"key", "POST /templates/theirs/validate-binding", `{}`, 404, "NOT_FOUND", ``},
			{"key", "POST /templates/theirs/render", `{}`, 404, "NOT_FOUND", ``},
			{"key", "DELETE /templates/" + theirs.str("id"), ``, 404, "NOT_FOUND", ``},
			{"key", "GET /templates/" + id.NewText(), ``, 404, "NOT_FOUND", ``},
			{"key templates:read", "POST /templates", `{}`, 403, "INSUFFICIENT_SCOPE", ``},
			{"key templates:write", "GET /templates", ``, 403, "INSUFFICIENT_SCOPE", ``},
			{"key templates:write", "POST /templates/taken/render", `{}`, 403, "INSUFFICIENT_SCOPE", ``},
			{"viewer", "DELETE /templates/taken", ``, 403, "FORBIDDEN", ``},
			{"viewer", "POST /templates/taken/render", `{"template_binding": {}}`, 200, "", ``},
			{"viewer", "POST /templates/taken/validate-binding", `{"template_binding": {}}`, 200, "", ``},
		} {
			if got := s.call(tt.caller, tt.what, tt.body); got.status != tt.status || got.code != tt.code || !strings.Contains(got.text, tt.contains) {
				t.Errorf("%s %s %.100s = %d %.500s\nwant %d %s %s", tt.caller, tt.what, tt.body, got.status, got.text, tt.status, tt.code, tt.contains)
			}
		}
	})
}

func TestBlocksThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, o *fakes) {
		made := s.must(201, "editor", "POST /blocks", `{"name": "Hero", "content_html": "<h1>{{param:title}}</h1>", "tags": ["hero", "blue"], "slot_keys": ["top", "side"],
			"parameters_schema": [{"name": "title", "type": "text"}], "groups_schema": [{"name": "g", "parameters": ["title"]}]}`)
		made.wantFields(t, map[string]string{
			"slug": `"hero"`, "active": `true`, "tags": `["hero","blue"]`, "slot_keys": `["top","side"]`, "content_html": `"\u003ch1\u003e{{param:title}}\u003c/h1\u003e"`,
			"content_mjml": `null`, "content_text": `null`, "sections_schema": `[]`, "tenant_id": fmt.Sprintf("%q", s.acme), "warnings": `[]`,
		})
		bid := made.str("id")
		s.must(201, "admin", "POST /blocks", `{"name": "Aside", "content_html": "x", "tags": ["hero"], "slot_keys": ["side"], "active": false}`)
		s.must(201, "editor", "POST /t/other/api/blocks", `{"name": "Theirs", "content_html": "x", "tags": ["hero"], "slot_keys": ["side"]}`)
		for query, want := range map[string]string{
			"": "aside hero", "?tags=hero": "aside hero", "?tags=hero,blue": "hero", "?slot_keys=side,x": "aside hero", "?slot_keys=top,x": "hero", "?slot_keys=x": "", "?tags=hero&slot_keys=top": "hero",
		} {
			for _, caller := range []string{"key blocks:read", "key templates:read", "viewer"} {
				if got := strings.Join(s.must(200, caller, "GET /blocks"+query, "").data("slug"), " "); got != want {
					t.Errorf("GET /blocks%s as %s: %q, want %q", query, caller, got, want)
				}
			}
		}
		lean := s.must(200, "key", "GET /blocks?include_usage=true&slot_keys=top", "")
		if strings.Contains(lean.text, "content_html") || strings.Contains(lean.text, "tenant_id") || !strings.Contains(lean.text, `"parameters_schema":[{"name":"title"`) || !strings.Contains(lean.text, `"usage":{"active_drafts":0`) {
			t.Errorf("lean rows: %s", lean.text)
		}
		if full := s.must(200, "key", "GET /blocks?full=true", ""); !strings.Contains(full.text, "content_html") || !strings.Contains(full.text, "groups_schema") {
			t.Errorf("full rows: %s", full.text)
		}
		o.sends = map[string]usage.Sends{bid: {RecentBroadcasts: 3}}
		s.must(200, "key blocks:read", "GET /blocks/hero?include_usage=true", "").wantFields(t, map[string]string{"usage": `{"active_drafts":0,"recent_broadcasts":3}`, "id": fmt.Sprintf("%q", bid)})
		put := s.must(200, "editor", "PUT /blocks/"+bid, `{"active": false, "tags": null, "content_text": "t"}`)
		put.wantFields(t, map[string]string{"active": `false`, "tags": `[]`, "content_text": `"t"`, "slot_keys": `["top","side"]`, "name": `"Hero"`})
		for _, tt := range []struct {
			caller, what, body string
			status             int
			code, contains     string
		}{
			{"editor", "POST /blocks", `{"name": "x"}`, 400, "NO_CONTENT", ``},
			{"editor", "POST /blocks", `{}`, 400, "INVALID_INPUT", `"path":"name"`},
			{"editor", "POST /blocks", `{"name": "x", "content_html": "{{slot:a}}"}`, 400, "UNRESOLVED_REFERENCE", ``},
			{"editor", "POST /blocks", `{"name": "x", "content_mjml": "<mjml></mjml>"}`, 400, "MJML_INVALID", ``},
			{"editor", "POST /blocks", `{"name": "x", "content_mjml": "<mj-nope/>"}`, 400, "MJML_UNKNOWN_ELEMENT", ``},
			{"editor", "POST /blocks", `{"name": "x", "content_html": "{% if %}"}`, 400, "LIQUID_INVALID", ``},
			{"editor", "POST /blocks", `{"name": "x", "content_html": "x", "parameters_schema": {}}`, 400, "INVALID_SCHEMA", ``},
			{"editor", "PUT /blocks/hero", `{"content_html": null}`, 400, "NO_CONTENT", ``},
			{"editor", "PUT /blocks/hero", `{"slug": "aside"}`, 409, "DUPLICATE_SLUG", ``},
			{"editor", "PUT /blocks/theirs", `{"name": "x"}`, 404, "NOT_FOUND", ``},
			{"key", "GET /blocks/theirs", ``, 404, "NOT_FOUND", ``},
			{"editor", "DELETE /blocks/theirs?force=true", ``, 404, "NOT_FOUND", ``},
			{"key", "POST /blocks", `{"name": "x", "content_html": "x"}`, 403, "API_KEY_FORBIDDEN", ``},
			{"key", "PUT /blocks/hero", `{}`, 403, "API_KEY_FORBIDDEN", ``},
			{"key", "DELETE /blocks/hero", ``, 403, "API_KEY_FORBIDDEN", ``},
			{"viewer", "POST /blocks", `{"name": "x", "content_html": "x"}`, 403, "FORBIDDEN", ``},
			{"key messages:read", "GET /blocks", ``, 403, "INSUFFICIENT_SCOPE", ``},
			{"editor", "DELETE /blocks/hero", ``, 409, "IN_USE", `"details":{"active_drafts":0,"recent_broadcasts":3}`},
			{"editor", "POST /blocks", `{"name": "x", "content_html": "` + strings.Repeat("x", 5<<20) + `"}`, 413, "PAYLOAD_TOO_LARGE", ``},
		} {
			if got := s.call(tt.caller, tt.what, tt.body); got.status != tt.status || got.code != tt.code || !strings.Contains(got.text, tt.contains) {
				t.Errorf("%s %s %.100s = %d %.500s\nwant %d %s %s", tt.caller, tt.what, tt.body, got.status, got.text, tt.status, tt.code, tt.contains)
			}
		}
		s.must(204, "editor", "DELETE /blocks/hero?force=true", "")
		s.must(204, "editor", "DELETE /blocks/aside", "")
		if got := s.must(200, "key", "GET /blocks", ""); len(got.data("id")) > 0 || !strings.Contains(got.text, `"data":[]`) {
			t.Errorf("blocks that were deleted: %s", got.text)
		}
	})
}

func TestBindingsThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, _ *fakes) {
		made := s.must(201, "key", "POST /templates", letterTemplate)
		for n := range 27 {
			s.must(201, "editor", "POST /blocks", fmt.Sprintf(`{"name": "Block %02d", "content_html": "<i>{{param:t}}</i>", "tags": ["hero"], "slot_keys": ["hero"], "parameters_schema": [{"name": "t", "type": "text", "default": "d"}]}`, n))
		}
		s.must(201, "editor", "POST /blocks", `{"name": "Asleep", "content_html": "x", "tags": ["hero"], "active": false}`)
		s.must(201, "editor", "POST /t/other/api/blocks", `{"name": "Theirs", "content_html": "x", "tags": ["hero"]}`)

		options := s.must(200, "key templates:read", "GET /templates/spring-letter/binding-options", "")
		options.wantFields(t, map[string]string{"template_id": fmt.Sprintf("%q", made.str("id")), "slug": `"spring-letter"`})
		slot := options.body["slots_schema"].([]any)[0].(map[string]any)
		blocks := slot["eligible_blocks"].([]any)
		if len(blocks) != 25 || slot["eligible_blocks_total"] != 27.0 || slot["eligible_blocks_truncated"] != true || slot["default_strategy"] != "empty" {
			t.Errorf("options %s", options.text)
		}
		if got := string(mustJSON(blocks[0])); got != `{"name":"Block 00","parameters_schema":[{"default":"d","help_text":null,"label":null,"name":"t","required":false,"sample":null,"type":"text","validation":{}}],"sections_schema":[],"slot_keys":["hero"],"slug":"block-00","tags":["hero"]}` {
			t.Errorf("an eligible block is %s", got)
		}

		const good = `{"parameters": {"reader": "<Bob>"}, "sections": {"rows": [{"name": "one"}]}, "slots": {"hero": {"strategy": "fixed", "block_id": "block-03", "parameters": {"t": "T"}}}}`
		for body, want := range map[string]string{
			`{"template_binding": ` + good + `}`:       `{"valid":true,"issues":[]}`,
			`{}`:                                       `"code":"shape"`,
			`{"template_binding": null}`:               `"code":"shape"`,
			`{"template_binding": "x"}`:                `"code":"shape"`,
			`{"template_binding": {"parameters": []}}`: `"path":"parameters","code":"shape"`,
			`{"template_binding": {}}`:                 `"path":"parameters.reader","code":"required_missing"`,
			`{"template_binding": {"slots": {"hero": {"block_id": "theirs"}}}}`:      `"path":"slots.hero.block_id","code":"block_not_eligible"`,
			`{"template_binding": {"sections": {"rows": [{}, {"name": 5}]}}}`:        `"path":"sections.rows[1].name","code":"invalid_type"`,
			`{"template_binding": {"parameters": {"reader": "x", "nobody": "yes"}}}`: `"path":"parameters.nobody","code":"unknown_param"`,
		} {
			got := s.must(200, "key templates:read", "POST /templates/spring-letter/validate-binding", body)
			if !strings.Contains(got.text, want) || got.body["valid"] != (len(got.body["issues"].([]any)) == 0) {
				t.Errorf("validate %s = %s, want %s", body, got.text, want)
			}
		}

		r := s.must(200, "key templates:read", "POST /templates/"+made.str("id")+"/render", `{"template_binding": `+good+`}`)
		r.wantFields(t, map[string]string{
			"subject": `"For \u003cBob\u003e"`, "body_html": `"\u003cp\u003e\u0026lt;Bob\u0026gt;, {{ first_name }}\u003c/p\u003e\u003cb\u003eone\u003c/b\u003e\u003ci\u003eT\u003c/i\u003e"`, "body_mjml": `null`,
		})
		if text := r.str("body_text"); !strings.Contains(text, "<Bob>, {{ first_name }}") {
			t.Errorf("text %q", text)
		}
		if got := r.body["slots"].(map[string]any)["hero"].(map[string]any); got["strategy"] != "fixed" || got["block_slug"] != "block-03" || got["block_name"] != "Block 03" || !id.Valid(got["block_id"].(string)) {
			t.Errorf("slots %v", got)
		}
		snapshot := r.body["template_snapshot"].(map[string]any)
		if snapshot["captured_at"] != "2026-03-01T12:00:00.000Z" || snapshot["slug"] != "spring-letter" || len(snapshot["content_hash"].(string)) != 64 || len(snapshot["expects_schema"].([]any)) != 1 {
			t.Errorf("snapshot %v", snapshot)
		}
		if r.body["missing"] != nil || r.body["binding_options"] != nil {
			t.Errorf("more than was asked for: %s", r.text)
		}

		for _, body := range []string{`{}`, `{"template_binding": {}}`, `{"template_binding": [], "lenient": false}`} {
			if got := s.must(400, "key", "POST /templates/spring-letter/render", body); got.code != "INVALID_BINDING" || !strings.Contains(got.text, `"details":{"issues":[{"path":`) {
				t.Errorf("render %s = %s", body, got.text)
			}
		}
		lenient := s.must(200, "key", "POST /templates/spring-letter/render", `{"template_binding": {}, "lenient": true}`)
		if !strings.Contains(lenient.str("body_html"), "Ann, {{ first_name }}") {
			t.Errorf("rendered leniently: %s", lenient.text)
		}
		both := s.must(200, "viewer", "POST /templates/spring-letter/render", `{"template_binding": {"slots": {"hero": {"strategy": "fixed"}}}, "include_options": true}`)
		verdict := s.must(200, "viewer", "POST /templates/spring-letter/validate-binding", `{"template_binding": {"slots": {"hero": {"strategy": "fixed"}}}}`)
		both.wantFields(t, map[string]string{"missing": string(mustJSON(verdict.body["issues"])), "binding_options": string(mustJSON(options.body))})
		if !strings.Contains(both.str("body_html"), "[slot: hero]") {
			t.Errorf("no notice: %s", both.str("body_html"))
		}
	})
}

// A rendering for a broadcast has the blocks in random slots that the broadcast has.
func TestRandomBlocksOfARecordThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, _ *fakes) {
		s.must(201, "key", "POST /templates", `{"name": "Dice", "subject": "Six", "content_html": "<p>{{slot:die}}</p>", "slots_schema": [{"name": "die", "tag_filter": ["die"]}]}`)
		for n := range 6 {
			s.must(201, "editor", "POST /blocks", fmt.Sprintf(`{"name": "Face %d", "content_html": "face %d", "tags": ["die"]}`, n, n))
		}
		const rolled = `{"slots": {"die": {"strategy": "random"}}}`
		for n := range 8 {
			b := s.must(201, "editor", "POST /broadcasts", fmt.Sprintf(`{"name": "Roll %d", "content": {"template_slug": "dice", "template_binding": %s}}`, n, rolled))
			r := s.must(200, "viewer", "POST /templates/dice/render", fmt.Sprintf(`{"template_binding": %s, "record_id": %q}`, rolled, b.str("id")))
			if got, want := r.str("body_html"), b.body["content"].(map[string]any)["body_html"]; got != want {
				t.Errorf("roll %d: rendered %s, the broadcast has %s", n, got, want)
			}
		}
		for _, body := range []string{`{"template_binding": {}, "record_id": "x"}`, `{"template_binding": {}, "record_id": null}`, `{"template_binding": {}, "record_id": 5}`} {
			if got := s.must(400, "viewer", "POST /templates/dice/render", body); got.code != "INVALID_INPUT" || !strings.Contains(got.text, "record_id") {
				t.Errorf("render %s = %s", body, got.text)
			}
		}
	})
}

func TestMJMLTemplatesThroughTheAPI(t *testing.T) {
	eachWithFakes(t, func(t *testing.T, s *apiTest, _ *fakes) {
		if !compiler().Available() {
			t.Skip("built without the MJML compiler")
		}
		made := s.must(201, "key", "POST /templates", string(mustJSON(map[string]any{
			"name": "Mail", "format": "mjml", "content_html": "", "parameters_schema": []any{map[string]any{"name": "reader", "type": "text"}}, "slots_schema": []any{map[string]any{"name": "hero"}},
			"content_mjml": "<mjml><mj-body>\n<mj-section><mj-column><mj-text>Hi {{param:reader}}</mj-text></mj-column></mj-section>\n{{slot:hero}}\n</mj-body></mjml>",
		})))
		if !strings.Contains(made.str("content_html"), "Hi [reader]") || !strings.Contains(made.str("content_html"), "<html") {
			t.Errorf("the HTML was not compiled: %s", made.str("content_html"))
		}
		s.must(201, "editor", "POST /blocks", `{"name": "In HTML", "content_html": "x"}`)
		s.must(201, "editor", "POST /blocks", `{"name": "In MJML", "content_mjml": "<mj-section><mj-column><mj-text>From a block</mj-text></mj-column></mj-section>"}`)
		if got := s.must(200, "key", "GET /templates/mail/binding-options", ""); !strings.Contains(got.text, `"eligible_blocks_total":1`) || !strings.Contains(got.text, "in-mjml") {
			t.Errorf("options: %s", got.text)
		}
		r := s.must(200, "key", "POST /templates/mail/render", `{"template_binding": {"parameters": {"reader": "Ann"}, "slots": {"hero": {"strategy": "random"}}}}`)
		if !strings.Contains(r.str("body_html"), "Hi Ann") || !strings.Contains(r.str("body_html"), "From a block") || !strings.Contains(r.str("body_mjml"), "<mj-text>Hi Ann</mj-text>") || !strings.Contains(r.str("body_text"), "From a block") {
			t.Errorf("rendered %s", r.text)
		}
	})
}
