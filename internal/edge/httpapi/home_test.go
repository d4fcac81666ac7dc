package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/engine/dispatch"
)

// The overview of an account has its set-up, results and counts, and for each role what it may read.
func TestOverviewOfTheAccount(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`)
		hook := s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example.com/", "event_types": ["*"]}`).str("id")
		if _, err := s.db.Exec(t.Context(), `UPDATE webhook_endpoint SET failing_since = $2, last_failure_at = $2 WHERE tenant_id = $1`, s.acme, s.now.UnixMicro()); err != nil {
			t.Fatal(err)
		}
		viewer, admin := s.must(200, "viewer", "GET /overview", ""), s.must(200, "admin", "GET /overview", "")
		viewer.wantFields(t, map[string]string{
			"attention": "[]", "live": "[]", "counts.contacts": "1", "totals.total_recipients": "0", "previous.total_sent": "0",
		})
		if got := viewer.json("setup"); !strings.Contains(got, `{"done":true,"key":"contacts"}`) || !strings.Contains(got, `"detail":"there is no sending domain","done":false,"key":"sending_domain"`) {
			t.Errorf("setup %s", got)
		}
		if got := admin.json("attention"); !strings.Contains(got, `"kind":"webhook"`) || !strings.Contains(got, hook) || !strings.Contains(got, `"severity":"warning"`) {
			t.Errorf("an admin gets %s", got)
		}
		s.must(200, "viewer", "GET /t/other/api/overview", "").wantFields(t, map[string]string{"counts.contacts": "0", "attention": "[]"})
		s.mustRefuse("key", "GET /overview", "", 403, "API_KEY_FORBIDDEN")
	})
}

// sending prepares a broadcast to one contact, and returns its id.
func (s *sendingTest) sending(t *testing.T) string {
	t.Helper()
	ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
	s.must(200, "key", "POST /segments/readers/members", `{"contact_ids": ["`+ann+`"]}`)
	b := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-03-01T12:00:00Z"}`)).str("id")
	s.must(200, "key", "POST /broadcasts/"+b+"/schedule", "")
	engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
	if _, err := engine.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Broadcasts that are sending or paused are in the overview with their progress.
func TestOverviewShowsWhatIsBeingSent(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		b := s.sending(t)
		s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"name": "A draft"}`))
		one := s.must(200, "viewer", "GET /broadcasts/"+b, "")
		o := s.must(200, "viewer", "GET /overview", "")
		live, _ := o.body["live"].([]any)
		if len(live) != 1 {
			t.Fatalf("live %s", o.json("live"))
		}
		row := response{body: live[0].(map[string]any)}
		row.wantFields(t, map[string]string{
			"id": one.json("id"), "name": one.json("name"), "status": `"sending"`, "pause_reason": "null", "delivery_progress.total_recipients": "1",
			"delivery_progress.queued": "1", "delivery_progress.deferred": "0", "delivery_progress.bounced": "0", "delivery_progress.cancelled": "0",
		})
	})
}

// With embed=none a broadcast is shown without bodies and recipients, before and during its send.
func TestBroadcastsWithoutBodiesAndRecipients(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		variants := `{"name": "Two", "variants": [{"id": "a", "name": "A", "weight": 1, "content_overrides": {"preheader": "One"}}, {"id": "b", "name": "B", "weight": 1, "content_overrides": {"subject": "Other", "body_html": "<p>Other</p>"}}]}`
		draft := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, variants)).str("id")
		for _, at := range []string{draft, s.sending(t)} {
			for _, caller := range []string{"key", "viewer"} {
				whole := s.must(200, caller, "GET /broadcasts/"+at, "")
				lean := s.must(200, caller, "GET /broadcasts/"+at+"?embed=none", "")
				draftOr := s.must(200, caller, "GET /broadcasts/"+at+"?embed=draft", "")
				if want := map[bool]response{true: whole, false: lean}[at == draft]; draftOr.text != want.text {
					t.Errorf("embed=draft of %s: %s, want %s", want.json("status"), draftOr.text, want.text)
				}
				lean.wantFields(t, map[string]string{
					"content.body_html": "null", "content.body_mjml": "null", "content.body_text": "null", "content.template_snapshot": "null", "recipients": "",
					"content.subject": whole.json("content.subject"), "status": whole.json("status"), "total_recipients": whole.json("total_recipients"),
					"view_model.available_actions": whole.json("view_model.available_actions"), "view_model.schedule_readiness": whole.json("view_model.schedule_readiness"),
				})
				if whole.json("content.body_html") == "null" || strings.Contains(lean.json("variants"), "body_html") || at == draft && !strings.Contains(lean.json("variants"), `"subject":"Other"`) {
					t.Errorf("whole body %s, variants without bodies %s", whole.json("content.body_html"), lean.json("variants"))
				}
			}
		}
		s.mustRefuse("key", "GET /broadcasts/"+draft+"?embed=all", "", 400, "INVALID_INPUT")
	})
}

// Users can read a list or segment with the records that use it.
func TestUseOfASegment(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"name": "Spring"}`))
		s.must(201, "key", "POST /segments", `{"name": "Built on it", "definition": {"logic": "and", "conditions": [{"type": "list", "operator": "in", "segment_keys": ["readers"]}]}}`)
		used := s.must(200, "viewer", "GET /segments/readers?include_usage=true", "")
		for source, want := range map[string]string{"broadcasts": "Spring", "segments": "Built on it"} {
			if got := used.json("usage." + source); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", source, got, want)
			}
		}
		none := `{"automations":[],"broadcasts":[],"forms":[],"segments":[],"sequences":[]}`
		s.must(200, "viewer", "GET /segments/others?include_usage=true", "").wantFields(t, map[string]string{"usage": none})
		s.must(200, "key", "GET /segments/readers?include_usage=true", "").wantFields(t, map[string]string{"usage": ""}) // a key need not have the scopes of these records
		s.must(200, "viewer", "GET /segments/readers", "").wantFields(t, map[string]string{"usage": ""})
	})
}

// Contacts are counted by the selector of the search.
func TestContactsAreCountedByASelector(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for i, country := range []string{"DE", "DE", "FR"} {
			s.must(201, "key", "POST /contacts", fmt.Sprintf(`{"email": "c%d@example.org", "country": "%s"}`, i, country))
		}
		s.must(201, "key", "POST /t/other/api/contacts", `{"email": "x@example.org", "country": "DE"}`)
		for body, want := range map[string]string{
			``: "3", `{}`: "3", `{"filters": [{"field": "country", "operator": "equals", "value": "DE"}]}`: "2", `{"search": "c2"}`: "1", `{"status": ["suppressed"]}`: "0",
		} {
			s.must(200, "viewer", "POST /contacts/count", body).wantFields(t, map[string]string{"count": want})
		}
		for body, code := range map[string]string{
			`{"status": ["gone"]}`: "INVALID_STATUS", `{"filters": [{"field": "nothing", "operator": "equals", "value": 1}]}`: "INVALID_FILTERS", `{"search": 5}`: "INVALID_INPUT",
		} {
			s.mustRefuse("viewer", "POST /contacts/count", body, 400, code)
		}
		lacking := s.must(200, "viewer", "POST /contacts/count", `{"filters": [{"field": "email", "operator": "is_set"}], "lacking": ["first_name", "email", "first_name"]}`)
		named := s.must(200, "viewer", "POST /contacts/count", `{"filters": [{"field": "first_name", "operator": "is_not_set"}]}`).json("count")
		lacking.wantFields(t, map[string]string{"lacking": `[{"count":` + named + `,"field":"first_name"},{"count":0,"field":"email"},{"count":` + named + `,"field":"first_name"}]`})
		s.must(200, "viewer", "POST /contacts/count", `{"lacking": []}`).wantFields(t, map[string]string{"lacking": "[]"})
		s.mustRefuse("viewer", "POST /contacts/count", `{"lacking": ["no_such_field"]}`, 400, "INVALID_FILTERS")
		if r := s.mustRefuse("viewer", "POST /contacts/count", `{"lacking": ["a","a","a","a","a","a","a","a","a","a","a"]}`, 400, "INVALID_INPUT"); r.problems() != "lacking" {
			t.Errorf("problems at %q", r.problems())
		}
		s.mustRefuse("key", "POST /contacts/count", `{}`, 403, "API_KEY_FORBIDDEN")
	})
}

// A template can be created from the fields of each starter.
func TestStartersCanBeCopied(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		rows, _ := s.must(200, "viewer", "GET /template-starters", "").body["data"].([]any)
		if len(rows) != 11 {
			t.Errorf("%d starters", len(rows))
		}
		for _, row := range rows[:2] { // compiling takes time
			text, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			s.must(201, "editor", "POST /templates", string(text))
		}
	})
}

// The shell has the account, what concerns all that it sends, and the newest jobs, for members only.
func TestShell(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		account := s.must(200, "viewer", "GET /settings/account", "")
		job := s.must(202, "editor", "POST /contacts/export", `{"format": "csv"}`).str("job_id")
		got := s.must(200, "viewer", "GET /shell", "")
		got.wantFields(t, map[string]string{"trial": "false", "trouble": "null"})
		if text, _ := json.Marshal(account.body); got.json("account") != string(text) {
			t.Errorf("account %s, want %s", got.json("account"), text)
		}
		if jobs := got.json("jobs"); !strings.Contains(jobs, job) || !strings.Contains(jobs, `"title":`) {
			t.Errorf("jobs %s, want %s", jobs, job)
		}
		if got.header.Get("ETag") != "" {
			t.Errorf("ETag %q, want none: it is no record", got.header.Get("ETag"))
		}
		s.must(200, "viewer", "GET /t/other/api/shell", "").wantFields(t, map[string]string{"jobs": "[]"})
		s.mustRefuse("key", "GET /shell", "", 403, "API_KEY_FORBIDDEN")
	})
}
