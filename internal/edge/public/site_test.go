package public_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// siteFixture is a recipientFixture whose server also serves tenants' websites.
type siteFixture struct {
	*recipientFixture
	account tenant.Tenant
	client  string // the address of the client
	engine  *visitor.Engine
}

func newWebsite(t *testing.T, p *recipientFixture) *siteFixture {
	t.Helper()
	account, err := tenant.ByID(t.Context(), p.DB, p.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return p.now }
	collector := visitor.NewCollector(p.DB, p.keys)
	run, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- collector.Run(run) }()
	t.Cleanup(func() { stop(); <-done })
	s := &siteFixture{p, account, "192.0.2.7", &visitor.Engine{DB: p.DB, Box: broadcasttest.Box(t), Log: slog.New(slog.DiscardHandler), Now: now}}
	(&public.Site{
		DB: p.DB, Visitors: collector, Limits: ratelimit.New(p.DB), Machine: new(classify.Agents).Machine,
		Country:  func(*http.Request) string { return "NL" },
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr(s.client) },
		Log:      slog.New(slog.DiscardHandler), Now: now,
	}).Routes(p.mux)
	return s
}

// post sends a request of the script. body replaces site_key and visitor_id, unless it has them.
func (s *siteFixture) post(kind string, body map[string]any, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	all := map[string]any{"site_key": s.account.SiteKey, "visitor_id": "v1"}
	maps.Copy(all, body)
	text, err := json.Marshal(all)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do("POST", "/_q/"+kind, strings.NewReader(string(text)), append([]string{"Content-Type", "text/plain;charset=UTF-8"}, headers...)...)
}

func (s *siteFixture) inbox() int {
	s.t.Helper()
	var n int
	if err := s.DB.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM visitor_inbox`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// pages returns the pages in the contact's history.
func (s *siteFixture) history(c id.Contact) (list []string) {
	s.t.Helper()
	for e, err := range journal.Timeline(s.t.Context(), s.DB, s.Tenant, c) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Type == journal.PageViewed {
			list = append(list, e.Name)
		}
	}
	return list
}

func eachSite(t *testing.T, f func(t *testing.T, s *siteFixture)) {
	t.Helper()
	each(t, func(t *testing.T, p *recipientFixture) { f(t, newWebsite(t, p)) })
}

var aPage = map[string]any{"url": "https://shop.example/"}

func TestCollectorsAnswerTheSameWhateverBecomesOfARequest(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		for _, tt := range []struct {
			name, kind, body string
			headers          []string
			accepted         bool
		}{
			{"a page", "page", `{"site_key": "KEY", "visitor_id": "v", "url": "https://shop.example/"}`, nil, true},
			{"as JSON", "page", `{"site_key": "KEY", "visitor_id": "v", "url": "https://shop.example/"}`, []string{"Content-Type", "application/json"}, true},
			{"without a type", "event", `{"site_key": "KEY", "visitor_id": "v", "event_name": "x"}`, []string{"Content-Type", ""}, true},
			{"a contact", "identify", `{"site_key": "KEY", "visitor_id": "v", "email": "` + s.contact.Email + `"}`, nil, true},
			{"nobody", "identify", `{"site_key": "KEY", "visitor_id": "v", "email": "nobody@example.org"}`, nil, true},
			{"no address", "identify", `{"site_key": "KEY", "visitor_id": "v"}`, nil, false},
			{"another site key", "page", `{"site_key": "pk_aaaaaaaaaaaaaaaaaaaaaaaaaa", "visitor_id": "v", "url": "https://shop.example/"}`, nil, false},
			{"no site key", "page", `{"visitor_id": "v", "url": "https://shop.example/"}`, nil, false},
			{"no JSON", "page", `url=x`, nil, false},
			{"nothing", "event", ``, nil, false},
			{"a program", "page", `{"site_key": "KEY", "visitor_id": "v", "url": "https://shop.example/"}`, []string{"User-Agent", "curl/8.1"}, false},
			{"a crawler", "page", `{"site_key": "KEY", "visitor_id": "v", "url": "https://shop.example/"}`, []string{"User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1)"}, false},
			{"Global Privacy Control", "page", `{"site_key": "KEY", "visitor_id": "v", "url": "https://shop.example/"}`, []string{"Sec-GPC", "1"}, false},
		} {
			before := s.inbox()
			w := s.do("POST", "/_q/"+tt.kind, strings.NewReader(strings.ReplaceAll(tt.body, "KEY", s.account.SiteKey)), append([]string{"Origin", "https://shop.example", "Cookie", "a=b"}, tt.headers...)...)
			h := w.Header()
			if w.Code != http.StatusNoContent || w.Body.Len() > 0 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: %d %v %s", tt.name, w.Code, h, w.Body)
			}
			if got := s.inbox() - before; (got == 1) != tt.accepted {
				t.Errorf("%s: %d requests accepted, want accepted %v", tt.name, got, tt.accepted)
			}
		}
	})
}

func TestCollectorsRefuseWhatIsTooLargeOrTooFrequent(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		w := s.do("POST", "/_q/page", strings.NewReader(`{"url": "`+strings.Repeat("x", visitor.MaxBody)+`"}`))
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), `"PAYLOAD_TOO_LARGE"`) {
			t.Errorf("a large body: %d %s", w.Code, w.Body)
		}
		for i := range 119 {
			if w = s.post([]string{"page", "event", "identify"}[i%3], nil); w.Code != http.StatusNoContent {
				t.Fatalf("request %d: %d %s", i, w.Code, w.Body)
			}
		}
		w = s.post("event", map[string]any{"event_name": "x"})
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || w.Header().Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(w.Body.String(), `{"error":{"code":"RATE_LIMITED"`) || !strings.Contains(w.Body.String(), `"statusCode":429`) {
			t.Errorf("request 121 of a client: %d %v %s", w.Code, w.Header(), w.Body)
		}
		s.client = "192.0.2.8"
		if w = s.post("page", aPage); w.Code != http.StatusNoContent {
			t.Errorf("another client: %d %s", w.Code, w.Body)
		}
		s.client, s.now = "192.0.2.7", s.now.Add(time.Minute)
		if w = s.post("page", aPage); w.Code != http.StatusNoContent {
			t.Errorf("a minute later: %d %s", w.Code, w.Body)
		}
	})
}

func TestBrowsersMayAskAndUseNoOtherMethods(t *testing.T) {
	t.Parallel()
	s := newWebsite(t, newPost(t, dbtest.One(t)))
	for _, kind := range []string{"page", "identify", "event"} {
		w := s.do("OPTIONS", "/_q/"+kind, nil, "Origin", "https://shop.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
		if h := w.Header(); w.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != "POST" || h.Get("Access-Control-Allow-Headers") != "Content-Type" {
			t.Errorf("preflight of %s: %d %v", kind, w.Code, h)
		}
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			if w := s.do(method, "/_q/"+kind, nil); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST, OPTIONS" {
				t.Errorf("%s %s: %d", method, kind, w.Code)
			}
		}
	}
	if n := s.inbox(); n != 0 {
		t.Errorf("%d requests accepted", n)
	}
}

func TestTheScriptIsSmallAndCacheable(t *testing.T) {
	t.Parallel()
	s := newWebsite(t, newPost(t, dbtest.One(t)))
	w := s.do("GET", "/_q/s.js?k="+s.account.SiteKey, nil)
	h, script := w.Header(), w.Body.String()
	if w.Code != 200 || len(script) >= 5000 || !strings.HasPrefix(h.Get("Content-Type"), "text/javascript") || h.Get("ETag") == "" || h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the script: %d, %d bytes, %v", w.Code, len(script), h)
	}
	if strings.Contains(script, "// ") || regexp.MustCompile(`\beval\b|\bFunction\(|innerHTML|document\.cookie`).MatchString(script) {
		t.Error("the script has comments, or uses what a strict policy forbids")
	}
	if w = s.do("GET", "/_q/s.js", nil, "If-None-Match", h.Get("ETag")); w.Code != http.StatusNotModified {
		t.Errorf("the same script again: %d", w.Code)
	}
}

func TestTheSiteKeyOfADeletedTenantIsNotAccepted(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		s.post("page", aPage)
		if err := tenant.Delete(t.Context(), s.DB, s.Tenant, s.now); err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(2 * time.Second)
		if w := s.post("page", aPage); w.Code != http.StatusNoContent || s.inbox() != 1 {
			t.Errorf("%d, %d requests in the inbox; want only the first", w.Code, s.inbox())
		}
		if err := s.engine.Drain(t.Context()); err != nil || s.inbox() != 0 {
			t.Errorf("Drain: %v, %d left", err, s.inbox())
		}
	})
}

func (s *siteFixture) trackDomains(domains ...string) {
	s.t.Helper()
	s.account.Settings.TrackedDomains = domains
	if err := tenant.SaveSettings(s.t.Context(), s.DB, s.Tenant, s.account.Name, s.account.Settings, s.now); err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(2 * time.Second)
}

// follow clicks the first link of the mail and returns where it leads.
func (s *siteFixture) follow(agent string, headers ...string) *url.URL {
	s.t.Helper()
	w := s.do("GET", s.path(track.ClickLink, 0, ""), nil, append([]string{"User-Agent", agent}, headers...)...)
	u, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusFound {
		s.t.Fatalf("click: %d %s, %v", w.Code, w.Header().Get("Location"), err)
	}
	return u
}

func TestOnlyClicksToTrackedDomainsCarryAToken(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		if u := s.follow(chrome); u.Query().Has("_ev") {
			t.Errorf("without tracked domains: %s", u)
		}
		s.trackDomains("shop.example", "www.example.org")
		if u := s.follow(chrome); u.Query().Has("_ev") {
			t.Errorf("a domain that is not tracked: %s", u)
		}
		s.trackDomains("EXAMPLE.org")
		u := s.follow(chrome)
		if !strings.HasPrefix(u.String(), "https://example.org/a?x=1&utm_") || u.Fragment != "top" || len(u.Query().Get("_ev")) < 40 {
			t.Errorf("a tracked domain: %s", u)
		}
		if u := s.follow(chrome, "Purpose", "prefetch"); u.Query().Has("_ev") {
			t.Errorf("a prefetch: %s", u)
		}
		w := s.do("HEAD", s.path(track.ClickLink, 0, ""), nil)
		if strings.Contains(w.Header().Get("Location"), "_ev") {
			t.Errorf("HEAD: %s", w.Header().Get("Location"))
		}
	})
}

// judged classifies the clicks and resolves the claims of visitors.
func (s *siteFixture) judged() {
	s.t.Helper()
	s.record()
	s.now = s.now.Add(time.Minute)
	e := &classify.Engine{
		DB: s.DB, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now },
		Live: func(context.Context, id.Tenant, id.Send) (bool, error) { return false, nil },
	}
	for more := true; more; {
		var err error
		if more, err = e.Tick(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := errors.Join(s.engine.Drain(s.t.Context()), s.engine.ResolveClaims(s.t.Context())); err != nil {
		s.t.Fatal(err)
	}
}

func TestAClickOfAPersonLinksTheVisitor(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		s.trackDomains("example.org")
		landing := s.follow(chrome).String()
		s.post("page", map[string]any{"url": landing})
		s.post("page", map[string]any{"url": landing, "visitor_id": "forwarded"})
		s.post("page", map[string]any{"url": "https://example.org/next"})
		if err := s.engine.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.engine.ResolveClaims(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.history(s.contact.ID); len(got) > 0 {
			t.Errorf("before the click is classified the contact viewed %q", got)
		}
		s.judged()
		clean, _, _ := strings.Cut(landing, "&_ev=")
		if got := s.history(s.contact.ID); len(got) != 2 || got[0] != clean || got[1] != "https://example.org/next" {
			t.Errorf("the contact viewed %q, want %q and the next page", got, clean)
		}
		s.post("page", map[string]any{"url": "https://example.org/later"})
		s.judged()
		if got := s.history(s.contact.ID); len(got) != 3 {
			t.Errorf("the contact viewed %q", got)
		}
		c, err := contact.ByID(t.Context(), s.DB, s.Tenant, s.contact.ID)
		if err != nil {
			t.Fatal(err)
		}
		touches, err := c.Touches()
		if err != nil || touches.FirstMedium == nil || *touches.FirstMedium != "email" || *touches.LastCampaign != "spring" || *touches.FirstCountry != "NL" || *touches.FirstLandingURL != clean {
			t.Errorf("touches = %+v, %v", touches, err)
		}
	})
}

// A click looks like a person's until the clicks around it show a scanner. Then nothing that the visitor
// does is the contact's any more.
func TestAVisitorIsUnlinkedWhenItsClickTurnsOutToBeAMachines(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		s.trackDomains("example.org")
		landing := s.follow(chrome).String()
		s.post("page", map[string]any{"url": landing})
		s.judged()
		before := len(s.history(s.contact.ID))
		if before != 1 {
			t.Fatalf("the contact viewed %q", s.history(s.contact.ID))
		}
		changed, err := s.DB.Exec(t.Context(), `UPDATE hit SET class = 'bot', rule = 'R6' WHERE tenant_id = $1 AND contact_id = $2`, s.Tenant, s.contact.ID)
		if err != nil || changed != 1 {
			t.Fatal(changed, err)
		}
		s.now = s.now.Add(15 * time.Minute)
		s.judged()
		s.post("page", map[string]any{"url": "https://example.org/later"})
		s.judged()
		if got := s.history(s.contact.ID); len(got) != before {
			t.Errorf("after its click was classified as a machine's, the contact viewed %q", got)
		}
		var waiting int
		if err := s.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM visitor WHERE tenant_id = $1 AND (claim_due IS NOT NULL OR contact_id IS NOT NULL)`, s.Tenant).Scan(&waiting); err != nil || waiting != 0 {
			t.Errorf("%d visitors are linked or wait for a verdict, %v", waiting, err)
		}
	})
}

// A person's click whose verdict stays keeps the visitor linked, also when an address was given since.
func TestAVisitorStaysLinkedWhenTheVerdictOnItsClickIsFinal(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		s.trackDomains("example.org")
		landing := s.follow(chrome).String()
		s.post("page", map[string]any{"url": landing})
		s.judged()
		s.now = s.now.Add(15 * time.Minute)
		s.judged()
		s.post("page", map[string]any{"url": "https://example.org/later"})
		s.judged()
		if got := s.history(s.contact.ID); len(got) != 2 {
			t.Errorf("the contact viewed %q, want both pages", got)
		}
	})
}

func TestAClickOfAMachineOrAnInvalidTokenLinksNobody(t *testing.T) {
	eachSite(t, func(t *testing.T, s *siteFixture) {
		s.trackDomains("example.org")
		scanned := s.follow("curl/8.1").String()
		s.post("page", map[string]any{"url": scanned})
		late := s.follow(chrome).String()
		s.judged()
		s.post("page", map[string]any{"url": strings.Replace(late, "_ev=A", "_ev=B", 1), "visitor_id": "v2"})
		s.post("page", map[string]any{"url": "https://example.org/?_ev=" + strings.Repeat("A", 80), "visitor_id": "v3"})
		s.now = s.now.Add(time.Hour)
		s.post("page", map[string]any{"url": late, "visitor_id": "v4"})
		other := broadcasttest.New(t, s.DB, "other")
		account, err := tenant.ByID(t.Context(), s.DB, other.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		s.post("page", map[string]any{"url": s.follow(chrome).String(), "visitor_id": "v5", "site_key": account.SiteKey})
		s.judged()
		if got := s.history(s.contact.ID); len(got) > 0 {
			t.Errorf("the contact viewed %q", got)
		}
	})
}

func FuzzCollectors(f *testing.F) {
	for _, kind := range []string{"page", "identify", "event"} {
		f.Add(kind, `{"site_key": "pk_aaaaaaaaaaaaaaaaaaaaaaaaaa", "visitor_id": "v", "url": "https://a.example/"}`)
		f.Add(kind, "\x00")
	}
	db, err := sqldb.Open(f.Context(), "sqlite:"+f.TempDir()+"/x.db", sqldb.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(f.Context()); err != nil {
		f.Fatal(err)
	}
	n := 0
	mux := http.NewServeMux()
	(&public.Site{
		DB: db, Limits: ratelimit.New(db), Machine: func(string) bool { return false }, Country: func(*http.Request) string { return "" },
		ClientIP: func(*http.Request) netip.Addr {
			n++
			return netip.AddrFrom4([4]byte{byte(n >> 16), byte(n >> 8), byte(n), 1})
		},
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}).Routes(mux)
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/_q/"+[]string{"page", "identify", "event"}[len(kind)%3], io.NopCloser(strings.NewReader(body)))
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != http.StatusNoContent && w.Code != http.StatusRequestEntityTooLarge {
			t.Error(fmt.Sprint(w.Code, w.Body))
		}
	})
}
