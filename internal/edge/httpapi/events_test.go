package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/score"
)

// follow passes all entries of the journal to the followers.
func (s *apiTest) follow(list ...journal.Follower) {
	s.t.Helper()
	e := &journal.Engine{DB: s.db, Followers: list, Log: slog.New(slog.NewTextHandler(s.t.Output(), nil))}
	if err := e.Drain(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func TestAnEventReachesTimelineSegmentAndScore(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		stage := s.must(201, "admin", "POST /settings/stages", `{"name": "Lead", "category": "prospect"}`).str("id")
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "stage_id": "`+stage+`"}`).str("id")
		s.must(201, "key", "POST /contacts", `{"email": "ben@example.org"}`)
		made := s.must(202, "key events:write", "POST /events", `{"event_name": " Bought ", "type": "order_placed", "contact_email": "ANN@example.org",
			"properties": {"orderId": "A1", "total": "9.50", "currencyCode": "eur", "line_items": [{"sku": "mug"}], "n": 12345678901234567890}}`)
		made.wantFields(t, map[string]string{"contact_id": `"` + ann + `"`, "warnings": ""})

		rows := s.must(200, "viewer", "GET /contacts/"+ann+"/activity?types=event", "")
		got, _ := json.Marshal(rows.body["data"].([]any)[0])
		var row map[string]any
		_ = json.Unmarshal(got, &row)
		properties, _ := json.Marshal(row["properties"])
		if row["id"] != made.str("event_id") || row["event_name"] != "Bought" || row["source"] != "api" ||
			string(properties) != `{"currency":"EUR","currencyCode":"eur","items":[{"sku":"mug"}],"line_items":[{"sku":"mug"}],"n":12345678901234567000,"orderId":"A1","order_id":"A1","total":"9.50","value":9.5}` {
			t.Errorf("the timeline has %s", got)
		}

		leaf := `{"definition": {"logic": "and", "conditions": [{"type": "event", "event_name": "Bought", "operator": "did", "filters": [{"property": "items[].sku", "operator": "equals", "value": "mug"}, {"property": "value", "operator": "greater_than", "value": 9}]}]}}`
		if n := s.must(200, "viewer", "POST /segments/preview", leaf).json("member_count"); n != "1" {
			t.Errorf("the segment has %s members, want 1", n)
		}
		s.follow(score.Follower(rule.ScoringFilters, outbox.Broadcasts, func() time.Time { return s.now }))
		if points := s.must(200, "key", "GET /contacts/"+ann, "").json("prospect_score"); points != "20" {
			t.Errorf("the score is %s, want 20", points)
		}
	})
}

func TestEventsAreCheckedWithAllProblemsAtOnce(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
		long := strings.Repeat("x", 129)
		deep := strings.Repeat(`{"a":`, 8) + "1" + strings.Repeat("}", 8)
		for _, tt := range []struct{ body, paths string }{
			{`{}`, "event_name contact_id"},
			{`{"event_name": "x"}`, "contact_id"},
			{`{"event_name": " ", "contact_id": "` + ann + `"}`, "event_name"},
			{`{"event_name": 5, "contact_id": "x", "properties": [], "occurred_at": "soon", "type": {}}`, "contact_id event_name properties type occurred_at"},
			{`{"event_name": "` + long + `", "contact_email": "ann", "type": "` + long + `", "idempotency_key": "` + long + `"}`, "event_name type idempotency_key contact_email"},
			{`{"event_name": "x", "contact_email": "ann@example.org", "idempotency_key": ""}`, "idempotency_key"},
			{`{"event_name": "x", "contact_email": "ann@example.org", "properties": {"a": ` + deep + `}}`, "properties"},
			{`{"event_name": "x", "contact_email": "ann@example.org", "properties": {"a": "` + strings.Repeat("<", 32<<10) + `"}}`, "properties"},
		} {
			r := s.mustRefuse("key", "POST /events", tt.body, 400, "INVALID_INPUT")
			want, got := map[string]bool{}, map[string]bool{}
			for p := range strings.SplitSeq(tt.paths, " ") {
				want[p] = true
			}
			for _, p := range r.paths() {
				got[p] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%.80s: problems at %v, want %v", tt.body, got, want)
			}
			// The same in a batch: its other event is recorded.
			b := s.must(202, "key", "POST /events/batch", `{"events": [`+tt.body+`, {"event_name": "fine", "contact_id": "`+ann+`"}]}`)
			results := b.body["results"].([]any)
			refused, _ := results[0].(map[string]any)["error"].(map[string]any)
			single, _ := r.body["error"].(map[string]any)
			if refused["code"] != "INVALID_INPUT" || len(refused["details"].(map[string]any)["fields"].([]any)) != len(single["details"].(map[string]any)["fields"].([]any)) {
				t.Errorf("%.80s in a batch: %v, want %v", tt.body, refused, single)
			}
			if fine := results[1].(map[string]any); fine["contact_id"] != ann || fine["error"] != nil {
				t.Errorf("the other event: %v", fine)
			}
		}
		for body, want := range map[string]string{
			`{"event_name": "x", "contact_email": "nobody@example.org"}`:                                       "404 CONTACT_NOT_FOUND",
			`{"event_name": "x", "contact_id": "` + unknownID + `", "contact_email": "ann@example.org"}`:       "404 CONTACT_NOT_FOUND",
			`{"event_name": "x", "contact_id": "` + ann + `", "contact_email": "not an address"}`:              "202 ",
			`{"event_name": "x", "contact_email": "ann@example.org", "properties": {"n": 1e-20000}}`:           "202 ",
			`{"event_name": "x", "contact_email": "ann@example.org", "properties": null, "occurred_at": null}`: "202 ",
			`{"event_name": "x", "contact_email": "ann@example.org", "properties": {"a\u0000": 1}}`:            "400 INVALID_INPUT",
		} {
			if r := s.call("key", "POST /events", body); fmt.Sprintf("%d %s", r.status, r.code) != want {
				t.Errorf("%s: %d %s, want %s", body, r.status, r.text, want)
			}
		}
		s.mustRefuse("key contacts:write", "POST /events", `{"event_name": "x", "contact_id": "`+ann+`"}`, 403, "INSUFFICIENT_SCOPE")
		s.mustRefuse("viewer", "POST /events/batch", `{"events": []}`, 403, "FORBIDDEN")
		s.mustRefuse("key", "POST /events/batch", `{"events": []}`, 400, "INVALID_INPUT")
		s.mustRefuse("key", "POST /events/batch", `{"events": [`+strings.Repeat("1,", 500)+`1]}`, 400, "LIMIT_EXCEEDED")
		r := s.must(202, "editor", "POST /events/batch", `{"events": [7, null, {"event_name": "x", "contact_email": "nobody@example.org"}]}`)
		for i, code := range []string{"INVALID_INPUT", "INVALID_INPUT", "CONTACT_NOT_FOUND"} {
			if got := r.body["results"].([]any)[i].(map[string]any)["error"].(map[string]any)["code"]; got != code {
				t.Errorf("result %d is %v, want %s", i, got, code)
			}
		}
		s.mustRefuse("key", "POST /t/other/api/events", `{"event_name": "x", "contact_id": "`+ann+`"}`, 404, "CONTACT_NOT_FOUND")
	})
}

func TestAnEventIsRecordedOnceForItsKey(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(200, "admin", "PUT /settings/account", `{"auto_create_on_event": true}`)
		first := s.must(202, "key", "POST /events", `{"event_name": "x", "contact_email": "new@example.org", "type": "nonsense", "idempotency_key": "k"}`)
		first.wantFields(t, map[string]string{"warnings": `["unknown activity type \"nonsense\""]`})
		again := s.must(202, "key", "POST /events", `{"event_name": "y", "contact_email": "other@example.org", "idempotency_key": "k"}`)
		batch := s.must(202, "key", "POST /events/batch", `{"events": [{"event_name": "y", "contact_email": "third@example.org", "idempotency_key": "k"}]}`)
		item, _ := json.Marshal(batch.body["results"].([]any)[0])
		if want := strings.TrimSpace(first.text); again.text != first.text || strings.TrimSpace(string(item)) != sorted(t, want) {
			t.Errorf("answers %s, %s and %s differ", first.text, again.text, item)
		}
		if n := s.must(200, "key", "GET /contacts/count", "").json("count"); n != "1" {
			t.Errorf("%s contacts, want 1", n)
		}
		s.must(200, "key", "GET /contacts/lookup?email=new@example.org", "").wantFields(t, map[string]string{"source": `"event"`, "global_status": `"active"`})
	})
}

// sorted returns a JSON object with sorted names.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(v)
	return string(b)
}
