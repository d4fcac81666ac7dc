package httpapi_test

import (
	"strings"
	"testing"
)

// Thumbnails show what is stored with its samples, and nothing for what does not exist or cannot be rendered.
func TestThumbnails(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		letter := s.must(201, "editor", "POST /templates", `{"name": "Letter", "format": "mjml", "subject": "{{param:title}}", "content_html": "", "content_mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>{{param:title}}</mj-text></mj-column></mj-section></mj-body></mjml>", "parameters_schema": [{"name": "title", "type": "text", "required": true, "sample": "Spring"}]}`).str("id")
		s.must(201, "editor", "POST /templates", `{"name": "Plain", "content_html": "<p>{{ first_name }}</p>{{slot:hero}}", "slots_schema": [{"name": "hero"}], "expects_schema": [{"path": "first_name", "type": "string", "sample": "Ann"}]}`)
		s.must(201, "editor", "POST /blocks", `{"name": "Hero", "content_html": "<h1>{{param:x}}</h1>", "parameters_schema": [{"name": "x", "type": "text", "required": true, "sample": "Tea"}]}`)
		r := s.must(200, "viewer", "GET /thumbnails?templates="+letter+",plain,nothing&blocks=hero,plain&starters=welcome,hero", "")
		for i, want := range []struct{ kind, ref, html string }{
			{"template", letter, "Spring"}, {"template", "plain", "<p>Ann</p>"}, {"template", "nothing", ""}, {"block", "hero", "<h1>Tea</h1>"}, {"block", "plain", ""}, {"starter", "welcome", "acme"}, {"starter", "hero", ""},
		} {
			row := r.body["data"].([]any)[i].(map[string]any)
			html, _ := row["html"].(string)
			if row["kind"] != want.kind || row["ref"] != want.ref || (html == "") != (want.html == "") || !strings.Contains(html, want.html) {
				t.Errorf("row %d: %v, want %v", i, row, want)
			}
		}
		other := s.must(200, "viewer", "GET /t/other/api/thumbnails?templates="+letter+"&blocks=hero", "")
		for _, row := range other.body["data"].([]any) {
			if html := row.(map[string]any)["html"]; html != nil {
				t.Errorf("the other tenant sees %v", html)
			}
		}
		s.mustRefuse("key", "GET /thumbnails?templates=plain", "", 403, "API_KEY_FORBIDDEN")
		for _, query := range []string{"", "?templates=,", "?templates=" + strings.Repeat("plain,", 20) + "&blocks=" + strings.Repeat("hero,", 6)} {
			if r := s.mustRefuse("viewer", "GET /thumbnails"+query, "", 400, "INVALID_INPUT"); r.problems() != "templates" {
				t.Errorf("%s: problems at %q", query, r.problems())
			}
		}
	})
}
