package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestDeliveryFieldsAreStored(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		expect := func(r response, want map[string]string) {
			t.Helper()
			for name, text := range want {
				if got, _ := json.Marshal(r.body[name]); string(got) != text {
					t.Errorf("%s = %s, want %s", name, got, text)
				}
			}
		}
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"delivery_mode": "over_days", "delivery_window_days": 3, "overflow_mode": "holdback",
			"skipped_dates": ["2026-05-02", "2026-05-01", "2026-05-02"], "throttle_per_hour": 500,
			"delivery_lanes": [{"mta_config_key": "sink", "weight": 2.5}]}`))
		at := "/broadcasts/" + made.str("id")
		all := map[string]string{
			"delivery_mode": `"over_days"`, "delivery_window_days": `3`, "delivery_window_date": `null`, "overflow_mode": `"holdback"`,
			"skipped_dates": `["2026-05-01","2026-05-02"]`, "throttle_per_hour": `500`, "delivery_lanes": `[{"mta_config_key":"sink","weight":2.5}]`,
		}
		expect(made, all)
		expect(s.must(200, "key", "GET "+at, ""), all)
		expect(s.must(201, "key", "POST "+at+"/clone", ""), all)
		row := s.must(200, "key", "GET /broadcasts", "").body["data"].([]any)[1].(map[string]any)
		expect(response{body: row}, all)
		lanes := `[{"mta_config_id":"` + s.lane.ID.String() + `","mta_config_key":"sink","weight":2.5}]`
		session := s.must(200, "editor", "GET "+at, "")
		if got, _ := json.Marshal(session.body["delivery_lanes"]); string(got) != lanes {
			t.Errorf("the session form has %s", got)
		}
		expect(s.must(200, "key", "PUT "+at, `{"delivery_mode": "by_date", "delivery_window_date": "2999-01-01", "skipped_dates": null, "throttle_per_hour": null}`), map[string]string{
			"delivery_mode": `"by_date"`, "delivery_window_days": `3`, "delivery_window_date": `"2999-01-01"`, "overflow_mode": `"holdback"`,
			"skipped_dates": `[]`, "throttle_per_hour": `null`,
		})
		expect(s.must(200, "key", "PUT "+at, `{"delivery_mode": "now", "delivery_lanes": null, "delivery_window_days": null, "delivery_window_date": null}`), map[string]string{
			"delivery_mode": `"now"`, "delivery_window_days": `null`, "delivery_window_date": `null`, "delivery_lanes": `null`,
		})
		s.must(200, "editor", "PUT "+at, `{"delivery_lanes": [{"mta_config_id": "`+s.lane.ID.String()+`", "weight": 1}]}`)
		s.must(200, "key", "POST "+at+"/schedule", "")
		if r := s.call("admin", "DELETE /mta-configs/"+s.lane.ID.String(), ""); r.status != 409 || !strings.Contains(r.text, made.str("id")) {
			t.Errorf("deleting a lane that a broadcast uses answered %d %s", r.status, r.text)
		}
	})
}

func TestInvalidDeliveryFieldsAreRefused(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		var days []string
		for d := range 61 {
			days = append(days, time.Date(2026, 2, 1+d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
		}
		many := `["` + strings.Join(days, `","`) + `"]`
		lane := `{"mta_config_key": "sink", "weight": 1}`
		for _, tt := range []struct{ with, code, path string }{
			{`{"delivery_mode": "slowly"}`, "INVALID_INPUT", "delivery_mode"},
			{`{"delivery_mode": null}`, "INVALID_INPUT", "delivery_mode"},
			{`{"delivery_mode": 3}`, "INVALID_INPUT", "delivery_mode"},
			{`{"delivery_mode": "over_days"}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"delivery_mode": "by_date"}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_mode": "by_date", "delivery_window_date": "2020-02-01"}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_window_date": "2020-02-01"}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_window_date": "2026-02-30"}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_window_date": "2999-02-01T00:00:00Z"}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_window_date": ""}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_window_date": 20990101}`, "INVALID_INPUT", "delivery_window_date"},
			{`{"delivery_window_days": 0}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"delivery_window_days": 61}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"delivery_window_days": -1}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"delivery_window_days": 1.5}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"delivery_window_days": 1e40}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"delivery_window_days": "3"}`, "INVALID_INPUT", "delivery_window_days"},
			{`{"skipped_dates": "2026-05-01"}`, "INVALID_INPUT", "skipped_dates"},
			{`{"skipped_dates": ["2026-05-01", "tomorrow"]}`, "INVALID_INPUT", "skipped_dates"},
			{`{"skipped_dates": [5]}`, "INVALID_INPUT", "skipped_dates"},
			{`{"skipped_dates": ` + many + `}`, "INVALID_INPUT", "skipped_dates"},
			{`{"overflow_mode": "drop"}`, "INVALID_INPUT", "overflow_mode"},
			{`{"overflow_mode": null}`, "INVALID_INPUT", "overflow_mode"},
			{`{"throttle_per_hour": 0}`, "INVALID_INPUT", "throttle_per_hour"},
			{`{"throttle_per_hour": -5}`, "INVALID_INPUT", "throttle_per_hour"},
			{`{"throttle_per_hour": 1e10}`, "INVALID_INPUT", "throttle_per_hour"},
			{`{"throttle_per_hour": "10"}`, "INVALID_INPUT", "throttle_per_hour"},
			{`{"delivery_lanes": {}}`, "INVALID_INPUT", "delivery_lanes"},
			{`{"delivery_lanes": [5]}`, "INVALID_INPUT", "delivery_lanes"},
			{`{"delivery_lanes": [` + lane + `, ` + lane + `]}`, "INVALID_INPUT", "delivery_lanes[1]"},
			{`{"delivery_lanes": [{"mta_config_key": "sink"}]}`, "INVALID_INPUT", "delivery_lanes[0].weight"},
			{`{"delivery_lanes": [{"mta_config_key": "sink", "weight": 0}]}`, "INVALID_INPUT", "delivery_lanes[0].weight"},
			{`{"delivery_lanes": [{"mta_config_key": "sink", "weight": 1e300}]}`, "INVALID_INPUT", "delivery_lanes[0].weight"},
			{`{"delivery_lanes": [{"mta_config_key": "sink", "weight": "1"}]}`, "INVALID_INPUT", "delivery_lanes[0].weight"},
			{`{"delivery_lanes": [{"mta_config_key": "nope", "weight": 1}]}`, "INVALID_MTA_CONFIG", "delivery_lanes"},
			{`{"delivery_lanes": [{"weight": 1}]}`, "INVALID_MTA_CONFIG", "delivery_lanes"},
			{`{"delivery_lanes": [{"mta_config_id": "` + s.lane.ID.String() + `", "weight": 1}]}`, "INVALID_MTA_CONFIG", "delivery_lanes"},
		} {
			r := s.call("key", "POST /broadcasts", broadcastJSON(t, tt.with))
			if r.status != 400 || r.code != tt.code || !strings.Contains(r.text, tt.path) {
				t.Errorf("POST with %s answered %d %s, want %s naming %q", tt.with, r.status, r.text, tt.code, tt.path)
			}
		}
		for _, with := range []string{`"x"`, `"00000000-0000-0000-0000-000000000000"`} {
			if r := s.call("editor", "POST /broadcasts", broadcastJSON(t, `{"delivery_lanes": [{"mta_config_id": `+with+`, "weight": 1}]}`)); r.status != 400 {
				t.Errorf("a lane with the id %s answered %d %s", with, r.status, r.text)
			}
		}
		// The last day of the window is before scheduled_at.
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"delivery_mode": "by_date", "delivery_window_date": "2999-01-01", "scheduled_at": "2999-02-01T00:00:00Z"}`))
		if r := s.call("key", "POST /broadcasts/"+made.str("id")+"/schedule", ""); r.status != 400 || r.code != "INVALID_INPUT" || !strings.Contains(r.text, "delivery_window_date") {
			t.Errorf("a send that starts after its last day answered %d %s", r.status, r.text)
		}
	})
}
