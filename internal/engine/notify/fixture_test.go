package notify

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// site is an installation with one tenant, whose clock the test sets.
type site struct {
	t      *testing.T
	db     *sqldb.DB
	box    *secret.Box
	tenant id.Tenant
	engine *Engine

	mu  sync.Mutex
	now time.Time
}

func newSite(t *testing.T, db *sqldb.DB) *site {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	// The reference library accepts timestamps of the last five minutes only.
	s := &site{t: t, db: db, box: box, now: time.Now().UTC().Truncate(time.Second)}
	account, err := tenant.Create(t.Context(), db, "acme", "Acme", "", s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.tenant = account.ID
	s.engine = s.newEngine("one")
	return s
}

func (s *site) newEngine(owner string) *Engine {
	return &Engine{
		DB: s.db, Box: s.box, Owner: owner, Now: s.clock, Log: slog.New(slog.DiscardHandler), AllowPrivate: true, UserAgent: "Test/1",
	}
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// endpoint creates an active endpoint for all events.
func (s *site) endpoint(t id.Tenant, url string) (webhook.Endpoint, string) {
	s.t.Helper()
	e, key, err := webhook.Create(s.t.Context(), s.db, s.box, t, webhook.Fields{URL: &url, EventTypes: &[]string{webhook.AllEvents}},
		webhook.Rules{AllowPrivate: true}, s.clock())
	if err != nil {
		s.t.Fatal(err)
	}
	return e, key
}

// test adds a delivery.
func (s *site) test(e webhook.Endpoint) webhook.Delivery {
	s.t.Helper()
	d, err := webhook.Test(s.t.Context(), s.db, e.Tenant, e.ID, s.clock())
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// tick makes the attempts that are due.
func (s *site) tick() {
	s.t.Helper()
	if err := s.engine.Tick(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) delivery(d webhook.Delivery) webhook.Delivery {
	s.t.Helper()
	got, err := webhook.DeliveryByID(s.t.Context(), s.db, s.tenant, d.Endpoint, d.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func (s *site) get(e webhook.Endpoint) webhook.Endpoint {
	s.t.Helper()
	got, err := webhook.ByID(s.t.Context(), s.db, e.Tenant, e.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// receiver is a server that stores the requests it gets.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	got    []request
	answer func(w http.ResponseWriter, r *http.Request) // nil: 204
}

// request is a request with its body.
type request struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Errorf("read a request: %v", err)
	}
	r.mu.Lock()
	r.got = append(r.got, request{req.Header, body})
	answer := r.answer
	r.mu.Unlock()
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(w, req)
}

// setAnswer changes the answers from now on.
func (r *receiver) setAnswer(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// verify checks a signature with the reference library.
func verify(t *testing.T, key string, r request) error {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(key)
	if err != nil {
		t.Fatal(err)
	}
	return w.Verify(r.body, r.header)
}

// follow makes deliveries of the journal's entries.
func (s *site) follow() {
	s.t.Helper()
	e := journal.Engine{DB: s.db, Log: s.engine.Log, Followers: []journal.Follower{webhook.Follower(s.clock)}}
	if err := e.Drain(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// decode returns the body of a request.
func decode(t *testing.T, r request) (e struct {
	Type string
	Data map[string]any
}) {
	t.Helper()
	if err := json.Unmarshal(r.body, &e); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	return e
}
