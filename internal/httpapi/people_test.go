package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/httpapi"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/id/idtest"
	"github.com/packetboat/packetboat/internal/ratelimit"
	"github.com/packetboat/packetboat/internal/savedfilter"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/tenant"
	"github.com/packetboat/packetboat/internal/usage"
)

// gate knows tenants by slug. A credential is a word: "key" holds every scope,
// "key a:b c:d" those, and a cookie names a role.
type gate struct{ tenants map[string]id.Tenant }

func (g gate) Tenant(_ context.Context, slug string) (id.Tenant, error) {
	if t, ok := g.tenants[slug]; ok {
		return t, nil
	}
	return 0, fault.New(fault.NotFound, "TENANT_NOT_FOUND", "there is no such tenant")
}

func (g gate) Authenticate(_ context.Context, _ id.Tenant, _ string, r *http.Request) (auth.Principal, error) {
	switch c := r.Header.Get("X-API-Key"); {
	case c == "key":
		return auth.Principal{Kind: auth.KindKey, KeyID: idtest.Named[id.APIKey]("k"), Scopes: auth.AllScopes()}, nil
	case strings.HasPrefix(c, "key "):
		set, err := auth.NewSet(strings.Fields(c)[1:])
		return auth.Principal{Kind: auth.KindKey, KeyID: idtest.Named[id.APIKey](c), Scopes: set}, err
	}
	if c, err := r.Cookie("role"); err == nil {
		return auth.Principal{Kind: auth.KindSession, Session: idtest.Named[id.Session]("s"), User: idtest.Named[id.User]("u"), Role: auth.Role(c.Value)}, nil
	}
	return auth.Principal{}, endpoint.ErrUnauthorized
}

// people is the API over a database with two tenants, acme and other.
type apiTest struct {
	t      *testing.T
	db     *sqldb.DB
	router *endpoint.Router
	acme   id.Tenant
	now    time.Time
}

func eachAPI(t *testing.T, f func(t *testing.T, s *apiTest)) {
	t.Helper()
	t.Parallel()
	eachAPIWith(t, sqldb.Options{MaxConns: 8}, f)
}

// eachPeopleWith is eachPeople over databases that are opened with options.
func eachAPIWith(t *testing.T, o sqldb.Options, f func(t *testing.T, s *apiTest)) {
	t.Helper()
	dbtest.EachWith(t, o, func(t *testing.T, db *sqldb.DB) {
		s := &apiTest{t: t, db: db, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		g := gate{map[string]id.Tenant{}}
		for _, slug := range []string{"acme", "other"} {
			made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", s.now)
			if err != nil {
				t.Fatal(err)
			}
			g.tenants[slug] = made.ID
		}
		s.acme = g.tenants["acme"]
		if _, err := sender.CreateEmailType(t.Context(), db, s.acme, sender.EmailTypeFields{DisplayName: new("News")}, s.now); err != nil {
			t.Fatal(err)
		}
		base, err := url.Parse("http://127.0.0.1:8080")
		if err != nil {
			t.Fatal(err)
		}
		box, err := secret.NewBox(make([]byte, secret.KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		clock := func() time.Time { s.now = s.now.Add(time.Second); return s.now }
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		s.router = endpoint.New(endpoint.Options{
			Gate: g, Limiter: ratelimit.New(nil), DB: db, BaseURL: base, RatePerMinute: 100_000, Now: clock, Log: log,
		})
		(&httpapi.API{DB: db, Box: box, Now: clock, BaseURL: base, Log: log, Tester: newTester(db, box, base, func() time.Time { return s.now }), PersonalData: personalData(), MJML: compiler(), Usage: usage.Finders{broadcast.Finder(), savedfilter.Finder(), segment.Finder()}}).Register(s.router)
		f(t, s)
	})
}

// seen is an answer as a test looks at it.
type response struct {
	status int
	code   string
	body   map[string]any
	text   string
	header http.Header
}

// as sends "METHOD path" under acme's API with a credential: "key…" or a role.
func (s *apiTest) call(caller, what, body string) response {
	s.t.Helper()
	r := s.callUnchecked(caller, what, body)
	if r.status >= 500 {
		s.t.Errorf("%s %s answered %d %s", what, body, r.status, r.text)
	}
	return r
}

// outcome is as for requests that may end in an outage.
func (s *apiTest) callUnchecked(caller, what, body string) response {
	s.t.Helper()
	method, path, _ := strings.Cut(what, " ")
	if !strings.HasPrefix(path, "/t/") {
		path = "/t/acme/api" + path
	}
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if strings.HasPrefix(caller, "key") {
		req.Header.Set("X-API-Key", caller)
	} else {
		req.AddCookie(&http.Cookie{Name: "role", Value: caller})
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, req)
	r := response{status: w.Code, text: w.Body.String(), header: w.Header()}
	if r.text != "" {
		if err := json.Unmarshal(w.Body.Bytes(), &r.body); err != nil {
			s.t.Fatalf("%s answered %d %q: %v", what, w.Code, r.text, err)
		}
	}
	if e, ok := r.body["error"].(map[string]any); ok {
		r.code, _ = e["code"].(string)
	}
	return r
}

// sendOf returns the send of a broadcast.
func (s *apiTest) sendOf(tenant id.Tenant, broadcastID string) id.Send {
	s.t.Helper()
	bid, _ := id.Parse[id.Broadcast](broadcastID)
	b, err := broadcast.Head(s.t.Context(), s.db, tenant, bid)
	if err != nil {
		s.t.Fatal(err)
	}
	return b.Send
}

func (s *apiTest) must(status int, caller, what, body string) response {
	s.t.Helper()
	r := s.call(caller, what, body)
	if r.status != status {
		s.t.Fatalf("%s %s answered %d %s, want %d", what, body, r.status, r.text, status)
	}
	return r
}

// data returns the values under a name of every row of a collection.
func (r response) data(name string) []string {
	var out []string
	rows, _ := r.body["data"].([]any)
	for _, row := range rows {
		v, _ := row.(map[string]any)[name].(string)
		out = append(out, v)
	}
	return out
}

func (r response) str(name string) string { v, _ := r.body[name].(string); return v }

func TestContactsAreCreatedReadAndMerged(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		c := s.must(201, "key", "POST /contacts?include_identity_token=true", `{"email": " Ann@Example.org ", "first_name": "Änn", "subscriptions": {"news": false}, "tags": ["a"], "smtp_provider": "gmail"}`)
		if c.str("email") != "ann@example.org" || c.body["smtp_provider"] != nil || c.body["global_status"] != "active" {
			t.Errorf("created %s", c.text)
		}
		for _, absent := range []string{"identity_token", "last_activity_pending"} {
			if _, ok := c.body[absent]; ok {
				t.Errorf("the answer to a write holds %s", absent)
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
			t.Errorf("not every problem is told: %s", r.text)
		}
		if r := s.must(200, "key", "GET /contacts/count", ""); r.body["count"] != 0.0 {
			t.Errorf("refused writes left %s", r.text)
		}
	})
}

func TestContactPagesHoldEachContactOnce(t *testing.T) {
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
				if page == 1 && query == "" { // a newer one belongs before the first page
					s.must(201, "key", "POST /contacts", `{"email": "late@example.org"}`)
				}
				if r.body["has_more"] == false {
					break
				}
				cursor = "&cursor=" + r.str("next_cursor")
			}
			if strings.Contains(query, "city") && !strings.HasPrefix(strings.Join(got, ""), "g") && !strings.HasPrefix(strings.Join(got, ""), "d") {
				t.Errorf("%q: those without a city are not last: %v", query, got)
			}
			slices.Sort(got)
			got = slices.DeleteFunc(got, func(e string) bool { return e == "late@example.org" })
			if !slices.Equal(got, want) {
				t.Errorf("%q: pages hold %v, want %v", query, got, want)
			}
		}
		next := s.must(200, "key", "GET /contacts?limit=1&sort=email", "").str("next_cursor")
		for _, query := range []string{"sort=city", "sort=email&dir=asc", ""} {
			if r := s.call("key", "GET /contacts?cursor="+next+"&"+query, ""); r.code != "INVALID_CURSOR" {
				t.Errorf("another order with %q: %d %s", query, r.status, r.text)
			}
		}
	})
}
