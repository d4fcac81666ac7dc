package httpapi_test

import (
	"strings"
	"testing"
)

func TestPreviewsShowMailsAndProblems(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "first_name": "Ann"}`).str("id")
		r := s.must(200, "viewer", "POST /preview", `{"source": {"content": {"subject": "Hi {{ first_name }}", "body_html": "<p>{{ plan }} <a href=\"https://example.org/\">x</a></p>", "preheader": "{% nope %}"}}, "contact_id": "`+ann+`"}`)
		for _, want := range []string{
			`"subject":"Hi Ann"`, `"preheader":null`, `"links":[{"url":"https://example.org/","label":"x"}]`, `"missing":[{"path":"plan","field":"content.body_html","line":1}]`,
			`"problems":[{"severity":"error","code":"LIQUID_INVALID","field":"content.preheader","line":1,"column":1,"message":`,
		} {
			if !strings.Contains(r.text, want) {
				t.Errorf("no %s in %s", want, r.text)
			}
		}
		if html, size := r.str("html"), r.body["size"]; size != float64(len(html)) {
			t.Errorf("size %v of %d bytes", size, len(html))
		}
		marked := s.must(200, "viewer", "POST /preview", `{"marks": true, "source": {"content": {"subject": "Hi", "body_html": "<p>a</p>"}}}`)
		if html, mark := marked.str("html"), ` class="pb-mark-0"`; !strings.Contains(html, mark) || marked.body["size"] != float64(len(html)-len(mark)) {
			t.Errorf("with marks: %s", marked.text)
		}
		r = s.must(200, "viewer", "POST /preview", `{"source": {"template": {"content_html": "{{param:x}}"}}}`)
		if r.body["html"] != nil || r.body["size"] != nil || !strings.Contains(r.text, `"fix":"Declare what`) {
			t.Errorf("a part that cannot be made: %s", r.text)
		}
		b := s.must(201, "editor", "POST /broadcasts", broadcastJSON(t, `{"name": "Spring"}`)).str("id")
		s.must(200, "viewer", "POST /preview", `{"source": {"broadcast_id": "`+b+`"}, "contact_id": "`+ann+`"}`)

		const gone = "0197d1a5-7b6c-7e2f-8a3d-000000000000"
		s.mustRefuse("key", "POST /preview", `{"source": {"broadcast_id": "`+b+`"}}`, 403, "API_KEY_FORBIDDEN")
		s.mustRefuse("viewer", "POST /t/other/api/preview", `{"source": {"broadcast_id": "`+b+`"}}`, 404, "NOT_FOUND")
		s.mustRefuse("viewer", "POST /t/other/api/preview", `{"source": {"content": {}}, "contact_id": "`+ann+`"}`, 404, "CONTACT_NOT_FOUND")
		s.mustRefuse("viewer", "POST /preview", `{"source": {"broadcast_id": "`+gone+`"}}`, 404, "NOT_FOUND")
		s.mustRefuse("viewer", "POST /preview", `{"source": {"message_id": "`+gone+`"}}`, 404, "NOT_FOUND")
		s.mustRefuse("viewer", "POST /preview", `{"source": {"content": {}}, "sending_identity_email": "no@example.org"}`, 400, "INVALID_SENDING_IDENTITY")
		for body, path := range map[string]string{
			`{}`:               "source",
			`{"source": null}`: "source",
			`{"source": {}}`:   "source",
			`{"source": {"template": null, "block": null}}`:                                                      "source",
			`{"source": {"template": {}, "block": {}}}`:                                                          "source",
			`{"source": {"template": []}}`:                                                                       "source.template",
			`{"source": {"template": {"content_html": 5}}}`:                                                      "source.template.content_html",
			`{"source": {"block": {"parameters": []}}}`:                                                          "source.block.parameters",
			`{"source": {"content": {"subject": {}}}}`:                                                           "source.content.subject",
			`{"source": {"content": {"message_id": "x"}}}`:                                                       "source.content.message_id",
			`{"source": {"broadcast_id": "x"}}`:                                                                  "source.broadcast_id",
			`{"source": {"message_id": 5}}`:                                                                      "source.message_id",
			`{"source": {"message_id": "` + gone + `", "version": 0}}`:                                           "source.version",
			`{"source": {"content": {}, "version": 1}}`:                                                          "source.version",
			`{"source": {"content": {}}, "marks": "yes"}`:                                                        "marks",
			`{"source": {"content": {}}, "contact_id": "x"}`:                                                     "contact_id",
			`{"source": {"content": {}}, "variant_id": "a"}`:                                                     "variant_id",
			`{"source": {"broadcast_id": "` + b + `"}, "variant_id": "a"}`:                                       "variant_id",
			`{"source": {"content": {}}, "event": {"occurred_at": "x"}}`:                                         "event.occurred_at",
			`{"source": {"content": {}}, "event": {"properties": 5}}`:                                            "event.properties",
			`{"source": {"content": {}}, "event": {"properties": {"a": "` + strings.Repeat("x", 65<<10) + `"}}}`: "event.properties",
		} {
			if r := s.mustRefuse("viewer", "POST /preview", body, 400, "INVALID_INPUT"); !strings.Contains(r.text, `{"path":"`+path+`"`) {
				t.Errorf("%.80s: %s; want a problem of %s", body, r.text, path)
			}
		}
	})
}
