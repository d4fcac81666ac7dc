package httpapi_test

import (
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/savedfilter"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/edge/httpapi/audienceapi"
	"github.com/packetboat/packetboat/internal/engine/bulk"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// A selector chooses the same contacts in a query and in a body, for both kinds of callers, and a
// cursor of one of the two lists works in the other.
func TestSelectorsMeanTheSameInQueryAndBody(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for i, country := range []string{"DE", "AT", "FR", "DE", "CH"} {
			s.must(201, "key", "POST /contacts", fmt.Sprintf(`{"email": "c%d@example.org", "country": %q, "tags": ["n%d"]}`, i, country, i))
		}
		s.must(201, "key", "POST /t/other/api/contacts", `{"email": "c9@example.org", "country": "DE"}`)
		gone := s.must(201, "key", "POST /contacts", `{"email": "gone@example.org", "country": "DE"}`).str("id")
		s.must(204, "key", "DELETE /contacts/"+gone, "")
		german := `[{"field": "country", "operator": "is", "value": "DE"}]`
		early := `{"logic": "or", "conditions": [{"field": "tags", "operator": "has_any", "value": ["n0", "n1"]}, {"field": "email", "operator": "contains", "value": "GONE"}]}`
		for _, tt := range []struct{ status, search, filters, definition, want string }{
			{want: "c0 c1 c2 c3 c4"},
			{filters: german, want: "c0 c3"},
			{filters: german, definition: early, want: "c0"},
			{definition: early, want: "c0 c1"},
			{definition: early, status: "active,suppressed", want: "c0 c1 gone"},
			{filters: german, status: "suppressed", want: "gone"},
			{filters: "[]", search: "c3", want: "c3"},
			{filters: `[{"field": "country", "operator": "not_in", "value": ["DE", "AT"]}]`, search: "example", want: "c2 c4"},
		} {
			q := url.Values{"sort": {"email"}, "dir": {"asc"}, "limit": {"1"}}
			parts := []string{`"sort": "email", "dir": "asc"`}
			for name, value := range map[string]string{"status": tt.status, "search": tt.search} {
				if value != "" {
					q.Set(name, value)
					parts = append(parts, fmt.Sprintf("%q: %q", name, value))
				}
			}
			for name, value := range map[string]string{"filters": tt.filters, "definition": tt.definition} {
				if value != "" {
					q.Set(name, value)
					parts = append(parts, fmt.Sprintf("%q: %s", name, value))
				}
			}
			for _, caller := range []string{"key contacts:read", "viewer"} {
				first := s.must(200, caller, "GET /contacts?"+q.Encode(), "")
				rest := s.must(200, caller, "POST /contacts/search", "{"+strings.Join(append(slices.Clone(parts), fmt.Sprintf(`"limit": 4, "cursor": %q`, first.str("next_cursor"))), ", ")+"}")
				if first.str("next_cursor") == "" {
					rest = response{}
				}
				got := strings.ReplaceAll(strings.Join(append(first.data("email"), rest.data("email")...), " "), "@example.org", "")
				if got != tt.want {
					t.Errorf("%s, %+v: %s", caller, tt, got)
				}
				n := s.must(200, caller, "GET /contacts/count?"+q.Encode(), "")
				if want := float64(len(strings.Fields(tt.want))); n.body["count"] != want {
					t.Errorf("%s, %+v: count %s, want %v", caller, tt, n.text, want)
				}
			}
		}
	})
}

func TestInvalidSelectorsAreRefused(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for body, want := range map[string]string{
			`{"status": "happy"}`:                            "INVALID_STATUS",
			`{"status": ["active", "happy"]}`:                "INVALID_STATUS",
			`{"status": 5}`:                                  "INVALID_STATUS",
			`{"status": [5]}`:                                "INVALID_STATUS",
			`{"search": "` + strings.Repeat("x", 201) + `"}`: "INVALID_INPUT",
			`{"filters": {}}`:                                "INVALID_FILTERS",
			`{"filters": "x"}`:                               "INVALID_FILTERS",
			`{"filters": [5]}`:                               "INVALID_FILTERS",
			`{"filters": [{"field": "a\u0000"}]}`:            "INVALID_FILTERS",
			`{"filters": [{"field": "tenant_id; --", "operator": "is_set"}]}`: "INVALID_FILTERS",
			`{"definition": []}`: "INVALID_DEFINITION",
			`{"definition": {}}`: "INVALID_DEFINITION",
			`{"definition": {"logic": "and", "conditions": []}}`: "INVALID_DEFINITION",
			`{"cursor": "nope"}`: "INVALID_CURSOR",
			`{"limit": "5"}`:     "INVALID_INPUT",
			`[]`:                 "INVALID_JSON",
			`{"status": null, "filters": null, "definition": null, "search": null, "sort": null, "limit": 0}`: "",
			`{"sort": "nonsense", "limit": 9999999}`:                                                          "",
		} {
			if r := s.call("key", "POST /contacts/search", body); r.code != want {
				t.Errorf("search %.80s = %d %s, want %s", body, r.status, r.text, want)
			}
		}
		if r := s.call("key", "POST /contacts/search", `{"filters": [{"field": "email", "operator": "is_set"}, {"field": "nope", "operator": "is_set"}]}`); !strings.Contains(r.text, `"path":"filters[1].field"`) {
			t.Errorf("the path is missing: %s", r.text)
		}
		if r := s.call("key contacts:write", "POST /contacts/search", `{}`); r.code != "INSUFFICIENT_SCOPE" {
			t.Errorf("search without the scope: %s", r.text)
		}
	})
}

// A bulk action changes named contacts at once, selected ones in a job, and none of another tenant.
func TestBulkActions(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
		bob := s.must(201, "key", "POST /contacts", `{"email": "bob@example.org"}`).str("id")
		theirs := s.must(201, "key", "POST /t/other/api/contacts", `{"email": "eve@example.org"}`).str("id")
		body := func(action, params string, ids ...string) string {
			return fmt.Sprintf(`{"action": %q, "contact_ids": ["%s"], "params": %s}`, action, strings.Join(ids, `", "`), params)
		}
		for i, caller := range []string{"key contacts:write", "editor"} {
			r := s.must(200, caller, "POST /contacts/bulk", body("add_tags", fmt.Sprintf(`{"tags": ["t%d"]}`, i), ann, bob, theirs))
			want := fmt.Sprintf(`{"action":"add_tags","matched":2,"affected":2,"skipped":1,"errors":[{"contact_id":"%s","code":"CONTACT_NOT_FOUND"}]}`, theirs)
			if strings.TrimSpace(r.text) != want {
				t.Errorf("%s: %s, want %s", caller, r.text, want)
			}
		}
		if r := s.must(200, "key", "GET /t/other/api/contacts/"+theirs, ""); strings.Contains(r.text, `"t0"`) {
			t.Errorf("another tenant's contact was tagged: %s", r.text)
		}
		s.must(200, "key", "POST /contacts/bulk", body("unsubscribe", `{}`, ann))
		for _, tt := range []struct{ caller, body, want string }{
			{"key contacts:read", body("delete", `{}`, ann), "INSUFFICIENT_SCOPE"},
			{"viewer", body("delete", `{}`, ann), "FORBIDDEN"},
			{"key", body("reset_status", `{}`, "x"), "ACTION_NOT_AVAILABLE"},
			{"key", body("anonymize", `{"suppress": 5}`, "x"), "ACTION_NOT_AVAILABLE"},
			{"editor", body("anonymize", `{}`, ann), "FORBIDDEN"},
			{"editor", body("reset_status", `{}`, ann), "FORBIDDEN"},
			{"key", body("explode", `{}`, ann), "INVALID_INPUT"},
			{"key", `{"action": "delete"}`, "INVALID_INPUT"},
			{"key", `{"action": "delete", "contact_ids": []}`, "INVALID_INPUT"},
			{"key", fmt.Sprintf(`{"action": "delete", "contact_ids": [%q], "selector": {}}`, ann), "INVALID_INPUT"},
			{"key", `{"action": "delete", "selector": null}`, "INVALID_INPUT"},
			{"key", `{"action": "delete", "selector": {"filters": 5}}`, "INVALID_FILTERS"},
			{"key", `{"action": "delete", "selector": {"definition": "x"}}`, "INVALID_DEFINITION"},
			{"key", `{"action": "delete", "selector": {"status": 5}}`, "INVALID_STATUS"},
			{"key", body("delete", `{}`, slices.Repeat([]string{ann}, 1001)...), "LIMIT_EXCEEDED"},
			{"key", body("delete", `{}`, ann, "nope"), "INVALID_INPUT"},
			{"key", body("enroll", `{"sequence_id": "`+id.NewText()+`"}`, ann), "NOT_FOUND"},
			{"key", body("add_to_list", `{"segment_key": "nope"}`, ann), "INVALID_SEGMENT"},
			{"key", body("set_field", `{"field": "custom_fields.nope", "value": 1}`, ann), "UNKNOWN_FIELD"},
			{"key", body("subscribe", `{"email_type_key": 5}`, ann), "INVALID_EMAIL_TYPE"},
		} {
			if r := s.call(tt.caller, "POST /contacts/bulk", tt.body); r.code != tt.want {
				t.Errorf("%s %.100s = %d %s, want %s", tt.caller, tt.body, r.status, r.text, tt.want)
			}
		}
		if r := s.must(200, "key", "POST /contacts/bulk", body("subscribe", `{}`, ann)); !strings.Contains(r.text, `"UNSUBSCRIBED"`) || r.body["affected"] != 0.0 {
			t.Errorf("an API key ends an unsubscription: %s", r.text)
		}
		if r := s.must(200, "admin", "POST /contacts/bulk", body("reset_status", `{}`, ann)); r.body["affected"] != 1.0 {
			t.Errorf("reset_status by an admin: %s", r.text)
		}
		r := s.must(202, "key", "POST /contacts/bulk", `{"action": "set_field", "selector": {"search": "example.org"}, "params": {"field": "city", "value": "Bonn"}}`)
		if len(r.body) != 1 || !id.Valid(r.str("job_id")) {
			t.Errorf("the answer of a job: %s", r.text)
		}
		e := job.Engine{
			DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler),
			Runners: map[job.Kind]job.Runner{job.Bulk: bulk.Runner{}.Run},
		}
		if _, err := e.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		j, err := job.ByID(t.Context(), s.db, s.acme, id.Read[id.Job](r.str("job_id")))
		if err != nil || j.Status != job.Completed || j.Processed != 2 {
			t.Errorf("job = %+v, %v", j, err)
		}
		for _, c := range []string{ann, bob} {
			if got := s.must(200, "key", "GET /contacts/"+c, "").str("city"); got != "Bonn" {
				t.Errorf("city of %s = %q", c, got)
			}
		}
		if r := s.must(200, "admin", "POST /contacts/bulk", body("anonymize", `{}`, ann)); r.body["affected"] != 1.0 {
			t.Errorf("anonymize by an admin: %s", r.text)
		}
	})
}

func TestSavedFilters(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "string"}`)
		made := s.must(201, "editor", "POST /saved-filters", `{"name": "Pros", "filters": [{"field": "custom_fields.plan", "operator": "=", "value": "pro"}],
			"status": ["active", "pending"], "search": " ann ", "sort": "email", "dir": "ASC", "columns": ["email", "custom_fields.plan"]}`)
		path := "/saved-filters/" + made.str("id")
		for what, got := range map[string]string{"status": made.str("status"), "search": made.str("search"), "dir": made.str("dir"), "created_by": made.str("created_by")} {
			if want := map[string]string{"status": "active,pending", "search": "ann", "dir": "asc", "created_by": idtest.Named[id.User]("u").String()}[what]; got != want {
				t.Errorf("%s = %q, want %q", what, got, want)
			}
		}
		if !strings.Contains(made.text, `"operator":"equals"`) || made.body["shared"] != true || made.body["definition"] != nil {
			t.Errorf("saved %s", made.text)
		}
		if r := s.must(200, "viewer", "GET /saved-filters", ""); len(r.data("id")) != 1 || r.body["has_more"] != false {
			t.Errorf("list %s", r.text)
		}
		if r := s.must(200, "editor", "PUT "+path, `{"filters": null, "status": null, "definition": {"logic": "any", "conditions": [{"field": "email", "operator": "is_set"}]}}`); r.str("name") != "Pros" || r.body["status"] != nil || !strings.Contains(r.text, `"logic":"or"`) || !strings.Contains(r.text, `"filters":[]`) {
			t.Errorf("changed %s", r.text)
		}
		for _, tt := range []struct{ caller, what, body, want string }{
			{"key", "GET /saved-filters", ``, "API_KEY_FORBIDDEN"},
			{"key", "POST /saved-filters", `{"name": "x"}`, "API_KEY_FORBIDDEN"},
			{"viewer", "POST /saved-filters", `{"name": "x"}`, "FORBIDDEN"},
			{"editor", "POST /saved-filters", `{}`, "INVALID_INPUT"},
			{"editor", "POST /saved-filters", `{"name": null}`, "INVALID_INPUT"},
			{"editor", "POST /saved-filters", `{"name": "x", "columns": ["nope"]}`, "INVALID_INPUT"},
			{"editor", "POST /saved-filters", `{"name": "x", "filters": "nope"}`, "INVALID_FILTERS"},
			{"editor", "POST /saved-filters", `{"name": "x", "definition": []}`, "INVALID_DEFINITION"},
			{"editor", "POST /saved-filters", `{"name": "x", "status": "happy"}`, "INVALID_STATUS"},
			{"editor", "GET /saved-filters/nope", ``, "NOT_FOUND"},
			{"owner", "GET /t/other/api" + path, ``, "NOT_FOUND"},
			{"owner", "DELETE /t/other/api" + path, ``, "NOT_FOUND"},
		} {
			if r := s.call(tt.caller, tt.what, tt.body); r.code != tt.want {
				t.Errorf("%s %s %s = %d %s, want %s", tt.caller, tt.what, tt.body, r.status, r.text, tt.want)
			}
		}
		found, err := savedfilter.Finder().Find(t.Context(), s.db, s.acme, usage.Subject{Kind: usage.Field, Key: "plan"})
		if err != nil || len(found["saved_filters"]) != 1 {
			t.Errorf("uses of the field: %v, %v", found, err)
		}
		s.must(204, "editor", "DELETE "+path, "")
		s.must(404, "editor", "GET "+path, "")
	})
}

// The columns of saved filters are the fields of contacts.
func TestColumnsAreTheFieldsOfAContact(t *testing.T) {
	var shown []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[audienceapi.Contact]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			shown = append(shown, name)
		}
	}
	slices.Sort(shown)
	if names := slices.Sorted(slices.Values(contact.ColumnNames())); !slices.Equal(names, shown) {
		t.Errorf("ColumnNames = %q\nfields of a contact %q", names, shown)
	}
}
