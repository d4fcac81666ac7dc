package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/event"
)

// pages returns the rows of all pages of a list, as JSON.
func (s *apiTest) pages(what string, limit int) (rows []string) {
	s.t.Helper()
	cursor := ""
	for {
		r := s.must(200, "viewer", fmt.Sprintf("GET %s&limit=%d&cursor=%s", what, limit, cursor), "")
		for _, row := range r.body["data"].([]any) {
			text, _ := json.Marshal(row)
			rows = append(rows, string(text))
		}
		cursor = r.str("next_cursor")
		if cursor == "" {
			return rows
		}
	}
}

func TestTheFeedPagesThroughTheActivityOfAllContacts(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		var ids []string
		for i := range 6 {
			ids = append(ids, s.must(201, "key", "POST /contacts", fmt.Sprintf(`{"email": "p%d@example.org", "first_name": "P", "last_name": "%d", "source": "web"}`, i, i)).str("id"))
		}
		base := s.now.Add(-time.Hour).Truncate(time.Second)
		for i := range 40 { // several events at each time
			at := base.Add(time.Duration(i/4) * time.Second).Format(time.RFC3339)
			s.must(202, "key", "POST /events", fmt.Sprintf(`{"event_name": "e%d", "contact_id": "%s", "occurred_at": "%s", "properties": {"i": %d}}`, i%3, ids[i%6], at, i))
		}
		s.must(200, "key", "PUT /contacts/"+ids[0], `{"tags": ["vip"]}`)
		s.must(204, "key", "DELETE /contacts/"+ids[5], "")
		all := s.pages("/activity?", 200)
		if want := 40 + 6 + 3; len(all) != want { // events, creations; tag_added, contact_updated, contact_deleted
			t.Errorf("%d rows, want %d:\n%s", len(all), want, strings.Join(all, "\n"))
		}
		for _, limit := range []int{1, 7, 13} {
			if got := s.pages("/activity?", limit); !slices.Equal(got, all) {
				t.Errorf("pages of %d have %d rows, or other ones", limit, len(got))
			}
		}
		if !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(occurredAt(b), occurredAt(a)) }) {
			t.Error("rows are not sorted by time")
		}
		if !strings.Contains(all[len(all)-1], `"contact":{"email":"p0@example.org","id":"`+ids[0]+`","name":"P 0"}`) || !strings.Contains(all[len(all)-1], `"event_name":"e0"`) {
			t.Errorf("the oldest row is %s", all[len(all)-1])
		}
		for _, list := range []string{"/activity", "/contacts/" + ids[0] + "/activity"} {
			for _, unknown := range []string{"nonsense", "event,send_ended"} {
				if r := s.mustRefuse("viewer", "GET "+list+"?types="+unknown, "", 400, "INVALID_INPUT"); r.problems() != "types" || !strings.Contains(r.text, "tag_removed") {
					t.Errorf("types=%s: %s", unknown, r.text)
				}
			}
		}
		for what, want := range map[string]int{
			"/activity?types=event": 40, "/activity?types=contact_created": 6, "/activity?types=tag_added,contact_deleted": 2,
			"/activity?event_name=e1": 13, "/activity?event_name=e1&types=tag_added": 0, "/activity?event_name=e9": 0,
			"/activity?contact_id=" + ids[0]: 7 + 1 + 2, "/activity?event_name=e0&contact_id=" + ids[0]: 7, "/activity?contact_id=" + unknownID: 0,
		} {
			if got := s.pages(what, 5); len(got) != want {
				t.Errorf("%s has %d rows, want %d", what, len(got), want)
			}
		}
		s.must(202, "key", "POST /events", `{"event_name": "big", "contact_id": "`+ids[1]+`", "properties": {"order_id": 9007199254740993}}`)
		if got := s.pages("/activity?event_name=big", 5); len(got) != 1 || !strings.Contains(s.must(200, "viewer", "GET /contacts/"+ids[1]+"/activity?limit=1", "").text, `"order_id":9007199254740993`) {
			t.Errorf("the number of an order is shown as %s", got)
		}
		if r := s.mustRefuse("viewer", "GET /activity?contact_id=x", "", 400, "INVALID_INPUT"); !strings.Contains(r.text, `"contact_id: must be a UUID"`) {
			t.Errorf("a bad id is refused with %s", r.text)
		}
		if r := s.mustRefuse("viewer", "GET /suggestions?for=x", "", 400, "INVALID_INPUT"); !strings.Contains(r.text, `"for: must be one of tags, event_names, event_properties, field"`) {
			t.Errorf("an unknown value is refused with %s", r.text)
		}
		s.mustRefuse("viewer", "GET /activity?cursor=x", "", 400, "INVALID_CURSOR")
		s.mustRefuse("key", "GET /activity", "", 403, "API_KEY_FORBIDDEN")
		if r := s.must(200, "viewer", "GET /t/other/api/activity", ""); len(r.body["data"].([]any)) != 0 {
			t.Errorf("another tenant sees %s", r.text)
		}
	})
}

func occurredAt(row string) string {
	var r struct {
		At string `json:"occurred_at"`
	}
	_ = json.Unmarshal([]byte(row), &r)
	return r.At
}

func TestSuggestionsAreOfValuesThatOccur(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_key": "plan", "field_type": "string"}`)
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "city": "Rome", "tags": ["vip", "press"], "custom_fields": {"plan": "pro"}}`).str("id")
		s.must(201, "key", "POST /contacts", `{"email": "ben@example.com", "city": "Berlin", "tags": ["press"]}`)
		s.must(202, "key", "POST /events", `{"event_name": "Bought", "contact_id": "`+ann+`", "properties": {"value": 5, "items": [{"sku": "a"}]}, "occurred_at": "2026-02-01T00:00:00Z"}`)
		s.must(202, "key", "POST /events", `{"event_name": "login", "contact_id": "`+ann+`", "properties": {"ok": true}, "occurred_at": "2026-02-02T00:00:00Z"}`)
		s.follow(event.Follower())
		for query, want := range map[string]string{
			"for=tags":                                     "press vip",
			"for=tags&q=VI":                                "vip",
			"for=field&field=city":                         "Berlin Rome",
			"for=field&field=email_domain":                 "example.com example.org",
			"for=field&field=custom_fields.plan":           "pro",
			"for=event_names":                              "login Bought",
			"for=event_names&q=bou":                        "Bought",
			"for=event_properties":                         "ok items items[].sku value",
			"for=event_properties&event_name=Bought&q=sku": "items[].sku",
			"for=event_properties&event_name=x":            "",
		} {
			r := s.must(200, "viewer", "GET /suggestions?"+query, "")
			if got := strings.Join(r.data("value"), " "); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		row, _ := json.Marshal(s.must(200, "viewer", "GET /suggestions?for=event_properties&q=value", "").body["data"].([]any)[0])
		if string(row) != `{"count":1,"kinds":["number"],"last_seen_at":"2026-02-01T00:00:00.000Z","value":"value"}` {
			t.Errorf("a property is %s", row)
		}
		for _, bad := range []string{"", "for=nonsense", "for=field", "for=field&field=nonsense", "for=field&field=tags"} {
			s.mustRefuse("viewer", "GET /suggestions?"+bad, "", 400, "INVALID_INPUT")
		}
		s.mustRefuse("key", "GET /suggestions?for=tags", "", 403, "API_KEY_FORBIDDEN")
		if r := s.must(200, "viewer", "GET /t/other/api/suggestions?for=tags", ""); len(r.body["data"].([]any)) != 0 {
			t.Errorf("another tenant sees %s", r.text)
		}
	})
}
