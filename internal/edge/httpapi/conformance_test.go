package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// operation is an operation of the API with its declaration.
type operation struct {
	*openapi3.Operation
	method, path string
}

func (o operation) flag(name string) bool { v, _ := o.Extensions[name].(bool); return v }
func (o operation) role() auth.Role       { s, _ := o.Extensions["x-role"].(string); return auth.Role(s) }
func (o operation) open() bool            { return o.flag("x-public") }
func (o operation) session() bool         { return o.flag("x-session") }
func (o operation) ofTenant() bool        { return strings.HasPrefix(o.path, "/t/") }

func (o operation) maxBody() int {
	n, _ := o.Extensions["x-max-body"].(float64)
	return int(n)
}

// scoped reports whether a key needs a scope.
func (o operation) scoped() bool {
	scopes, _ := o.Extensions["x-scopes"].([]any)
	return len(scopes) > 0
}

// body returns the schema of the request body, or nil.
func (o operation) body() *openapi3.Schema {
	if o.RequestBody == nil {
		return nil
	}
	if c := o.RequestBody.Value.Content["application/json"]; c != nil {
		return c.Schema.Value
	}
	return nil // a multipart form
}

// codes returns the error codes that the document lists for a status.
func (o operation) codes(status int) (codes []string) {
	res := o.Responses.Status(status)
	if res == nil {
		return nil
	}
	list, _ := res.Value.Extensions["x-error-codes"].([]any)
	for _, c := range list {
		codes = append(codes, c.(string))
	}
	return codes
}

// conformance is the API with real credentials, on a database in which the tenants acme and other
// have one record of each kind. It compares answers with the OpenAPI document.
type conformance struct {
	db           *sqldb.DB
	router       *endpoint.Router
	api          *httpapi.API
	ops          map[string]operation
	records      map[string]map[string]string // by tenant: the values that steps stored
	keys         map[string]string            // by tenant: an API key with every scope
	formsKey     string                       // an API key of acme with the scope forms:read only
	enrollKey    string                       // an API key of acme with the scope sequences:enroll only
	cookies      map[auth.Role]string         // of acme's members, by role
	now          time.Time
	clients      *atomic.Int64 // number of requests; each has an address of its own
	checked      *atomic.Int64 // number of answers compared with the document, which is slow
	strictChecks *counter      // of answers validated by JSON Schema, which is compiled each time

	joined func(slug string)          // called with a tenant before its setupSteps; may be nil
	called func(slug string, st step) // called after each step; may be nil
}

// counter counts by name.
type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) next(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[name]++
	return c.n[name]
}

// withDatabase returns a copy of s for a copy of the database.
func (s conformance) withDatabase(t testing.TB, db *sqldb.DB) *conformance {
	t.Helper()
	s.db, s.checked = db, &atomic.Int64{}
	s.records = map[string]map[string]string{"acme": maps.Clone(s.records["acme"]), "other": maps.Clone(s.records["other"])}
	base := &url.URL{Scheme: "https", Host: "mail.example.org"}
	clock := func() time.Time { return s.now }
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	limits := ratelimit.New(db)
	api := newAPI(t, db, base, clock, log)
	api.Login.Limits, api.Limits = limits, limits
	api.Usage, api.Tester, api.Version, api.AllowPrivateRelays = usage.Finders{broadcast.Finder()}, &fakes{}, "1.4.0", true
	api.Verifier, api.PersonalData = newVerifier(db, api.Box, base, dnstest.New(t).Addr, clock), []contact.PersonalData{}
	s.router = endpoint.New(endpoint.Options{
		Gate: api.Gate, Limiter: limits, DB: db, Box: api.Box, BaseURL: base, RatePerMinute: 10_000_000, Now: clock, Log: log,
	})
	api.Register(s.router)
	s.api = api
	return &s
}

// newConformance fills db with two tenants, members of acme with each role, and the records of
// setupSteps for both tenants.
func newConformance(t testing.TB, db *sqldb.DB, options ...func(*conformance)) *conformance {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := conformance{
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), keys: map[string]string{}, cookies: map[auth.Role]string{}, strictChecks: &counter{n: map[string]int{}},
		records: map[string]map[string]string{"acme": {}, "other": {}}, clients: &atomic.Int64{},
	}.withDatabase(t, db)
	s.ops = operations(t, s.router)
	for _, set := range options {
		set(s)
	}
	ctx := t.Context()
	hash, err := auth.NewPasswords().Hash(ctx, testPassword)
	ok(err)
	for _, slug := range []string{"acme", "other"} {
		in, err := tenant.Create(ctx, db, slug, "The "+slug, "UTC", s.now, sender.Newsletter)
		ok(err)
		_, s.keys[slug], err = auth.CreateKey(ctx, db, in.ID, auth.NewKey{Name: "all", Scopes: auth.AllScopes().Strings()}, auth.BySystem, s.now)
		ok(err)
		if slug == "acme" {
			_, s.formsKey, err = auth.CreateKey(ctx, db, in.ID, auth.NewKey{Name: "forms", Scopes: []string{"forms:read"}}, auth.BySystem, s.now)
			ok(err)
			_, s.enrollKey, err = auth.CreateKey(ctx, db, in.ID, auth.NewKey{Name: "enroll", Scopes: []string{"sequences:enroll"}}, auth.BySystem, s.now)
			ok(err)
		}
		cookies := map[auth.Role]string{}
		for _, role := range []auth.Role{auth.Owner, auth.Admin, auth.Editor, auth.Viewer} {
			if slug == "other" && role != auth.Owner {
				continue
			}
			u, err := auth.CreateUser(ctx, db, string(role)+"@"+slug+".example", string(role), hash, s.now)
			ok(err)
			ok(auth.AddMember(ctx, db, in.ID, u.ID, role, auth.BySystem, s.now))
			a := s.send(t, testRequest{op: s.ops["logIn"], body: fmt.Sprintf(`{"email": %q, "password": %q}`, u.Email, testPassword)})
			for _, c := range a.Result().Cookies() {
				cookies[role] = c.Value
			}
			s.records[slug]["user_"+string(role)] = u.ID.String()
		}
		if slug == "acme" {
			s.cookies = cookies
		}
		s.records[slug]["slug"], s.records[slug]["owner"], s.records[slug]["key"] = slug, cookies[auth.Owner], s.keys[slug]
		if s.joined != nil {
			s.joined(slug)
		}
		for _, st := range setupSteps {
			s.runStep(t, slug, st)
			if st.op == "createSendingDomain" {
				_, err := sender.ForceVerify(ctx, db, in.ID, slug+".example.com", "127.0.0.1:8080", s.now)
				ok(err)
			}
			if st.remember == "imported" {
				s.runJob(t, job.Import, transfer.Import)
			}
		}
		s.runJob(t, job.Export, s.api.Exporter().Run)
		ok(mailbox.Deliver(ctx, db, mailbox.Delivery{Tenant: in.ID, Lane: id.Read[id.Lane](s.records[slug]["lane"]), From: "a@" + slug + ".example.com", To: "b@example.org", Raw: []byte("Subject: Hi\r\n\r\nHi.\r\n")}, s.now))
		s.addRecipient(t, in.ID, slug)
		a := s.send(t, testRequest{op: s.ops["listSinkMessages"], slug: slug, caller: cookies[auth.Owner], path: map[string]string{"id": s.records[slug]["lane"]}})
		s.records[slug]["message"] = a.first("id")
		a = s.send(t, testRequest{op: s.ops["listSeeds"], slug: slug, caller: s.keys[slug], path: map[string]string{"id": s.records[slug]["seedlist"]}})
		s.records[slug]["seed"] = a.first("id")
	}
	return s
}

// runJob runs a job of a kind that is queued.
func (s *conformance) runJob(t testing.TB, kind job.Kind, run job.Runner) {
	t.Helper()
	e := job.Engine{
		DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler),
		Runners: map[job.Kind]job.Runner{kind: run},
	}
	if _, err := e.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// first returns a field of the first record of a list.
func (a recordedResponse) first(field string) string {
	data, _ := a.body["data"].([]any)
	if len(data) == 0 {
		return ""
	}
	v, _ := data[0].(map[string]any)[field].(string)
	return v
}

// operations returns the operations of r by name.
func operations(t testing.TB, r *endpoint.Router) map[string]operation {
	t.Helper()
	text, err := r.Blueprint()
	if err != nil {
		t.Fatal(err)
	}
	blueprints.Lock()
	defer blueprints.Unlock()
	if ops := blueprints.read[string(text)]; ops != nil {
		return maps.Clone(ops)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			ops[op.OperationID] = operation{op, method, path}
		}
	}
	blueprints.read[string(text)] = ops
	return maps.Clone(ops)
}

// blueprints are the operations by the text that describes them. To read it takes a third of a second.
var blueprints = struct {
	sync.Mutex
	read map[string]map[string]operation
}{read: map[string]map[string]operation{}}

// testRequest is a request to an operation.
type testRequest struct {
	name    string // describes it in failures
	op      operation
	slug    string // acme when empty
	caller  string // an API key, a cookie, or empty
	path    map[string]string
	query   url.Values
	body    string
	headers map[string]string
}

func (s *conformance) send(t testing.TB, x testRequest) recordedResponse {
	t.Helper()
	target := x.op.path
	if x.slug == "" {
		x.slug = "acme"
	}
	target = strings.Replace(target, "{tenant}", x.slug, 1)
	for name, value := range x.path {
		target = strings.Replace(target, "{"+name+"}", url.PathEscape(value), 1)
	}
	if len(x.query) > 0 {
		target += "?" + x.query.Encode()
	}
	r, err := http.NewRequestWithContext(context.Background(), x.op.method, "https://mail.example.org"+target, strings.NewReader(x.body))
	if err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
	r.RequestURI = target
	n := s.clients.Add(1)
	r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", n>>16&255, n>>8&255, n&255)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range x.headers {
		r.Header.Set(name, value)
	}
	if strings.HasPrefix(x.caller, "pbk_") {
		r.Header.Set("X-API-Key", x.caller)
	} else if x.caller != "" {
		r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: x.caller})
	}
	a := recordedResponse{ResponseRecorder: httptest.NewRecorder()}
	s.router.ServeHTTP(a, r)
	if a.Body.Len() > 0 && strings.HasPrefix(a.Header().Get("Content-Type"), "application/json") {
		v, err := a.value()
		a.body, _ = v.(map[string]any)
		if err != nil {
			t.Errorf("%s %s: %v in %.200s", x.op.OperationID, x.name, err, a.Body)
		}
	}
	return a
}

// value returns the decoded body.
func (a recordedResponse) value() (v any, err error) {
	err = json.Unmarshal(a.Body.Bytes(), &v)
	return v, err
}

// checkResponse fails unless an answer matches the document.
func (s *conformance) checkResponse(t testing.TB, x testRequest, a recordedResponse) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, %s: %d %s: %s\nsent %.300s\ngot %.500s", x.op.OperationID, x.name, a.Code, a.code(), fmt.Sprintf(format, args...), x.body, a.Body)
	}
	if a.Code >= 500 {
		fail("internal error")
		return
	}
	if a.Header().Get("X-Request-Id") == "" {
		fail("no X-Request-Id")
	}
	if x.op.ofTenant() && a.Header().Get("X-Ratelimit-Limit") == "" {
		fail("no rate limit headers")
	}
	if a.Code < 400 {
		res := x.op.Responses.Status(a.Code)
		if res == nil {
			fail("the document has no such status")
			return
		}
		c := res.Value.Content["application/json"]
		if n := s.checked.Add(1); c == nil || n > 20 && n%16 != 0 {
			return
		}
		v, err := a.value()
		if err != nil {
			return // send has reported it
		}
		rules := []openapi3.SchemaValidationOption{openapi3.MultiErrors()}
		if s.strictChecks.next(x.op.OperationID) <= 20 {
			rules = append(rules, openapi3.EnableJSONSchema2020())
		}
		if err := c.Schema.Value.VisitJSON(v, rules...); mismatches(err) {
			fail("does not fit the document: %v", err)
		}
		return
	}
	e, _ := a.body["error"].(map[string]any)
	if message, _ := e["message"].(string); a.code() == "" || message == "" || len(message) > 2000 {
		fail("no error envelope, or a message that is too long")
	}
	if _, ok := a.body["statusCode"]; ok != (a.Code == http.StatusTooManyRequests) {
		fail("statusCode is for 429")
	}
	known := x.op.codes(a.Code)
	if x.op.session() {
		known = append(known, "API_KEY_FORBIDDEN")
	}
	if len(x.path) > 0 || x.slug == "%00" {
		known = append(known, "NOT_FOUND") // of a path that no operation has
	}
	if !slices.Contains(known, a.code()) {
		fail("the document lists for this status only %v", known)
	}
}

// mismatches reports whether err has a problem other than null in a place of any type, which only
// the validator refuses.
func mismatches(err error) bool {
	if list, ok := errors.AsType[openapi3.MultiError](err); ok {
		return slices.ContainsFunc(list, mismatches)
	}
	if one, ok := errors.AsType[*openapi3.SchemaError](err); ok && one.Schema.Type == nil && one.Value == nil && one.Schema.AnyOf == nil {
		return false
	}
	return err != nil
}

// tables returns the tables whose rows belong to tenants.
func (s *conformance) tenantTables(t testing.TB) []string {
	t.Helper()
	query := `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'tenant_id' WHERE m.type = 'table' ORDER BY m.name`
	if s.db.Dialect() == sqldb.Postgres {
		query = `SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant_id' AND table_schema = 'public' ORDER BY table_name`
	}
	rows, err := s.db.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if len(names) < 15 || rows.Err() != nil {
		t.Fatalf("tables of tenants = %v, %v", names, rows.Err())
	}
	return names
}

// checksums returns the number and a checksum of a tenant's rows in each table.
func (s *conformance) checksums(t testing.TB, slug string) map[string]string {
	t.Helper()
	in, err := tenant.BySlug(t.Context(), s.db, slug)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, table := range s.tenantTables(t) {
		rows, err := s.db.Query(t.Context(), `SELECT * FROM `+table+` WHERE tenant_id = $1`, in.ID)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		sum, n := uint64(0), 0
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			h := fnv.New64a()
			for _, v := range values {
				fmt.Fprintf(h, "%v|", *v.(*any))
			}
			sum, n = sum+h.Sum64(), n+1 // in any order
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
		all[table] = fmt.Sprintf("%d rows, %x", n, sum)
	}
	return all
}

// copyOpener returns a function that opens copies of a SQLite database.
func copyOpener(t testing.TB, db *sqldb.DB) func(t testing.TB) (*sqldb.DB, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "filled.db")
	if _, err := db.Exec(t.Context(), `VACUUM INTO '`+file+`'`); err != nil {
		t.Fatal(err)
	}
	var once sync.Mutex
	return func(t testing.TB) (*sqldb.DB, string) {
		t.Helper()
		once.Lock()
		defer once.Unlock()
		mine := filepath.Join(t.TempDir(), "copy.db")
		copyFile(t, file, mine)
		db, err := sqldb.Open(context.Background(), "sqlite:"+mine, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db, mine
	}
}
