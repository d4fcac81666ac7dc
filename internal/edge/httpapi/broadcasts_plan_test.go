package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
)

func TestASendOverDaysShowsItsPlanAndIsRescheduled(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		var contacts []id.Contact
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			c, err := contact.Create(ctx, s.db, s.acme, name+"@example.org", contact.Change{}, contact.Rules{}, s.now)
			if err != nil {
				t.Fatal(err)
			}
			contacts = append(contacts, c.ID)
		}
		if _, err := segment.Add(ctx, s.db, s.acme, s.list.ID, segment.People{IDs: contacts}, s.now); err != nil {
			t.Fatal(err)
		}
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"delivery_mode": "over_days", "delivery_window_days": 3, "scheduled_at": "2026-03-01"}`))
		at := "/broadcasts/" + made.str("id")
		reschedule := func(body string) response { return s.call("key", "POST "+at+"/reschedule", body) }
		refuse := func(body string, status int, code string) {
			t.Helper()
			if r := reschedule(body); r.status != status || r.code != code {
				t.Errorf("reschedule %s answered %d %s, want %d %s", body, r.status, r.text, status, code)
			}
		}
		refuse(`{"skipped_dates": []}`, 409, "NOT_SENDING")
		s.must(200, "key", "POST "+at+"/schedule", "")
		engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
		settle := func() {
			t.Helper()
			for range 6 {
				if _, err := engine.Tick(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		settle()
		expect := func(actions, phase, plan string) map[string]any {
			t.Helper()
			vm := s.must(200, "key", "GET "+at, "").body["view_model"].(map[string]any)
			p := vm["delivery_progress"].(map[string]any)
			if text, _ := json.Marshal(p["plan"]); string(text) != strings.Join(strings.Fields(plan), "") || p["phase"] != phase {
				t.Errorf("phase %v, plan %s; want %s, %s", p["phase"], text, phase, plan)
			}
			if text, _ := json.Marshal(vm["available_actions"]); string(text) != actions {
				t.Errorf("available_actions = %s, want %s", text, actions)
			}
			return p
		}
		const sending = `["pause","cancel","reschedule","test_send","clone"]`
		p := expect(sending, "waiting", `[{"date":"2026-03-01","planned":2,"sent":0,"status":"today"},
			{"date":"2026-03-02","planned":2,"sent":0,"status":"planned"},{"date":"2026-03-03","planned":2,"sent":0,"status":"planned"}]`)
		if next, eta := p["next_batch_at"].(string), p["eta"].(string); !strings.HasPrefix(next, "2026-03-01") || !strings.HasPrefix(eta, "2026-03-03") {
			t.Errorf("the next batch leaves at %s, the last one at %s", next, eta)
		}
		refuse(`{}`, 400, "INVALID_INPUT")
		refuse(`{"skipped_dates": null}`, 400, "INVALID_INPUT")
		refuse(`{"skipped_dates": "2026-03-02"}`, 400, "INVALID_INPUT")
		refuse(`{"skipped_dates": ["02.03.2026"]}`, 400, "INVALID_INPUT")
		refuse(`{"skipped_dates": [20260302]}`, 400, "INVALID_INPUT")
		refuse(`{"skipped_dates": ["2026-03-01"]}`, 400, "INVALID_SKIP")
		refuse(`{"skipped_dates": ["2026-02-27"]}`, 400, "INVALID_SKIP")
		s.must(403, "key broadcasts:write", "POST "+at+"/reschedule", `{"skipped_dates": []}`)
		s.must(404, "key", "POST /broadcasts/nope/reschedule", `{"skipped_dates": []}`)
		if r := reschedule(`{"skipped_dates": ["2026-03-02"]}`); r.status != 200 || r.str("status") != "sending" {
			t.Fatalf("reschedule answered %d %s", r.status, r.text)
		}
		settle()
		expect(sending, "waiting", `[{"date":"2026-03-01","planned":3,"sent":0,"status":"today"},
			{"date":"2026-03-02","planned":0,"sent":0,"status":"skipped"},{"date":"2026-03-03","planned":3,"sent":0,"status":"planned"}]`)

		s.now = time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
		n := outbox.Node{DB: s.db, Owner: "test"}
		if err := n.Renew(ctx, s.now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		items, err := n.Claim(ctx, s.acme, s.sendOf(s.acme, made.str("id")), 100, s.now)
		if err != nil || len(items) != 3 {
			t.Fatalf("claimed %d, %v", len(items), err)
		}
		results := make([]outbox.Result, len(items))
		for i, it := range items {
			results[i] = outbox.Result{Item: it, State: outbox.Delivered, At: s.now}
		}
		if _, err := n.Commit(ctx, results, nil, s.now); err != nil {
			t.Fatal(err)
		}
		s.now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		settle()
		expect(sending, "waiting", `[{"date":"2026-03-01","planned":3,"sent":3,"status":"done"},
			{"date":"2026-03-02","planned":0,"sent":0,"status":"skipped"},{"date":"2026-03-03","planned":3,"sent":0,"status":"planned"}]`)
		refuse(`{"skipped_dates": ["2026-03-01", "2026-03-02"]}`, 400, "INVALID_SKIP")
		rows := s.must(200, "key", "GET "+at+"/recipients?status=queued", "").body["data"].([]any)
		if len(rows) != 3 || !strings.HasPrefix(rows[0].(map[string]any)["planned_for"].(string), "2026-03-03") {
			t.Errorf("the queued recipients are %v", rows)
		}
		s.must(200, "key", "POST "+at+"/pause", "")
		refuse(`{"skipped_dates": []}`, 409, "NOT_SENDING")
		expect(`["resume","cancel","test_send","clone"]`, "paused", `[{"date":"2026-03-01","planned":3,"sent":3,"status":"done"},
			{"date":"2026-03-02","planned":0,"sent":0,"status":"skipped"},{"date":"2026-03-03","planned":3,"sent":0,"status":"planned"}]`)
		s.must(200, "key", "POST "+at+"/cancel", "")
		expect(`["test_send","archive","clone"]`, "done", `[{"date":"2026-03-01","planned":3,"sent":3,"status":"done"},
			{"date":"2026-03-02","planned":0,"sent":0,"status":"skipped"}]`)

		plain := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-03-01"}`))
		s.must(200, "key", "POST /broadcasts/"+plain.str("id")+"/schedule", "")
		settle()
		at = "/broadcasts/" + plain.str("id")
		refuse(`{"skipped_dates": []}`, 409, "NO_SPREAD_PLAN")
		expect(`["pause","cancel","test_send","clone"]`, "sending", "null")
	})
}
