package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/savedfilter"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/message/outbox"
	letters "github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/recipient"
)

// gate authenticates test callers. The API key "key" has every scope, "key a:b c:d" has these; a
// cookie names the role of a session.
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

func (gate) Holds(context.Context, auth.Principal) (bool, error) { return true, nil }

// apiTest is the API on a database with two tenants, acme and other.
type apiTest struct {
	t      *testing.T
	db     *sqldb.DB
	router *endpoint.Router
	acme   id.Tenant
	now    time.Time
}

// eachAPI calls f with an API on each database, for a test that sends one request after another.
func eachAPI(t *testing.T, f func(t *testing.T, s *apiTest)) {
	t.Helper()
	sequential(t)
	eachAPIConcurrently(t, f)
}

// sequential skips a test that sends one request after another when the tests run with -short, as they
// do under the race detector (scripts/test), which has nothing to find in it.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("sends one request after another")
	}
}

// eachAPIConcurrently is eachAPI for a test that starts goroutines.
func eachAPIConcurrently(t *testing.T, f func(t *testing.T, s *apiTest)) {
	t.Helper()
	t.Parallel()
	eachAPIWith(t, sqldb.Options{MaxConns: 8}, f)
}

// eachAPIWith is eachAPI with options for the databases.
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
		var moving sync.Mutex // several requests ask at the same time
		clock := func() time.Time {
			moving.Lock()
			defer moving.Unlock()
			s.now = s.now.Add(time.Second)
			return s.now
		}
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		s.router = endpoint.New(endpoint.Options{
			Gate: g, Limiter: ratelimit.New(nil), DB: db, BaseURL: base, RatePerMinute: 100_000, Now: clock, Log: log,
		})
		api := newAPI(t, db, base, clock, log)
		api.AllowPrivateRelays = true
		api.Tester = newTester(db, api.Box, base, func() time.Time { return s.now })
		api.Register(s.router)
		f(t, s)
	})
}

// newAPI returns the complete configuration of an API without background loops: requests save, record and
// enroll by themselves, streams end at once, and domains are checked by a name server that does not answer.
func newAPI(t testing.TB, db *sqldb.DB, base *url.URL, clock func() time.Time, log *slog.Logger) *httpapi.API {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	limits, keys, hub := ratelimit.New(nil), track.NewKeys(box), &change.Hub{DB: db, Now: clock, Log: log}
	hub.Close()
	return &httpapi.API{
		DB: db, Box: box, Now: clock, BaseURL: base, Log: log, Gate: auth.NewGate(db, clock, log),
		Login: &auth.Login{
			DB: db, Passwords: auth.NewPasswords(), Limits: limits, BaseURL: base, Log: log, Setups: []tenant.Setup{sender.Newsletter},
		},
		Saver:     &contact.Saver{DB: db, Rules: sender.QueueContactRules, Listed: suppression.QueueListed, Now: clock},
		Recorder:  &event.Recorder{DB: db, Now: clock},
		Enroller:  &sequence.Enroller{DB: db, Rules: sender.ContactRules, Now: clock},
		Providers: &maildomain.Providers{DB: db, Now: clock},
		Usage:     usage.Finders{broadcast.Finder(), savedfilter.Finder(), segment.Finder(), form.Finder(), sequence.Finder(), automation.Finder()},
		Recipients: &recipient.Reader{
			DB: db, Contents: &content.Cache{DB: db}, Senders: &letters.Senders{DB: db, Now: clock}, Renderer: &letters.Renderer{Keys: keys, BaseURL: base},
		},
		SendCounts: broadcast.Sends{}, MJML: compiler(), Tester: newTester(db, box, base, clock), Limits: limits,
		Verifier: newVerifier(db, box, base, "127.0.0.1:9", clock), Changes: hub, PersonalData: personalData(),
		Network: (*classify.Lists)(nil).NetworkOf,
	}
}

// response is an answer with its decoded body.
type response struct {
	status int
	code   string
	body   map[string]any
	text   string
	header http.Header
}

// call sends "METHOD path", relative to acme's API, with a credential: "key…" or a role. It fails on
// an answer of 500 and above.
func (s *apiTest) call(caller, what, body string) response {
	s.t.Helper()
	r := s.callUnchecked(caller, what, body)
	if r.status >= 500 {
		s.t.Errorf("%s %s answered %d %s", what, body, r.status, r.text)
	}
	return r
}

// callUnchecked is call for requests whose answer may be 500 and above.
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
	checkNulls(s.t, strings.HasPrefix(caller, "key"), method, path, r)
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

// paths returns the paths of the problems in a refusal.
func (r response) paths() (paths []string) {
	e, _ := r.body["error"].(map[string]any)
	details, _ := e["details"].(map[string]any)
	fields, _ := details["fields"].([]any)
	for _, f := range fields {
		path, _ := f.(map[string]any)["path"].(string)
		paths = append(paths, path)
	}
	return paths
}

// without returns the fields of the answer without those that differ each time.
func (r response) without(names ...string) map[string]any {
	for _, n := range names {
		delete(r.body, n)
	}
	return r.body
}

// problems returns the paths of the problems in a refusal, separated by spaces.
func (r response) problems() string { return strings.Join(r.paths(), " ") }

// json returns the value at a path of an answer as JSON, or an empty text if there is none.
func (r response) json(path string) string {
	var v any = r.body
	for name := range strings.SplitSeq(path, ".") {
		o, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		if v, ok = o[name]; !ok {
			return ""
		}
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// wantFields checks the JSON values at paths of an answer; an empty text means that there is none.
func (r response) wantFields(t *testing.T, want map[string]string) {
	t.Helper()
	for path, text := range want {
		if got := r.json(path); got != text {
			t.Errorf("%s = %s, want %s", path, got, text)
		}
	}
}

// personalData are all tables with personal data.
func personalData() []contact.PersonalData {
	return []contact.PersonalData{segment.PersonalData(), outbox.PersonalData(), track.PersonalData(), mailbox.PersonalData(), suppression.PersonalData(), seedlist.PersonalData(), visitor.PersonalData(), form.PersonalData(), consent.PersonalData()}
}

const unknownID = "01900000-0000-7000-8000-000000000000"

// mustRefuse sends a request and checks the status and code of its refusal.
func (s *apiTest) mustRefuse(caller, what, body string, status int, code string) response {
	s.t.Helper()
	r := s.call(caller, what, body)
	if r.status != status || r.code != code {
		s.t.Errorf("%s %s %s answered %d %s, want %d %s", caller, what, body, r.status, r.text, status, code)
	}
	return r
}
