package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
)

func TestContactsAreUpdatedByID(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "owner", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "string"}`)
		s.must(201, "owner", "POST /settings/custom-fields", `{"name": "Size", "field_type": "number"}`)
		stage := s.must(201, "owner", "POST /settings/stages", `{"name": "Lead", "category": "prospect"}`).body["id"].(string)
		won := s.must(201, "owner", "POST /settings/stages", `{"name": "Won", "category": "customer"}`).body["id"].(string)
		c := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "full_name": "Ann Bee", "company": "Acme", "tags": ["a", "b"],
			"custom_fields": {"plan": "pro", "size": 3}, "subscriptions": {"news": true}, "stage_id": "`+stage+`", "external_id": "x1"}`)
		at := "/contacts/" + c.body["id"].(string)
		for i, tt := range []struct {
			body string
			want map[string]any
		}{
			{`{}`, map[string]any{"email": "ann@example.org", "company": "Acme"}},
			{`{"company": null, "city": "Bonn"}`, map[string]any{"company": nil, "city": "Bonn", "first_name": "Ann"}},
			{`{"tags": ["c"]}`, map[string]any{"tags": []any{"c"}}},
			{`{"tags": []}`, map[string]any{"tags": []any{}, "city": "Bonn"}},
			{`{"tags": ["d"]}`, map[string]any{"tags": []any{"d"}}},
			{`{"tags": null}`, map[string]any{"tags": []any{}}},
			{`{"custom_fields": {"plan": null}}`, map[string]any{"custom_fields": map[string]any{"size": 3.0}}},
			{`{"custom_fields": {"plan": "x"}}`, map[string]any{"custom_fields": map[string]any{"size": 3.0, "plan": "x"}}},
			{`{"subscriptions": {"news": false}}`, map[string]any{"subscriptions": map[string]any{"news": false}}},
			{`{"subscriptions": {"news": null}}`, map[string]any{"subscriptions": map[string]any{}}},
			{`{"full_name": "Bo Lu Dee"}`, map[string]any{"full_name": "Bo Lu Dee", "first_name": "Bo Lu", "last_name": "Dee"}},
			{`{"email": " ANN.Bee@Example.COM "}`, map[string]any{"email": "ann.bee@example.com", "email_domain": "example.com"}},
			{`{"do_not_contact": true, "unknown": 1, "global_status": "bounced"}`, map[string]any{"do_not_contact": true, "global_status": "active"}},
			{`{"external_id": null, "stage_id": null}`, map[string]any{"external_id": nil, "stage_id": nil}},
		} {
			method := []string{"PUT ", "PATCH "}[i%2]
			got := s.must(200, []string{"key", "editor"}[i%2], method+at, tt.body)
			for name, want := range tt.want {
				if fmt.Sprint(got.body[name]) != fmt.Sprint(want) {
					t.Errorf("after %s %s is %v, want %v", tt.body, name, got.body[name], want)
				}
			}
			if _, there := got.body["last_activity_pending"]; there {
				t.Error("an answer to a write has last_activity_pending")
			}
			read := s.must(200, "key", "GET "+at, "")
			delete(read.body, "last_activity_pending")
			if fmt.Sprint(read.body) != fmt.Sprint(got.body) {
				t.Errorf("after %s, reading returns\n%v, want\n%v", tt.body, read.body, got.body)
			}
		}

		// A stage of another category resets the scores.
		s.must(200, "key", "PUT "+at, `{"stage_id": "`+stage+`"}`)
		_, err := s.db.Exec(t.Context(), `UPDATE contact SET prospect_score = 7 WHERE tenant_id = $1 AND id = $2`, s.acme, idtest.Must[id.Contact](c.str("id")))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.must(200, "key", "PUT "+at, `{"stage_id": "`+won+`"}`); got.body["prospect_score"] != 0.0 || got.body["score_updated_at"] == nil {
			t.Errorf("in another category the score is %v since %v", got.body["prospect_score"], got.body["score_updated_at"])
		}
	})
}

func TestAChangedAddressIsEvaluatedAgain(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /suppressions", `{"email": "listed@example.org"}`)
		at := "/contacts/" + s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).body["id"].(string)
		if got := s.must(200, "key", "PUT "+at, `{"email": "listed@example.org"}`); got.body["deliverability_status"] != "suppressed" || got.body["deliverability_reason"] != "suppression_list" {
			t.Errorf("with a listed address: %v %v", got.body["deliverability_status"], got.body["deliverability_reason"])
		}
		if got := s.must(200, "key", "PUT "+at, `{"email": "ann@example.org"}`); got.body["deliverability_status"] != "healthy" {
			t.Errorf("with its old address again: %v %v", got.body["deliverability_status"], got.body["deliverability_reason"])
		}
		taken := s.must(201, "key", "POST /contacts", `{"email": "bob@example.org", "external_id": "x"}`)
		got := s.mustRefuse("key", "PUT "+at, `{"email": "Bob@example.org"}`, 409, "DUPLICATE_EMAIL")
		details := got.body["error"].(map[string]any)["details"].(map[string]any)
		if details["contact_id"] != taken.body["id"] || details["global_status"] != "active" {
			t.Errorf("details of DUPLICATE_EMAIL: %v", details)
		}
		s.mustRefuse("key", "PUT "+at, `{"external_id": "x"}`, 409, "DUPLICATE_EXTERNAL_ID")
		s.must(200, "key", "PUT "+at, `{"email": "ann@example.org"}`) // its own address is no duplicate
	})
}

func TestInvalidContactChangesAreRefused(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		at := "/contacts/" + s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).body["id"].(string)
		for body, code := range map[string]string{
			`{"email": null}`:   "INVALID_INPUT",
			`{"email": ""}`:     "INVALID_INPUT",
			`{"email": "nope"}`: "INVALID_INPUT",
			`{"email": 3}`:      "INVALID_INPUT",
			`{"country": "Atlantis", "timezone": "Moon"}`: "INVALID_INPUT",
			`{"tags": "a"}`:                     "INVALID_INPUT",
			`{"tags": [""]}`:                    "INVALID_INPUT",
			`{"custom_fields": []}`:             "INVALID_INPUT",
			`{"custom_fields": {"nope": 1}}`:    "UNKNOWN_FIELD",
			`{"subscriptions": {"nope": true}}`: "INVALID_EMAIL_TYPE",
			`{"subscriptions": [1]}`:            "INVALID_INPUT",
			`{"stage_id": "` + unknownID + `"}`: "INVALID_STAGE",
			`{"stage_id": "nope"}`:              "INVALID_INPUT",
			`{"do_not_contact": "yes"}`:         "INVALID_INPUT",
			`[]`:                                "INVALID_JSON",
			`{`:                                 "INVALID_JSON",
		} {
			for _, method := range []string{"PUT ", "PATCH "} {
				s.mustRefuse("key", method+at, body, 400, code)
			}
		}
		tags := make([]string, 201)
		for i := range tags {
			tags[i] = fmt.Sprintf(`"t%d"`, i)
		}
		s.mustRefuse("key", "PUT "+at, `{"tags": [`+strings.Join(tags, ",")+`]}`, 400, "LIMIT_EXCEEDED")
		if got := s.must(200, "key", "GET "+at, ""); got.body["updated_at"] != got.body["created_at"] {
			t.Error("a refused change changed the contact")
		}
	})
}

func TestContactsOfOtherTenantsAreNotFound(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		theirs := s.must(201, "key", "POST /t/other/api/contacts", `{"email": "ann@example.org", "first_name": "Ann"}`).body["id"].(string)
		for _, c := range []string{theirs, unknownID, "nope", "' OR 1=1", strings.Repeat("9", 300)} {
			c = strings.ReplaceAll(c, " ", "%20")
			for _, what := range []string{"PUT", "PATCH", "DELETE", "POST /restore", "POST /anonymize", "GET /export"} {
				method, sub, _ := strings.Cut(what, " ")
				body := ""
				if method != "DELETE" && method != "GET" {
					body = `{}`
				}
				s.mustRefuse("admin", method+" /contacts/"+c+sub, body, 404, "CONTACT_NOT_FOUND")
			}
		}
		if got := s.must(200, "key", "GET /t/other/api/contacts/"+theirs, ""); got.body["first_name"] != "Ann" || got.body["global_status"] != "active" {
			t.Errorf("the other tenant's contact is %v", got.text)
		}
	})
}

func TestContactOperationsCheckScopeAndRole(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		at := "/contacts/" + s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).body["id"].(string)
		for _, what := range []string{"PUT " + at, "PATCH " + at, "DELETE " + at, "POST " + at + "/restore"} {
			s.mustRefuse("key contacts:read", what, `{}`, 403, "INSUFFICIENT_SCOPE")
			s.mustRefuse("viewer", what, `{}`, 403, "FORBIDDEN")
		}
		for _, what := range []string{"POST " + at + "/anonymize", "GET " + at + "/export", "POST /settings/account/identity-secret", "DELETE /settings/account/identity-secret"} {
			s.mustRefuse("key", what, ``, 403, "API_KEY_FORBIDDEN")
		}
		s.mustRefuse("editor", "POST "+at+"/anonymize", ``, 403, "FORBIDDEN")
		s.mustRefuse("admin", "POST /settings/account/identity-secret", ``, 403, "FORBIDDEN")
		s.mustRefuse("admin", "DELETE /settings/account/identity-secret", ``, 403, "FORBIDDEN")
		s.must(200, "viewer", "GET "+at+"/export", "")
		s.must(200, "key contacts:write", "PUT "+at, `{"city": "B"}`)
		s.must(204, "key contacts:write", "DELETE "+at, "")
		s.must(200, "key contacts:write", "POST "+at+"/restore", "")
	})
}

func TestAContactIsDeletedAndRestored(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		made := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "tags": ["x"]}`)
		at := "/contacts/" + made.body["id"].(string)
		s.mustRefuse("key", "POST "+at+"/restore", "", 409, "INVALID_TRANSITION")
		for range 2 { // deleting again changes nothing
			s.must(204, "key", "DELETE "+at, "")
		}
		got := s.must(200, "key", "GET "+at, "")
		if got.body["global_status"] != "suppressed" || got.body["status_before_suppress"] != "active" || got.body["suppressed_at"] == nil || got.body["deliverability_status"] != "suppressed" {
			t.Errorf("deleted: %s", got.text)
		}
		if n := s.must(200, "key", "GET /contacts/count", "").body["count"]; n != 0.0 {
			t.Errorf("%v contacts are counted", n)
		}
		// An update of a deleted contact is stored and does not restore it.
		if got := s.must(200, "key", "PUT "+at, `{"city": "Bonn"}`); got.body["global_status"] != "suppressed" || got.body["city"] != "Bonn" {
			t.Errorf("changed when deleted: %s", got.text)
		}
		back := s.must(200, "editor", "POST "+at+"/restore", "")
		if back.body["global_status"] != "active" || back.body["status_before_suppress"] != nil || back.body["suppressed_at"] != nil || back.body["deliverability_status"] != "healthy" {
			t.Errorf("restored: %s", back.text)
		}
		s.mustRefuse("key", "POST "+at+"/restore", "{}", 409, "INVALID_TRANSITION")
	})
}

func TestAWriteMakesAPendingContactActive(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		c := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).body["id"].(string)
		if _, err := s.db.Exec(t.Context(), `UPDATE contact SET global_status = 'pending' WHERE tenant_id = $1 AND id = $2`, s.acme, idtest.Must[id.Contact](c)); err != nil {
			t.Fatal(err)
		}
		if got := s.must(200, "key", "PUT /contacts/"+c, `{}`); got.body["global_status"] != "active" {
			t.Errorf("after a write it is %v", got.body["global_status"])
		}
	})
}

func TestAnAnonymisedContactCannotBeChanged(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for _, tt := range []struct {
			email, body string
			listed      bool
		}{
			{"ann@example.org", ``, true},
			{"bob@example.org", `{}`, true},
			{"cid@example.org", `{"suppress": true}`, true},
			{"dee@example.org", `{"suppress": false}`, false},
		} {
			c := s.must(201, "key", "POST /contacts", `{"email": "`+tt.email+`", "full_name": "Ann Bee", "tags": ["x"], "external_id": "`+tt.email+`", "phone": "1", "timezone": "Europe/Berlin"}`).body["id"].(string)
			s.must(201, "key", "POST /suppressions", `{"email": "`+tt.email+`", "reason": "said Ann"}`)
			got := s.must(200, "admin", "POST /contacts/"+c+"/anonymize", tt.body)
			if got.body["email"] != c+"@anonymized.invalid" || got.body["global_status"] != "suppressed" || got.body["anonymized_at"] == nil || got.body["suppressed_at"] == nil ||
				got.body["status_before_suppress"] != nil || got.body["full_name"] != nil || got.body["external_id"] != nil || got.body["timezone"] != nil || len(got.body["tags"].([]any)) != 0 {
				t.Errorf("anonymised: %s", got.text)
			}
			if again := s.must(200, "admin", "POST /contacts/"+c+"/anonymize", tt.body); again.text != got.text {
				t.Errorf("anonymised again:\n%s, want\n%s", again.text, got.text)
			}
			list := s.must(200, "key", "GET /suppressions?search="+tt.email, "").body["data"].([]any)
			if (len(list) == 1) != tt.listed || tt.listed && list[0].(map[string]any)["reason"] != "anonymized" {
				t.Errorf("after %s the list holds %v", tt.body, list)
			}
			s.mustRefuse("key", "PUT /contacts/"+c, `{"city": "B"}`, 409, "INVALID_TRANSITION")
			s.mustRefuse("key", "PUT /contacts", `{"email": "`+c+`@anonymized.invalid", "city": "B"}`, 409, "INVALID_TRANSITION")
			s.mustRefuse("key", "POST /contacts/"+c+"/restore", ``, 409, "INVALID_TRANSITION")
			s.must(204, "key", "DELETE /contacts/"+c, ``)
			s.must(200, "key", "GET /contacts/"+c, ``)
			s.must(200, "admin", "GET /contacts/"+c+"/export", ``)
			s.mustRefuse("key", "GET /contacts/lookup?email="+tt.email, "", 404, "CONTACT_NOT_FOUND")
			s.must(201, "key", "POST /contacts", `{"email": "`+tt.email+`"}`) // a new contact
		}
		s.mustRefuse("admin", "POST /contacts/"+unknownID+"/anonymize", `{"suppress": "no"}`, 400, "INVALID_INPUT")
		log := s.must(200, "admin", "GET /audit-log", "").body["data"].([]any)
		n := 0
		for _, e := range log {
			if e.(map[string]any)["action"] == "contact.anonymize" {
				n++
			}
		}
		if n != 4 {
			t.Errorf("the audit log has %d entries, want 4", n)
		}
	})
}

func TestIdentityTokensAreReturnedOnRequest(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		enabled := func() any {
			return s.must(200, "key", "GET /settings/account", "").body["identity_signing_enabled"]
		}
		token := func(r response) string {
			text, _ := r.body["identity_token"].(string)
			return text
		}
		const ask = "?include_identity_token=true"
		if r := s.must(201, "key", "POST /contacts"+ask, `{"email": "a@example.org"}`); strings.Contains(r.text, "identity_token") || enabled() != false {
			t.Errorf("without a secret: %s", r.text)
		}
		made := s.must(200, "owner", "POST /settings/account/identity-secret", "")
		if key, _ := made.body["secret"].(string); len(key) < 32 || made.body["created_at"] == nil || enabled() != true {
			t.Errorf("the secret: %s, enabled %v", made.text, enabled())
		}
		for _, other := range []string{"TRUE", "True", "%20true", "1", ""} {
			r := s.must(200, "key", "PUT /contacts?include_identity_token="+other, `{"email": "a@example.org"}`)
			if token(r) != "" {
				t.Errorf("include_identity_token=%s returns a token", other)
			}
		}
		created := s.must(201, "key", "POST /contacts"+ask, `{"email": "b@example.org"}`)
		c := created.body["id"].(string)
		for _, r := range []response{
			created,
			s.must(200, "key", "PUT /contacts"+ask, `{"email": "b@example.org", "city": "B"}`),
			s.must(201, "editor", "PUT /contacts?include_identity_token=true", `{"email": "c@example.org"}`),
			s.must(200, "key", "PUT /contacts/"+c+ask, `{}`),
			s.must(200, "key", "PATCH /contacts/"+c+ask, `{"city": "D"}`),
		} {
			parts := strings.Split(token(r), ".")
			if len(parts) != 4 || parts[0] != "v1" || parts[1] != r.body["id"] {
				t.Errorf("the token of %v is %q", r.body["id"], token(r))
				continue
			}
			if mac, err := base64.RawURLEncoding.DecodeString(parts[3]); err != nil || len(mac) != 32 {
				t.Errorf("its MAC is %q", parts[3])
			}
		}
		s.must(204, "key", "DELETE /contacts/"+c, "")
		for _, r := range []response{
			s.must(200, "key", "PUT /contacts", `{"email": "b@example.org"}`),
			s.must(200, "key", "PUT /contacts/"+c, `{}`),
			s.must(200, "key", "PUT /contacts/"+c+"?include_identity_token=false", `{}`),
			s.must(200, "key", "PUT /contacts/"+c+"?include_identity_token=", `{}`),
			s.must(200, "key", "GET /contacts/"+c+ask, ""),
			s.must(200, "key", "GET /contacts"+ask, ""),
			s.must(200, "key", "POST /contacts/"+c+"/restore"+ask, ""),
		} {
			if strings.Contains(r.text, "identity_token") {
				t.Errorf("a token without a request for it, or in an answer that has none: %.200s", r.text)
			}
		}
		again := s.must(200, "owner", "POST /settings/account/identity-secret", "")
		if again.body["secret"] == made.body["secret"] {
			t.Error("the same secret twice")
		}
		for range 2 {
			s.must(204, "owner", "DELETE /settings/account/identity-secret", "")
		}
		if r := s.must(200, "key", "PUT /contacts/"+c+ask, `{}`); strings.Contains(r.text, "identity_token") || enabled() != false {
			t.Errorf("with signing disabled: %s", r.text)
		}
	})
}

func TestTouchesAreShown(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		c := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).body["id"].(string)
		at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
		_, err := s.db.Exec(t.Context(), `INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at, touch) VALUES ($1, $2, 0, $3)
			ON CONFLICT (tenant_id, contact_id) DO UPDATE SET touch = excluded.touch`, s.acme, idtest.Must[id.Contact](c),
			fmt.Sprintf(`{"first_touch_at": %d, "first_touch_landing_url": "https://x.org/", "last_touch_source": "ads"}`, at.UnixMicro()))
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"GET /contacts/" + c, "PUT /contacts/" + c} {
			got := s.must(200, "key", what, "{}").body
			if got["first_touch_at"] != "2026-02-03T04:05:06.000Z" || got["first_touch_landing_url"] != "https://x.org/" || got["last_touch_source"] != "ads" || got["last_touch_at"] != nil {
				t.Errorf("%s shows %v, %v, %v", what, got["first_touch_at"], got["first_touch_landing_url"], got["last_touch_source"])
			}
		}
		if got := s.must(200, "admin", "POST /contacts/"+c+"/anonymize", "").body; got["first_touch_at"] != nil || got["last_touch_source"] != nil {
			t.Errorf("anonymised: last_touch_source = %v", got["last_touch_source"])
		}
	})
}

// exportRecords returns one of the lists of a personal export.
func exportRecords(t *testing.T, r response, name string) []map[string]any {
	t.Helper()
	list, ok := r.body[name].([]any)
	if !ok {
		t.Fatalf("the export has no %s: %.300s", name, r.text)
	}
	out := make([]map[string]any, len(list))
	for i, one := range list {
		out[i] = one.(map[string]any)
	}
	return out
}

func TestAPersonalExportIsComplete(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		p := newPerson(t, s)
		r := s.must(200, "viewer", "GET /contacts/"+p.id.String()+"/export", "")
		if c, _ := r.body["contact"].(map[string]any); c["email"] != p.email || c["phone"] != "+49 (170) 5551234" || r.body["exported_at"] == nil {
			t.Errorf("the contact is %v", r.body["contact"])
		}
		var events []string
		for _, e := range exportRecords(t, r, "events") {
			events = append(events, e["type"].(string))
		}
		for _, want := range []string{"event", "page_viewed", "tag_removed", "contact_updated", "email_bounced", "suppression_added", "list_added"} {
			if !slices.Contains(events, want) {
				t.Errorf("the events have no %s", want)
			}
		}
		if len(events) < 1000 {
			t.Errorf("%d events, want 1000 and more", len(events))
		}
		for name, want := range map[string]int{"lists": 1, "messages": 2, "opens_and_clicks": 2, "mailbox": 2, "suppressions": 1} {
			if got := exportRecords(t, r, name); len(got) != want {
				t.Errorf("%s has %d records, want %d: %v", name, len(got), want, got)
			}
		}
		for _, want := range []string{"198.51.100.7", "Quokka-Agent", "said Zebediah", "550 5.1.1 no Zebediah", "Dear Zebediah"} {
			if !strings.Contains(r.text, want) {
				t.Errorf("the export does not contain %q", want)
			}
		}
		if strings.Contains(r.text, "bystander") {
			t.Error("the export contains data of another contact")
		}
	})
}
