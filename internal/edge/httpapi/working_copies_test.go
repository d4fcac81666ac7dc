package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWorkingCopies(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		const (
			one = "/working-copies/template/01900000-0000-7000-8000-000000000071"
			two = "/working-copies/segment/new-01900000-0000-7000-8000-000000000072"
		)
		s.must(204, "editor", "PUT "+one, `{"title": "A <b>", "base_revision": 3, "data": {"html": "<p>&</p>", "n": 1.10}}`)
		s.must(204, "editor", "PUT "+two, `{"title": "", "base_revision": null, "data": {}, "more": 1}`)
		if list := s.must(200, "owner", "GET /working-copies", ""); strings.Join(list.data("kind"), " ") != "segment template" {
			t.Errorf("list = %s", list.text)
		}
		if list := s.must(200, "editor", "GET /working-copies?kind=template", ""); strings.Join(list.data("id"), " ") != one[len("/working-copies/template/"):] || strings.Contains(list.text, "data\":{") {
			t.Errorf("list of templates = %s", list.text)
		}
		s.must(200, "editor", "GET "+one, "").wantFields(t, map[string]string{
			"kind": `"template"`, "title": `"A \u003cb\u003e"`, "base_revision": `3`, "size": `28`, "data": `{"html":"\u003cp\u003e\u0026\u003c/p\u003e","n":1.1}`, "updated_at": `"2026-03-01T12:00:03.000Z"`,
		})
		s.must(200, "editor", "GET "+two, "").wantFields(t, map[string]string{"title": `""`, "base_revision": `null`, "data": `{}`})
		s.mustRefuse("editor", "GET /t/other/api"+one, "", 404, "NOT_FOUND")
		s.must(204, "editor", "PUT /t/other/api"+one, `{"title": "Theirs", "data": {}}`)
		s.must(204, "editor", "DELETE "+one, "")
		s.mustRefuse("editor", "DELETE "+one, "", 404, "NOT_FOUND")
		s.mustRefuse("editor", "GET "+one, "", 404, "NOT_FOUND")
		s.must(200, "editor", "GET /t/other/api"+one, "").wantFields(t, map[string]string{"title": `"Theirs"`})

		for _, method := range []string{"GET", "PUT", "DELETE"} {
			body := map[string]string{"PUT": `{"title": "", "data": {}}`}[method]
			s.mustRefuse("viewer", method+" "+two, body, 403, "FORBIDDEN")
			s.mustRefuse("key", method+" "+two, body, 403, "API_KEY_FORBIDDEN")
			for _, path := range []string{"/working-copies/Form/01900000-0000-7000-8000-000000000071", "/working-copies/form/5", "/working-copies/form/new-"} {
				s.mustRefuse("editor", method+" "+path, body, 404, "NOT_FOUND")
			}
		}
		s.mustRefuse("viewer", "GET /working-copies", "", 403, "FORBIDDEN")
		for body, paths := range map[string]string{
			`{}`:                            "data title",
			`{"title": null, "data": null}`: "data title",
			`{"title": 5, "data": [], "base_revision": "3"}`:                      "base_revision data title",
			`{"title": "` + strings.Repeat("x", 201) + `", "data": {}}`:           "title",
			`{"title": "a\u0000", "data": {"x": "\u0000"}}`:                       "data.x title",
			`{"title": "", "data": {}, "base_revision": -1}`:                      "base_revision",
			`{"title": "` + strings.Repeat("x", 201) + `", "data": {"n": 1e999}}`: "data.n title",
		} {
			if r := s.mustRefuse("editor", "PUT "+two, body, 400, "INVALID_INPUT"); r.problems() != paths {
				t.Errorf("%.60s: problems at %q, want %q", body, r.problems(), paths)
			}
		}
		s.mustRefuse("editor", "PUT "+two, `[]`, 400, "INVALID_JSON")
	})
}

// The limit applies to the text of the data as sent: characters that HTML escapes count once.
func TestLargeWorkingCopies(t *testing.T) {
	sequential(t)
	eachAPI(t, func(t *testing.T, s *apiTest) {
		const path = "/working-copies/template/new-01900000-0000-7000-8000-000000000073"
		body := func(n int) string {
			return fmt.Sprintf(`{"title": "T", "data": {"html": "%s"}}`, strings.Repeat("<", n-len(`{"html":""}`)))
		}
		s.must(204, "editor", "PUT "+path, body(5<<20))
		r := s.must(200, "editor", "GET "+path, "")
		var got struct {
			Size int
			Data struct{ HTML string }
		}
		if err := json.Unmarshal([]byte(r.text), &got); err != nil || got.Size != 5<<20 || strings.Count(got.Data.HTML, "<") != 5<<20-11 {
			t.Errorf("size = %d, %d characters, %v", got.Size, len(got.Data.HTML), err)
		}
		if r := s.mustRefuse("editor", "PUT "+path, body(5<<20+1), 400, "INVALID_INPUT"); r.problems() != "data" {
			t.Errorf("one byte more: %s", r.text)
		}
		s.mustRefuse("editor", "PUT "+path, body(6<<20), 413, "PAYLOAD_TOO_LARGE")
		s.now = s.now.Add(31 * 24 * time.Hour)
		s.mustRefuse("editor", "GET "+path, "", 404, "NOT_FOUND")
	})
}
