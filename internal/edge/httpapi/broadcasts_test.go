package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// sendingTest is apiTest with all that acme needs to send: the email type news, the sender
// news@acme.example.com, the lane sink, the lists readers and others.
type sendingTest struct {
	*apiTest
	typ    sender.EmailType
	sender sender.Identity
	lane   lane.Config
	list   segment.Segment
}

func eachSending(t *testing.T, f func(t *testing.T, s *sendingTest)) {
	t.Helper()
	eachAPI(t, func(t *testing.T, p *apiTest) { f(t, newSendingTest(t, p)) })
}

func newSendingTest(t *testing.T, p *apiTest) *sendingTest {
	t.Helper()
	s := &sendingTest{apiTest: p}
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	ok(err)
	s.typ, err = sender.EmailTypeByKey(ctx, p.db, p.acme, "news")
	ok(err)
	_, err = sender.CreateDomain(ctx, p.db, box, p.acme, sender.DomainDraft{Domain: "acme.example.com"}, p.now)
	ok(err)
	_, err = sender.ForceVerify(ctx, p.db, p.acme, "acme.example.com", "127.0.0.1:8080", p.now)
	ok(err)
	s.sender, err = sender.CreateIdentity(ctx, p.db, p.acme, sender.IdentityFields{
		Address: new("news@acme.example.com"), DisplayName: new("News"), EmailTypes: &[]id.EmailType{s.typ.ID}, Active: new(true),
	}, p.now)
	ok(err)
	s.lane, err = lane.Create(ctx, p.db, box, p.acme, lane.Fields{Name: new("Sink"), Type: new(lane.Sink)}, lane.Rules{}, p.now)
	ok(err)
	s.list, err = segment.CreateList(ctx, p.db, p.acme, segment.Change{Name: new("Readers")}, p.now)
	ok(err)
	_, err = segment.CreateList(ctx, p.db, p.acme, segment.Change{Name: new("Others")}, p.now)
	ok(err)
	return s
}

// broadcastJSON returns the body of a complete broadcast with fields added, replaced or, with the
// value "-", removed.
func broadcastJSON(t *testing.T, with string) string {
	t.Helper()
	b := map[string]any{
		"email_type_key": "news", "mta_config_key": "sink", "include_segment_keys": []string{"readers"},
		"content": map[string]any{"subject": "Spring news", "body_html": `<p>Hi {{ first_name }} <a href="https://example.org/">read</a></p>`},
	}
	var more map[string]any
	d := json.NewDecoder(strings.NewReader(with))
	d.UseNumber()
	if err := d.Decode(&more); err != nil {
		t.Fatal(err)
	}
	for k, v := range more {
		if v == "-" {
			delete(b, k)
		} else {
			b[k] = v
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestANewBroadcastHasItsFieldsAndDefaults(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"tags": ["a"], "metadata": {"wave": 12345678901234567890}, "exclude_segment_keys": ["others"],
			"sending_identity_emails": ["NEWS@acme.example.com"], "scheduled_at": "2026-03-01T12:00:00+01:00", "email_type_id": 5}`))
		for name, want := range map[string]string{
			"name": `"Spring news"`, "status": `"draft"`, "kind": `"regular"`, "mode": `"blast"`, "content_version": `1`,
			"email_type_key": `"news"`, "mta_config_key": `"sink"`, "include_segment_keys": `["readers"]`, "exclude_segment_keys": `["others"]`,
			"sending_identity_emails": `["news@acme.example.com"]`, "tags": `["a"]`, "scheduled_at": `"2026-03-01T11:00:00.000Z"`,
			"tracking_enabled": `true`, "delivery_mode": `"now"`, "delivery_window_days": `null`, "delivery_window_date": `null`,
			"skipped_dates": `[]`, "overflow_mode": `"extend"`, "throttle_per_hour": `null`, "delivery_lanes": `null`, "seed_list_ids": `null`,
			"split_test_config": `null`, "split_test_result": `null`, "pause_reason": `null`, "archived_at": `null`, "variants": `null`,
			"dispatch_started_at": `null`, "completed_at": `null`, "last_send_at": `null`, "total_recipients": `0`, "sent": `0`,
			"failed": `0`, "progress_pct": `0`, "recipients_truncated": `false`,
		} {
			got, there := made.body[name]
			text, _ := json.Marshal(got)
			if !there || string(text) != want {
				t.Errorf("%s = %s, want %s", name, text, want)
			}
		}
		if !strings.Contains(made.text, `"metadata":{"wave":12345678901234567890}`) {
			t.Errorf("metadata was changed: %s", made.text)
		}
		content := made.body["content"].(map[string]any)
		for _, name := range []string{"body_mjml", "body_text", "template_slug", "template_binding", "template_snapshot", "from_name"} {
			if v, there := content[name]; !there || v != nil {
				t.Errorf("content.%s = %v (%v), want null", name, v, there)
			}
		}
		for _, name := range []string{"email_type_id", "include_segment_ids", "recipients"} {
			if _, there := made.body[name]; there {
				t.Errorf("the public form of a draft has %s", name)
			}
		}
		vm := made.body["view_model"].(map[string]any)
		if text, _ := json.Marshal(vm["available_actions"]); string(text) != `["update","delete","schedule","test_send","clone"]` {
			t.Errorf("available_actions = %s", text)
		}
		if ready := vm["schedule_readiness"].(map[string]any); ready["ready"] != true || len(ready["reasons"].([]any)) != 0 {
			t.Errorf("schedule_readiness = %v", ready)
		}
		session := s.must(200, "viewer", "GET /broadcasts/"+made.str("id"), "")
		if session.str("email_type_id") != s.typ.ID.String() || session.str("mta_config_id") != s.lane.ID.String() || session.body["include_segment_ids"].([]any)[0] != s.list.ID.String() {
			t.Errorf("the session form is %s", session.text)
		}
		if c := session.body["content"].(map[string]any); c["subject"] != "Spring news" {
			t.Errorf("the session form's content is %v", c)
		}
		s.must(404, "key", "GET /t/other/api/broadcasts/"+made.str("id"), "")
		s.must(404, "key", "GET /broadcasts/nope", "")
	})
}

func TestInvalidBroadcastsAreRefused(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		content := func(fields string) string { return `{"content": {` + fields + `}}` }
		const html = `"subject": "s", "body_html": "<p>x</p>"`
		for _, tt := range []struct{ with, code, path string }{
			{`{"email_type_key": "-"}`, "INVALID_EMAIL_TYPE", ""},
			{`{"email_type_key": null}`, "INVALID_EMAIL_TYPE", ""},
			{`{"email_type_key": 5}`, "INVALID_EMAIL_TYPE", ""},
			{`{"email_type_key": "nope"}`, "INVALID_EMAIL_TYPE", ""},
			{`{"email_type_key": "-", "email_type_id": "` + s.typ.ID.String() + `"}`, "INVALID_EMAIL_TYPE", ""},
			{`{"mta_config_key": "nope"}`, "INVALID_MTA_CONFIG", ""},
			{`{"mta_config_key": 1}`, "INVALID_MTA_CONFIG", ""},
			{`{"include_segment_keys": ["readers", "nope"]}`, "INVALID_SEGMENT", ""},
			{`{"include_segment_keys": "readers"}`, "INVALID_SEGMENT", ""},
			{`{"exclude_segment_keys": [1]}`, "INVALID_SEGMENT", ""},
			{`{"sending_identity_emails": ["unknown@acme.example.com"]}`, "INVALID_SENDING_IDENTITY", ""},
			{`{"sending_identity_emails": ["not an address"]}`, "INVALID_SENDING_IDENTITY", ""},
			{`{"metadata": {"a": {}}}`, "INVALID_METADATA", ""},
			{`{"metadata": []}`, "INVALID_METADATA", ""},
			{`{"metadata": null}`, "INVALID_METADATA", ""},
			{`{"metadata": {"a": "\u0000"}}`, "INVALID_METADATA", ""},
			{`{"metadata": {"a": 1e-20000}}`, "INVALID_METADATA", ""},
			{`{"metadata": {"a": 0e-20000}}`, "INVALID_METADATA", ""},
			{`{"tags": "a"}`, "INVALID_INPUT", "tags"},
			{`{"tags": ["a", 1]}`, "INVALID_INPUT", "tags"},
			{`{"name": ""}`, "INVALID_INPUT", "name"},
			{`{"name": null}`, "INVALID_INPUT", "name"},
			{`{"name": "a\u0000b"}`, "INVALID_INPUT", "name"},
			{`{"tracking_enabled": "yes"}`, "INVALID_INPUT", "tracking_enabled"},
			{`{"tracking_enabled": null}`, "INVALID_INPUT", "tracking_enabled"},
			{`{"scheduled_at": "tomorrow"}`, "INVALID_INPUT", "scheduled_at"},
			{`{"scheduled_at": 5}`, "INVALID_INPUT", "scheduled_at"},
			{`{"mode": "drip"}`, "INVALID_INPUT", "mode"},
			{`{"content": "-"}`, "NO_CONTENT", "content.subject"},
			{`{"content": null}`, "NO_CONTENT", "content"},
			{`{"content": 5}`, "NO_CONTENT", "content"},
			{content(`"subject": "s"`), "NO_CONTENT", "content.body_html"},
			{content(`"subject": 5, "body_html": "x"`), "NO_CONTENT", "content.subject"},
			{content(`"subject": "a\nb", "body_html": "x"`), "INVALID_INPUT", "content.subject"},
			{content(html + `, "from_name": 5`), "INVALID_INPUT", "content.from_name"},
			{content(html + `, "reply_to": "nope"`), "INVALID_INPUT", "content.reply_to"},
			{content(html + `, "body_mjml": "<mjml></mjml>"`), "MJML_INVALID", ""},
			{content(html + `, "template_slug": "x"`), "INVALID_TEMPLATE", ""},
			{content(`"template_slug": "x", "template_binding": {}`), "INVALID_TEMPLATE", ""},
			{content(html + `, "template_binding": {}`), "INVALID_TEMPLATE", ""},
			{content(`"subject": "s", "body_html": "a\n{{ x | nope }}"`), "LIQUID_INVALID", "content.body_html"},
			{`{"variants": []}`, "INVALID_VARIANTS", ""},
			{`{"variants": 5}`, "INVALID_VARIANTS", ""},
			{`{"variants": [{"mta_config_id": "x"}]}`, "VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED", ""},
			{`{"split_test_config": {}}`, "ADVANCED_SPLIT_TEST_UNSUPPORTED", ""},
			{`{"seed_list_ids": ["` + id.NewText() + `"]}`, "INVALID_INPUT", "seed_list_ids"},
		} {
			r := s.call("key", "POST /broadcasts", broadcastJSON(t, tt.with))
			if r.status != 400 || r.code != tt.code || !strings.Contains(r.text, tt.path) {
				t.Errorf("POST with %s answered %d %s, want %s naming %q", tt.with, r.status, r.text, tt.code, tt.path)
			}
		}
		tags := `["` + strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 51 {
				if !yield(fmt.Sprint(i)) {
					return
				}
			}
		}), `","`) + `"]`
		if r := s.call("key", "POST /broadcasts", broadcastJSON(t, `{"tags": `+tags+`}`)); r.code != "LIMIT_EXCEEDED" {
			t.Errorf("51 tags answered %d %s", r.status, r.text)
		}
		if r := s.call("key", "POST /broadcasts", `{"name": 5, "tags": 5, "tracking_enabled": 5}`); len(r.body["error"].(map[string]any)["details"].(map[string]any)["fields"].([]any)) != 3 {
			t.Errorf("three wrong fields answered %s", r.text)
		}
		if list := s.must(200, "key", "GET /broadcasts", ""); len(list.data("id")) != 0 {
			t.Errorf("after refused creations: %s", list.text)
		}
		s.must(403, "key broadcasts:read", "POST /broadcasts", broadcastJSON(t, `{}`))
		s.must(403, "viewer", "POST /broadcasts", broadcastJSON(t, `{}`))
		s.must(201, "editor", "POST /broadcasts", broadcastJSON(t, `{"email_type_key": "-"}`)) // sessions may omit it
		s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"variants": null, "delivery_mode": "now", "overflow_mode": "extend", "skipped_dates": [],
			"delivery_lanes": null, "seed_list_ids": null, "throttle_per_hour": null, "delivery_window_days": null, "delivery_window_date": null,
			"split_test_config": null, "mode": "blast", "kind": "triggered", "tags": null, "sending_identity_emails": null}`))
	})
}

func TestUpdateKeepsAbsentFields(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"tags": ["a"], "metadata": {"a": 1, "b": 2}, "scheduled_at": "2026-03-01"}`))
		at := "/broadcasts/" + made.str("id")
		got := s.must(200, "key", "PUT "+at, `{"metadata": {"c": 3}, "content": {"from_name": "Ann"}, "scheduled_at": null, "mta_config_key": null}`)
		if text, _ := json.Marshal(got.body["metadata"]); string(text) != `{"c":3}` || got.body["scheduled_at"] != nil || got.body["mta_config_key"] != nil {
			t.Errorf("after PUT: %s", got.text)
		}
		c := got.body["content"].(map[string]any)
		if c["subject"] != "Spring news" || c["from_name"] != "Ann" || got.body["content_version"] != 2.0 || got.str("name") != "Spring news" || len(got.body["tags"].([]any)) != 1 {
			t.Errorf("after PUT: %s", got.text)
		}
		for with, code := range map[string]string{
			`{"content": {"subject": null}}`: "NO_CONTENT", `{"content": null}`: "NO_CONTENT", `{"email_type_key": null}`: "INVALID_EMAIL_TYPE",
			`{"include_segment_keys": ["nope"]}`: "INVALID_SEGMENT", `{"content": {"body_mjml": "x"}}`: "MJML_INVALID",
		} {
			if r := s.call("key", "PUT "+at, with); r.status != 400 || r.code != code {
				t.Errorf("PUT %s answered %d %s, want %s", with, r.status, r.text, code)
			}
		}
		byID := s.must(200, "editor", "PUT "+at, `{"mta_config_id": "`+s.lane.ID.String()+`", "mta_config_key": "nope", "sending_identity_ids": ["`+s.sender.ID.String()+`"]}`)
		if byID.str("mta_config_key") != "sink" || byID.body["sending_identity_emails"].([]any)[0] != "news@acme.example.com" {
			t.Errorf("by id: %s", byID.text)
		}
		for with, code := range map[string]string{
			`{"email_type_id": "` + id.NewText() + `"}`: "INVALID_EMAIL_TYPE", `{"mta_config_id": "x"}`: "INVALID_INPUT",
			`{"include_segment_ids": ["` + id.NewText() + `"]}`: "INVALID_SEGMENT", `{"sending_identity_ids": 5}`: "INVALID_INPUT",
			`{"content": {"template_id": "x"}}`: "INVALID_TEMPLATE",
		} {
			if r := s.call("editor", "PUT "+at, with); r.status != 400 || r.code != code {
				t.Errorf("PUT %s with a session answered %d %s, want %s", with, r.status, r.text, code)
			}
		}
		s.must(404, "key", "PUT /broadcasts/"+id.NewText(), `{}`)
		s.must(404, "key", "PUT /t/other/api"+at, `{}`)
		s.must(200, "key", "POST "+at+"/schedule", "")
		if r := s.call("key", "PUT "+at, `{}`); r.status != 409 || r.code != "NOT_DRAFT" {
			t.Errorf("PUT of a scheduled broadcast answered %d %s", r.status, r.text)
		}
		if r := s.call("key", "DELETE "+at, ""); r.status != 409 || r.code != "NOT_DRAFT" {
			t.Errorf("DELETE of a scheduled broadcast answered %d %s", r.status, r.text)
		}
		s.must(200, "key", "POST "+at+"/unschedule", "")
		s.must(204, "key", "DELETE "+at, "")
		s.must(404, "key", "DELETE "+at, "")
	})
}

func TestCreateWithAnIdempotencyKeyIsReplayed(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		post := func(key, with string) *httptest.ResponseRecorder {
			req := httptest.NewRequest("POST", "/t/acme/api/broadcasts", strings.NewReader(broadcastJSON(t, with)))
			req.Header.Set("X-API-Key", "key")
			req.Header.Set("Idempotency-Key", key)
			w := httptest.NewRecorder()
			s.router.ServeHTTP(w, req)
			return w
		}
		if w := post("retry-key-1", `{"email_type_key": "nope"}`); w.Code != 400 {
			t.Fatalf("POST = %d", w.Code)
		}
		first, again := post("retry-key-1", `{}`), post("retry-key-1", `{"name": "another"}`)
		if first.Code != 201 || again.Code != 201 || first.Body.String() != again.Body.String() || again.Header().Get("Idempotency-Replay") != "true" {
			t.Errorf("first %d, again %d with replay %q", first.Code, again.Code, again.Header().Get("Idempotency-Replay"))
		}
		if list := s.must(200, "key", "GET /broadcasts", ""); len(list.data("id")) != 1 {
			t.Errorf("two posts made %s", list.text)
		}
	})
}

func TestListIsLeanAndFiltered(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		var ids []string
		for _, with := range []string{`{"name": "one", "tags": ["x"], "metadata": {"team": "a", "l": [1, 2]}}`, `{"name": "two", "tags": ["y"]}`, `{"name": "three", "tags": ["x", "y"]}`} {
			ids = append(ids, s.must(201, "key", "POST /broadcasts", broadcastJSON(t, with)).str("id"))
		}
		s.must(200, "key", "POST /broadcasts/"+ids[1]+"/schedule", "")
		created := s.must(200, "key", "GET /broadcasts/"+ids[1], "").str("created_at")
		for query, want := range map[string]string{
			"": "three two one", "?status=draft": "three one", "?status=draft,scheduled,": "three two one", "?status=sending": "",
			"?tags=x": "three one", "?tags=x,+y": "three two one", "?metadata=" + url.QueryEscape(`{"l": [2]}`): "one",
			"?metadata=" + url.QueryEscape(`{"l": [2, 1.0, 2], "team": "a"}`): "one", "?metadata=" + url.QueryEscape(`{"l": 2}`): "", "?metadata={}": "three two one",
			"?metadata=" + url.QueryEscape(`{"l": [1e-20000]}`): "", "?metadata=" + url.QueryEscape(`{"l": 0e-20000}`): "", "?full=1&tags=y&status=draft": "three",
			"?since=" + created: "three two", "?before=" + created: "one", "?archived=true": "three two one", "?archived=only": "", "?unknown=1": "three two one",
		} {
			if got := strings.Join(s.must(200, "key", "GET /broadcasts"+query, "").data("name"), " "); got != want {
				t.Errorf("GET /broadcasts%s = %q, want %q", query, got, want)
			}
		}
		for query, code := range map[string]string{
			"?status=draft,gone": "INVALID_STATUS", "?metadata=[]": "INVALID_METADATA_FILTER", "?metadata=x": "INVALID_METADATA_FILTER",
			"?metadata=" + url.QueryEscape(`{"a": "`+strings.Repeat("x", 8192)+`"}`): "INVALID_METADATA_FILTER",
			"?since=yesterday": "INVALID_INPUT", "?before=x": "INVALID_INPUT", "?archived=false": "INVALID_INPUT", "?archived=True": "INVALID_INPUT",
			"?status=triggered": "INVALID_STATUS", "?status=DRAFT": "INVALID_STATUS", "?metadata=null": "INVALID_METADATA_FILTER",
		} {
			if r := s.call("key", "GET /broadcasts"+query, ""); r.status != 400 || r.code != code {
				t.Errorf("GET /broadcasts%s answered %d %s, want %s", query, r.status, r.text, code)
			}
		}
		row := func(caller, query string) map[string]any {
			t.Helper()
			r := s.must(200, caller, "GET /broadcasts"+query, "")
			if r.body["next_cursor"] != nil || r.body["has_more"] != false {
				t.Errorf("the envelope is %s", r.text)
			}
			return r.body["data"].([]any)[0].(map[string]any)
		}
		lean := row("key", "")
		content := lean["content"].(map[string]any)
		if content["has_body_html"] != true || content["has_body_text"] != false || content["has_body_mjml"] != false || content["has_template_snapshot"] != false || lean["variant_count"] != 0.0 || len(lean["variant_ids"].([]any)) != 0 {
			t.Errorf("a lean row is %v", lean)
		}
		for _, name := range []string{"body_html", "view_model", "variants", "total_recipients"} {
			_, inRow := lean[name]
			if _, inContent := content[name]; inRow || inContent {
				t.Errorf("a lean row has %s", name)
			}
		}
		full := row("key", "?full=true")
		if _, there := full["variants"]; !there || full["content"].(map[string]any)["body_html"] == nil || full["view_model"] != nil || full["variant_count"] != nil {
			t.Errorf("a full row is %v", full)
		}
		if session := row("viewer", ""); session["email_type_id"] != s.typ.ID.String() || session["content"].(map[string]any)["has_body_html"] != true {
			t.Errorf("the session form of a lean row is %v", session)
		}
		if session := row("viewer", "?full=true"); session["email_type_id"] != s.typ.ID.String() || session["content"].(map[string]any)["body_html"] == nil {
			t.Errorf("the session form of a full row is %v", session)
		}
	})
}

func TestABroadcastFromDraftToArchive(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		var contacts []id.Contact
		for i := range 103 {
			c, err := contact.Create(ctx, s.db, s.acme, fmt.Sprintf("p%d@example.com", i), contact.Change{}, contact.Rules{Listed: suppression.QueueListed}, s.now)
			if err != nil {
				t.Fatal(err)
			}
			contacts = append(contacts, c.ID)
		}
		if _, err := segment.Add(ctx, s.db, s.acme, s.list.ID, segment.People{IDs: contacts}, s.now); err != nil {
			t.Fatal(err)
		}
		if _, err := suppression.Add(ctx, s.db, s.acme, "p7@example.com", "asked", s.now); err != nil {
			t.Fatal(err)
		}
		incomplete := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"include_segment_keys": [], "mta_config_key": null}`))
		r := s.call("key", "POST /broadcasts/"+incomplete.str("id")+"/schedule", "")
		if r.status != 400 || r.code != "NO_SEGMENT" || !strings.Contains(r.text, "NO_MTA") {
			t.Errorf("scheduling an incomplete draft answered %d %s", r.status, r.text)
		}
		ready := s.must(200, "key", "GET /broadcasts/"+incomplete.str("id"), "").body["view_model"].(map[string]any)["schedule_readiness"].(map[string]any)
		if ready["ready"] != false || len(ready["reasons"].([]any)) != 2 || ready["reasons"].([]any)[0].(map[string]any)["guard"] != "segment" {
			t.Errorf("schedule_readiness = %v", ready)
		}

		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01"}`))
		at := "/broadcasts/" + made.str("id")
		expect := func(status, actions string) map[string]any {
			t.Helper()
			b := s.must(200, "key", "GET "+at, "")
			vm := b.body["view_model"].(map[string]any)
			var have []string
			for _, a := range vm["available_actions"].([]any) {
				have = append(have, a.(string))
			}
			if b.str("status") != status || strings.Join(have, " ") != strings.TrimSpace(actions+" clone") {
				t.Errorf("the broadcast is %s with actions %v, want %s with %s", b.str("status"), have, status, actions)
			}
			return b.body
		}
		move := func(status int, what string) response {
			t.Helper()
			return s.must(status, "key", "POST "+at+"/"+what, "")
		}
		if b := move(200, "schedule"); b.str("status") != "scheduled" || b.body["view_model"].(map[string]any)["schedule_readiness"] != nil {
			t.Errorf("schedule answered %s", b.text)
		}
		for _, what := range []string{"schedule", "pause", "resume", "archive", "unarchive"} {
			if r := s.call("key", "POST "+at+"/"+what, ""); r.status != 409 || r.code != "INVALID_TRANSITION" {
				t.Errorf("%s of a scheduled broadcast answered %d %s", what, r.status, r.text)
			}
		}
		expect("scheduled", "unschedule cancel test_send")
		engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
		if _, err := engine.Tick(ctx); err != nil {
			t.Fatal(err)
		}
		b := expect("sending", "pause cancel test_send")
		progress := b["view_model"].(map[string]any)["delivery_progress"].(map[string]any)
		rows := b["recipients"].([]any)
		if b["total_recipients"] != 102.0 || len(rows) != 100 || b["recipients_truncated"] != true || progress["phase"] != "sending" || progress["queued"] != 102.0 {
			t.Errorf("total %v, %d rows, truncated %v, progress %v", b["total_recipients"], len(rows), b["recipients_truncated"], progress)
		}
		if text, _ := json.Marshal(progress["excluded"]); string(text) != `{"suppressed_address":1}` {
			t.Errorf("excluded = %s", text)
		}
		limited := func() string {
			t.Helper()
			vm := s.must(200, "key", "GET "+at, "").body["view_model"].(map[string]any)
			text, _ := json.Marshal(vm["delivery_progress"].(map[string]any)["limited_by"])
			return string(text)
		}
		if got := limited(); got != "null" {
			t.Errorf("limited_by = %s before a limit applied", got)
		}
		records, err := outbox.First(ctx, s.db, s.acme, s.sendOf(s.acme, made.str("id")), 1)
		if err != nil {
			t.Fatal(err)
		}
		wait := outbox.Wait{
			Tenant: s.acme, Send: s.sendOf(s.acme, made.str("id")), Kind: outbox.WaitProviderRate, Lane: records[0].Lane, Provider: "gmail",
			Max: 3000, Per: time.Hour, Until: s.now.Add(5 * time.Minute), Reason: "no faster",
		}
		if err := outbox.SaveWaits(ctx, s.db, []outbox.Wait{wait}, s.now); err != nil {
			t.Fatal(err)
		}
		until, err := json.Marshal(endpoint.At(wait.Until))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"kind":"provider_rate","message":"no faster","mta_config_key":"sink","per_minute":50,"provider":"gmail","until":` + string(until) + `}`
		if got := limited(); got != want {
			t.Errorf("limited_by = %s, want %s", got, want)
		}
		if row := rows[0].(map[string]any); row["status"] != "queued" || row["sending_identity_email"] != "news@acme.example.com" || row["mta_config_key"] != "sink" || row["content_version"] != 1.0 {
			t.Errorf("a recipient is %v", row)
		}
		if paused := move(200, "pause"); paused.str("pause_reason") != "user" {
			t.Errorf("pause answered %s", paused.text)
		}
		expect("paused", "resume cancel test_send")
		if resumed := move(200, "resume"); resumed.body["pause_reason"] != nil {
			t.Errorf("resume answered %s", resumed.text)
		}
		move(200, "cancel")
		for range 2 {
			if _, err := engine.Tick(ctx); err != nil {
				t.Fatal(err)
			}
		}
		b = expect("cancelled", "test_send archive")
		if row := b["recipients"].([]any)[0].(map[string]any); row["status"] != "cancelled" {
			t.Errorf("a recipient of a cancelled send is %v", row)
		}
		if archived := move(200, "archive"); archived.body["archived_at"] == nil {
			t.Errorf("archive answered %s", archived.text)
		}
		move(409, "archive")
		expect("cancelled", "unarchive")
		if got := s.must(200, "key", "GET /broadcasts?archived=only", "").data("id"); len(got) != 1 || got[0] != made.str("id") {
			t.Errorf("the archived broadcasts are %v", got)
		}
		move(200, "unarchive")
		move(409, "unarchive")
		s.must(403, "key broadcasts:write broadcasts:read", "POST "+at+"/cancel", "")
		s.must(403, "key broadcasts:schedule", "POST "+at+"/archive", "")
		s.must(404, "key", "POST /t/other/api"+at+"/cancel", "")
		s.must(404, "key", "POST /broadcasts/nope/cancel", "")
	})
}

// References to deleted records are null or left out.
func TestDeletedReferencesAreNullOrLeftOut(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"sending_identity_emails": ["news@acme.example.com"]}`))
		if r := s.call("editor", "DELETE /segments/readers", ""); r.status != 409 || r.code != "SEGMENT_IN_USE" || !strings.Contains(r.text, made.str("id")) {
			t.Errorf("deleting a draft's list answered %d %s", r.status, r.text)
		}
		for _, table := range []string{"identity_email_type", "email_type", "mta_config", "segment_member", "segment", "sending_identity"} {
			if _, err := s.db.Exec(t.Context(), `DELETE FROM `+table+` WHERE tenant_id = $1`, s.acme); err != nil {
				t.Fatal(err)
			}
		}
		got := s.must(200, "admin", "GET /broadcasts/"+made.str("id"), "")
		for name, want := range map[string]string{
			"email_type_key": `null`, "mta_config_key": `null`, "include_segment_keys": `[]`, "sending_identity_emails": `[]`,
			"email_type_id": `null`, "mta_config_id": `null`, "include_segment_ids": `[]`, "sending_identity_ids": `[]`,
		} {
			if text, _ := json.Marshal(got.body[name]); string(text) != want {
				t.Errorf("%s = %s, want %s", name, text, want)
			}
		}
	})
}

// Lists far over their limit are refused before any lookup.
func TestOversizedListsAreRefused(t *testing.T) {
	sequential(t)
	eachSending(t, func(t *testing.T, s *sendingTest) {
		long := func(item func(int) string) string {
			items := make([]string, 50_000)
			for i := range items {
				items[i] = `"` + item(i) + `"`
			}
			return "[" + strings.Join(items, ",") + "]"
		}
		for field, code := range map[string]string{
			"include_segment_keys": "LIMIT_EXCEEDED", "exclude_segment_keys": "LIMIT_EXCEEDED", "tags": "LIMIT_EXCEEDED",
			"sending_identity_emails": "INVALID_SENDING_IDENTITY", "metadata": "INVALID_METADATA", "variants": "INVALID_VARIANTS",
		} {
			list := long(func(i int) string { return fmt.Sprint("a", i, "@example.com") })
			if r := s.call("key", "POST /broadcasts", broadcastJSON(t, `{"`+field+`": `+list+`}`)); r.status != 400 || r.code != code {
				t.Errorf("50,000 %s answered %d %.200s, want %s", field, r.status, r.text, code)
			}
		}
		same := long(func(int) string { return "readers" })
		s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"include_segment_keys": `+same+`}`))
		if r := s.call("editor", "POST /broadcasts", broadcastJSON(t, `{"include_segment_ids": `+long(func(int) string { return id.NewText() })+`}`)); r.code != "LIMIT_EXCEEDED" {
			t.Errorf("50,000 ids answered %d %.200s", r.status, r.text)
		}
	})
}

// Answers match the schemas in openapi.json.
func TestBroadcastsMatchTheirSchemas(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		w := httptest.NewRecorder()
		s.router.ServeHTTP(w, httptest.NewRequest("GET", "/api/openapi.json", nil))
		doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		check := func(schema string, v any) {
			t.Helper()
			if err := doc.Components.Schemas[schema].Value.VisitJSON(v); err != nil {
				t.Errorf("%s: %v", schema, err)
			}
		}
		at := "/broadcasts/" + s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01", "metadata": {"a": 1}}`)).str("id")
		check("BroadcastView", any(s.must(200, "key", "GET "+at, "").body))
		check("ListBroadcastRow", any(s.must(200, "key", "GET /broadcasts", "").body))
		check("ListBroadcastRow", any(s.must(200, "key", "GET /broadcasts?full=true", "").body))
		s.must(200, "key", "POST "+at+"/schedule", "")
		engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
		if _, err := engine.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("BroadcastView", any(s.must(200, "key", "GET "+at, "").body))
	})
}
