package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// fakeGate is a Gate of two tenants, whose credentials are plain words: a key
// names its scopes, separated by "+", a cookie names a role.
type fakeGate struct{}

var (
	errNoTenant = fault.New(fault.NotFound, "TENANT_NOT_FOUND", "there is no such tenant")
	acme        = idtest.TenantNamed("01900000-0000-7000-8000-00000000ac3e")
	other       = idtest.TenantNamed("01900000-0000-7000-8000-000000000071")
)

func (fakeGate) Tenant(_ context.Context, slug string) (id.Tenant, error) {
	switch slug {
	case "acme":
		return acme, nil
	case "other":
		return other, nil
	case "broken":
		return 0, errors.New("a bug with secrets in it")
	case "outage":
		return 0, context.DeadlineExceeded
	}
	return 0, errNoTenant
}

func (fakeGate) Authenticate(_ context.Context, _ id.Tenant, _ string, r *http.Request) (auth.Principal, error) {
	if key := r.Header.Get("X-API-Key"); key != "" {
		scopes, ok := strings.CutPrefix(key, "key+")
		if !ok {
			return auth.Principal{}, endpoint.ErrUnauthorized.With(map[string]string{"reason": "invalid"})
		}
		p := auth.Principal{Kind: auth.KindKey, KeyID: idtest.Named[id.APIKey](key), KeyName: "test"}
		for s := range strings.SplitSeq(scopes, "+") {
			p.Scopes = append(p.Scopes, auth.Scope(s))
		}
		return p, nil
	}
	if c, err := r.Cookie("packetboat_session"); err == nil {
		return auth.Principal{Kind: auth.KindSession, Session: idtest.Named[id.Session](c.Value), UserName: "Ann", Role: auth.Role(c.Value)}, nil
	}
	return auth.Principal{}, endpoint.ErrUnauthorized.With(map[string]string{"reason": "missing"})
}

func (fakeGate) Holds(context.Context, auth.Principal) (bool, error) { return true, nil }

var (
	errContent = fault.New(fault.Invalid, "NO_CONTENT", "content needs a subject")
	errTaken   = fault.New(fault.Conflict, "DUPLICATE_NAME", "the name is taken")
)

type thing struct {
	ID      string             `json:"id"`
	Name    string             `json:"name"`
	Note    *string            `json:"note"`
	Tags    []string           `json:"tags"`
	Props   map[string]any     `json:"props"`
	Owner   *owner             `json:"owner"`
	Weight  endpoint.Opt[int]  `json:"weight" required:"false"`
	Updated endpoint.Stamp     `json:"updated_at"`
	Rest    map[string]float64 `json:"-"`
}

type owner struct {
	Email string `json:"email"`
}

type thingInput struct {
	Name    string               `json:"name" minLength:"1" maxLength:"20"`
	Note    endpoint.Opt[string] `json:"note" maxLength:"10"`
	Active  *bool                `json:"active,omitempty"`
	Tags    []string             `json:"tags,omitempty" maxItems:"3"`
	Weight  endpoint.Opt[int]    `json:"weight" minimum:"0"`
	Props   map[string]any       `json:"props,omitempty"`
	Owner   *owner               `json:"owner"`
	Arms    []armInput           `json:"arms,omitempty"`
	Content *contentInput        `json:"content"`
}

type armInput struct {
	Weight int    `json:"weight" minimum:"1"`
	Kind   string `json:"kind" enum:"a,b"`
}

type contentInput struct {
	Subject string `json:"subject"`
}

type createThing struct {
	Loud  string `query:"loud"`
	Limit int    `query:"limit" minimum:"1"`
	Body  thingInput
}

type strictInput struct {
	Body struct {
		Email string `json:"email"`
	}
}

type getThing struct {
	ID string `path:"id"`
}

// server is a small API with an operation for every rule.
type server struct {
	t       testing.TB
	router  *endpoint.Router
	limiter *ratelimit.Limiter
	log     *lines

	releaseOnce sync.Once

	mu      sync.Mutex
	now     time.Time
	created int
	seen    []thingInput
	hook    func(ctx context.Context) error
}

type options struct {
	db    *sqldb.DB
	rate  int
	trust []netip.Prefix

	timeout time.Duration
}

func newServer(t testing.TB, o options) *server {
	s := &server{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), limiter: ratelimit.New(nil), log: &lines{}}
	base, _ := url.Parse("https://mail.example.com")
	r := endpoint.New(endpoint.Options{
		Gate: fakeGate{}, Limiter: s.limiter, DB: o.db, BaseURL: base, TrustedProxies: o.trust, RatePerMinute: o.rate, Timeout: o.timeout,
		Now: s.clock, Log: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	s.router = r
	endpoint.Handle(r, "POST /t/{tenant}/api/things", endpoint.Op{
		Name: "createThing", Summary: "Create a thing.", Tag: "things",
		Scope: auth.BroadcastsWrite, Status: http.StatusCreated, Faults: []*fault.Error{errTaken, errContent},
		FieldFaults: map[string]*fault.Error{"content": errContent}, Idempotent: true, MaxBody: 64 << 10,
	}, s.create, checkThing)
	endpoint.Handle(r, "GET /t/{tenant}/api/things", endpoint.Op{
		Name: "listThings", Summary: "List things.", Tag: "things", Scope: auth.BroadcastsRead, Pagination: "cursor",
	}, func(context.Context, auth.Principal, *struct {
		Limit string `query:"limit"`
	}) (endpoint.List[thing], error) {
		return endpoint.Whole[thing](nil), nil
	})
	endpoint.Handle(r, "GET /t/{tenant}/api/things/{id}", endpoint.Op{
		Name: "getThing", Summary: "Get a thing.", Tag: "things", Mode: endpoint.Any,
		Scopes: []auth.Scope{auth.ListsRead, auth.SegmentsRead}, Faults: []*fault.Error{endpoint.ErrNotFound},
	}, s.get)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/things/{id}", endpoint.Op{
		Name: "deleteThing", Summary: "Delete a thing.", Tag: "things", Scope: auth.BroadcastsWrite,
	}, func(context.Context, auth.Principal, *getThing) (endpoint.None, error) { return endpoint.None{}, nil })
	endpoint.Handle(r, "POST /t/{tenant}/api/strict", endpoint.Op{
		Name: "enroll", Summary: "Enroll.", Tag: "things", Scope: auth.SequencesEnroll, Strict: true,
	}, func(_ context.Context, _ auth.Principal, in *strictInput) (endpoint.None, error) {
		return endpoint.None{}, nil
	})
	endpoint.Handle(r, "POST /t/{tenant}/api/poke", endpoint.Op{
		Name: "poke", Summary: "Poke.", Tag: "things", Mode: endpoint.Free, Statuses: []int{http.StatusCreated},
		DeprecatedAt: time.Unix(1767225600, 0), Successor: "createThing",
	}, func(_ context.Context, _ auth.Principal, in *struct {
		Body *struct {
			Hard bool `json:"hard,omitempty"`
		}
	}) (deletedThing, error) {
		return deletedThing{Hard: in.Body != nil && in.Body.Hard}, nil
	})
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings", endpoint.Op{
		Name: "saveSettings", Summary: "Save.", Session: true, Role: auth.Admin,
	}, func(_ context.Context, p auth.Principal, in *struct{ Body struct{} }) (map[string]string, error) {
		return map[string]string{"actor": p.Actor().Name, "ip": p.IP.String()}, nil
	})
	endpoint.Handle(r, "GET /t/{tenant}/api/panic", endpoint.Op{
		Name: "panic", Summary: "Panic.", Mode: endpoint.Free,
	}, func(context.Context, auth.Principal, *struct{}) (endpoint.None, error) { panic("at the disco") })
	endpoint.Handle(r, "GET /t/{tenant}/api/stream", endpoint.Op{
		Name: "stream", Summary: "Stream.", Tag: "things", Mode: endpoint.Free,
	}, func(_ context.Context, _ auth.Principal, in *struct {
		Rows  int `query:"rows"`
		Break int `query:"break"`
	}) (endpoint.Stream[owner], error) {
		return endpoint.Stream[owner]{Rows: func(yield func(owner, error) bool) {
			for i := range in.Rows {
				if in.Break == i+1 {
					yield(owner{}, errors.New("the database broke"))
					return
				}
				if !yield(owner{"ann@example.org"}, nil) {
					return
				}
			}
		}}, nil
	})
	endpoint.Handle(r, "POST /api/auth/login", endpoint.Op{
		Name: "login", Summary: "Sign in.", Public: true, Installation: true,
	}, func(_ context.Context, p auth.Principal, in *struct {
		Body struct {
			Email string `json:"email"`
		}
	}) (signedIn, error) {
		return signedIn{p.IP.String()}, nil
	})
	return s
}

type deletedThing struct {
	Hard bool `json:"hard"`
}

func (p deletedThing) Status() int {
	if p.Hard {
		return http.StatusCreated
	}
	return http.StatusOK
}

type signedIn struct {
	IP string `json:"ip"`
}

func (signedIn) Headers() http.Header { return http.Header{"Set-Cookie": {"packetboat_session=x"}} }

func (s *server) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *server) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *server) create(ctx context.Context, p auth.Principal, in *createThing) (thing, error) {
	s.mu.Lock()
	hook := s.hook
	s.mu.Unlock()
	if hook != nil {
		if err := hook(ctx); err != nil {
			return thing{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Body.Name == "taken" {
		return thing{}, errTaken
	}
	s.created++
	s.seen = append(s.seen, in.Body)
	return thing{ID: id.NewText(), Name: in.Body.Name, Note: in.Body.Note.Pointer(), Tags: []string{}, Props: map[string]any{}, Updated: endpoint.At(s.now)}, nil
}

// checkThing checks rules that types cannot express.
func checkThing(_ auth.Principal, in *createThing) error {
	var bad fault.Problems
	if in.Body.Name == "" || in.Body.Name == "nameless" {
		bad.Add("name", "must be a name")
	}
	if in.Body.Note.Value == "none" {
		bad.Add("note", "must say something")
	}
	return bad.Err()
}

func (s *server) get(_ context.Context, _ auth.Principal, in *getThing) (thing, error) {
	if !id.Valid(in.ID) {
		return thing{}, endpoint.ErrNotFound
	}
	return thing{ID: in.ID, Name: strings.Repeat("long ", 400), Tags: []string{}, Props: map[string]any{}, Updated: endpoint.At(s.now)}, nil
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

func (r reply) code() string {
	e, _ := r.json["error"].(map[string]any)
	c, _ := e["code"].(string)
	return c
}

// fields returns the reported problems, as "path: message" by path.
func (r reply) fields() map[string]string {
	e, _ := r.json["error"].(map[string]any)
	d, _ := e["details"].(map[string]any)
	list, _ := d["fields"].([]any)
	m := map[string]string{}
	for _, f := range list {
		f := f.(map[string]any)
		m[f["path"].(string)] = f["message"].(string)
	}
	return m
}

const writer = "key+broadcasts:write"

// do sends "METHOD path" with header lines such as "X-API-Key: …".
func (s *server) do(what, body string, header ...string) reply {
	s.t.Helper()
	s.releaseOnce.Do(func() { // as the program does before it serves
		if err := s.router.ReleaseDocuments(); err != nil {
			s.t.Error(err)
		}
	})
	method, target, _ := strings.Cut(what, " ")
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		req.Body = http.NoBody
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	return s.send(req)
}

func (s *server) send(req *http.Request) reply {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, req)
	r := reply{status: w.Code, header: w.Header(), body: w.Body.String()}
	if w.Header().Get("Content-Encoding") == "" && strings.HasPrefix(r.body, "{") {
		if err := json.Unmarshal([]byte(r.body), &r.json); err != nil {
			s.t.Fatalf("%s %s answered with broken JSON: %v\n%s", req.Method, req.URL, err, r.body)
		}
	}
	return r
}

// lines is a log that tests can read.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
