package httpapi_test

import (
	"strings"
	"testing"
	"time"
)

func TestSeedListsOverTheAPI(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		list := s.must(201, "editor", "POST /seed-lists", `{"name": "Vendor", "vendor_label": "V", "rotation_days": 30, "rotation_grace_days": 5}`)
		at := "/seed-lists/" + list.str("id")
		list.wantFields(t, map[string]string{
			"freshness": `"never_synced"`, "refreshed_at": "null", "rotates_at": "null", "stale_at": "null", "include_by_default": "false",
			"vendor_dashboard_url": "null", "sending_identities": "[]", "address_counts": `{"active":0,"conflict":0,"paused":0,"retired":0}`,
		})
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`)
		s.must(200, "key", "PUT "+at+"/seeds", `{"seeds": [{"email": "A@gmail.com"}, {"email": "b@gmail.com"}, {"email": "ann@example.org"}, {"email": "bad"}]}`).wantFields(t, map[string]string{
			"applied": "true", "added": "2", "held_as_contact": `{"count":1,"sample":["ann@example.org"]}`, "invalid": `{"count":1,"sample":["bad"]}`,
			"hand_retired": `{"count":0,"sample":[]}`, "large_change": "false", "sendable_before": "0", "sendable_after": "2", "removed_unknown": "0",
		})
		s.must(200, "viewer", "GET "+at, "").wantFields(t, map[string]string{"freshness": `"fresh"`, "address_counts": `{"active":2,"conflict":1,"paused":0,"retired":0}`})
		page := s.must(200, "key", "GET "+at+"/seeds?limit=1&offset=1&search=GMAIL", "")
		page.wantFields(t, map[string]string{"total": "2", "has_more": "false", "next_cursor": "null"})
		if got := page.data("email"); len(got) != 1 || got[0] != "b@gmail.com" {
			t.Errorf("the page has %v", got)
		}
		seeds := s.must(200, "key", "GET "+at+"/seeds?status=active", "")
		seed := at + "/seeds/" + seeds.data("id")[0]

		large := s.mustRefuse("key", "PUT "+at+"/seeds", `{"seeds": []}`, 409, "LARGE_CHANGE")
		large.wantFields(t, map[string]string{"error.details.applied": "false", "error.details.sync_id": "null", "error.details.large_change": "true", "error.details.retired": "3", "error.details.sendable_after": "0"})
		for _, what := range []string{"PUT " + at + "/seeds?dry_run=true", "PUT " + at + "/seeds"} {
			body := `{"seeds": []}`
			if !strings.Contains(what, "?") {
				body = `{"seeds": [], "dry_run": true}`
			}
			s.must(200, "key", what, body).wantFields(t, map[string]string{"applied": "false", "sync_id": "null", "large_change": "true"})
		}
		s.mustRefuse("key", "PUT "+at+"/seeds?allow_large_change=1", `{"seeds": []}`, 409, "LARGE_CHANGE")
		s.must(200, "editor", seedAction(seed, "pause"), "").wantFields(t, map[string]string{"status": `"paused"`, "status_reason": "null"})
		s.mustRefuse("editor", seedAction(seed, "reactivate"), "", 409, "INVALID_TRANSITION")
		s.must(200, "editor", seedAction(seed, "retire"), "").wantFields(t, map[string]string{"status": `"retired"`, "status_reason": `"retired_by_user"`})
		s.must(200, "key", "POST "+at+"/seeds/changes", `{"add": [{"email": "a@gmail.com"}], "remove": ["unknown@gmail.com"]}`).wantFields(t, map[string]string{
			"hand_retired": `{"count":1,"sample":["a@gmail.com"]}`, "removed_unknown": "1", "unchanged": "0",
		})
		s.must(200, "key", "PUT "+at+"/seeds?allow_large_change=true", `{"seeds": []}`).wantFields(t, map[string]string{"retired": "2", "large_change": "true", "applied": "true"})
		syncs := s.must(200, "key", "GET "+at+"/syncs", "")
		if got := strings.Join(syncs.data("kind"), " "); got != "replace changes replace" {
			t.Errorf("the history has %s", got)
		}

		for _, tt := range []struct {
			caller, what, body, code, paths string
			status                          int
		}{
			{"editor", "POST /seed-lists", `{"name": "Vendor"}`, "DUPLICATE_NAME", "", 409},
			{"editor", "POST /seed-lists", `{"vendor_dashboard_url": "ftp://x", "rotation_days": 0, "rotation_grace_days": 400, "sending_identity_ids": ["x"]}`, "INVALID_INPUT", "name vendor_dashboard_url rotation_days rotation_grace_days sending_identity_ids", 400},
			{"editor", "POST /seed-lists", `{"name": "X", "sending_identity_ids": ["x", "` + unknownID + `"]}`, "INVALID_INPUT", "sending_identity_ids", 400},
			{"editor", "PUT " + at, `{"name": null}`, "INVALID_INPUT", "name", 400},
			{"viewer", "PUT " + at, `{"name": "X"}`, "FORBIDDEN", "", 403},
			{"key", "POST /seed-lists", `{"name": "X"}`, "API_KEY_FORBIDDEN", "", 403},
			{"key", seedAction(seed, "retire"), "", "API_KEY_FORBIDDEN", "", 403},
			{"key", "PUT " + at + "/seeds", `{}`, "INVALID_INPUT", "seeds", 400},
			{"key", "PUT " + at + "/seeds", `{"seeds": null}`, "INVALID_INPUT", "seeds", 400},
			{"key", "PUT " + at + "/seeds", `{"seeds": [{"email": 5}]}`, "INVALID_INPUT", "seeds[0].email", 400},
			{"key", "POST " + at + "/seeds/changes", `{}`, "INVALID_INPUT", "add", 400},
			{"key", "POST " + at + "/seeds/changes", `{"remove": "x"}`, "INVALID_INPUT", "remove", 400},
			{"key", "GET " + at + "/seeds?status=gone", "", "INVALID_STATUS", "", 400},
			{"key", "GET " + at + "/seeds?offset=-1", "", "INVALID_INPUT", "offset", 400},
			{"key", "GET /seed-lists/" + unknownID, "", "NOT_FOUND", "", 404},
			{"key", "GET /seed-lists/x/syncs", "", "NOT_FOUND", "", 404},
			{"key", "PUT /seed-lists/x/seeds", `{"seeds": []}`, "NOT_FOUND", "", 404},
			{"editor", "POST " + at + "/seeds/" + unknownID + "/pause", "", "NOT_FOUND", "", 404},
		} {
			r := s.mustRefuse(tt.caller, tt.what, tt.body, tt.status, tt.code)
			if got := r.problems(); tt.paths != "" && got != tt.paths {
				t.Errorf("%s %s: problems with %s, want %s", tt.what, tt.body, got, tt.paths)
			}
		}
		s.must(204, "editor", "DELETE "+at, "")
		s.mustRefuse("key", "GET "+at+"/seeds", "", 404, "NOT_FOUND")
	})
}

func seedAction(seed, action string) string { return "POST " + seed + "/" + action }

func TestABroadcastNamesItsSeedLists(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		identity := s.must(200, "viewer", "GET /sending-identities", "").data("id")[0]
		list := s.must(201, "editor", "POST /seed-lists", `{"name": "Vendor", "rotation_days": 1, "include_by_default": true, "sending_identity_ids": ["`+identity+`"]}`).str("id")
		s.must(200, "key", "PUT /seed-lists/"+list+"/seeds", `{"seeds": [{"email": "a@gmail.com"}]}`)
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{}`))
		made.wantFields(t, map[string]string{"seed_list_ids": "null"})
		at := "/broadcasts/" + made.str("id")
		for _, step := range []struct{ body, want string }{
			{`{"seed_list_ids": ["` + list + `", "` + list + `"]}`, `["` + list + `"]`}, {`{"name": "X"}`, `["` + list + `"]`}, {`{"seed_list_ids": []}`, `[]`},
			{`{"seed_list_ids": null}`, `null`}, {`{"seed_list_ids": ["` + list + `"]}`, `["` + list + `"]`},
		} {
			for _, caller := range []string{"key", "editor"} {
				s.must(200, caller, "PUT "+at, step.body).wantFields(t, map[string]string{"seed_list_ids": step.want})
			}
		}
		for _, bad := range []string{`["x"]`, `["` + unknownID + `"]`, `"` + list + `"`, `[5]`} {
			if r := s.mustRefuse("key", "PUT "+at, `{"seed_list_ids": `+bad+`}`, 400, "INVALID_INPUT"); !strings.HasPrefix(r.problems(), "seed_list_ids") {
				t.Errorf("seed_list_ids %s: problems with %s", bad, r.problems())
			}
		}
		clone := s.must(201, "key", "POST "+at+"/clone", `{}`)
		clone.wantFields(t, map[string]string{"seed_list_ids": `["` + list + `"]`})

		byDefault := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{}`)).str("id")
		none := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"seed_list_ids": []}`)).str("id")
		stale := func(b string) bool {
			return strings.Contains(s.must(200, "key", "GET /broadcasts/"+b, "").json("view_model.schedule_readiness.warnings"), "SEED_LIST_STALE")
		}
		for _, after := range []bool{false, true} {
			if after {
				s.now = s.now.Add(25 * time.Hour)
			}
			if got := stale(made.str("id")); got != after {
				t.Errorf("the warning of the broadcast that names the list: %v, want %v", got, after)
			}
			if got := stale(byDefault); got != after {
				t.Errorf("the warning of the broadcast with default lists: %v, want %v", got, after)
			}
			if stale(none) {
				t.Error("a broadcast without seed lists has a warning")
			}
		}
		s.must(204, "editor", "DELETE /seed-lists/"+list, "")
		s.must(200, "key", "GET "+at, "").wantFields(t, map[string]string{"seed_list_ids": "[]"})
	})
}
