package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
)

func TestContactsAreCreatedReadAndMerged(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		c := s.must(201, "key", "POST /contacts?include_identity_token=true", `{"email": " Ann@Example.org ", "first_name": "Änn", "subscriptions": {"news": false}, "tags": ["a"], "smtp_provider": "gmail"}`)
		if c.str("email") != "ann@example.org" || c.body["smtp_provider"] != nil || c.body["global_status"] != "active" {
			t.Errorf("created %s", c.text)
		}
		for _, absent := range []string{"identity_token", "last_activity_pending"} {
			if _, ok := c.body[absent]; ok {
				t.Errorf("the answer to a write has %s", absent)
			}
		}
		got := s.must(200, "key", "GET /contacts/"+c.str("id"), "")
		if got.body["last_activity_pending"] != false || got.body["first_touch_at"] != nil || got.body["tags"].([]any)[0] != "a" {
			t.Errorf("read %s", got.text)
		}
		if up := s.must(200, "key", "PUT /contacts", `{"email": "ann@example.org", "tags": ["b"], "first_name": null}`); up.str("id") != c.str("id") || up.body["first_name"] != nil || len(up.body["tags"].([]any)) != 2 {
			t.Errorf("merged %s", up.text)
		}
		s.must(201, "key", "PUT /contacts", `{"email": "bob@example.org", "external_id": "b1"}`)
		if r := s.call("key", "POST /contacts", `{"email": "ANN@example.org"}`); r.status != 409 || r.code != "DUPLICATE_EMAIL" || !strings.Contains(r.text, c.str("id")) {
			t.Errorf("the same address again: %d %s", r.status, r.text)
		}
		for query, want := range map[string]string{
			"email=ANN@example.org": "ann@example.org", "external_id=b1": "bob@example.org",
		} {
			if r := s.must(200, "key", "GET /contacts/lookup?"+query, ""); r.str("email") != want {
				t.Errorf("lookup %s = %s", query, r.str("email"))
			}
		}
		for what, want := range map[string]string{
			"GET /contacts/lookup":                                  "MISSING_IDENTIFIER",
			"GET /contacts/lookup?email=nobody@x.org":               "CONTACT_NOT_FOUND",
			"GET /contacts/lookup?email=nope":                       "CONTACT_NOT_FOUND",
			"GET /contacts/nope":                                    "CONTACT_NOT_FOUND",
			"GET /contacts/" + id.NewText():                         "CONTACT_NOT_FOUND",
			"GET /contacts/" + id.NewText() + "/lists":              "CONTACT_NOT_FOUND",
			"GET /t/other/api/contacts/" + c.str("id"):              "CONTACT_NOT_FOUND",
			"GET /contacts?status=happy":                            "INVALID_STATUS",
			"GET /contacts?filters=[":                               "INVALID_FILTERS",
			"GET /contacts?filters=%5B%7B%22field%22:%22x%22%7D%5D": "INVALID_FILTERS",
			"GET /contacts/count?definition=%7B%7D":                 "INVALID_DEFINITION",
			"GET /contacts?cursor=nope":                             "INVALID_CURSOR",
			"GET /contacts?search=" + strings.Repeat("x", 201):      "INVALID_INPUT",
		} {
			if r := s.call("key", what, ""); r.code != want {
				t.Errorf("%s = %d %s, want %s", what, r.status, r.text, want)
			}
		}
		if r := s.must(200, "key", "GET /contacts/count?search=aNN%20example&filters=[]", ""); r.body["count"] != 1.0 {
			t.Errorf("count = %s", r.text)
		}
	})
}

func TestContactsRefuseBadBodies(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for body, want := range map[string]string{
			`{`:               "INVALID_JSON",
			`[]`:              "INVALID_JSON",
			`{}`:              "INVALID_INPUT",
			`{"email": 5}`:    "INVALID_INPUT",
			`{"email": null}`: "INVALID_INPUT",
			`{"email": "x"}`:  "INVALID_INPUT",
			`{"email": "a@example.org", "tags": "x"}`:                                        "INVALID_INPUT",
			`{"email": "a@example.org", "tags": [null]}`:                                     "INVALID_INPUT",
			`{"email": "a@example.org", "custom_fields": []}`:                                "INVALID_INPUT",
			`{"email": "a@example.org", "custom_fields": null}`:                              "INVALID_INPUT",
			`{"email": "a@example.org", "custom_fields": {"a\u0000": 1}}`:                    "INVALID_INPUT",
			`{"email": "a@example.org", "custom_fields": {"x": 1}}`:                          "UNKNOWN_FIELD",
			`{"email": "a@example.org", "subscriptions": {"news": "yes"}}`:                   "INVALID_INPUT",
			`{"email": "a@example.org", "subscriptions": {"x": true}}`:                       "INVALID_EMAIL_TYPE",
			`{"email": "a@example.org", "do_not_contact": null}`:                             "INVALID_INPUT",
			`{"email": "a@example.org", "do_not_contact": "true"}`:                           "INVALID_INPUT",
			`{"email": "a@example.org", "stage_id": "x"}`:                                    "INVALID_INPUT",
			`{"email": "a@example.org", "stage_id": "01900000-0000-7000-8000-00000000000a"}`: "INVALID_STAGE",
			`{"email": "a@example.org", "country": "Germany"}`:                               "INVALID_INPUT",
			`{"email": "a@example.org", "first_name": "a\u0000b"}`:                           "INVALID_INPUT",
			`{"email": "a@example.org", "first_name": {"a": 1}}`:                             "INVALID_INPUT",
		} {
			for _, method := range []string{"POST", "PUT"} {
				if r := s.call("key", method+" /contacts", body); r.status != 400 || r.code != want {
					t.Errorf("%s %s = %d %s, want %s", method, body, r.status, r.text, want)
				}
			}
		}
		if r := s.call("key", "POST /contacts", `{"email": "nope", "country": "Germany", "timezone": "Mars"}`); strings.Count(r.text, `"path"`) != 3 {
			t.Errorf("not every problem is reported: %s", r.text)
		}
		if r := s.must(200, "key", "GET /contacts/count", ""); r.body["count"] != 0.0 {
			t.Errorf("after refused writes: %s", r.text)
		}
	})
}

func TestEachContactIsOnOnePage(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		var want []string
		for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			body := `{"email": "` + n + `@example.org"}`
			if n > "c" {
				body = `{"email": "` + n + `@example.org", "city": "Bonn"}`
			}
			s.must(201, "key", "POST /contacts", body)
			want = append(want, n+"@example.org")
		}
		s.must(201, "key", "POST /t/other/api/contacts", `{"email": "stranger@example.org"}`)
		for _, query := range []string{"", "&sort=city", "&sort=city&dir=asc", "&sort=email&dir=asc", "&sort=last_activity_at", "&sort=nonsense", "&sort=do_not_contact", "&sort=prospect_score&dir=asc", "&sort=stage_id"} {
			var got []string
			cursor := ""
			for page := range 10 {
				r := s.must(200, "key", "GET /contacts?limit=2"+query+cursor, "")
				got = append(got, r.data("email")...)
				if page == 1 && query == "" { // a newer contact belongs before the first page
					s.must(201, "key", "POST /contacts", `{"email": "late@example.org"}`)
				}
				if r.body["has_more"] == false {
					break
				}
				cursor = "&cursor=" + r.str("next_cursor")
			}
			if strings.Contains(query, "city") && !strings.HasPrefix(strings.Join(got, ""), "g") && !strings.HasPrefix(strings.Join(got, ""), "d") {
				t.Errorf("%q: contacts without a city are not last: %v", query, got)
			}
			slices.Sort(got)
			got = slices.DeleteFunc(got, func(e string) bool { return e == "late@example.org" })
			if !slices.Equal(got, want) {
				t.Errorf("%q: the pages have %v, want %v", query, got, want)
			}
		}
		next := s.must(200, "key", "GET /contacts?limit=1&sort=email", "").str("next_cursor")
		for _, query := range []string{"sort=city", "sort=email&dir=asc", ""} {
			if r := s.call("key", "GET /contacts?cursor="+next+"&"+query, ""); r.code != "INVALID_CURSOR" {
				t.Errorf("a cursor of another order with %q: %d %s", query, r.status, r.text)
			}
		}
	})
}
